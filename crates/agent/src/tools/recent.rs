//! `recent_commands`: what the person ran in their shells, and how it ended. Offered only where they consented and
//! something answers; who answers is behind [`Recent`].

use conversation::tools::{Beside, Output, Task};
use kit::text;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Declared, Surroundings, Workshop, arguments};
use crate::permission::Access;

pub(super) const TOOL: Declared = Declared {
    name: "recent_commands",
    description: "The last commands that the person ran in this project, with their exit status, newest last.",
    schema,
    beside: Beside::Others,
    cap: (20_000, "ask for fewer"),
    access: |_| Access::Nothing,
    run,
};

const USUAL: usize = 10;
const MOST: usize = 50;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "default 10"}},
        "required": [],
    })
}

/// A command as it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub command: String,
    /// Unknown where a history does not tell.
    pub exit_code: Option<i32>,
}

/// Whoever knows what was run.
pub trait Recent: Send + Sync {
    /// The last so many commands of the project, newest last; or why there are none.
    fn last(&self, limit: usize) -> Result<Vec<Ran>, String>;
}

#[derive(Deserialize)]
struct Arguments {
    limit: Option<f64>,
}

fn run(workshop: &Workshop, task: &Task, _: &mut Surroundings) -> Answer {
    let arguments: Arguments = arguments(task)?;
    let limit = arguments.limit.map_or(USUAL, |limit| (limit as usize).clamp(1, MOST));
    let recent = workshop.recent.as_ref().ok_or_else(|| Output::failed("nobody knows what was run here"))?;
    let ran = recent.last(limit).map_err(Output::failed)?;
    if ran.is_empty() {
        return Ok(Output::done("nothing was run here yet"));
    }
    let status = |ran: &Ran| ran.exit_code.map_or("?".to_owned(), |code| code.to_string());
    let line = |ran: &Ran| format!("[{}] {}", status(ran), text::plain(&ran.command));
    Ok(Output::done(ran.iter().map(line).collect::<Vec<_>>().join("\n")))
}
