//! What we register with each client, and how a command of ours is recognised. The one table of hooks; it never knows
//! how a settings file is written.
//!
//! The default lets the client read and rewrites what it shows; `--mode deny` is the older way, for clients that cannot
//! do that: the read is refused and the answer is the reason. Codex and Gemini have no such older way; there it means
//! the MCP server alone.

use std::ffi::OsStr;
use std::path::Path;

use super::{Agent, Mode};

/// One hook: on which event, for which tools, and what `drip hook` is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hook {
    pub(super) event: &'static str,
    pub(super) matcher: Option<&'static str>,
    pub(super) name: &'static str,
    pub(super) need: Need,
}

/// What is lost without a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Savings.
    Useful,
    /// The truth: it says that the agent has forgotten what it was shown.
    Vital,
}

/// What a settings file of a client has to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) hooks: &'static [Hook],
    /// The table of MCP servers, where we register one there.
    pub(super) server: Option<Server>,
    /// The program to run.
    pub(super) drip: String,
    /// Two seconds, in the client's unit. A hook that takes longer is not waited for: the read goes on natively.
    pub(super) timeout: &'static str,
    /// Gemini lists hooks by a name.
    pub(super) named: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) table: &'static str,
    pub(super) args: [&'static str; 3],
}

impl Wanted {
    pub(super) fn new(agent: Agent, mode: Mode, drip: &str) -> Wanted {
        let hooks = hooks(agent, mode);
        let server = match agent {
            Agent::Claude => None,
            Agent::Codex => Some(Server { table: "mcp_servers", args: ["mcp", "--agent", "codex"] }),
            Agent::Gemini => Some(Server { table: "mcpServers", args: ["mcp", "--agent", "gemini"] }),
        };
        let timeout = if agent == Agent::Gemini { "2000" } else { "2" };
        Wanted { hooks, server, drip: drip.to_owned(), timeout, named: agent == Agent::Gemini }
    }

    /// The command line of a hook, as a shell reads it.
    pub(super) fn command(&self, hook: &Hook) -> String {
        format!("{} hook {}", kit::places::shell_word(OsStr::new(&self.drip)), hook.name)
    }
}

fn hooks(agent: Agent, mode: Mode) -> &'static [Hook] {
    match (agent, mode) {
        (Agent::Claude, Mode::Rewrite) => CLAUDE_REWRITE,
        (Agent::Claude, Mode::Deny) => CLAUDE_DENY,
        (Agent::Codex, Mode::Rewrite) => CODEX,
        (Agent::Gemini, Mode::Rewrite) => GEMINI,
        (Agent::Codex | Agent::Gemini, Mode::Deny) => &[],
    }
}

const EDITS: &str = "Edit|Write|MultiEdit|NotebookEdit";

const CLAUDE_REWRITE: &[Hook] = &[
    useful("PostToolUse", Some("Read"), "claude-post-read"),
    useful("PostToolUse", Some("Bash"), "claude-post-bash"),
    useful("PostToolUse", Some(EDITS), "claude-post-edit"),
    useful("PostToolBatch", None, "claude-post-batch"),
    vital("SessionStart", None, "claude-session-start"),
    useful("PreCompact", None, "claude-compact"),
];

const CLAUDE_DENY: &[Hook] = &[
    useful("PreToolUse", Some("Read"), "claude"),
    useful("PreToolUse", Some("Glob"), "claude-glob"),
    useful("PreToolUse", Some("Grep"), "claude-grep"),
    useful("PreToolUse", Some("Edit|MultiEdit|Write|NotebookEdit"), "claude-pre-edit"),
    // Only what the client has shown counts as shown.
    useful("PostToolUse", Some("Read"), "claude-delivered"),
    useful("PostToolUse", Some(EDITS), "claude-post-edit"),
    vital("SessionStart", None, "claude-session-start"),
    useful("PreCompact", None, "claude-compact"),
];

const CODEX: &[Hook] = &[
    useful("PostToolUse", Some("Bash"), "codex-post"),
    vital("SessionStart", None, "codex-session"),
    vital("PostCompact", None, "codex-session"),
];

/// Gemini's matchers are expressions that may match anywhere in a name: without anchors, our own MCP tool
/// `…_read_file` would match too. A sub-agent has no mark of its own there, so the call that starts it is bracketed; a
/// compaction is seen only in the request that follows it, so without those nothing is built upon.
const GEMINI: &[Hook] = &[
    useful("AfterTool", Some("^(read_file|invoke_agent)$"), "gemini-after"),
    vital("BeforeTool", Some("^invoke_agent$"), "gemini-before"),
    useful("BeforeModel", None, "gemini-turn"),
    vital("SessionStart", None, "gemini-session"),
];

const TABLES: [&[Hook]; 4] = [CLAUDE_REWRITE, CLAUDE_DENY, CODEX, GEMINI];

/// Names that only earlier versions registered.
const FORMER: &[&str] = &["claude-bash", "claude-post-search", "gemini", "gemini-compress"];

const fn useful(event: &'static str, matcher: Option<&'static str>, name: &'static str) -> Hook {
    Hook { event, matcher, name, need: Need::Useful }
}

const fn vital(event: &'static str, matcher: Option<&'static str>, name: &'static str) -> Hook {
    Hook { event, matcher, name, need: Need::Vital }
}

/// The program and the hook's name if `command` is one of ours: `…/drip hook NAME` or `…/scrimp drip hook NAME`.
pub(super) fn own_hook(command: &str) -> Option<(String, String)> {
    let mut words = shlex::split(command)?;
    let (name, hook) = (words.pop()?, words.pop()?);
    let known =
        FORMER.contains(&name.as_str()) || TABLES.iter().copied().flatten().any(|hook| hook.name == name);
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let program = own_program(&words)?;
    (hook == "hook" && known).then(|| (program.to_owned(), name))
}

/// The program if a client's MCP server is ours.
pub(super) fn own_server<'a>(command: &'a str, args: &[&'a str]) -> Option<&'a str> {
    let tool = args.iter().position(|word| *word == "mcp")?;
    let mut words = vec![command];
    words.extend(&args[..tool]);
    own_program(&words)
}

fn own_program<'a>(words: &[&'a str]) -> Option<&'a str> {
    let (program, through) = words.split_first()?;
    let name = Path::new(program).file_name()?.to_str()?;
    matches!((name, through), ("drip", []) | ("scrimp", ["drip"])).then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_commands_are_known_by_their_program_and_their_last_words() {
        for (command, program) in [
            ("/usr/bin/drip hook claude", "/usr/bin/drip"),
            ("'/opt/my tools/drip' hook claude-bash", "/opt/my tools/drip"),
            ("drip hook gemini-compress", "drip"),
            ("/x/scrimp drip hook codex-post", "/x/scrimp"),
        ] {
            assert_eq!(own_hook(command).map(|(program, _)| program).as_deref(), Some(program));
        }
    }

    #[test]
    fn other_peoples_commands_are_not_ours() {
        for command in [
            "",
            "drip",
            "drip hook",
            "hook claude",
            "/usr/bin/dripper hook claude",
            "drip hook unheard-of",
            "nice drip hook claude",
            "drip --verbose hook claude",
            "scrimp hook claude",
            "drip hook claude; rm x",
            "echo 'drip hook claude",
        ] {
            assert_eq!(own_hook(command), None, "{command}");
        }
    }

    #[test]
    fn a_server_is_ours_if_it_runs_drip() {
        assert_eq!(own_server("/a/drip", &["mcp", "--agent", "codex"]), Some("/a/drip"));
        assert_eq!(own_server("scrimp", &["drip", "mcp"]), Some("scrimp"));
        assert_eq!(own_server("npx", &["drip", "mcp"]), None);
        assert_eq!(own_server("/a/drip", &["serve"]), None);
    }

    #[test]
    fn what_is_registered_is_what_there_is() {
        // The table of hooks is private to those who answer them.
        let answered: Vec<&str> = include_str!("../hook.rs")
            .lines()
            .filter_map(|line| line.trim().strip_prefix("rewrite(\"").or(line.trim().strip_prefix("seed(\"")))
            .filter_map(|rest| rest.split('"').next())
            .collect();
        assert!(answered.len() > 15, "{answered:?}");
        let registered: Vec<&str> = TABLES.iter().copied().flatten().map(|hook| hook.name).collect();
        for name in &registered {
            assert!(answered.contains(name), "nobody answers {name}");
        }
        for name in answered {
            let is_former = FORMER.contains(&name);
            assert_ne!(
                registered.contains(&name),
                is_former,
                "{name} is registered nowhere, or is not former"
            );
        }
    }

    #[test]
    fn a_path_with_quotes_and_spaces_survives_the_shell() {
        let wanted = Wanted::new(Agent::Claude, Mode::Rewrite, "/it's my/drip");
        for hook in wanted.hooks {
            let known = own_hook(&wanted.command(hook));
            assert_eq!(known, Some(("/it's my/drip".to_owned(), hook.name.to_owned())));
        }
    }
}
