//! Somebody with a home, a project in it and a session of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use drip::caller::Caller;
use drip::database::{Database, Edit, Options};
use drip::lines::{Hash, Span};
use drip::session::{AgentId, Session, SessionId, Strategy};
use drip::settings::Settings;
use serde_json::Value;
use testkit::{Home, Output, bin};

pub(crate) struct Person {
    pub(crate) home: Home,
}

impl Person {
    /// The clock stands still.
    pub(crate) fn new() -> Person {
        let home = Home::new();
        home.clock();
        fs::create_dir(home.path().join("project")).unwrap();
        Person { home }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.data().join("drip")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(bin("drip"));
        command.args(args).current_dir(self.project()).env("DRIP_SESSION_ID", "s1").env("SHELL", "/bin/bash");
        command
    }

    #[track_caller]
    pub(crate) fn drip(&self, args: &[&str]) -> Output {
        self.home.run(&mut self.command(args))
    }

    /// With variables that are set besides.
    #[track_caller]
    pub(crate) fn drip_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Output {
        self.home.run(self.command(args).envs(variables.iter().copied()))
    }

    /// Standard output of a command that must succeed and say nothing else.
    #[track_caller]
    pub(crate) fn says(&self, args: &[&str]) -> String {
        let said = self.drip(args).ok();
        assert_eq!(said.stderr, "", "{args:?}");
        said.stdout
    }

    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.says(args)).unwrap()
    }

    /// Writes a file of the project.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        self.home.write(self.project().join(name), bytes)
    }

    /// The person's agent changed line 5 of a file, as its hook would write it down.
    pub(crate) fn edited(&self, path: &Path, before: &str, after: &str, patch: &str) {
        let session = SessionId::new("s1").unwrap();
        let caller = Caller {
            session: Session { id: session, strategy: Strategy::Env, context: "(env)".into() },
            agent: AgentId::main(),
            cwd: self.project(),
            client: None,
            call: None,
        };
        let path = path.canonicalize().unwrap();
        let edit = Edit {
            caller: &caller,
            path: path.to_str().unwrap(),
            before: &Hash::of(before.as_bytes()),
            after: &Hash::of(after.as_bytes()),
            patch,
            touched: &[("head".to_owned(), Span { first: 5, last: 5 })],
        };
        self.database().record_edit(&edit).unwrap();
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.home.clock().advance(Duration::from_secs(seconds));
    }

    /// The store, opened as drip opens it.
    fn database(&self) -> Database {
        let options = Options::from(&Settings::default());
        Database::open(&self.store(), options, self.home.clock().now_ms()).unwrap()
    }
}

/// Lines that differ from each other.
pub(crate) fn lines(count: usize) -> String {
    (1..=count).map(|number| format!("line {number} of a file that somebody reads\n")).collect()
}

/// The same with some lines changed.
pub(crate) fn changed(count: usize, which: &[usize]) -> String {
    let change = |(index, line): (usize, &str)| match which.contains(&(index + 1)) {
        true => format!("{line}, changed\n"),
        false => format!("{line}\n"),
    };
    lines(count).lines().enumerate().map(change).collect()
}

/// Every file below a folder with its bytes.
pub(crate) fn everything(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(everything(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap_or_default())),
        }
    }
    found.sort();
    found
}

/// Whether any file below a folder holds these bytes.
pub(crate) fn holds(folder: &Path, needle: &[u8]) -> bool {
    everything(folder).iter().any(|(_, bytes)| bytes.windows(needle.len()).any(|window| window == needle))
}
