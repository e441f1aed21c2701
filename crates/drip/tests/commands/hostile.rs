//! Files that are no files, or not what they seem; pipes that close; words that mean nothing.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use testkit::{bin, hostile};

use crate::person::{Person, lines};

/// A read that must be refused with these words.
#[track_caller]
fn refused(person: &Person, file: &str, words: &str) {
    let said = person.drip(&["read", file]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{}", said.transcript());
    assert!(said.stderr.contains(words) && !said.stderr.contains("panicked"), "{}", said.transcript());
}

#[test]
fn what_is_no_regular_file_is_refused_without_being_opened() {
    let person = Person::new();
    fs::create_dir(person.project().join("folder")).unwrap();
    let _ = person.home.run(person.home.command("mkfifo").arg(person.project().join("pipe"))).ok();
    symlink("/dev/zero", person.project().join("zero")).unwrap();
    symlink("loop", person.project().join("loop")).unwrap();
    refused(&person, "folder", "refusing to read non-regular file: ");
    refused(&person, "pipe", "refusing to read non-regular file: ");
    refused(&person, "zero", "refusing to read non-regular file: ");
    refused(&person, "/dev/null", "refusing to read non-regular file: ");
    assert_eq!(person.drip(&["read", "loop"]).code, 1);
    refused(&person, "missing/deep/file", "file not found: ");
    refused(&person, "/", "refusing to read non-regular file: ");
}

#[test]
fn a_link_is_followed_unless_that_was_forbidden() {
    let person = Person::new();
    let path = person.file("real.txt", lines(40));
    symlink(&path, person.project().join("link.txt")).unwrap();
    assert!(person.says(&["read", "link.txt"]).contains("line 40 "));
    let said = person.drip_with(&[("DRIP_REJECT_SYMLINKS", "1")], &["read", "link.txt"]).ok().stdout;
    assert_eq!(
        said,
        "[DRIP: symlink, DRIP_REJECT_SYMLINKS set | 6 tokens | link.txt]\n<symlink, not followed>\n"
    );
    // What was told last is that there is no text.
    assert!(person.says(&["read", "link.txt"]).starts_with("[DRIP: full read | "));
    fs::remove_file(path).unwrap();
    assert!(person.says(&["read", "link.txt"]).starts_with("[DRIP: file deleted since last read"));
}

#[test]
fn bytes_that_are_no_text_are_named_and_counted() {
    let person = Person::new();
    person.file("nul.bin", b"ab\0cd");
    person.file("latin1.txt", b"caf\xe9\n");
    person.file("utf16.txt", b"\xff\xfeh\0i\0");
    for (file, label, body) in [
        ("nul.bin", "binary file", "<binary, 5 bytes>"),
        ("latin1.txt", "non-UTF8 content", "<non-utf8, 5 bytes>"),
    ] {
        let count = body.len().div_ceil(4);
        assert_eq!(
            person.says(&["read", file]),
            format!("[DRIP: {label} | {count} tokens | {file}]\n{body}\n")
        );
    }
    assert!(person.says(&["read", "utf16.txt"]).contains(", 6 bytes>"));
    assert_eq!(person.json(&["meter", "--json"])["total_reads"], 0);
}

#[test]
fn a_file_beyond_the_hard_cap_is_not_loaded() {
    let person = Person::new();
    let huge = File::create(person.project().join("huge.txt")).unwrap();
    huge.set_len(5 << 30).unwrap();
    let said = person.says(&["read", "huge.txt"]);
    assert!(said.starts_with("[DRIP: file exceeds DRIP hard cap, not loaded | "), "{said}");
    assert!(said.contains("\n<file exceeds 50 MB cap, 5368709120 bytes>\n"), "{said}");
}

#[test]
fn one_line_of_thirty_megabytes_is_read_and_then_unchanged() {
    let person = Person::new();
    person.file("line.txt", "x".repeat(30 << 20));
    assert_eq!(
        person.says(&["read", "line.txt"]).len(),
        "[DRIP: full read | 7864320 tokens | line.txt]\n".len() + (30 << 20) + 1
    );
    assert!(person.says(&["read", "line.txt"]).starts_with("[DRIP: unchanged since last read"));
}

#[test]
fn line_ends_marks_and_a_missing_last_newline_survive() {
    let person = Person::new();
    for (name, text) in [
        ("crlf.txt", lines(30).replace('\n', "\r\n")),
        ("bom.txt", format!("\u{feff}{}", lines(30))),
        ("open.txt", lines(30).trim_end().to_owned()),
        ("cr.txt", lines(30).replace('\n', "\r")),
    ] {
        person.file(name, &text);
        let said = person.drip(&["read", name]).ok();
        let body = said.stdout.split_once('\n').unwrap().1.to_owned();
        assert_eq!(
            body.strip_suffix('\n').filter(|_| !text.ends_with('\n')).unwrap_or(&body),
            text,
            "{name}"
        );
        assert!(person.says(&["read", name]).starts_with("[DRIP: unchanged since last read"), "{name}");
        let flipped = text.replace("\r\n", "\n").replace("line 7 ", "line seven ");
        person.file(name, &flipped);
        person.says(&["read", name]);
        let verdict = person.json(&["verify", "--json"]);
        assert_eq!(verdict["ok"], true, "{name}: {verdict}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_was_shown_nothing() {
    let person = Person::new();
    person.file("big.txt", lines(8_000));
    let drip = bin("drip");
    let mut shell = person.home.command("bash");
    shell.args(["-c", &format!("set -o pipefail; '{}' read big.txt | head -1", drip.display())]);
    let said = person.home.run(shell.current_dir(person.project()).env("DRIP_SESSION_ID", "s1"));
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{}", said.transcript());
    assert!(said.stdout.starts_with("[DRIP: full read | "), "{}", said.stdout);
    assert!(person.says(&["read", "big.txt"]).starts_with("[DRIP: full read | "), "only one line was taken");
}

#[test]
fn a_file_of_somebody_else_is_told_as_unreadable() {
    hostile::require_root("give a file away");
    let person = Person::new();
    let drip = person.home.install("drip");
    let path = person.file("a.txt", lines(3));
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut command = person.home.command(drip);
    command.args(["read", path.to_str().unwrap()]).current_dir("/");
    let said = person.home.run(hostile::as_other_uid(&mut command));
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{}", said.transcript());
    assert!(!said.stderr.contains("panicked"), "{}", said.transcript());
}

#[test]
fn a_path_that_is_no_text_is_wrong_usage_and_a_strange_one_is_read() {
    let person = Person::new();
    let mut command = person.command(&["read"]);
    let said = person.home.run(command.arg(OsStr::from_bytes(b"a\xff")));
    assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{}", said.transcript());
    for name in ["with space.txt", "-dash.txt", "new\nline.txt", "qu'ote\".txt", "日本.txt", "%_.txt"] {
        person.file(name, lines(40));
        let said = person.drip(&["read", "--", name]).ok();
        assert!(said.stdout.contains("line 40 "), "{name}: {}", said.transcript());
        assert!(person.drip(&["read", "--", name]).ok().stdout.contains("unchanged"), "{name}");
    }
}

#[test]
fn nonsense_on_the_command_line_is_wrong_usage_with_a_hint() {
    let person = Person::new();
    for (args, words) in [
        (&["raed"][..], "did you mean `read`?"),
        (&["read"], "required arguments were not provided: <FILE>"),
        (&["read", "--lines", "5é", "a"], "lines are given as 10-20"),
        (&["read", "--lines", "0-3", "a"], "lines are given as 10-20"),
        (&["replay", "--since", "5é"], "a time is a number with a unit"),
        (&["replay", "--limit", "0"], "0 is not in"),
        (&["registry", "gc", "--older-than", "nonsense"], "a time is a number with a unit"),
        (&["registry", "gc", "--older-than", "99999999999999999999d"], "a time is a number with a unit"),
        (&["source-map", "a", "--line", "é"], "a line is given as"),
        (&["init", "--agent", "cursor"], "unknown agent 'cursor' (expected: claude|codex|gemini)"),
        (&["init", "--mode", "ask"], "it is `rewrite` or `deny`"),
        (&["reset", "--all", "--stats"], "mutually exclusive"),
        (&["completions", "tcsh"], "unsupported shell: tcsh"),
        (&["sessions", "kill"], "invalid value 'kill'"),
    ] {
        let said = person.drip(args);
        assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{args:?}: {}", said.transcript());
        assert!(said.stderr.contains(words), "{args:?}: {}", said.stderr);
        let mut with_json = args.to_vec();
        with_json.push("--json");
        let json = person.drip(&with_json).stderr;
        assert!(json.starts_with("{\"error\":\"") && json.ends_with("\"exit\":2}\n"), "{args:?}: {json}");
    }
    assert_eq!(person.drip(&["registry", "gc", "--older-than"]).code, 2);
    let said = person.drip(&["registry", "gc", "--older-than", "x"]);
    assert!(said.stderr.contains("`drip registry gc --help`"), "{}", said.stderr);
}

#[test]
fn a_hook_is_answered_however_it_was_typed() {
    let person = Person::new();
    for args in [&["hook", "claude"][..], &["--json", "hook", "claude"], &["hook", "unheard-of"]] {
        let said = person.home.run_with(&mut person.command(args), "{}");
        assert_eq!((said.code, said.stdout.as_str()), (0, "{}\n"), "{args:?}: {}", said.transcript());
    }
    assert_eq!(person.drip(&["--", "hook", "claude"]).code, 2);
}

#[test]
fn the_server_ends_with_its_client_and_a_watcher_needs_a_folder() {
    let person = Person::new();
    let hello = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\
                 \"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n";
    for agent in ["codex", "somebody"] {
        let said = person.home.run_with(&mut person.command(&["mcp", "--agent", agent]), hello).ok();
        assert!(said.stdout.contains("\"serverInfo\":{\"name\":\"drip\""), "{}", said.transcript());
    }
    person.file("a.txt", "");
    for place in ["missing", "a.txt"] {
        let said = person.drip(&["watch", place]);
        assert!(said.code == 1 && said.stderr.starts_with("error: cannot watch `"), "{}", said.transcript());
    }
}
