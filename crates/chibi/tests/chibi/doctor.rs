//! What the front door's doctor finds out about chibi.

use chibi::front;
use kit::Invocation;
use kit::doctor::{Check, Health};
use kit::invocation::{Clock, Environment, Program, Terminal};

use super::*;

impl Chibi {
    fn examined(&self) -> Vec<Check> {
        let more = [("CHIBI_SECRET", "the-very-key".into())];
        let invocation = Invocation {
            program: Program::new("scrimp", None),
            args: Vec::new(),
            env: Environment::of(self.home.environment().into_iter().chain(more)),
            cwd: self.home.path().to_owned(),
            stdin: Box::new(std::io::empty()),
            stdout: Box::new(std::io::sink()),
            stderr: Box::new(std::io::sink()),
            terminal: Terminal { stdin: false, stdout: false, stderr: false },
            clock: Clock::system(),
        };
        let places = invocation.places().unwrap();
        front::doctor(&invocation, &places)
    }

    /// What is not as it should be.
    fn ills(&self) -> Vec<String> {
        let ills = self.examined().into_iter().filter(|check| check.health != Health::Ok);
        ills.map(|check| check.finding.replace(&self.home.path().display().to_string(), "[HOME]")).collect()
    }
}

#[test]
fn a_transcript_with_a_gap_or_a_broken_line_is_told_and_a_good_one_is_not() {
    let server = Server::answering(|_| says("said"));
    let chibi = Chibi::asking(&server);
    chibi.configure(&server, "[storage]\npartition_max_entries = 2\n");
    ["one", "two", "three"].iter().for_each(|word| drop(chibi.told(&[word])));
    chibi.told(&["-C", "other", "four"]);
    assert_eq!(chibi.ills(), [] as [&str; 0]);

    let partitions = chibi.path("contexts/default/transcript/partitions");
    let files = fs::read_dir(partitions).unwrap().map(|file| file.unwrap().path());
    let lost = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).min().unwrap();
    fs::remove_file(&lost).unwrap();
    let active = chibi.path("contexts/other/transcript/active.jsonl");
    let good = fs::read(&active).unwrap();
    fs::write(&active, [b"\xff garbage\n".as_slice(), &good].concat()).unwrap();
    let ills = chibi.ills();
    assert_eq!(ills.len(), 2, "{ills:?}");
    assert!(ills[0].starts_with("`default`: the partition `[HOME]/"), "{ills:?}");
    assert!(ills[0].ends_with("is missing; the rest is used"), "{ills:?}");
    assert!(ills[1].starts_with("`other`: ") && ills[1].contains("active.jsonl:1: "), "{ills:?}");
    drop(server);
}

#[test]
fn a_doctor_asks_plugins_as_any_run_does() {
    let chibi = Chibi::bare();
    chibi.home.write(
        ".chibi/config.toml",
        "model = 'm'\nbase_url = 'http://127.0.0.1:9/v1/chat/completions'\napi_key_env = 'CHIBI_SECRET'\n",
    );
    let schema = json!({"name": "spy", "description": "d"});
    chibi.plugin("spy", &format!("#!/bin/bash\nenv > \"$CHIBI_HOME/seen\"\necho '{schema}'\n"));
    assert_eq!(chibi.ills(), [] as [&str; 0]);
    assert!(!chibi.read("seen").contains("the-very-key"));
    assert!(chibi.read("seen").contains("CHIBI_HOME="));
}
