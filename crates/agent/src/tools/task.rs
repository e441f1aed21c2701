//! `task`: a question for a fresh conversation with its own window, eyes and budget, of which only the report comes
//! back. How a conversation is run is the front's, which brings a [`Subagent`].

use conversation::tools::{Beside, Output, Task};
use kit::process::Cancel;
use llm::CallId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Declared, Surroundings, TASK, Workshop, arguments};
use crate::permission::Access;

pub(super) const TOOL: Declared = Declared {
    name: TASK,
    description: "Give a piece of work to a helper with the same tools and an empty window, which sees only `prompt` and \
                  gives back a report. For searches and questions whose details you do not need.",
    schema,
    beside: Beside::Nobody,
    cap: (20_000, "ask for a shorter report"),
    // What the helper does is asked about when it does it.
    access: |_| Access::Nothing,
    run,
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"prompt": {"type": "string", "description": "all that the helper must know"}},
        "required": ["prompt"],
    })
}

/// Runs a conversation of its own to the end.
pub trait Subagent: Send + Sync {
    /// The last words of the conversation. What it does to files is done for `call`. `live` is told what it does; once
    /// cancelled it ends soon.
    fn run(&self, call: &CallId, prompt: &str, live: &mut dyn FnMut(&str), cancel: &Cancel) -> Output;
}

#[derive(Deserialize)]
struct Arguments {
    prompt: String,
}

fn run(workshop: &Workshop, task: &Task, around: &mut Surroundings) -> Answer {
    let arguments: Arguments = arguments(task)?;
    let subagent = workshop.subagent.as_ref().ok_or_else(|| Output::failed("there is no helper here"))?;
    if arguments.prompt.trim().is_empty() {
        return Err(Output::failed("the prompt has no words"));
    }
    Ok(subagent.run(&task.id, &arguments.prompt, around.live, around.cancel))
}
