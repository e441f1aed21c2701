//! What the person ran in this project, asked of clai by its own command: its daemon answers what is typed next, not what
//! was; and what of a history may be told is its owner's to say. Only where the settings allow it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use kit::invocation::{Environment, Program};
use kit::process::{Ended, Job, find, minimal_environment};
use kit::text;
use serde_json::Value;

use crate::tools::recent::{Ran, Recent};

/// A history of years is read in a blink; more is trouble.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Clai {
    program: PathBuf,
    through: Vec<OsString>,
    project: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl Clai {
    /// As a subcommand of the front door if that is what we are; else the program beside us, or on the `PATH`.
    pub(crate) fn find(program: &Program, project: PathBuf, env: &Environment) -> Option<Clai> {
        let front_door =
            program.spoken().contains(' ').then(|| Some((program.exe.clone()?, vec!["clai".into()])));
        let beside = || Some((program.sibling("clai").ok().or_else(|| find("clai", env))?, Vec::new()));
        let (program, through) = front_door.flatten().or_else(beside)?;
        let environment = minimal_environment(env, &["CLAI_DB_DIR"]);
        Some(Clai { program, through, project, environment })
    }
}

impl Recent for Clai {
    fn last(&self, limit: usize) -> Result<Vec<Ran>, String> {
        let around = self.project.ancestors().any(|folder| folder.join(".git").exists());
        let place = if around { "--repo" } else { "--cwd" };
        let job = Job::new(&self.program).args(&self.through).args(["history", place, "--json", "--limit"]);
        let job = job.arg(limit.to_string()).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let outcome = job.cwd(&self.project).deadline(PATIENCE).run().map_err(|error| error.to_string())?;
        if outcome.ended != Ended::Exited(0) {
            let said = outcome.stderr.text();
            return Err(format!("clai does not tell: {}", text::plain(text::head(said.trim(), 200))));
        }
        read(&outcome.stdout.text()).ok_or_else(|| "clai's answer cannot be read".to_owned())
    }
}

fn read(answer: &str) -> Option<Vec<Ran>> {
    let rows: Vec<Value> = serde_json::from_str(answer).ok()?;
    let row = |row: &Value| {
        let exit_code = row["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok());
        Some(Ran { command: row["cmd"].as_str()?.to_owned(), exit_code })
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_clai_is_read_and_anything_else_is_none() {
        let ran = read(r#"[{"cmd":"make","exit_code":2,"ts":1},{"cmd":"ls","exit_code":null}]"#).unwrap();
        let told: Vec<(&str, Option<i32>)> =
            ran.iter().map(|ran| (ran.command.as_str(), ran.exit_code)).collect();
        assert_eq!(told, [("make", Some(2)), ("ls", None)]);
        assert_eq!((read("{}"), read(""), read("[1]")), (None, None, None));
    }
}
