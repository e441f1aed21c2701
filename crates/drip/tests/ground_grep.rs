//! Lines found by ripgrep in real files. Needs `rg`, and says so where it is missing.
#![allow(clippy::disallowed_methods, reason = "tests write plain files, start ripgrep and look at the PATH")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use drip::ignored::{Ignored, Places};
use drip::search::{Answer, Cut, Grepped, HiddenHits, Mode, Request, grep};
use kit::invocation::Environment;
use testkit::Home;

const PATIENCE: Duration = Duration::from_secs(60);

fn ask(cwd: &Path, request: &Request) -> Answer {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ignored = Ignored::load(Places { cwd, home: None, extra: None });
    let answer = grep(request, &ignored, &Environment::of([("PATH", path)]), PATIENCE);
    assert_ne!(answer, Answer::NotAvailable, "these tests need `rg`: install the package ripgrep");
    answer
}

fn found(cwd: &Path, request: &Request) -> Grepped {
    match ask(cwd, request) {
        Answer::Done(grepped) => grepped,
        other => panic!("{other:?}"),
    }
}

fn content(pattern: &str) -> Request {
    Request { pattern: pattern.into(), mode: Mode::Content, line_numbers: true, ..Request::default() }
}

/// A program that says it is ripgrep, alone on its path.
fn impostor(home: &Home, script: &str) -> Environment {
    let rg = home.write("fake/rg", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(rg, fs::Permissions::from_mode(0o755)).expect("our own file obeys us");
    Environment::of([("PATH", home.path().join("fake"))])
}

#[test]
fn a_line_that_looks_like_an_ignored_path_is_still_a_line() {
    let home = Home::new();
    home.write("notes.txt", "first\nid_rsa: foo\n.env:3:foo\n");
    let request = Request { path: Some("notes.txt".into()), ..content("foo") };
    let grepped = found(home.path(), &request);
    assert_eq!(grepped.text, "2:id_rsa: foo\n3:.env:3:foo\n");
    assert_eq!((grepped.hidden, grepped.cut, grepped.lines), (HiddenHits::default(), None, 2));
    let bare = Request { line_numbers: false, ..request };
    assert_eq!(found(home.path(), &bare).text, "id_rsa: foo\n.env:3:foo\n");
}

#[test]
fn hits_in_ignored_files_are_hidden_and_counted_in_every_mode() {
    let home = Home::new();
    let project = home.git_repo("project");
    for (file, text) in [
        ("a.rs", "needle\nneedle\n"),
        ("deep/b.rs", "x\nneedle\n"),
        (".env", "KEY=needle\n"),
        ("target/out.rs", "needle\nneedle\n"),
        (".git/description", "needle\n"),
        ("empty.rs", "nothing\n"),
    ] {
        home.write(Path::new("project").join(file), text);
    }
    symlink(".env", project.join("settings")).unwrap();
    let grepped = found(&project, &content("needle"));
    assert_eq!(grepped.text, "a.rs:1:needle\na.rs:2:needle\ndeep/b.rs:2:needle\n");
    assert_eq!(grepped.hidden, HiddenHits { files: 2, lines: 3 });
    let count = Request { mode: Mode::Count, ..content("needle") };
    let grepped = found(&project, &count);
    assert_eq!((grepped.text.as_str(), grepped.hidden.lines), ("a.rs:2\ndeep/b.rs:1\n", 3));
    let old = SystemTime::now() - Duration::from_secs(60);
    File::options().write(true).open(project.join("a.rs")).unwrap().set_modified(old).unwrap();
    let names = Request { mode: Mode::FilesWithMatches, ..content("needle") };
    let grepped = found(&project, &names);
    assert_eq!((grepped.text.as_str(), grepped.hidden.files), ("deep/b.rs\na.rs\n", 2));
    // A link that was asked for by name is followed by ripgrep, and judged by what it leads to.
    let linked = Request { path: Some("settings".into()), ..content("needle") };
    assert_eq!(found(&project, &linked).hidden, HiddenHits { files: 1, lines: 1 });
}

#[test]
fn nothing_is_kept_away_but_by_our_own_rules() {
    let home = Home::new();
    let project = home.git_repo("project");
    home.write("project/.dripignore", "!/build/\n!/dist/\n!.git\n!*.lock\n");
    for file in ["build/a.txt", "dist/b.txt", "src/out/c.txt", "Cargo.lock", ".git/description"] {
        home.write(Path::new("project").join(file), "needle\n");
    }
    let grepped = found(&project, &Request { mode: Mode::Count, ..content("needle") });
    let expected = ".git/description:1\nCargo.lock:1\nbuild/a.txt:1\ndist/b.txt:1\nsrc/out/c.txt:1\n";
    assert_eq!((grepped.text.as_str(), grepped.hidden.files), (expected, 0));
}

#[test]
fn what_is_shown_is_what_ripgrep_itself_prints() {
    let home = Home::new();
    let root = home.path();
    let file = (1..60).map(|n| if n % 9 == 0 { format!("needle {n}: x\r\n") } else { format!("line-{n}\n") });
    home.write("tree/many.txt", file.collect::<String>());
    home.write("tree/b-1:2.txt", "Needle\nneedle");
    home.write("tree/sub/c.rs", "fn needle() {\n    needle()\n}\n");
    fs::write(root.join("tree").join(OsStr::from_bytes(b"latin\xe9.txt")), b"needle \xe9t\xe9\n").unwrap();
    let base = content("needle");
    let requests = [
        (base.clone(), vec!["-n"]),
        (Request { line_numbers: false, ..base.clone() }, vec![]),
        (Request { context: Some(2), before: 9, ..base.clone() }, vec!["-n", "-C2"]),
        (
            Request { before: 1, after: 3, case_insensitive: true, ..base.clone() },
            vec!["-n", "-B1", "-A3", "-i"],
        ),
        (Request { after: 1, line_numbers: false, ..base.clone() }, vec!["-A1"]),
        (Request { glob: Some("*.rs".into()), ..base.clone() }, vec!["-n", "-g*.rs"]),
        (Request { file_type: Some("rust".into()), ..base.clone() }, vec!["-n", "-trust"]),
        (
            Request { pattern: "needle.*\\}".into(), multiline: true, ..base.clone() },
            vec!["-n", "-U", "--multiline-dotall"],
        ),
        (Request { path: Some("tree/many.txt".into()), context: Some(1), ..base.clone() }, vec!["-n", "-C1"]),
    ];
    for (request, flags) in requests {
        let path = request.path.clone().unwrap_or("tree".into());
        let mut rg = home.command("rg");
        rg.args(["--no-config", "--no-heading", "--color=never", "--sort=path"]);
        let said = home.run(rg.args(&flags).args(["-e", &request.pattern]).arg(&path));
        let grepped = found(root, &Request { path: Some(path), ..request });
        assert!(grepped.lines > 0);
        assert_eq!(grepped.text, said.stdout, "{flags:?}");
    }
}

#[test]
fn paths_and_lines_of_any_bytes_are_told_apart() {
    let home = Home::new();
    let root = home.git_repo("project");
    for name in [&b"new\nline: 1:id_rsa"[..], b"-dash", b"latin\xe9", b"sp ace"] {
        fs::write(root.join(OsStr::from_bytes(name)), b"needle \xff\n").unwrap();
    }
    let grepped = found(&root, &Request { line_numbers: false, ..content("needle") });
    assert_eq!(
        grepped.text,
        "-dash:needle \u{fffd}\nlatin\u{fffd}:needle \u{fffd}\nnew\nline: 1:id_rsa:needle \u{fffd}\n\
         sp ace:needle \u{fffd}\n"
    );
    let grepped = found(&root, &Request { path: Some("-dash".into()), ..content("-?needle") });
    assert_eq!(grepped.text, "1:needle \u{fffd}\n");
    let counted =
        found(&root, &Request { mode: Mode::Count, glob: Some("new*".into()), ..content("needle") });
    assert_eq!(counted.text, "new\nline: 1:id_rsa:1\n");
}

#[test]
fn a_part_of_the_answer_can_be_asked_for() {
    let home = Home::new();
    home.write("f", (1..=9).map(|n| format!("n{n}\n")).collect::<String>());
    let part = |offset, head_limit| {
        let request =
            Request { path: Some("f".into()), line_numbers: false, offset, head_limit, ..content("n") };
        let grepped = found(home.path(), &request);
        (grepped.text, grepped.lines, grepped.cut)
    };
    assert_eq!(part(0, Some(2)), ("n1\nn2\n".into(), 2, Some(Cut::Limit)));
    assert_eq!(part(7, Some(2)), ("n8\nn9\n".into(), 2, None));
    assert_eq!(part(8, None), ("n9\n".into(), 1, None));
    assert_eq!(part(usize::MAX, Some(usize::MAX)), (String::new(), 0, None));
    assert_eq!(part(0, Some(0)).1, 9);
}

#[test]
fn what_ripgrep_cannot_do_it_says_itself() {
    let home = Home::new();
    home.write("f", "text\n");
    let failed = |request: &Request| match ask(home.path(), request) {
        Answer::Failed(why) => why,
        other => panic!("{other:?}"),
    };
    for mode in [Mode::Content, Mode::Count, Mode::FilesWithMatches] {
        assert!(failed(&Request { mode, ..content("(unclosed") }).contains("unclosed group"));
        assert!(
            failed(&Request { mode, file_type: Some("klingon".into()), ..content("x") }).contains("klingon")
        );
        assert!(
            failed(&Request { mode, path: Some("gone".into()), ..content("x") }).contains("No such file")
        );
    }
    assert!(!failed(&content("nul\0inside")).is_empty());
    assert_eq!(found(home.path(), &content("absent")), Grepped::default());
}

#[test]
fn a_file_that_cannot_be_read_is_a_complaint_beside_the_hits() {
    let home = Home::new();
    home.write("a.txt", "needle\n");
    let env = impostor(&home, "printf 'a.txt\\0'; echo 'rg: b.txt: Permission denied' >&2; exit 2");
    let ignored = Ignored::load(Places { cwd: home.path(), home: None, extra: None });
    let request = Request { mode: Mode::FilesWithMatches, ..content("needle") };
    let Answer::Done(grepped) = grep(&request, &ignored, &env, PATIENCE) else { panic!("it failed") };
    assert_eq!(
        (grepped.text.as_str(), grepped.complaint.as_deref()),
        ("a.txt\n", Some("rg: b.txt: Permission denied"))
    );
}

#[test]
fn without_ripgrep_the_answer_is_that_there_is_none() {
    let home = Home::new();
    let ignored = Ignored::load(Places { cwd: home.path(), home: None, extra: None });
    for env in [Environment::default(), Environment::of([("PATH", home.path())])] {
        assert_eq!(grep(&content("x"), &ignored, &env, PATIENCE), Answer::NotAvailable);
    }
}

#[test]
fn when_time_is_up_what_was_found_is_the_answer() {
    let home = Home::new();
    let env = impostor(&home, "printf 'a.txt\\0b.txt\\0half'; while :; do /bin/sleep 1; done");
    let ignored = Ignored::load(Places { cwd: home.path(), home: None, extra: None });
    let request = Request { mode: Mode::FilesWithMatches, ..content("needle") };
    let Answer::Done(grepped) = grep(&request, &ignored, &env, Duration::from_millis(300)) else {
        panic!("it failed")
    };
    assert_eq!((grepped.text.as_str(), grepped.cut), ("a.txt\nb.txt\n", Some(Cut::Deadline)));
}

#[test]
fn a_flood_is_cut_at_four_megabytes_and_its_source_is_stopped() {
    let home = Home::new();
    let line = format!("needle {}\n", "x".repeat(993));
    home.write("flood.txt", line.repeat(6_000));
    let grepped = found(home.path(), &content("needle"));
    assert_eq!(grepped.cut, Some(Cut::Ceiling));
    assert!(grepped.text.len() < 4 << 20 && grepped.text.len() > (4 << 20) - 2_000, "{}", grepped.text.len());
    let ignored = Ignored::load(Places { cwd: home.path(), home: None, extra: None });
    let env = impostor(&home, "while :; do printf 'a.txt\\0%065536d\\0' 7; done");
    let request = Request { mode: Mode::FilesWithMatches, ..content("needle") };
    let Answer::Done(grepped) = grep(&request, &ignored, &env, PATIENCE) else { panic!("it failed") };
    assert_eq!(grepped.cut, Some(Cut::Ceiling));
}

#[test]
fn one_line_of_thirty_megabytes_is_no_answer_but_no_harm() {
    let home = Home::new();
    home.write("min.js", format!("{}needle", "x".repeat(30 << 20)));
    let grepped = found(home.path(), &content("needle"));
    assert_eq!((grepped.text.len(), grepped.cut), (0, Some(Cut::Ceiling)));
    let names = Request { mode: Mode::FilesWithMatches, ..content("needle") };
    assert_eq!(found(home.path(), &names).text, "min.js\n");
}
