//! Freshness: whatever happens to the files, with or without being told, the daemon says what somebody who looks at
//! everything for the first time would say, to the byte.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and writes plain files"
)]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use kit::invocation::Environment;
use serde_json::{Value, json};
use testkit::{Home, PATIENCE, Random, bin, hostile, until};
use tldr::engine::Engine;
use tldr::index::Lifetime;
use tldr::root::Root;
use tldr::settings::Settings;
use wire::tldr::Request;

/// Edits in the suite, and in the soak.
const STEPS: usize = 25;
const SOAK: usize = 2_000;

#[test]
fn the_daemon_says_what_a_first_look_says_after_any_change() {
    let home = Home::new();
    let project = home.git_repo("p");
    let sources = copy_of_real_sources(&project);
    home.git(&project, &["add", "-A"]).ok();
    home.git(&project, &["commit", "-qm", "one"]).ok();
    other_branch(&home, &project);
    let path = with_a_checker(&home);
    let mut start = home.command(bin("tldr"));
    home.run(start.args(["daemon", "start"]).env("PATH", &path).current_dir(&project)).ok();
    let steps = if std::env::var_os("SCRIMP_SOAK_POINTS").is_some() { SOAK } else { STEPS };
    // Another one each day would find more; the same one each day can be believed.
    let mut random = Random::new(7);
    let mut world = World { home: &home, project: project.clone(), names: names(&sources), stashed: false };
    let mut talk = connect(&home);
    for step in 0..steps {
        let mut what = world.change(&mut random);
        // Somebody who tells of the change, and somebody who does not, are told the same.
        if random.below(2) == 0 {
            let file = world.any(&mut random).unwrap_or_else(|| project.join("gone.py"));
            ask(&mut talk, &json!({"cmd": "notify", "file": file}));
            what.push_str(" and being told of some file");
        }
        // So that the first look is one, and not only by what the daemon kept.
        if random.below(3) == 0 {
            let _ = fs::remove_dir_all(project.join(".tldr/cache"));
        }
        for request in questions(&world, &mut random, 3) {
            let warm = (ask(&mut talk, &request), call_graph(&project));
            let cold = (cold(&project, &path, &request), call_graph(&project));
            assert_eq!(warm, cold, "step {step}, after {what}, {request}");
        }
    }
    home.run(home.command(bin("tldr")).args(["daemon", "stop"]).current_dir(&project)).ok();
}

/// What the kernel does not tell: a write under a name of the file that is outside of the project, and one that puts the
/// time of the last change back.
#[test]
fn a_write_under_another_name_or_with_an_old_time_is_seen() {
    let home = Home::new();
    home.write("p/a.py", "def one():\n    return 1\n");
    let project = home.path().join("p");
    fs::hard_link(project.join("a.py"), home.path().join("elsewhere.py")).unwrap();
    home.run(home.command(bin("tldr")).args(["daemon", "start"]).current_dir(&project)).ok();
    let mut talk = connect(&home);
    let time = fs::metadata(project.join("a.py")).unwrap().modified().unwrap();
    for (path, name) in
        [("elsewhere.py", "two"), ("p/a.py", "six"), ("elsewhere.py", "ten"), ("p/a.py", "one")]
    {
        for request in [json!({"cmd": "structure", "path": "."}), json!({"cmd": "extract", "file": "a.py"})] {
            // No longer than before, and no younger.
            home.write(path, format!("def {name}():\n    return 1\n"));
            fs::File::options().write(true).open(home.path().join(path)).unwrap().set_modified(time).unwrap();
            let said = ask(&mut talk, &request);
            assert!(said.contains(name), "{request} {said}");
            assert_eq!(said, cold(&project, OsStr::new("/usr/bin:/bin"), &request));
            home.write(path, "def nothing():\n    return 1\n");
            assert!(ask(&mut talk, &request).contains("nothing"));
        }
    }
    home.run(home.command(bin("tldr")).args(["daemon", "stop"]).current_dir(&project)).ok();
}

/// A disk in the place of a directory, of which the kernel tells nobody who watches that directory.
#[test]
fn another_disk_in_the_place_of_a_directory_is_seen() {
    hostile::small_disk(2 << 20, |disk| {
        let home = Home::new();
        let project = disk.join("p");
        for (path, name) in [("p/sub/a.py", "one"), ("other/b.py", "two")] {
            fs::create_dir_all(disk.join(path).parent().unwrap()).unwrap();
            fs::write(disk.join(path), format!("def {name}():\n    return 1\n")).unwrap();
        }
        home.run(home.command(bin("tldr")).args(["daemon", "start"]).current_dir(&project)).ok();
        let mut talk = connect(&home);
        let tree = json!({"cmd": "tree"});
        assert!(ask(&mut talk, &tree).contains("a.py"));
        for (args, name) in [(["mount", "--bind"], "b.py"), (["umount", "--lazy"], "a.py")] {
            let mut command = std::process::Command::new(args[0]);
            command
                .arg(args[1])
                .args((args[0] == "mount").then(|| disk.join("other")))
                .arg(project.join("sub"));
            assert!(command.status().unwrap().success());
            // Within the second that lies between two looks at all that is known.
            assert!(until(PATIENCE, || ask(&mut talk, &tree).contains(name)));
        }
        home.run(home.command(bin("tldr")).args(["daemon", "stop"]).current_dir(&project)).ok();
    });
}

/// Where programs are found, among them a checker that finds every function wrong.
fn with_a_checker(home: &Home) -> OsString {
    let checker = "#!/bin/sh\nfor last; do :; done\n\
        grep -rHn --include=*.py 'def ' \"$last\" | sed 's/^\\([^:]*:[0-9]*\\):.*/\\1:1: error: a function/'\n";
    let script = home.write("checkers/mypy", checker);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = script.parent().unwrap().to_owned().into_os_string();
    path.push(":/usr/bin:/bin");
    path
}

/// The edges of the last `warm`; nothing if there was none.
fn call_graph(project: &Path) -> Option<Value> {
    let text = fs::read(project.join(".tldr/cache/call_graph.json")).ok()?;
    let mut graph: Value = serde_json::from_slice(&text).unwrap();
    graph.as_object_mut().unwrap().remove("timestamp");
    Some(graph)
}

/// A branch on which half of the files are others.
fn other_branch(home: &Home, project: &Path) {
    home.git(project, &["checkout", "-qb", "other"]).ok();
    fs::rename(project.join("python/scanner.py"), project.join("python/looker.py")).unwrap();
    for file in ["python/decoder.py", "python/encoder.py"] {
        let text = fs::read_to_string(project.join(file)).unwrap();
        fs::write(project.join(file), text.replace("def ", "def other_").replace("scanner", "looker"))
            .unwrap();
    }
    home.git(project, &["add", "-A"]).ok();
    home.git(project, &["commit", "-qm", "two"]).ok();
    home.git(project, &["branch", "-q", "first", "HEAD~1"]).ok();
}

/// Our own `kit`, and a package of Python's library.
fn copy_of_real_sources(project: &Path) -> Vec<PathBuf> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kit/src");
    let python = std::process::Command::new("python3")
        .args(["-c", "import json, os; print(os.path.dirname(json.__file__))"])
        .output()
        .unwrap();
    let python = PathBuf::from(String::from_utf8(python.stdout).unwrap().trim().to_owned());
    let mut copied = Vec::new();
    for (from, to) in [(ours, "rust"), (python, "python")] {
        for entry in fs::read_dir(&from).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let target = project.join(to).join(path.file_name().unwrap());
                fs::create_dir_all(target.parent().unwrap()).unwrap();
                fs::copy(&path, &target).unwrap();
                copied.push(target);
            }
        }
    }
    copied
}

/// Words that are probably functions.
fn names(sources: &[PathBuf]) -> Vec<String> {
    let mut names = BTreeSet::new();
    for source in sources {
        let text = fs::read_to_string(source).unwrap_or_default();
        for line in text.lines() {
            let rest = line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            if let Some(rest) = rest.strip_prefix("fn ").or_else(|| rest.strip_prefix("def ")) {
                names
                    .extend(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned));
            }
        }
    }
    names.into_iter().collect()
}

struct World<'a> {
    home: &'a Home,
    project: PathBuf,
    names: Vec<String>,
    stashed: bool,
}

impl World<'_> {
    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.project.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let name = entry.file_name().unwrap().to_str().unwrap_or_default();
                if entry.is_dir() && ![".git", ".tldr"].contains(&name) {
                    folders.push(entry);
                } else if name.ends_with(".py") || name.ends_with(".rs") {
                    found.push(entry);
                }
            }
        }
        found.sort();
        found
    }

    fn any(&self, random: &mut Random) -> Option<PathBuf> {
        let files = self.files();
        (!files.is_empty()).then(|| files[random.below(files.len())].clone())
    }

    fn name<'n>(&'n self, random: &mut Random) -> &'n str {
        &self.names[random.below(self.names.len())]
    }

    /// Changes something, and says what.
    fn change(&mut self, random: &mut Random) -> String {
        let Some(file) = self.any(random) else { return self.stash() };
        let shown = file.strip_prefix(&self.project).unwrap().display().to_string();
        match random.below(14) {
            0 => {
                fs::remove_file(&file).unwrap();
                format!("removing {shown}")
            }
            1 => {
                let to =
                    file.with_file_name(format!("moved_{}", file.file_name().unwrap().to_str().unwrap()));
                fs::rename(&file, to).unwrap();
                format!("renaming {shown}")
            }
            2 => {
                let folder = self.project.join(format!("new{}", random.below(3)));
                fs::create_dir_all(&folder).unwrap();
                let _ = fs::copy(&file, folder.join(file.file_name().unwrap()));
                format!("copying {shown} into a directory")
            }
            3 => self.stash(),
            4 => {
                fs::write(
                    self.project.join(".gitignore"),
                    ["", "new0/\n", "*.rs\n", "python/\n"][random.below(4)],
                )
                .unwrap();
                "changing the rules".to_owned()
            }
            5 => {
                let _ = fs::rename(self.project.join("rust"), self.project.join("crab"));
                let _ = fs::rename(self.project.join("new1"), self.project.join("rust"));
                "moving directories".to_owned()
            }
            6 => {
                let branch = ["first", "other"][random.below(2)];
                self.home.git(&self.project, &["checkout", "-qf", branch]);
                format!("switching to the branch {branch}")
            }
            7 => {
                let elsewhere = self.home.path().join("elsewhere");
                let _ = fs::rename(self.project.join("python"), &elsewhere);
                let _ = fs::create_dir(self.project.join("python"));
                let _ = fs::copy(elsewhere.join("decoder.py"), self.project.join("python/decoder.py"));
                let _ = fs::remove_dir_all(elsewhere);
                "another directory in the place of one".to_owned()
            }
            _ => {
                let mut lines: Vec<String> =
                    fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned).collect();
                let at = random.below(lines.len() + 1);
                match random.below(4) {
                    0 if at < lines.len() => drop(lines.remove(at)),
                    1 => lines.insert(at, "# nothing but a comment".to_owned()),
                    2 => lines.insert(at, format!("    {}()", self.name(random))),
                    _ => lines.push(format!(
                        "def {}():\n    return {}()",
                        self.name(random),
                        self.name(random)
                    )),
                }
                fs::write(&file, lines.join("\n") + "\n").unwrap();
                format!("editing {shown}")
            }
        }
    }

    fn stash(&mut self) -> String {
        let args: &[&str] = if self.stashed { &["stash", "pop", "-q"] } else { &["stash", "-q"] };
        // It may refuse; then nothing has changed, or half of it has.
        self.home.run(self.home.command("git").args(args).current_dir(&self.project));
        self.stashed = !self.stashed;
        args.join(" ")
    }
}

fn questions(world: &World, random: &mut Random, count: usize) -> Vec<Value> {
    let file = world.any(random).unwrap_or_else(|| world.project.join("gone.py"));
    let name = world.name(random).to_owned();
    let all = [
        json!({"cmd": "tree"}),
        json!({"cmd": "structure", "path": world.project}),
        json!({"cmd": "search", "pattern": name}),
        json!({"cmd": "extract", "file": file}),
        json!({"cmd": "imports", "file": file}),
        json!({"cmd": "importers", "module": "std::io"}),
        json!({"cmd": "calls"}),
        json!({"cmd": "impact", "func": name}),
        json!({"cmd": "context", "entry": name}),
        json!({"cmd": "dead"}),
        json!({"cmd": "arch"}),
        json!({"cmd": "cfg", "file": file, "function": name}),
        json!({"cmd": "dfg", "file": file, "function": name}),
        json!({"cmd": "slice", "file": file, "function": name, "line": 1 + random.below(60)}),
        json!({"cmd": "change_impact", "git": true}),
        json!({"cmd": "structure", "path": world.project, "lang": "python", "max_tokens": 700}),
        json!({"cmd": "semantic", "query": "cut a text at a boundary"}),
        json!({"cmd": "change_impact", "files": [file]}),
        json!({"cmd": "calls", "max_tokens": 500}),
        json!({"cmd": "diagnostics", "path": file}),
        json!({"cmd": "diagnostics", "path": world.project}),
        json!({"cmd": "warm"}),
        json!({"cmd": "warm", "language": "python"}),
    ];
    (0..count).map(|_| all[random.below(all.len())].clone()).collect()
}

fn connect(home: &Home) -> BufReader<UnixStream> {
    let socket = fs::read_dir(home.temp()).unwrap().map(|entry| entry.unwrap().path());
    let socket =
        socket.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "sock")).unwrap();
    let stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    BufReader::new(stream)
}

fn ask(talk: &mut BufReader<UnixStream>, request: &Value) -> String {
    talk.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut line = String::new();
    talk.read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

fn cold(project: &Path, path: &OsStr, request: &Value) -> String {
    let root = Root::find(project).unwrap();
    let env = Environment::of([("PATH", path)]);
    let engine = Engine::open(root, &Settings::default(), env, Lifetime::OneLook);
    engine.answer(&Request::parse(&request.to_string()).unwrap()).line.into()
}
