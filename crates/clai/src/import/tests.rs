//! Each format against a small writer of it, and against what no shell would write.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const T0: i64 = 1_700_000_000;

fn read(source: Source, bytes: &[u8]) -> Vec<Entry> {
    Text::new(bytes, Format::of(source).unwrap()).map(Result::unwrap).collect()
}

/// Time in seconds and line of each entry.
#[track_caller]
fn check(source: Source, bytes: &[u8], expected: &[(Option<i64>, &str)]) {
    let entries = read(source, bytes);
    let found: Vec<_> = entries.iter().map(|e| (e.ts.map(|ms| ms / 1000), e.line.as_str())).collect();
    assert_eq!(found, expected);
}

/// As bash does with `HISTTIMEFORMAT` set.
fn write_bash(entries: &[(i64, String)]) -> Vec<u8> {
    entries.iter().flat_map(|(ts, line)| format!("#{ts}\n{line}\n").into_bytes()).collect()
}

/// As zsh does: `extended` with times.
fn write_zsh(entries: &[(i64, String)], extended: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (ts, line) in entries {
        if extended {
            out.extend(format!(": {ts}:7;").bytes());
        } else if line.starts_with(':') {
            out.push(b'\\');
        }
        for byte in line.bytes() {
            match byte {
                b'\n' => out.extend(b"\\\n"),
                0 | 0x83..=0xa2 => out.extend([0x83, byte ^ 32]),
                byte => out.push(byte),
            }
        }
        if line.trim_end_matches(' ').ends_with('\\') {
            out.push(b' ');
        }
        out.push(b'\n');
    }
    out
}

fn write_fish(entries: &[(i64, String)]) -> Vec<u8> {
    let escaped = |line: &str| line.replace('\\', "\\\\").replace('\n', "\\n");
    let entry = |(ts, line): &(i64, String)| {
        format!("- cmd: {}\n  when: {ts}\n  paths:\n    - a: b\n", escaped(line)).into_bytes()
    };
    entries.iter().flat_map(entry).collect()
}

/// Lines that shells can remember: several lines, all kinds of characters, none of them a NUL.
fn commands() -> impl Strategy<Value = Vec<(i64, String)>> {
    let word = prop_oneof!["[ -~]{0,12}", "\\PC{0,6}", "[:;\\\\ #'\"]{1,5}", Just("日本 ćž".to_owned())];
    let line = vec(word, 1..4).prop_map(|words| words.concat());
    let command = vec(line, 1..4).prop_map(|lines| lines.join("\n"));
    let command =
        command.prop_filter("blank ends are not kept", |c| !c.trim().is_empty() && !c.ends_with('\n'));
    vec((T0..T0 + 1_000_000, command), 0..12)
}

fn found(entries: Vec<Entry>) -> Vec<(i64, String)> {
    entries.into_iter().map(|entry| (entry.ts.unwrap() / 1000, entry.line)).collect()
}

proptest! {
    #[test]
    fn what_bash_writes_reads_back(commands in commands()) {
        // A first line that is empty is not distinguishable, nor is one that looks like a time.
        let commands: Vec<_> = commands.into_iter().filter(|(_, line)| !line.starts_with('\n')).collect();
        prop_assert_eq!(found(read(Source::Bash, &write_bash(&commands))), commands);
    }

    #[test]
    fn what_zsh_writes_with_times_reads_back(commands in commands()) {
        let expected: Vec<_> = commands.iter().map(|(ts, line)| (ts + 7, line.clone())).collect();
        prop_assert_eq!(found(read(Source::Zsh, &write_zsh(&commands, true))), expected);
    }

    #[test]
    fn what_zsh_writes_without_times_reads_back(commands in commands()) {
        // Zsh itself cannot tell `\:` from an escaped colon.
        let commands: Vec<_> = commands.into_iter().filter(|(_, line)| !line.starts_with("\\:")).collect();
        let entries = read(Source::Zsh, &write_zsh(&commands, false));
        let lines: Vec<_> = entries.into_iter().map(|entry| entry.line).collect();
        prop_assert_eq!(lines, commands.into_iter().map(|(_, line)| line).collect::<Vec<_>>());
    }

    #[test]
    fn what_fish_writes_reads_back(commands in commands()) {
        prop_assert_eq!(found(read(Source::Fish, &write_fish(&commands))), commands);
    }

    #[test]
    fn any_bytes_give_lines_without_a_nul(
        bytes in vec(prop_oneof![Just(b'\n'), Just(b'\\'), Just(0x83), Just(b'#'), Just(b':'), Just(b'1'), any::<u8>()], 0..120),
    ) {
        for source in [Source::Bash, Source::Zsh, Source::Fish] {
            let mut settle = Settle::new(source, Lead { ts: T0 * 1000, offset: bytes.len() as u64 });
            for entry in read(source, &bytes) {
                prop_assert!(!entry.line.trim().is_empty() && !entry.line.contains('\0'));
                let _ = settle.settle(entry);
            }
        }
    }
}

#[test]
fn bash_with_times_has_entries_of_several_lines() {
    let file = b"#1700000000\ncat <<E\na\n\nb\nE\n#1700000060\nls\n";
    check(Source::Bash, file, &[(Some(T0), "cat <<E\na\n\nb\nE"), (Some(T0 + 60), "ls")]);
}

#[test]
fn bash_without_times_has_a_line_per_entry() {
    check(Source::Bash, b"ls\n\n#42\n  \ncd x\n", &[(None, "ls"), (None, "#42"), (None, "cd x")]);
    // Times that were switched on later: the lines before them stay apart.
    check(
        Source::Bash,
        b"a\nb\n#1700000000\nc\nd\n",
        &[(None, "a"), (None, "b"), (Some(T0), "c"), (None, "d")],
    );
}

#[test]
fn zsh_is_read_in_both_forms_and_mixed() {
    check(
        Source::Zsh,
        b": 1700000000:5;make test\n: 1700000010:0;\nplain\n\\: x\n: not a header;x\n:1700000020:0;old\n",
        &[
            (Some(T0 + 5), "make test"),
            (None, "plain"),
            (None, ": x"),
            (None, ": not a header;x"),
            (Some(T0 + 20), "old"),
        ],
    );
    let entry = &read(Source::Zsh, b": 1700000000:5;x\n")[0];
    assert_eq!(entry.duration_ms, Some(5000));
    assert_eq!(read(Source::Zsh, b": 1700000000:0;x\n")[0].duration_ms, None);
}

#[test]
fn an_entry_that_the_file_breaks_off_is_not_taken() {
    check(Source::Bash, b"ls\nrm -rf /", &[(None, "ls")]);
    check(Source::Bash, b"#1700000000\nls\n#1700000001\nrm -rf \\\n/tm", &[(Some(T0), "ls")]);
    check(Source::Zsh, b"ls\nrm -rf /", &[(None, "ls")]);
    check(Source::Zsh, b"ls\nrm -rf \\\\\n", &[(None, "ls")]);
    check(Source::Fish, b"- cmd: ls\n  when: 1700000000\n- cmd: rm -rf /", &[(Some(T0), "ls")]);
    check(Source::Fish, b"- cmd: ls\n  when: 17", &[(None, "ls")]);
}

#[test]
fn an_entry_that_is_too_long_is_passed_over_with_all_of_its_lines() {
    let long = "x".repeat(lines::CAP + 1);
    let bash = format!("#{T0}\nls\n#{T0}\n{long}\nrest\n#{T0}\npwd\n");
    check(Source::Bash, bash.as_bytes(), &[(Some(T0), "ls"), (Some(T0), "pwd")]);
    check(Source::Bash, format!("ls\n{long}\npwd\n").as_bytes(), &[(None, "ls"), (None, "pwd")]);
    check(
        Source::Zsh,
        format!("ls\n{long}\\\nrest\\\nrest\npwd\n").as_bytes(),
        &[(None, "ls"), (None, "pwd")],
    );
    check(
        Source::Fish,
        format!("- cmd: ls\n- cmd: {long}\n- cmd: pwd\n").as_bytes(),
        &[(None, "ls"), (None, "pwd")],
    );
    // Many short lines are long too.
    let many = format!("#{T0}\n{}#{T0}\npwd\n", "line\n".repeat(lines::CAP / 4));
    check(Source::Bash, many.as_bytes(), &[(Some(T0), "pwd")]);
    check(
        Source::Zsh,
        format!("{}end\npwd\n", "line\\\n".repeat(lines::CAP / 4)).as_bytes(),
        &[(None, "pwd")],
    );
}

#[test]
fn bytes_that_are_not_text_become_replacement_characters() {
    check(Source::Bash, b"\0\0\0\necho \xff\0x\n", &[(None, "echo \u{fffd}x")]);
    check(Source::Zsh, b"echo \x83\xa3\n", &[(None, "echo \u{fffd}")]);
    check(Source::Fish, b"- cmd: echo \xff\\q\n", &[(None, "echo \u{fffd}\\q")]);
}

fn settled(source: Source, lead: Lead, file: &[u8]) -> Vec<(i64, String)> {
    let mut settle = Settle::new(source, lead);
    let settled = read(source, file).into_iter().map(|entry| settle.settle(entry));
    settled.map(|entry| (entry.ts, entry.session.0)).collect()
}

#[test]
fn a_pause_of_half_an_hour_begins_a_session() {
    let times = [T0, T0 + 1800, T0 + 3601, T0 + 3600, T0 + 100];
    let commands: Vec<_> = times.iter().map(|ts| (*ts, "ls".to_owned())).collect();
    let sessions = settled(Source::Bash, Lead { ts: 0, offset: 0 }, &write_bash(&commands));
    let sessions: Vec<_> = sessions.iter().map(|(_, session)| session.as_str()).collect();
    let (first, second, third) = ("bash-1700000000000", "bash-1700003601000", "bash-1700000100000");
    // The last one is another shell's, written when that one ended.
    assert_eq!(sessions, [first, first, second, second, third]);
}

#[test]
fn entries_without_a_time_are_one_session_before_the_file_was_written() {
    let file = format!("{}\n", "x".repeat(300)).repeat(1000);
    let lead = Lead { ts: T0 * 1000, offset: file.len() as u64 };
    let entries = settled(Source::Bash, lead, file.as_bytes());
    assert!(entries.is_sorted_by(|a, b| a.0 < b.0));
    assert!(entries.last().unwrap().0 < T0 * 1000);
    assert!(entries[0].0 >= T0 * 1000 - 61 * 86_400_000);
    assert!(entries.iter().all(|(_, session)| *session == entries[0].1));
}

#[test]
fn times_are_made_up_around_those_that_are_known() {
    let file = b"a\nb\n#1700000000\nc\nd\ne\n";
    let entries = settled(Source::Bash, Lead { ts: T0 * 1000, offset: 16 }, file);
    let times: Vec<_> = entries.iter().map(|(ts, _)| ts - T0 * 1000).collect();
    assert_eq!(times, [-160_001, -140_001, 0, 1, 2]);
    assert_eq!((&entries[0].1, &entries[3].1), (&entries[1].1, &entries[2].1));
    assert_ne!(entries[1].1, entries[2].1);
}

#[test]
fn the_usual_places_follow_the_environment() {
    let check = |source: Source, variables: &[(&str, &str)], first: &str| {
        let env = Environment::of(variables.iter().copied().chain([("HOME", "/h")]));
        assert_eq!(source.candidates(&env.places().unwrap(), &env)[0], Path::new(first));
    };
    check(Source::Bash, &[], "/h/.bash_history");
    check(Source::Bash, &[("HISTFILE", "/x/hist")], "/x/hist");
    check(Source::Bash, &[("HISTFILE", "/x/.zsh_history")], "/h/.bash_history");
    check(Source::Bash, &[("HISTFILE", "relative")], "/h/.bash_history");
    check(Source::Zsh, &[], "/h/.zsh_history");
    check(Source::Zsh, &[("ZDOTDIR", "/z")], "/z/.zsh_history");
    check(Source::Zsh, &[("HISTFILE", "/x/.bash_history"), ("ZDOTDIR", "/z")], "/z/.zsh_history");
    check(Source::Zsh, &[("HISTFILE", "/x/hist"), ("ZDOTDIR", "/z")], "/x/hist");
    check(Source::Fish, &[("XDG_DATA_HOME", "/d")], "/d/fish/fish_history");
    check(Source::Fish, &[], "/h/.local/share/fish/fish_history");
    check(Source::Atuin, &[], "/h/.local/share/atuin/history.db");
    check(Source::Atuin, &[("ATUIN_DB_PATH", "/a.db")], "/a.db");
}
