//! The stop of the tour: a failing test in a throw-away project, repaired by a scripted model with the real tools. No
//! key, no network; what is told was counted in this very run.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use kit::invocation::{Clock, Environment, Program, Terminal};
use kit::tour::{Sight, Stage};
use kit::{Failure, Invocation, places, text};
use serde_json::Value;
use store::{Durability, replace};

use crate::cli::{Provider, Talk};
use crate::interrupt::Interrupt;
use crate::setup::{self, World};
use crate::voice::Manner;

const FILES: [(&str, &str); 3] = [
    (
        "add.sh",
        "# Adds two numbers, as the test next door wants it.\n# Arguments: the two numbers. Prints their sum on standard output.\n\
         add() {\n    echo $(($1 - $2))\n}\n",
    ),
    (
        "test.sh",
        ". ./add.sh\n[ \"$(add 2 3)\" = 5 ] || { echo \"add 2 3 gave $(add 2 3), not 5\"; exit 1; }\necho ok\n",
    ),
    ("model", SCRIPT),
];

/// What the model says, turn by turn.
const SCRIPT: &str = r#"data: {"call": "bash", "input": {"command": "sh test.sh"}}

data: {"call": "read_file", "input": {"path": "add.sh"}}

data: [DONE]

data: {"call": "edit_file", "input": {"path": "add.sh", "old_str": "$1 - $2", "new_str": "$1 + $2"}}

data: [DONE]

data: {"call": "bash", "input": {"command": "sh test.sh"}}

data: {"call": "read_file", "input": {"path": "add.sh"}}

data: [DONE]

data: {"say": "add.sh subtracted. It adds now, and the test passes."}

data: [DONE]
"#;

pub fn stop(stage: &Stage<'_>) -> Result<Sight, Failure> {
    let failed =
        |what: String| Failure::new(format!("the tour stopped at the agent: {what}")).hint("`scrimp doctor`");
    let project = stage.scratch.join("agent");
    let uid = stage.env.uid();
    places::private_dir(&project, uid).map_err(|error| failed(error.to_string()))?;
    for (name, content) in FILES {
        replace(&project.join(name), content.as_bytes(), Durability::Cached)
            .map_err(|error| failed(error.to_string()))?;
    }
    let events = play(stage, &project)?;
    let told = told(&events).ok_or_else(|| failed("the repair did not end as it should".to_owned()))?;
    Ok(Sight { title: "Agent".to_owned(), lines: told })
}

/// Runs the turn, and gives its events.
fn play(stage: &Stage<'_>, project: &Path) -> Result<Vec<Value>, Failure> {
    let heard = Heard::default();
    let mut invocation = Invocation {
        program: Program::new("agent", None),
        args: Vec::new(),
        env: environment(stage),
        cwd: project.to_owned(),
        stdin: Box::new(io::empty()),
        stdout: Box::new(heard.clone()),
        stderr: Box::new(io::sink()),
        terminal: Terminal::default(),
        clock: Clock::system(),
    };
    let world = World::of(&invocation)?;
    let talk = Talk::scripted(Provider {
        model: Some(format!("script:{}", project.join("model").display())),
        ..Provider::default()
    });
    let mut session = setup::session(&world, &talk, Manner::Json, Interrupt::default(), &mut invocation)?;
    session.prompt("The test fails. Repair it.".to_owned())?;
    let bytes = heard.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(String::from_utf8_lossy(&bytes).lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The person's own, with every place of ours in the throw-away directory.
fn environment(stage: &Stage<'_>) -> Environment {
    let home = stage.scratch.join("agent-home");
    let ours = ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CHIBI_HOME"];
    let kept = stage.env.iter().filter(|(name, _)| !ours.iter().any(|our| *name == *our));
    let kept = kept.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let home = ours.into_iter().take(1).map(|name| (OsString::from(name), home.clone().into_os_string()));
    Environment::of(kept.chain(home))
}

/// What was seen, if all of it was: red, an edit, green, and a second look that cost less than the first.
fn told(events: &[Value]) -> Option<Vec<String>> {
    let results: Vec<&Value> = events.iter().filter(|event| event["type"] == "tool_result").collect();
    let [red, first, edit, green, second] = results[..] else { return None };
    let ok = |result: &Value| result["is_error"] == false;
    if ok(red) || !ok(first) || !ok(edit) || !ok(green) {
        return None;
    }
    let size = |result: &Value| result["content"].as_str().map(str::len);
    let end = events.last().filter(|event| event["type"] == "end" && event["exit"] == 0)?;
    Some(vec![
        format!(
            "a failing test repaired by a scripted model: run, read, edit, run, green in {} requests",
            end["requests"]
        ),
        format!(
            "the file was read twice: {} bytes, then {} to say what is known of it",
            text::thousands(size(first)? as u64),
            text::thousands(size(second)? as u64)
        ),
    ])
}

/// Standard output that we read ourselves.
#[derive(Debug, Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
