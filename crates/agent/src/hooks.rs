//! The user's own commands at five moments of a turn, in the form that Claude Code and Codex have: JSON on standard
//! input, exit 2 or a JSON answer to refuse. One file of hooks serves all three. A hook that fails is passed over and
//! told; it never stops a turn by accident. Knows no terminal and no model.

mod answer;
pub(crate) mod known;
mod matcher;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use kit::invocation::Environment;
use kit::process::{Cancel, Ended, Job};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use answer::Ran;
pub(crate) use answer::{Decision, Verdict};

/// What a hook may take unless it says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// The moments, by the names that the files use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) enum Moment {
    PreToolUse,
    PostToolUse,
    UserPromptSubmit,
    SessionStart,
    Stop,
}

impl Moment {
    pub(crate) const ALL: [Moment; 5] = [
        Moment::PreToolUse,
        Moment::PostToolUse,
        Moment::UserPromptSubmit,
        Moment::SessionStart,
        Moment::Stop,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Moment::PreToolUse => "PreToolUse",
            Moment::PostToolUse => "PostToolUse",
            Moment::UserPromptSubmit => "UserPromptSubmit",
            Moment::SessionStart => "SessionStart",
            Moment::Stop => "Stop",
        }
    }

    fn of(name: &str) -> Option<Moment> {
        Moment::ALL.into_iter().find(|moment| moment.name() == name)
    }
}

/// What a file says: for each moment, commands for the tools that match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Table(BTreeMap<Moment, Vec<Group>>);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Group {
    /// Tools, as in `Edit|Write` or `mcp__.*`. Empty or absent: all.
    #[serde(default)]
    matcher: String,
    hooks: Vec<Hook>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Hook {
    /// Only `command` is run; other kinds belong to other clients.
    #[serde(default = "command", rename = "type")]
    kind: String,
    #[serde(default)]
    command: String,
    /// Seconds.
    timeout: Option<u64>,
}

fn command() -> String {
    "command".to_owned()
}

impl Table {
    /// Takes over the groups of a `hooks` table, as JSON; moments that we do not have are passed over, since they are
    /// other clients'. Gives what is wrong.
    pub(crate) fn add(&mut self, hooks: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        for (name, groups) in hooks.as_object().into_iter().flatten() {
            let Some(moment) = Moment::of(name) else { continue };
            match Vec::<Group>::deserialize(groups) {
                Ok(groups) => self.0.entry(moment).or_default().extend(groups),
                Err(error) => wrong.push(format!("hooks.{name}: {error}")),
            }
        }
        wrong
    }

    pub(crate) fn len(&self) -> usize {
        self.0.values().flatten().map(|group| group.hooks.len()).sum()
    }
}

/// The hooks of a conversation, with what each of them is told.
#[derive(Debug, Clone)]
pub(crate) struct Hooks {
    pub(crate) table: Table,
    pub(crate) session: String,
    pub(crate) transcript: PathBuf,
    pub(crate) project: PathBuf,
    pub(crate) env: Environment,
}

/// A tool in the words of those whose hooks are run.
pub(crate) struct Tool<'a> {
    /// Our own name.
    pub(crate) name: &'a str,
    /// The name that hooks know.
    pub(crate) known_as: &'a str,
}

impl Hooks {
    pub(crate) fn has(&self, moment: Moment) -> bool {
        self.table.0.contains_key(&moment)
    }

    /// Runs all that match, one after the other, and gives what they say together: the strictest counts.
    pub(crate) fn fire(
        &self,
        moment: Moment,
        tool: Option<&Tool<'_>>,
        data: Map<String, Value>,
        permission: &str,
        cancel: &Cancel,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        let matching = self.table.0.get(&moment).into_iter().flatten().filter(|group| match tool {
            Some(tool) => matcher::matches(&group.matcher, &[tool.known_as, tool.name]),
            None => true,
        });
        let mut payload = json!({
            "session_id": self.session,
            "transcript_path": self.transcript.display().to_string(),
            "cwd": self.project.display().to_string(),
            "permission_mode": permission,
            "hook_event_name": moment.name(),
        });
        if let Value::Object(payload) = &mut payload {
            payload.extend(data);
        }
        for hook in matching.flat_map(|group| &group.hooks).filter(|hook| hook.kind == "command") {
            if cancel.is_cancelled() {
                break;
            }
            verdict.join(answer::read(moment, &hook.command, &self.run(hook, &payload, cancel)));
        }
        verdict
    }

    /// It is the user's own command, so it sees the user's own environment.
    fn run(&self, hook: &Hook, payload: &Value, cancel: &Cancel) -> Ran {
        let outcome = Job::new("/bin/sh")
            .args(["-c", &hook.command])
            .envs(self.env.iter())
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .cwd(&self.project)
            .stdin(payload.to_string().into_bytes())
            .deadline(hook.timeout.map_or(PATIENCE, Duration::from_secs))
            .cancel(cancel)
            .run();
        match outcome {
            Err(error) => Ran::failed(format!("did not start: {error}")),
            Ok(outcome) => match outcome.ended {
                Ended::Exited(code) => {
                    Ran { code: Ok(code), stdout: outcome.stdout.text(), stderr: outcome.stderr.text() }
                }
                Ended::DeadlinePassed => Ran::failed("took too long".to_owned()),
                Ended::Cancelled => Ran::failed("was interrupted".to_owned()),
                Ended::Signalled(signal) => Ran::failed(format!("was ended by signal {signal}")),
            },
        }
    }
}
