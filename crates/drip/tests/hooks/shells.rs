//! Claude Code's shell, when all it does is to show a file.

use std::fs;

use crate::claude::{Claude, Part, lines};

#[test]
fn a_file_that_was_shown_by_a_command_is_not_sent_again() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    claude.bash("cat a.txt").is_native();
    let seen = claude.bash("cat a.txt");
    assert_eq!(seen.is_ours("[DRIP: unchanged since last read").lines().count(), 1);
    claude.bash(&format!("cat '{}'", path.display())).is_ours("[DRIP: unchanged");
    claude.bash("head -n 40 a.txt").is_ours("[DRIP: unchanged (lines 1-40)");
    claude.bash("sed -n 20,60p a.txt").is_ours("[DRIP: unchanged (lines 20-60)");
    // The reading tool shows the same text.
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged");
    fs::write(path, lines(100).replace("line 50 ", "LINE 50 ")).unwrap();
    let seen = claude.bash("cat a.txt");
    assert!(seen.is_ours("[DRIP: delta only").contains("\n+LINE 50 holds"));
    let verified = claude.drip(&["verify"]).ok();
    assert!(!verified.stdout.contains("wrong"), "{}", verified.transcript());
}

#[test]
fn what_the_end_of_a_file_was_seen_of_is_known() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.bash("tail -n +71 a.txt").is_native();
    claude.bash("tail -n +80 a.txt").is_ours("[DRIP: unchanged (lines 80-100)");
    claude.bash("tail -n 40 a.txt").is_native();
    claude.bash("head -n 70 a.txt").is_native();
    claude.read("a.txt", Part::All).is_ours("0\t[DRIP: unchanged since last read");
}

#[test]
fn commands_that_do_anything_else_are_left_alone_and_prove_nothing() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.home.write("b.txt", lines(100));
    for command in [
        "cat a.txt | cat",
        "cat a.txt b.txt",
        "cat ./*.txt",
        "cat < a.txt",
        "cat a.txt; true",
        "cat -n a.txt",
    ] {
        claude.bash(command).is_native();
        claude.bash(command).is_native();
    }
    claude.read("a.txt", Part::All).is_native();
}

#[test]
fn output_that_is_not_the_file_proves_nothing() {
    let claude = Claude::new();
    let path = claude.home.write("a.txt", lines(100));
    let send = |response: serde_json::Value| {
        let mut payload = claude.call("PostToolUse", "Bash", serde_json::json!({"command": "cat a.txt"}));
        payload["tool_response"] = response;
        assert_eq!(claude.hook("claude-post-bash", &payload).ok().stdout, "");
    };
    let plain = |stdout: String| serde_json::json!({"stdout": stdout, "stderr": "", "interrupted": false});
    send(plain(lines(50)));
    send(plain(format!("{}... [3 lines truncated]", lines(97))));
    send(plain(lines(100).replace("line 50 ", "LINE 50 ")));
    send(serde_json::json!({"stdout": lines(100), "stderr": "cat: oops", "interrupted": false}));
    send(serde_json::json!({"stdout": lines(100), "stderr": "", "interrupted": true}));
    send(serde_json::json!({"stdout": lines(100), "stderr": "", "persistedOutputPath": "/t/out.txt"}));
    claude.end_round();
    claude.read("a.txt", Part::All).is_native();
    // So large that the client may show less of it than we see.
    fs::write(path, lines(2000)).unwrap();
    send(plain(lines(2000)));
    claude.end_round();
    claude.bash("tail -n 5 a.txt").is_native();
}

#[test]
fn a_lower_limit_of_the_persons_own_is_known() {
    let mut claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.env.push(("BASH_MAX_OUTPUT_LENGTH", "1000"));
    claude.bash("cat a.txt").is_native();
    claude.bash("cat a.txt").is_native();
    claude.bash("head -n 25 a.txt").is_native();
    claude.bash("head -n 25 a.txt").is_ours("[DRIP: unchanged (lines 1-25)");
}

#[test]
fn a_look_at_an_edit_is_not_told_that_nothing_changed() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100));
    claude.read("a.txt", Part::All).is_native();
    claude.edit("a.txt", "line 50 holds", "line 50 Holds");
    let seen = claude.bash("sed -n 40,80p a.txt");
    assert!(seen.is_ours("[DRIP: unchanged (lines 40-80)").contains(" | as your edit left it | "));
    let seen = claude.bash("cat a.txt");
    assert!(seen.is_ours("[DRIP: edit verified").contains("(L50-L50)"));
    claude.bash("cat a.txt").is_ours("[DRIP: unchanged since last read");
}

#[test]
fn files_with_other_line_ends_are_left_alone() {
    let claude = Claude::new();
    claude.home.write("a.txt", lines(100).replace('\n', "\r\n"));
    claude.bash("cat a.txt").is_native();
    claude.bash("cat a.txt").is_native();
}
