//! `drip read`: every outcome with its heading.

use std::fs;

use drip::lines::Hash;

use crate::person::{Person, changed, everything, lines};

/// Tokens as everybody counts them.
fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

#[test]
fn a_first_read_is_the_file_under_a_heading_and_a_second_is_one_line() {
    let person = Person::new();
    let text = lines(40);
    person.file("a.txt", &text);
    let count = tokens(&text);
    assert_eq!(
        person.says(&["read", "a.txt"]),
        format!("[DRIP: full read | {count} tokens | a.txt]\n{text}")
    );
    let again = format!("[DRIP: unchanged since last read | 0 tokens sent ({count} saved) | a.txt]\n");
    assert_eq!(person.says(&["read", "a.txt"]), again);
    assert_eq!(person.says(&["read", "./a.txt"]), again.replace("a.txt", "./a.txt"));
}

#[test]
fn a_changed_file_is_a_unified_diff_with_three_lines_of_context() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    person.file("a.txt", changed(40, &[20]));
    let said = person.says(&["read", "a.txt"]);
    let heading = said.lines().next().unwrap();
    assert!(heading.starts_with("[DRIP: delta only | ") && heading.ends_with(" | a.txt]"), "{heading}");
    assert!(heading.contains("% token reduction ("), "{heading}");
    assert!(!heading.contains("hunks"), "one hunk needs no list: {heading}");
    let body: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(body[..3], ["--- a.txt (last read)", "+++ a.txt (current)", "@@ -17,7 +17,7 @@"]);
    assert_eq!(body.len(), 3 + 8, "{said}");
}

#[test]
fn several_hunks_are_named_by_the_functions_they_are_in() {
    let person = Person::new();
    let body = |n: usize| -> String {
        (0..12).map(|line| format!("    let value_{line} = {n} + {line};\n")).collect()
    };
    let source =
        |mark: &str| format!("fn first() {{\n{}{mark}}}\n\nfn second() {{\n{}{mark}}}\n", body(1), body(2));
    person.file("a.rs", source("    done();\n"));
    person.says(&["read", "a.rs"]);
    person.file("a.rs", source("    ended();\n"));
    let said = person.says(&["read", "a.rs"]);
    assert!(said.lines().next().unwrap().contains(" | 2 hunks: first (ln 14), second (ln 30) | "), "{said}");
}

#[test]
fn a_long_body_is_left_out_and_can_be_had_in_one_call() {
    let person = Person::new();
    let body: String = (0..60).map(|line| format!("    let value_{line} = compute({line});\n")).collect();
    let source = format!("fn short() {{}}\n\nfn long() {{\n{body}}}\n\nconst AFTER: u32 = 1;\n");
    person.file("a.rs", &source);
    let said = person.says(&["read", "a.rs"]);
    let heading = said.lines().next().unwrap();
    assert!(heading.starts_with("[DRIP: full read (semantic-compressed) | "), "{heading}");
    assert!(
        heading.contains("% reduction (") && heading.contains("1 functions elided, 60 lines hidden"),
        "{heading}"
    );
    assert!(
        said.contains("[DRIP-elided") && said.contains("const AFTER") && !said.contains("value_30"),
        "{said}"
    );
    let symbol = person.says(&["read", "--symbol", "long", "a.rs"]);
    assert!(symbol.contains("value_0 ") && symbol.contains("value_59"), "{symbol}");
    person.says(&["refresh", "a.rs"]);
    let full = person.says(&["read", "--full", "a.rs"]);
    assert_eq!(full.split_once('\n').unwrap().1, source, "after a refresh the body is one call away");
}

#[test]
fn windows_are_sent_once_and_then_unchanged_or_as_a_delta() {
    let person = Person::new();
    person.file("a.txt", lines(400));
    let first = person.says(&["read", "--lines", "100-140", "a.txt"]);
    assert!(first.starts_with("[DRIP: lines 100-140 of 400 | ") && first.contains("line 140 "), "{first}");
    let again = person.says(&["read", "--lines", "100-140", "a.txt"]);
    assert!(again.starts_with("[DRIP: unchanged (lines 100-140) | 0 tokens sent ("), "{again}");
    assert!(again.ends_with(" saved) | a.txt]\n"), "{again}");
    let unseen = person.says(&["read", "--lines", "130-150", "a.txt"]);
    assert!(unseen.contains("line 150 "), "a line that was never shown is sent: {unseen}");
    person.file("a.txt", changed(400, &[120]));
    let delta = person.says(&["read", "--lines", "100-140", "a.txt"]);
    assert!(delta.starts_with("[DRIP: delta only (lines 100-140) | "), "{delta}");
    let whole = person.says(&["read", "a.txt"]);
    assert!(whole.starts_with("[DRIP: full read | ") && whole.contains("line 400 "), "{whole}");
}

#[test]
fn a_window_beyond_the_end_is_told() {
    let person = Person::new();
    person.file("a.txt", lines(3));
    let said = person.says(&["read", "--lines", "10-20", "a.txt"]);
    assert_eq!(said, "[DRIP: no line 10 | the file has 3 lines | a.txt]\n");
}

#[test]
fn an_empty_file_has_a_heading_every_time() {
    let person = Person::new();
    person.file("a.txt", "");
    assert_eq!(person.says(&["read", "a.txt"]), "[DRIP: empty file | a.txt]\n");
    assert_eq!(person.says(&["read", "a.txt"]), "[DRIP: unchanged (empty file) | a.txt]\n");
}

#[test]
fn a_deleted_file_is_told_once_and_is_then_missing() {
    let person = Person::new();
    let path = person.file("a.txt", lines(9));
    person.says(&["read", "a.txt"]);
    fs::remove_file(path).unwrap();
    assert_eq!(person.says(&["read", "a.txt"]), "[DRIP: file deleted since last read | a.txt]\n");
    let said = person.drip(&["read", "a.txt"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(
        said.stderr.contains("file not found: ") && said.stderr.contains("project/a.txt"),
        "{}",
        said.stderr
    );
    person.file("a.txt", lines(9));
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: full read | "));
}

#[test]
fn a_file_that_was_moved_is_known_by_its_content() {
    let person = Person::new();
    let path = person.file("a.txt", lines(40));
    person.says(&["read", "a.txt"]);
    fs::rename(&path, person.project().join("b.txt")).unwrap();
    let said = person.says(&["read", "b.txt"]);
    assert!(
        said.starts_with("[DRIP: renamed from ") && said.contains("a.txt | unchanged since last read"),
        "{said}"
    );
    assert!(person.says(&["read", "b.txt"]).starts_with("[DRIP: unchanged since last read"));
}

#[test]
fn what_would_cost_more_than_the_file_is_the_bare_file() {
    let person = Person::new();
    person.file("a.txt", "tiny\n");
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: full read | 2 tokens | a.txt]\n"));
    assert_eq!(person.says(&["read", "a.txt"]), "tiny\n");
    let reason = person.json(&["read", "a.txt", "--json"]);
    assert_eq!(reason["fallback_reason"], "DRIP marker would cost more than native read");
}

#[test]
fn the_gates_send_the_whole_file_and_say_which() {
    let person = Person::new();
    let heading = |before: String, after: String| {
        person.file("a.txt", before);
        person.says(&["refresh", "a.txt"]);
        person.says(&["read", "a.txt"]);
        person.file("a.txt", &after);
        let said = person.says(&["read", "a.txt"]);
        let (heading, body) = said.split_once('\n').unwrap();
        assert!(body == after, "not the whole file: {heading}");
        heading.to_owned()
    };
    let scattered: Vec<usize> = (1..=8).map(|n| n * 40).collect();
    let said = heading(lines(400), changed(400, &scattered));
    assert!(said.starts_with("[DRIP: diff complexity: 8 hunks, 4% changed | "), "{said}");
    let said = heading(lines(3_000), changed(3_000, &[1]));
    assert!(said.starts_with("[DRIP: large file | "), "{said}");
    let said = heading(lines(40), lines(10));
    assert!(said.starts_with("[DRIP: truncated | "), "{said}");
    let said = heading(lines(12), lines(12).replace("line", "LINE"));
    assert!(
        said.starts_with("[DRIP: diff would cost more than the file itself | ")
            || said.contains("complexity"),
        "{said}"
    );
}

#[test]
fn the_cheapest_policy_sends_little_where_the_gates_send_everything() {
    let person = Person::new();
    let cheapest = [("DRIP_DIFF_POLICY", "cheapest")];
    let sent = |count: usize, which: &[usize]| {
        person.file("a.txt", lines(count));
        person.says(&["refresh", "a.txt"]);
        person.says(&["read", "a.txt"]);
        person.file("a.txt", changed(count, which));
        let said = person.drip_with(&cheapest, &["read", "a.txt"]).ok().stdout;
        assert!(said.starts_with("[DRIP: delta only | "), "{}", said.lines().next().unwrap());
        tokens(&said)
    };
    let far = sent(2_000, &[3, 700, 1_400, 1_990]);
    assert!(far <= 400, "{far} tokens for four lines far apart");
    let large = sent(3_600, &[1_800]);
    assert!(large <= 120, "{large} tokens for one line in {} bytes", lines(3_600).len());
}

#[test]
fn a_read_after_an_edit_of_ones_own_is_a_certificate_or_the_file() {
    let person = Person::new();
    let (before, after) = (lines(200), changed(200, &[5]));
    let path = person.file("a.txt", &before);
    let edited = || person.edited(&path, &before, &after, "-old\n+new\n");
    // Nothing of it was shown: a certificate would be a lie.
    person.file("a.txt", &after);
    edited();
    let said = person.says(&["read", "a.txt"]);
    assert!(
        said.starts_with("[DRIP: post-edit passthrough | next read after this is normal | a.txt]\n"),
        "{said}"
    );
    edited();
    let said = person.says(&["read", "a.txt"]);
    let hash = Hash::of(after.as_bytes());
    let rest: Vec<&str> = said.lines().skip(1).collect();
    assert!(said.starts_with("[DRIP: edit verified | "), "{said}");
    assert!(
        said.lines().next().unwrap().ends_with(&format!(" tokens) | hash: {} | a.txt]", hash.short())),
        "{said}"
    );
    assert_eq!(
        rest,
        [
            "Edit applied successfully.",
            "Changed:",
            "  head (L5-L5)",
            "Unchanged regions: 199 lines",
            &format!("File hash: {}", hash.short()),
            "Use `drip refresh a.txt` if you need full content.",
        ]
    );
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: unchanged since last read"));
}

#[test]
fn another_session_is_told_what_changed_since_the_last() {
    let person = Person::new();
    person.file("a.txt", lines(400));
    person.says(&["read", "a.txt"]);
    person.pass(3 * 3600);
    let other = |args: &[&str]| person.drip_with(&[("DRIP_SESSION_ID", "s2")], args).ok().stdout;
    let said = other(&["read", "a.txt"]);
    assert!(
        said.lines().next().unwrap().contains(" tokens | ↔ unchanged since last session (3h ago) | a.txt]"),
        "{said}"
    );
    person.file("a.txt", changed(400, &[200]));
    let third = person.drip_with(&[("DRIP_SESSION_ID", "s3")], &["read", "a.txt"]).ok().stdout;
    let heading = third.lines().next().unwrap();
    assert!(
        heading.contains(" | ↕ changed since last session (0s ago): +1 lines, -1 lines | a.txt]"),
        "{heading}"
    );
    let trailer = "\n\n── Changes since last session ──────────────────────────────\n--- a.txt (last read)";
    assert!(third.contains(trailer), "{third}");
}

#[test]
fn a_session_that_was_idle_for_too_long_begins_anew_and_says_so_once() {
    let person = Person::new();
    let off = [("DRIP_REGISTRY_DISABLE", "1")];
    let read = || person.drip_with(&off, &["read", "a.txt"]).ok().stdout;
    person.file("a.txt", lines(40));
    read();
    person.pass(7_200 * 97 / 100);
    assert!(read().starts_with("[DRIP: unchanged since last read"), "a read renews the session");
    person.pass(7_201);
    let said = read();
    assert!(
        said.lines().next().unwrap().contains(" | ℹ session expired — fresh baseline started | a.txt]"),
        "{said}"
    );
    person.file("b.txt", lines(40));
    let other = person.drip_with(&off, &["read", "b.txt"]).ok().stdout;
    assert!(!other.contains("expired"), "{other}");
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    let dry = person.says(&["read", "--dry-run", "a.txt"]);
    assert!(dry.starts_with("[DRIP: dry-run, no state mutated]\n[DRIP: full read | "), "{dry}");
    assert_eq!(everything(&person.home.data()), [], "not even a store was made");
    person.says(&["read", "a.txt"]);
    person.file("a.txt", changed(40, &[7]));
    let before = everything(&person.store());
    let dry = person.says(&["read", "--dry-run", "a.txt"]);
    assert!(dry.contains("\n[DRIP: delta only | "), "{dry}");
    assert_eq!(person.json(&["read", "--dry-run", "a.txt", "--json"])["outcome_kind"], "delta");
    fs::remove_file(person.project().join("a.txt")).unwrap();
    assert!(person.says(&["read", "--dry-run", "a.txt"]).contains("[DRIP: file deleted since last read"));
    let after = everything(&person.store());
    let same = |name: &str| {
        let find = |all: &[(std::path::PathBuf, Vec<u8>)]| {
            all.iter().find(|(path, _)| path.ends_with(name)).map(|(_, bytes)| bytes.clone())
        };
        find(&before) == find(&after)
    };
    assert!(same("sessions.db") && same("sessions.db-wal"));
    person.file("a.txt", changed(40, &[7]));
    assert!(person.says(&["read", "a.txt"]).starts_with("[DRIP: delta only | "));
}

#[test]
fn the_same_as_json_for_programs() {
    let person = Person::new();
    let text = lines(40);
    person.file("a.txt", &text);
    let read = person.json(&["--json", "read", "a.txt"]);
    assert_eq!(read["outcome_kind"], "first");
    assert_eq!(
        (read["tokens_full"].as_u64(), read["tokens_sent"].as_u64()),
        (Some(tokens(&text) as u64), Some(tokens(&text) as u64))
    );
    assert!(read["rendered"].as_str().unwrap().ends_with(&text));
}

#[test]
fn a_directory_reached_by_two_names_is_one() {
    let person = Person::new();
    person.file("real/a.txt", lines(40));
    std::os::unix::fs::symlink(person.project().join("real"), person.project().join("link")).unwrap();
    person.says(&["read", "real/a.txt"]);
    assert!(person.says(&["read", "link/a.txt"]).starts_with("[DRIP: unchanged since last read"));
}

#[test]
fn ignored_files_are_named_and_not_shown_by_any_spelling() {
    let person = Person::new();
    let path = person.file("target/x.txt", lines(3));
    let absolute = path.to_str().unwrap().to_owned();
    for spelled in ["target/x.txt", absolute.as_str()] {
        let said = person.says(&["read", spelled]);
        let body = format!("<ignored by .dripignore: {}>", path.canonicalize().unwrap().display());
        let count = tokens(&body);
        assert_eq!(said, format!("[DRIP: matched .dripignore | {count} tokens | {spelled}]\n{body}\n"));
    }
    person.file(".dripignore", "*.secret\n!keep.secret\n");
    person.file("a.secret", "hidden words\n");
    person.file("keep.secret", "shown words\n");
    assert!(!person.says(&["read", "a.secret"]).contains("hidden words"));
    assert!(person.says(&["read", "keep.secret"]).contains("shown words"));
    assert_eq!(person.json(&["meter", "--json"])["total_reads"], 1, "a placeholder is no read");
}

#[test]
fn rules_that_are_not_followed_are_told_in_one_line_beside_the_answer() {
    let person = Person::new();
    person.file("a.txt", lines(40));
    person.file(".dripignore", b"*.log\nb\xe9ta\n{open\n".as_slice());
    let said = person.drip(&["read", "a.txt"]).ok();
    assert!(said.stdout.starts_with("[DRIP: full read | "), "{}", said.stdout);
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    assert!(said.stderr.starts_with("drip: ") && said.stderr.contains(".dripignore:2: "), "{}", said.stderr);
    assert!(said.stderr.ends_with(" (and 1 more: `drip doctor`)\n"), "{}", said.stderr);
}

#[test]
fn what_cannot_be_read_comes_with_what_to_look_at() {
    let person = Person::new();
    person.file("folder/a.txt", "a\n");
    for (args, hint) in [
        (&["read", "nope"][..], "hint: `ls .`"),
        (&["read", "folder/nope"], "hint: `ls folder`"),
        (&["read", "no such/nope"], "hint: `ls .`"),
        (&["read", "folder"], "hint: `ls folder`"),
        (&["read", ""], "error: no file is named\nhint: `drip read --help`"),
        (&["refresh", ""], "error: no file is named\nhint: `drip refresh --help`"),
        (&["registry"], "error: `drip registry` needs a subcommand: stats, gc\nhint: `drip registry --help`"),
        (&["registry", "--json"], "`drip registry` needs a subcommand: stats, gc"),
        (&["cache"], "error: `drip cache` needs a subcommand: stats, gc, compact\nhint: `drip cache --help`"),
    ] {
        let said = person.drip(args);
        assert!(
            said.code != 0 && format!("{}{}", said.stdout, said.stderr).contains(hint),
            "{}",
            said.transcript()
        );
    }
    assert_eq!(person.drip(&["cache"]).code, 2);
}
