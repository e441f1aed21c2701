//! chibi as the user meets it: the binary against a scripted model over real sockets.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test: writes plain files, starts programs and wants to know at once"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use testkit::model::{Reply, Request, Server, Turn, Wire, turn};
use testkit::terminal::{Size, Terminal};
use testkit::{Home, Output, PATIENCE};

#[path = "chibi/basics.rs"]
mod basics;
#[path = "chibi/compaction.rs"]
mod compaction;
#[path = "chibi/contexts.rs"]
mod contexts;
#[path = "chibi/crash.rs"]
mod crash;
#[path = "chibi/doctor.rs"]
mod doctor;
#[path = "chibi/errors.rs"]
mod errors;
#[path = "chibi/flags.rs"]
mod flags;
#[path = "chibi/hooks.rs"]
mod hooks;
#[path = "chibi/hostile.rs"]
mod hostile;
#[path = "chibi/json.rs"]
mod json_commands;
#[path = "chibi/prefix.rs"]
mod prefix;
#[path = "chibi/processes.rs"]
mod processes;
#[path = "chibi/settings.rs"]
mod settings;
#[path = "chibi/terminal.rs"]
mod terminal;
#[path = "chibi/tools.rs"]
mod tools;

/// A home with a chibi in it.
struct Chibi {
    home: Home,
}

impl Chibi {
    /// Without any settings.
    fn bare() -> Chibi {
        let chibi = Chibi { home: Home::new() };
        chibi.home.clock().set(1_767_225_600_000);
        chibi
    }

    /// That asks this server.
    fn asking(server: &Server) -> Chibi {
        let chibi = Chibi::bare();
        chibi.configure(server, "");
        chibi
    }

    fn configure(&self, server: &Server, more: &str) {
        let text = format!(
            "model = \"test-model\"\ncontext_window_limit = 100000\nwarn_threshold_percent = 75.0\n\
             base_url = \"{}/v1/chat/completions\"\n{more}\n",
            server.url()
        );
        self.home.write(".chibi/config.toml", text);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(testkit::bin("chibi"));
        command.args(args);
        command
    }

    #[track_caller]
    fn run(&self, args: &[&str]) -> Output {
        self.home.run(&mut self.command(args))
    }

    #[track_caller]
    fn piped(&self, args: &[&str], stdin: &str) -> Output {
        self.home.run_with(&mut self.command(args), stdin)
    }

    /// Standard output of a run that must succeed and say nothing on standard error.
    #[track_caller]
    fn told(&self, args: &[&str]) -> String {
        let output = self.run(args).ok();
        assert_eq!(output.stderr, "", "{args:?}");
        output.stdout
    }

    fn terminal(&self, args: &[&str]) -> Terminal {
        Terminal::spawn(&self.home, testkit::bin("chibi"), args, Size::default())
    }

    fn path(&self, below: &str) -> PathBuf {
        self.home.path().join(".chibi").join(below)
    }

    #[track_caller]
    fn read(&self, below: &str) -> String {
        self.home.read(format!(".chibi/{below}"))
    }

    /// The lines of a file, each as JSON.
    #[track_caller]
    fn lines(&self, below: &str) -> Vec<Value> {
        self.read(below).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Entries of a context's transcript of these kinds: `(entry_type, from, to, content)`.
    #[track_caller]
    fn transcript(&self, context: &str) -> Vec<(String, String, String, String)> {
        let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let entries = self.lines(&format!("contexts/{context}/transcript/active.jsonl"));
        let row = |entry: &Value| {
            (text(entry, "entry_type"), text(entry, "from"), text(entry, "to"), text(entry, "content"))
        };
        entries.iter().map(row).collect()
    }

    fn plugin(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.write(format!(".chibi/plugins/{name}"), text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

/// A reply over the wire that most servers speak.
fn said(turn: Turn) -> Reply {
    turn.stream(Wire::OpenAi)
}

fn says(text: &str) -> Reply {
    said(turn().say(text))
}

/// The messages of a request as `(role, text)`.
fn messages(request: &Request) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    let body = request.json();
    let list = body["messages"].as_array().unwrap();
    list.iter().map(|said| (said["role"].as_str().unwrap().to_owned(), text(&said["content"]))).collect()
}

/// As [`messages`], in short.
fn spoken(request: &Request) -> Vec<String> {
    messages(request).into_iter().map(|(role, text)| format!("{role}: {text}")).collect()
}

/// A bash plugin with one tool that prints what `body` prints.
fn bash_tool(name: &str, body: &str) -> String {
    let schema =
        json!({"name": name, "description": name, "parameters": {"type": "object", "properties": {}}});
    format!("#!/bin/bash\nif [[ $1 == --schema ]]; then echo '{schema}'; exit; fi\n{body}\n")
}
