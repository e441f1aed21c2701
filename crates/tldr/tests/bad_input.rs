//! What nobody means to ask, and files that nobody means to have: each is told in words, with its exit code, and never
//! by an empty success.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and makes the files it needs"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use serde_json::Value;
use testkit::{Home, Output, bin};
use tldr::index::{Index, Lifetime};

struct Rig {
    home: Home,
}

impl Rig {
    fn new(files: &[(&str, &[u8])]) -> Rig {
        let home = Home::new();
        fs::create_dir(home.path().join("p")).unwrap();
        for (path, text) in files {
            home.write(format!("p/{path}"), text);
        }
        Rig { home }
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("p")
    }

    fn tldr(&self, args: &[&str]) -> Output {
        self.home.run(self.home.command(bin("tldr")).args(args).current_dir(self.project()))
    }

    /// What is told to people, and the exit code.
    fn told(&self, args: &[&str]) -> (i32, String) {
        let output = self.tldr(&[args, &["--format", "text"]].concat());
        (output.code, output.stdout + &output.stderr)
    }
}

const TWO: &[(&str, &[u8])] = &[
    ("a.py", b"def f():\n    return g()\n\n\ndef g():\n    return 1\n"),
    ("d/b.py", b"def f():\n    pass\n"),
];

#[test]
fn what_cannot_be_answered_says_why() {
    let rig = Rig::new(TWO);
    let cases: &[(&[&str], i32, &str)] = &[
        (&["extract", "d"], 1, "error: `d` is a directory, and a file is wanted"),
        (&["imports", "missing.py"], 1, "error: cannot read `missing.py`: No such file or directory"),
        (&["structure", "/"], 1, "error: `/` is not in the project"),
        (&["calls", "--lang", "cobol"], 1, "error: no language called cobol is known"),
        (&["impact", "f"], 1, "error: say which f is meant: a.py:f, d/b.py:f"),
        (&["impact", "gg"], 1, "error: no function called gg; near is g"),
        (&["context", ""], 1, "error: no function called "),
        (&["cfg", "a.py", "h"], 1, "error: no function called h"),
        (&["slice", "a.py", "f", "40"], 1, "error: line 40 is outside of f, which is on lines 1 to 2"),
        (&["slice", "a.py", "f", "x"], 2, "error: "),
        (&["search", "("], 1, "error: "),
        (&["importers", "nobody"], 1, "error: nothing imports nobody"),
        (&["change-impact", "--git"], 1, "error: "),
        (&["structure", "nowhere"], 1, "error: `nowhere` is not there"),
        (&["tree", "nowhere"], 1, "error: `nowhere` is not there"),
        (&["calls", "nowhere"], 1, "error: `nowhere` is not there"),
        (&["dead", "nowhere"], 1, "error: `nowhere` is not there"),
        (&["arch", "nowhere"], 1, "error: `nowhere` is not there"),
        (&["search", "f", "nowhere"], 1, "error: `nowhere` is not there"),
        (&["impact", "g", "nowhere"], 1, "error: `nowhere` is not there"),
        (&["calls", "--lang", "go"], 1, "error: there is no Go here"),
        (&["search", "nothing has this"], 0, "no line matches nothing has this\n"),
        (&["imports", "a.py"], 0, "a.py imports nothing\n"),
    ];
    for (args, code, words) in cases {
        let (exit, told) = rig.told(args);
        assert_eq!(exit, *code, "{args:?}: {told}");
        assert!(told.starts_with(words), "{args:?}: {told}");
    }
}

#[test]
fn a_command_that_was_not_understood_says_what_was_meant() {
    let rig = Rig::new(TWO);
    let cases: &[(&[&str], &str)] = &[
        (
            &["impackt"],
            "error: unrecognized subcommand 'impackt'\nhint: did you mean `impact`? `tldr --help` lists what there is\n",
        ),
        (&["daemon"], "error: `tldr daemon` needs a subcommand\nhint: `tldr daemon --help`\n"),
        (
            &["impact"],
            "error: the following required arguments were not provided: <FUNCTION>\nhint: `tldr impact --help`\n",
        ),
        (
            &["tree", "--format", "dot"],
            "error: invalid value 'dot' for '--format <FORMAT>' [possible values: json, text]\nhint: `tldr --help`\n",
        ),
    ];
    for (args, words) in cases {
        let output = rig.tldr(args);
        assert_eq!(
            (output.code, output.stdout.as_str(), output.stderr.as_str()),
            (2, "", *words),
            "{args:?}"
        );
    }
}

#[test]
fn whoever_types_the_name_alone_is_told_where_to_go() {
    let output = Rig::new(TWO).tldr(&[]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    for words in ["no daemon was asked anything yet", "answers are made on the spot", "tldr --help"] {
        assert!(output.stdout.contains(words), "{}", output.stdout);
    }
}

#[test]
fn a_function_that_exists_five_times_is_asked_back_and_a_qualifier_is_enough() {
    let names: Vec<String> = (1..=5).map(|n| format!("m{n}.py")).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), b"def f():\n    pass\n".as_slice())).collect();
    let rig = Rig::new(&files);
    let refusal: Value = serde_json::from_str(&rig.tldr(&["impact", "f"]).stdout).unwrap();
    assert_eq!(refusal["candidates"].as_array().unwrap().len(), 5, "{refusal}");
    assert_eq!(rig.told(&["impact", "m3.py:f"]), (0, "f (m3.py:1)\n  nobody calls it\n".to_owned()));
}

#[test]
fn an_empty_project_and_one_of_one_file_are_projects_without_any_git() {
    let empty = Rig::new(&[]);
    assert_eq!(empty.told(&["tree"]), (0, "p/\n".to_owned()));
    assert_eq!(empty.told(&["calls"]), (0, "0 edges, 0 calls unresolved\n".to_owned()));
    assert_eq!(empty.told(&["dead"]), (0, "Dead: 0\nPossibly dead: 0\nof 0 functions\n".to_owned()));
    let one = Rig::new(&[("a.py", b"def f():\n    f()\n")]);
    assert_eq!(one.told(&["calls"]), (0, "a.py:2 f -> a.py:f\n1 edge, 0 calls unresolved\n".to_owned()));
}

#[test]
fn names_of_any_script_tabs_and_other_line_ends_are_read() {
    let text = "def größe(ключ):\r\n\treturn 長さ(ключ)\r\n\r\ndef 長さ(x):\r\n\treturn x\r\n";
    let rig = Rig::new(&[("ä b.py", text.as_bytes())]);
    let (exit, told) = rig.told(&["impact", "長さ"]);
    assert_eq!((exit, told.as_str()), (0, "長さ (ä b.py:4)\n  <- größe (ä b.py:2)\n"));
    let (exit, told) = rig.told(&["slice", "ä b.py", "größe", "2"]);
    assert_eq!(exit, 0);
    assert!(told.contains("    1  ключ (2)"), "{told}");
}

#[test]
fn files_that_are_no_programs_are_in_nobodys_way() {
    let long = format!("var a={};\n", "[1,".repeat(5_000) + &"]".repeat(5_000));
    let rig = Rig::new(&[
        ("good.py", b"def f():\n    return g()\n\ndef g():\n    return 1\n"),
        ("binary.py", b"\x00\x01\x02def x():\n"),
        ("latin.py", b"def caf\xe9():\n    return f()\n"),
        ("bundle.min.js", long.as_bytes()),
        ("broken.py", b"def (:\n  ]]\ndef h():\n    pass\n"),
        ("huge.py", &b"x = 1\n".repeat(800_000)),
    ]);
    let project = rig.project();
    symlink("..", project.join("loop")).unwrap();
    symlink("nowhere.py", project.join("dangling.py")).unwrap();
    let (exit, told) = rig.told(&["calls", "good.py"]);
    assert_eq!((exit, told.as_str()), (0, "good.py:2 f -> good.py:g\n1 edge, 0 calls unresolved\n"));
    let (exit, told) = rig.told(&["structure", "broken.py"]);
    assert!(exit == 0 && told.contains("def h()"), "{told}");
    let (exit, told) = rig.told(&["extract", "binary.py"]);
    assert_eq!((exit, told.as_str()), (1, "error: `binary.py` is too long or no text\n"));
    let (exit, told) = rig.told(&["tree"]);
    assert!(exit == 0 && !told.contains("loop"), "{told}");
    for args in [&["dead"][..], &["search", "def"], &["semantic", "f"]] {
        let (exit, told) = rig.told(args);
        assert_eq!(exit, 0, "{args:?}: {told}");
    }
}

#[test]
fn a_file_that_may_not_be_read_is_told_and_the_rest_is_answered() {
    let rig = Rig::new(TWO);
    let secret = rig.project().join("d/b.py");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    let other = rig.home.path().join("other");
    fs::create_dir(&other).unwrap();
    for path in [rig.home.path(), &rig.project(), &other] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    // Root may read everything, so somebody else asks.
    let mut command = rig.home.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(bin("tldr"));
    command.args(["structure", "--format", "text"]).env("HOME", &other).current_dir(rig.project());
    let output = rig.home.run(&mut command);
    assert!(output.stdout.contains("a.py") && !output.stdout.contains("b.py"), "{output:?}");
    assert_eq!(output.code, 0, "{output:?}");
}

/// The walk has seen the file, and what is read is no longer there, or is something else.
#[test]
fn a_file_that_vanishes_between_being_found_and_being_read_is_not_there() {
    type Change = fn(&std::path::Path);
    let changes: [(&str, Change); 4] = [
        ("gone", |_| ()),
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a link to nothing", |path| symlink("nowhere.py", path).unwrap()),
        ("a pipe", |path| {
            rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR).unwrap();
        }),
    ];
    for (what, change) in changes {
        let rig = Rig::new(TWO);
        let mut index = Index::new(&rig.project(), Lifetime::Long);
        index.ahead(|| ());
        fs::remove_file(rig.project().join("d/b.py")).unwrap();
        change(&rig.project().join("d/b.py"));
        let changed = index.refresh(None).changed;
        assert_eq!(index.files().keys().collect::<Vec<_>>(), ["a.py"], "{what}");
        assert!(changed.contains("a.py"), "{what}: {changed:?}");
    }
}
