//! A project with a daemon, and a caller with bare hands.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::{Home, Output, PATIENCE, bin, until};

pub(crate) struct Rig {
    pub(crate) home: Home,
    pub(crate) project: PathBuf,
}

impl Rig {
    /// A small program, and nobody that serves it.
    pub(crate) fn new() -> Rig {
        let home = Home::new();
        home.write("p/app.py", "from lib import helper\n\n\ndef main():\n    helper()\n\n\nmain()\n");
        home.write("p/lib.py", "def helper():\n    return 1\n");
        let project = home.path().join("p");
        Rig { home, project }
    }

    pub(crate) fn served() -> Rig {
        let rig = Rig::new();
        rig.tldr(&["daemon", "start"]).ok();
        rig
    }

    /// Runs `tldr` in the project.
    pub(crate) fn tldr(&self, args: &[&str]) -> Output {
        self.home.run(self.home.command(bin("tldr")).args(args).current_dir(&self.project))
    }

    pub(crate) fn status(&self) -> Value {
        serde_json::from_str(&self.tldr(&["daemon", "status"]).ok().stdout).unwrap()
    }

    pub(crate) fn runs(&self) -> bool {
        self.status().get("message").is_none()
    }

    pub(crate) fn pid(&self) -> u32 {
        std::fs::read_to_string(self.named("pid")).unwrap().lines().next().unwrap().parse().unwrap()
    }

    /// The file in the temporary directory with this ending.
    pub(crate) fn named(&self, ending: &str) -> PathBuf {
        let files = std::fs::read_dir(self.home.temp()).unwrap().map(|entry| entry.unwrap().path());
        let is_it = |path: &PathBuf| path.extension().is_some_and(|found| found == ending);
        files.into_iter().find(is_it).unwrap_or_else(|| panic!("there is no .{ending}"))
    }

    pub(crate) fn connect(&self) -> Talk {
        let stream = UnixStream::connect(self.named("sock")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Talk(BufReader::new(stream))
    }

    pub(crate) fn ask(&self, request: &Value) -> Value {
        self.connect().ask(request)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.home.write(Path::new("p").join(path), text);
    }

    pub(crate) fn kill(&self) {
        let pid = self.pid();
        let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        assert!(killed.success());
        assert!(until(PATIENCE, || !is_alive(pid)));
    }
}

pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

impl Drop for Rig {
    fn drop(&mut self) {
        if self.project.is_dir() {
            let _ = self
                .home
                .run(self.home.command(bin("tldr")).args(["daemon", "stop"]).current_dir(&self.project));
        }
    }
}

/// One connection.
pub(crate) struct Talk(pub(crate) BufReader<UnixStream>);

impl Talk {
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    /// The next line; nothing if the other side has hung up.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.0.read_line(&mut line).unwrap() {
            0 => None,
            _ => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.say(format!("{request}\n").as_bytes());
        self.hear().expect("an answer")
    }
}

pub(crate) fn ping() -> Value {
    json!({"cmd": "ping"})
}
