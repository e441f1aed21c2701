//! What the agent is told by the other tools, as they are: tldr's daemon about code, clai about what the person ran.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use testkit::{Home, PATIENCE, bin, until};

use crate::rig::{Rig, calls, results, says};

#[test]
fn the_code_index_answers_through_its_own_daemon() {
    let rig = Rig::new([
        calls("code_context", &json!({"function": "main"})),
        calls("code_callers", &json!({"function": "helper"})),
        calls("code_impact", &json!({"function": "helper", "depth": 3})),
        calls("code_callers", &json!({"function": "hepler"})),
        says("main calls helper."),
    ]);
    rig.home.write("p/app.py", "from lib import helper\n\n\ndef main():\n    helper()\n\n\nmain()\n");
    rig.home.write("p/lib.py", "def helper():\n    return 1\n");
    let daemon = Index::of(&rig);
    assert!(doctor(&rig).contains("tldr answers"));
    let _ = rig.run(&["who calls helper?"]).ok();
    drop(daemon);
    assert!(doctor(&rig).contains("no tldr daemon here"));
    let requests = rig.requests();
    let names = offered(&requests[0]);
    assert!(
        ["code_context", "code_callers", "code_impact"].iter().all(|name| names.contains(name)),
        "{names:?}"
    );
    let told: Vec<(String, bool)> = requests[1..].iter().map(|request| results(request).remove(0)).collect();
    let says = |place: usize, words: &str| !told[place].1 && told[place].0.contains(words);
    assert!(says(0, "helper") && says(0, "lib.py"), "{}", told[0].0);
    assert!(says(1, "main") && says(1, "app.py"), "{}", told[1].0);
    assert!(says(2, "main"), "{}", told[2].0);
    assert!(
        told[3].1 && told[3].0.contains("hepler") && told[3].0.ends_with("use code_search"),
        "{}",
        told[3].0
    );
}

#[test]
fn what_the_person_ran_is_told_only_with_their_consent() {
    let rig = Rig::new([
        says("No."),
        calls("recent_commands", &json!({"limit": 2})),
        says("It failed."),
        says("No."),
    ]);
    let project = rig.project();
    rig.home.git_repo("p");
    let below = project.join("src");
    let daemon = ran(
        &rig.home,
        &[
            ("ls", 0, project.to_str().unwrap()),
            ("make check", 2, below.to_str().unwrap()),
            ("cat ~/.netrc", 0, "/elsewhere"),
            ("git status", 0, project.to_str().unwrap()),
        ],
    );
    let _ = rig.run(&["hi"]).ok();
    rig.home.write(".config/scrimp/config.toml", "[agent]\nrecent_commands = true\n");
    let _ = rig.run(&["what went wrong?"]).ok();
    assert!(doctor(&rig).contains("clai tells what you ran here"));
    drop(daemon);
    let output = rig.run(&["and now?"]).ok();
    assert_eq!(output.stderr, "", "nobody is there to ask, and that is no trouble");
    assert!(doctor(&rig).contains("clai's daemon is not running"));
    let requests = rig.requests();
    assert!(!offered(&requests[0]).contains(&"recent_commands"));
    assert!(offered(&requests[1]).contains(&"recent_commands"));
    assert_eq!(results(&requests[2]), [("[2] make check\n[0] git status".to_owned(), false)]);
    assert!(!offered(&requests[3]).contains(&"recent_commands"));
}

#[test]
fn a_daemon_that_does_not_know_the_question_is_told_of_and_done_without() {
    let rig = Rig::new([says("Fine.")]);
    rig.home.write(".config/scrimp/config.toml", "[agent]\nrecent_commands = true\n");
    let folder = rig.home.runtime().join("clai");
    std::fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
    let listener = UnixListener::bind(folder.join("daemon.sock")).unwrap();
    let older = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut question = String::new();
        BufReader::new(&stream).read_line(&mut question).unwrap();
        stream.write_all(b"{\"error\":\"unknown variant `recent`\"}\n").unwrap();
        question
    });
    let output = rig.run(&["hi"]).ok();
    let told = "warning: clai does not tell what was run here: unknown variant `recent`";
    assert!(output.stderr.starts_with(told), "{}", output.stderr);
    let question: Value = serde_json::from_str(&older.join().unwrap()).unwrap();
    assert_eq!((&question["type"], &question["cwd"]), (&json!("recent"), &json!(rig.project())));
    assert!(!offered(&rig.requests()[0]).contains(&"recent_commands"));
}

fn doctor(rig: &Rig) -> String {
    rig.home.run(rig.home.command(bin("agent")).arg("doctor").current_dir(rig.project())).stdout
}

fn offered(request: &Value) -> Vec<&str> {
    request["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// tldr's daemon for the project, ready. Stopped when dropped.
struct Index<'a>(&'a Rig);

impl Index<'_> {
    fn of(rig: &Rig) -> Index<'_> {
        let index = Index(rig);
        index.tldr(&["daemon", "start"]);
        assert!(until(PATIENCE, || index.tldr(&["daemon", "status"]).contains("\"ready\"")));
        index
    }

    fn tldr(&self, args: &[&str]) -> String {
        let Rig { home, .. } = self.0;
        home.run(home.command(bin("tldr")).args(args).current_dir(self.0.project())).stdout
    }
}

impl Drop for Index<'_> {
    fn drop(&mut self) {
        self.tldr(&["daemon", "stop"]);
    }
}

/// clai's daemon, which has kept commands: what, how it ended, and where.
fn ran(home: &Home, commands: &[(&str, i32, &str)]) -> Killed {
    let mut daemon = Killed(
        home.command(bin("clai-daemon"))
            .arg("--foreground")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut stream = None;
    assert!(until(PATIENCE, || {
        stream = UnixStream::connect(home.runtime().join("clai/daemon.sock")).ok();
        stream.is_some() || daemon.0.try_wait().unwrap().is_some()
    }));
    let mut stream = stream.unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    for (place, (command, exit_code, cwd)) in commands.iter().enumerate() {
        let event = json!({"type": "command_end", "session_id": "s", "shell": "bash", "ts": now as u64 + place as u64,
            "cwd": cwd, "cmd_raw": command, "exit_code": exit_code});
        stream.write_all(format!("{event}\n").as_bytes()).unwrap();
    }
    stream.write_all(b"{\"type\":\"flush\"}\n").unwrap();
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).unwrap();
    assert_eq!(answer, "{\"done\":true}\n");
    daemon
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
