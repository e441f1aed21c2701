//! Claude Code with our hooks, as it was measured: what its tools show, what it sends to hooks, which answers it takes,
//! and what its model sees in the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use testkit::{Home, Output, bin};

/// One conversation of somebody with a home and a clock of their own.
pub(crate) struct Claude {
    pub(crate) home: Home,
    session: String,
    agent: Option<String>,
    mechanism: Mechanism,
    calls: AtomicU32,
    /// What the person has set.
    pub(crate) env: Vec<(&'static str, &'static str)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mechanism {
    Rewrite,
    /// `init --mode deny`.
    Deny,
}

/// What the model was given for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Client,
    Drip,
}

/// Which lines.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    All,
    From(usize, usize),
    /// All, but the client stops after so many lines.
    CutAfter(usize),
}

impl Claude {
    pub(crate) fn new() -> Claude {
        Claude::with(Mechanism::Rewrite)
    }

    pub(crate) fn with(mechanism: Mechanism) -> Claude {
        let home = Home::new();
        home.clock();
        Claude {
            home,
            session: "3f1c9a52-main".into(),
            agent: None,
            mechanism,
            calls: AtomicU32::new(0),
            env: Vec::new(),
        }
    }

    /// From now on it is this agent of the conversation that works; none is the main one.
    pub(crate) fn become_agent(&mut self, agent: Option<&str>) {
        self.agent = agent.map(str::to_owned);
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn hook(&self, name: &str, payload: &Value) -> Output {
        self.hook_raw(name, payload.to_string())
    }

    pub(crate) fn hook_raw(&self, name: &str, input: impl AsRef<[u8]>) -> Output {
        let mut command = self.home.command(bin("drip"));
        command.args(["hook", name]).envs(self.env.iter().copied());
        self.home.run_with(&mut command, input)
    }

    /// What a hook answered, which is nothing or one line of JSON, and no word about an error.
    #[track_caller]
    fn answer(&self, name: &str, payload: &Value) -> Value {
        let output = self.hook(name, payload).ok();
        assert_eq!(output.stderr, "", "{name}");
        let line = output.stdout.trim_end_matches('\n');
        assert!(!line.contains('\n'), "{name} printed {line:?}");
        let answer: Value = if line.is_empty() { json!({}) } else { serde_json::from_str(line).unwrap() };
        assert!(!answer.to_string().contains("\"allow\""), "{name} allowed something: {answer}");
        answer
    }

    pub(crate) fn event(&self, event: &str) -> Value {
        let mut payload = json!({
            "session_id": self.session, "transcript_path": "/t/3f1c.jsonl", "cwd": self.home.path(),
            "prompt_id": "p1", "permission_mode": "default", "hook_event_name": event,
        });
        if let Some(agent) = &self.agent {
            payload["agent_id"] = json!(agent);
            payload["agent_type"] = json!("general-purpose");
        }
        payload
    }

    pub(crate) fn call(&self, event: &str, tool: &str, input: Value) -> Value {
        let mut payload = self.event(event);
        payload["tool_name"] = json!(tool);
        payload["tool_input"] = input;
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        payload["tool_use_id"] = json!(format!("toolu_{number:02}"));
        payload
    }

    /// The model reads a file, and the round of calls is over.
    #[track_caller]
    pub(crate) fn read(&self, name: &str, part: Part) -> Seen {
        let seen = self.read_in_round(name, part);
        self.end_round();
        seen
    }

    #[track_caller]
    pub(crate) fn read_in_round(&self, name: &str, part: Part) -> Seen {
        let path = self.path(name);
        let mut input = json!({"file_path": path});
        if let Part::From(offset, limit) = part {
            input["offset"] = json!(offset);
            input["limit"] = json!(limit);
        }
        if self.mechanism == Mechanism::Deny {
            let answer = self.answer("claude", &self.call("PreToolUse", "Read", input.clone()));
            if let Some(reason) = denied(&answer) {
                return Seen { text: reason, by: By::Drip };
            }
        }
        let response = shown(&path, part);
        let mut payload = self.call("PostToolUse", "Read", input);
        payload["tool_response"] = response.clone();
        match self.mechanism {
            Mechanism::Deny => {
                assert_eq!(self.answer("claude-delivered", &payload), json!({}));
                Seen { text: numbered(&response), by: By::Client }
            }
            Mechanism::Rewrite => self.rewritten(&response, &self.answer("claude-post-read", &payload)),
        }
    }

    /// What the client makes of an answer: an object of another form is dropped without a word.
    fn rewritten(&self, response: &Value, answer: &Value) -> Seen {
        let output = &answer["hookSpecificOutput"]["updatedToolOutput"];
        if output.is_null() {
            return Seen { text: numbered(response), by: By::Client };
        }
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUse");
        assert_eq!(output["type"], "text");
        let file = &output["file"];
        assert_eq!(file["filePath"], response["file"]["filePath"]);
        assert_eq!(file["totalLines"], response["file"]["totalLines"]);
        let content = file["content"].as_str().unwrap();
        assert_eq!(file["numLines"], content.split('\n').count());
        assert!(!content.is_empty() && !content.ends_with('\n'), "{content:?}");
        assert!(file.get("truncatedByTokenCap").is_none());
        let seen = Seen { text: numbered(output), by: By::Drip };
        assert!(seen.text.len() < numbered(response).len(), "longer than the client's own: {}", seen.text);
        seen
    }

    pub(crate) fn end_round(&self) {
        if self.mechanism == Mechanism::Rewrite {
            let mut payload = self.event("PostToolBatch");
            payload["tool_calls"] = json!([]);
            assert_eq!(self.hook("claude-post-batch", &payload).ok().stdout, "");
        }
    }

    /// The model replaces text, the client does it, and both hooks are asked; gives what the hook before it said, or the
    /// note of the one after it.
    #[track_caller]
    pub(crate) fn edit(&self, name: &str, old: &str, new: &str) -> Option<String> {
        let path = self.path(name);
        let input = json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": false});
        if self.mechanism == Mechanism::Deny {
            let answer = self.answer("claude-pre-edit", &self.call("PreToolUse", "Edit", input.clone()));
            if let Some(reason) = denied(&answer) {
                return Some(reason);
            }
        }
        let original = fs::read_to_string(&path).unwrap();
        assert!(original.contains(old), "{old:?} is not in {name}");
        fs::write(&path, original.replacen(old, new, 1)).unwrap();
        let mut payload = self.call("PostToolUse", "Edit", input);
        payload["tool_response"] = json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": original.replace("\r\n", "\n"),
            "structuredPatch": [], "userModified": false, "replaceAll": false,
        });
        let answer = self.answer("claude-post-edit", &payload);
        self.end_round();
        answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    }

    #[track_caller]
    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        let original = fs::read_to_string(&path).ok();
        fs::write(&path, content).unwrap();
        let mut payload = self.call("PostToolUse", "Write", json!({"file_path": path, "content": content}));
        payload["tool_response"] = json!({
            "type": if original.is_some() { "update" } else { "create" },
            "filePath": path, "content": content, "structuredPatch": [], "originalFile": original,
        });
        assert_eq!(self.answer("claude-post-edit", &payload), json!({}));
        self.end_round();
    }

    /// The model runs a command, in a real shell.
    #[track_caller]
    pub(crate) fn bash(&self, command: &str) -> Seen {
        let ran = self.home.run(self.home.command("sh").args(["-c", command]));
        let response = json!({
            "stdout": ran.stdout.trim_end_matches('\n'), "stderr": ran.stderr, "interrupted": false,
            "isImage": false, "noOutputExpected": false,
        });
        let mut payload =
            self.call("PostToolUse", "Bash", json!({"command": command, "description": "look"}));
        payload["tool_response"] = response.clone();
        let answer = self.answer("claude-post-bash", &payload);
        self.end_round();
        let output = &answer["hookSpecificOutput"]["updatedToolOutput"];
        if output.is_null() {
            return Seen { text: response["stdout"].as_str().unwrap().to_owned(), by: By::Client };
        }
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(output), keys(&response), "the tool's own form");
        Seen { text: output["stdout"].as_str().unwrap().to_owned(), by: By::Drip }
    }

    /// A session starts, for this reason; gives the note for the model.
    #[track_caller]
    pub(crate) fn session_starts(&self, source: &str) -> Option<String> {
        let mut payload = self.event("SessionStart");
        payload["source"] = json!(source);
        let answer = self.answer("claude-session-start", &payload);
        answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    }

    pub(crate) fn drip(&self, args: &[&str]) -> Output {
        self.home.run(self.home.command(bin("drip")).args(args))
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home.state().join("scrimp/drip.log")).unwrap_or_default()
    }
}

impl Seen {
    #[track_caller]
    pub(crate) fn is_native(&self) -> &str {
        assert_eq!(self.by, By::Client, "drip said: {}", self.text);
        &self.text
    }

    #[track_caller]
    pub(crate) fn is_ours(&self, beginning: &str) -> &str {
        assert_eq!(self.by, By::Drip, "the client said: {}", self.text);
        assert!(self.text.starts_with(beginning), "{}", self.text);
        &self.text
    }
}

/// A file of lines that tell their number, in names that no other line has.
pub(crate) fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line} holds some text of its own\n")).collect()
}

fn denied(answer: &Value) -> Option<String> {
    let output = &answer["hookSpecificOutput"];
    (output["permissionDecision"] == "deny")
        .then(|| output["permissionDecisionReason"].as_str().unwrap().to_owned())
}

/// What the reading tool gives: text without a mark, with plain line ends, and one more line behind the last end.
pub(crate) fn shown(path: &Path, part: Part) -> Value {
    let bytes = fs::read(path).unwrap();
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let all: Vec<&str> = text.split('\n').collect();
    let (first, count, cut) = match part {
        Part::All => (1, all.len(), false),
        Part::From(offset, limit) => (offset, limit, false),
        Part::CutAfter(count) => (1, count, true),
    };
    let shown: Vec<&str> = all.iter().skip(first - 1).take(count).copied().collect();
    let mut response = json!({"type": "text", "file": {
        "filePath": path, "content": shown.join("\n"), "numLines": shown.len(), "startLine": first,
        "totalLines": all.len(),
    }});
    if cut {
        response["file"]["truncatedByTokenCap"] = json!(true);
    }
    response
}

/// A result of the reading tool as its model sees it.
fn numbered(output: &Value) -> String {
    let first = output["file"]["startLine"].as_i64().unwrap();
    let lines = output["file"]["content"].as_str().unwrap().split('\n');
    lines.zip(first..).map(|(line, number)| format!("{number}\t{line}\n")).collect()
}
