//! Three doors, one answer: every command through the command line, the socket and the Model Context Protocol, with a daemon
//! and without, on a real project, to the byte.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and copies plain files"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use testkit::{Home, PATIENCE, bin};

/// A command as it is typed, and its parameters as they are sent.
struct Question {
    typed: Vec<&'static str>,
    name: &'static str,
    parameters: Value,
}

fn question(typed: &[&'static str], name: &'static str, parameters: Value) -> Question {
    Question { typed: typed.to_vec(), name, parameters }
}

/// Every command that answers about files alone. `warm` writes a file, and a session is what only a daemon remembers.
fn questions() -> Vec<Question> {
    let (file, rust) = ("python/decoder.py", "rust/text.rs");
    let in_file = json!({"file": file, "function": "JSONDecoder.decode"});
    let at_line = json!({"file": file, "function": "JSONDecoder.decode", "line": 344});
    let forward = json!({"file": file, "function": "JSONDecoder.decode", "line": 344,
        "direction": "forward", "var": "obj"});
    vec![
        question(&["tree"], "tree", json!({})),
        question(&["tree", "python"], "tree", json!({"path": "python"})),
        question(&["structure"], "structure", json!({"path": "."})),
        question(&["structure", "--lang", "rust"], "structure", json!({"path": ".", "lang": "rust"})),
        question(&["structure", "nowhere"], "structure", json!({"path": "nowhere"})),
        question(&["search", "def \\w+"], "search", json!({"pattern": "def \\w+"})),
        question(&["search", "fn", "rust"], "search", json!({"pattern": "fn", "path": "rust"})),
        question(&["search", "("], "search", json!({"pattern": "("})),
        question(&["extract", file], "extract", json!({"file": file})),
        question(&["extract", rust], "extract", json!({"file": rust})),
        question(&["extract", "hidden/secret.py"], "extract", json!({"file": "hidden/secret.py"})),
        question(&["extract", "gone.py"], "extract", json!({"file": "gone.py"})),
        question(&["imports", file], "imports", json!({"file": file})),
        question(&["importers", "json"], "importers", json!({"module": "json"})),
        question(&["importers", "nobody"], "importers", json!({"module": "nobody"})),
        question(&["cfg", file, "JSONDecoder.decode"], "cfg", in_file.clone()),
        question(&["dfg", file, "JSONDecoder.decode"], "dfg", in_file),
        question(
            &["cfg", "hidden/secret.py", "f"],
            "cfg",
            json!({"file": "hidden/secret.py", "function": "f"}),
        ),
        question(&["slice", file, "JSONDecoder.decode", "344"], "slice", at_line),
        question(
            &["slice", file, "JSONDecoder.decode", "344", "--direction", "forward", "--var", "obj"],
            "slice",
            forward,
        ),
        question(&["context", "JSONDecoder.decode"], "context", json!({"entry": "JSONDecoder.decode"})),
        question(&["context", "plain", "--depth", "1"], "context", json!({"entry": "plain", "depth": 1})),
        question(&["impact", "py_scanstring"], "impact", json!({"func": "py_scanstring"})),
        question(&["impact", "tokens", "rust"], "impact", json!({"func": "tokens", "path": "rust"})),
        question(&["impact", "no_such_thing"], "impact", json!({"func": "no_such_thing"})),
        question(&["calls"], "calls", json!({})),
        question(&["calls", "python"], "calls", json!({"path": "python"})),
        question(&["dead"], "dead", json!({})),
        question(&["arch"], "arch", json!({})),
        question(&["change-impact", file], "change_impact", json!({"files": [file]})),
        question(&["change-impact", "--git"], "change_impact", json!({"git": true})),
        question(&["diagnostics", "hidden"], "diagnostics", json!({"path": "hidden"})),
        question(
            &["semantic", "cut a text at a boundary"],
            "semantic",
            json!({"query": "cut a text at a boundary"}),
        ),
        question(&["semantic", "decode", "--top-k", "3"], "semantic", json!({"query": "decode", "top_k": 3})),
    ]
}

#[test]
fn every_door_gives_the_same_bytes_with_a_daemon_and_without() {
    let home = Home::new();
    let project = home.git_repo("p");
    furnish(&project);
    home.git(&project, &["add", "-A"]).ok();
    home.git(&project, &["commit", "-qm", "one"]).ok();
    fs::write(
        project.join("python/new.py"),
        "from json import loads\n\n\ndef fresh():\n    return loads('1')\n",
    )
    .unwrap();
    // What was kept spares the command line the parsing, a hundred times.
    home.run(home.command(bin("tldr")).args(["warm", "."]).current_dir(&project)).ok();
    let typed = |question: &Question, budget: &str| {
        let mut command = home.command(bin("tldr"));
        command.args(&question.typed).args(["--max-tokens", budget]).current_dir(&project);
        home.run(&mut command).stdout.trim_end().to_owned()
    };
    let mut cases = Vec::new();
    for question in questions() {
        for budget in ["100000", "300"] {
            let alone = typed(&question, budget);
            assert!(alone.starts_with("{\"status\":"), "{:?}: {alone}", question.typed);
            cases.push((question.typed.clone(), question.name, question.parameters.clone(), budget, alone));
        }
    }
    let mut model = Model::of(&home, &project);
    for (typed, name, parameters, budget, alone) in &cases {
        assert_eq!(
            &model.call(name, parameters, budget),
            alone,
            "in process, by a model: {typed:?} {budget}"
        );
    }
    home.run(home.command(bin("tldr")).args(["daemon", "start"]).current_dir(&project)).ok();
    let mut socket = connect(&home);
    for (words, name, parameters, budget, alone) in &cases {
        let question = Question { typed: words.clone(), name, parameters: parameters.clone() };
        assert_eq!(&typed(&question, budget), alone, "typed, answered by the daemon: {words:?} {budget}");
        assert_eq!(&sent(&mut socket, name, parameters, budget), alone, "sent: {words:?} {budget}");
        assert_eq!(&model.call(name, parameters, budget), alone, "by a model: {words:?} {budget}");
    }
    home.run(home.command(bin("tldr")).args(["daemon", "stop"]).current_dir(&project)).ok();
}

/// Our own `kit`, a package of Python's library, and something that the rules hide.
fn furnish(project: &Path) {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kit/src");
    let python = std::process::Command::new("python3")
        .args(["-c", "import json, os; print(os.path.dirname(json.__file__))"])
        .output()
        .unwrap();
    let python = PathBuf::from(String::from_utf8(python.stdout).unwrap().trim().to_owned());
    for (from, to) in [(ours, "rust"), (python, "python")] {
        fs::create_dir_all(project.join(to)).unwrap();
        for entry in fs::read_dir(&from).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_file() {
                fs::copy(&entry, project.join(to).join(entry.file_name().unwrap())).unwrap();
            }
        }
    }
    fs::create_dir(project.join("hidden")).unwrap();
    fs::write(project.join("hidden/secret.py"), "def f():\n    return 1\n").unwrap();
    fs::write(project.join(".gitignore"), "hidden/\n").unwrap();
    // A start would write it, and then the project is another one.
    fs::write(project.join(".tldrignore"), "*.log\n").unwrap();
}

fn with_budget(parameters: &Value, budget: &str) -> Map<String, Value> {
    let mut fields = parameters.as_object().unwrap().clone();
    fields.insert("max_tokens".to_owned(), budget.parse::<u64>().unwrap().into());
    fields
}

fn connect(home: &Home) -> BufReader<UnixStream> {
    let entries = fs::read_dir(home.temp()).unwrap().map(|entry| entry.unwrap().path());
    let socket = entries.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "sock"));
    let stream = UnixStream::connect(socket.unwrap()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    BufReader::new(stream)
}

fn sent(socket: &mut BufReader<UnixStream>, name: &str, parameters: &Value, budget: &str) -> String {
    let mut fields = with_budget(parameters, budget);
    fields.insert("cmd".to_owned(), name.into());
    socket.get_mut().write_all(format!("{}\n", Value::Object(fields)).as_bytes()).unwrap();
    line(socket)
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

/// A client of `tldr mcp`.
struct Model {
    child: std::process::Child,
    said: BufReader<std::process::ChildStdout>,
    asked: u64,
}

impl Model {
    fn of(home: &Home, project: &Path) -> Model {
        let mut command = home.command(bin("tldr"));
        command.arg("mcp").current_dir(project);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut model = Model { child, said, asked: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        model.request("initialize", &hello);
        model.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        model
    }

    fn call(&mut self, name: &str, parameters: &Value, budget: &str) -> String {
        let answer =
            self.request("tools/call", &json!({"name": name, "arguments": with_budget(parameters, budget)}));
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params}));
        serde_json::from_str(&line(&mut self.said)).unwrap()
    }

    fn say(&mut self, message: &Value) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
