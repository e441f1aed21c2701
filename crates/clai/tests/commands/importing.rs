//! Histories of real shells, and what import says about them.

use std::fs;

use insta::assert_snapshot;
use store::sqlite::rusqlite::Connection;

use crate::person::Person;

/// Commands that are hard to write down, and one that should not have been typed.
const LINES: [&str; 4] = [
    "git commit -m \"fix: \\\"quoted\\\"\"",
    "echo 'ćž 日本'",
    "export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "make test",
];

fn bash_history(person: &Person) {
    let script = "HISTTIMEFORMAT='%F '; set -o history; for c; do history -s -- \"$c\"; done; history -w ~/.bash_history";
    let mut bash = person.home.command("bash");
    let _ = person
        .home
        .run(bash.args(["--norc", "-c", script, "bash"]).args(LINES).env("HISTFILE", "/dev/null"))
        .ok();
}

fn zsh_history(person: &Person) {
    let script = "HISTSIZE=99 SAVEHIST=99; setopt extendedhistory
        for c in \"$@\"; do print -rs -- \"$c\"; done; fc -W \"$HISTFILE\"";
    let file = person.home.path().join(".zsh_history");
    let mut zsh = person.home.command("zsh");
    let _ =
        person.home.run(zsh.args(["-f", "-i", "-c", script, "zsh"]).args(LINES).env("HISTFILE", file)).ok();
}

fn kept(person: &Person) -> Vec<String> {
    let found = person.json(&["history", "--json"]);
    found.as_array().unwrap().iter().map(|it| it["cmd"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_history_of_a_real_shell_is_imported_once_without_its_secrets() {
    for (shell, write) in [("bash", bash_history as fn(&Person)), ("zsh", zsh_history)] {
        let person = Person::now();
        write(&person);
        let first = person.json(&["import", shell, "--json"]);
        assert_eq!(
            (&first["read"], &first["new"], &first["redacted"]),
            (&4.into(), &4.into(), &1.into()),
            "{first}"
        );
        let again = person.json(&["import", shell, "--json"]);
        assert_eq!(
            (&again["read"], &again["new"], &again["known"]),
            (&4.into(), &0.into(), &4.into()),
            "{again}"
        );
        let mut expected = LINES.map(str::to_owned);
        expected[2] = "export GITHUB_TOKEN=<secret:github>".to_owned();
        assert_eq!(kept(&person), expected, "{shell}");
    }
}

#[test]
fn what_was_left_out_of_a_history_is_counted_once_however_often_it_is_imported() {
    let person = Person::now();
    person.home.write(".config/clai/config.toml", "ignore = [\"pass *\"]\n");
    let left_out = || -> Vec<(String, u64)> {
        let said = person.json(&["why-not", "--json"]);
        let rows = said["left_out"].as_array().unwrap().iter();
        let mut rows: Vec<_> = rows
            .map(|it| (it["detail"].as_str().unwrap().to_owned(), it["count"].as_u64().unwrap()))
            .collect();
        rows.sort();
        rows
    };
    let now = person.home.clock().now_ms() / 1000 - 100_000;
    let mut history = String::new();
    let mut type_in = |lines: &[&str]| {
        for line in lines {
            let later = history.len() as i64;
            history.push_str(&format!("#{}\n{line}\n", now + later));
        }
        person.home.write(".bash_history", &history);
    };
    type_in(&["pass show bank", LINES[0], LINES[1], LINES[2], "pass edit bank"]);
    for times in 1..=3 {
        let outcome = person.json(&["import", "bash", "--json"]);
        assert_eq!(outcome["redacted"], u64::from(times == 1), "{outcome}");
        assert_eq!(left_out(), [("github".to_owned(), 1), ("pass *".to_owned(), 2)], "after {times}");
    }
    type_in(&["cd", "curl -u ada:hunter2 https://example.org", "pass show x"]);
    assert_eq!(person.json(&["import", "bash", "--json"])["redacted"], 1);
    let counted =
        [("github", 1), ("pass *", 3), ("password", 1)].map(|(kind, count)| (kind.to_owned(), count));
    assert_eq!(left_out(), counted);
    // So many that none of those which go to the daemon together is kept.
    type_in(&["pass show bank"; 1200]);
    for _ in 1..=2 {
        person.json(&["import", "bash", "--json"]);
        assert_eq!(left_out()[1], ("pass *".to_owned(), 1203));
    }
}

#[test]
fn a_history_without_times_is_imported_once_though_it_grows_and_loses_its_beginning() {
    let person = Person::now();
    let line = |n: usize| if n % 7 == 3 { LINES[2].to_owned() } else { format!("make t{}", n % 50) };
    let import = |lines: std::ops::Range<usize>| {
        person.home.write(".bash_history", lines.map(line).collect::<Vec<_>>().join("\n") + "\n");
        let outcome = person.json(&["import", "bash", "--json"]);
        ["new", "known", "redacted"].map(|name| outcome[name].as_u64().unwrap())
    };
    assert_eq!(import(0..100), [100, 0, 14]);
    assert_eq!(import(0..100), [0, 100, 0], "written again");
    assert_eq!(import(0..110), [10, 100, 2]);
    person.says(&["forget", "--yes", "make t4"]);
    assert_eq!(import(50..130)[0], 20);
    let expected: Vec<String> = (0..130)
        .filter(|n| *n >= 110 || !line(*n).starts_with("make t4"))
        .map(|n| line(n).replace("ghp_0123456789abcdefghijABCDEFGHIJ012345", "<secret:github>"))
        .collect();
    let kept = person.json(&["history", "--limit", "1000", "--json"]);
    let kept: Vec<&str> = kept.as_array().unwrap().iter().map(|it| it["cmd"].as_str().unwrap()).collect();
    assert_eq!(kept, expected);
}

#[test]
fn a_history_of_fish_is_imported() {
    let person = Person::now();
    // Non-interactive fish keeps no history of what it runs, but can merge and save what it is told.
    let entries: String = LINES
        .iter()
        .enumerate()
        .map(|(index, line)| {
            format!("- cmd: {}\n  when: {}\n", line.replace('\\', "\\\\"), 1_750_000_000 + index)
        })
        .collect();
    person.home.write(person.home.data().join("fish/fish_history"), entries);
    let said = person.says(&["import", "fish"]);
    assert!(said.starts_with("4 commands read from ~/.local/share/fish/fish_history in "), "{said}");
    assert!(said.contains("  secrets  1  taken out before anything was written"), "{said}");
    assert!(said.contains("  old      4  older than retention_days = 90"), "{said}");
}

#[test]
fn the_first_prompt_after_an_import_has_something_to_say() {
    let person = Person::now();
    let circle = ["git add -A", "git commit -m x", "git push"];
    let history: Vec<&str> = (0..61).map(|index| circle[index % 3]).collect();
    person.home.write(".bash_history", history.join("\n") + "\n");
    person.says(&["import", "bash"]);
    let mut command = person.command(&["suggest", "--json"]);
    let said = person.home.run(command.env_remove("CLAI_SESSION_ID")).ok().stdout;
    let answer: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["suggestions"][0]["cmd"], "git commit -m x", "{answer}");
}

#[test]
fn the_database_of_atuin_is_imported_with_places_and_exits() {
    let person = Person::now();
    let file = person.home.path().join("history.db");
    let connection = Connection::open(&file).unwrap();
    let schema =
        "CREATE TABLE history (id TEXT PRIMARY KEY, timestamp INTEGER, duration INTEGER, exit INTEGER,
        command TEXT, cwd TEXT, session TEXT, hostname TEXT, deleted_at INTEGER);
        INSERT INTO history VALUES ('a', 1750000000000000000, 5000000, 2, 'make', '/src', 's', 'h', NULL);";
    connection.execute_batch(schema).unwrap();
    drop(connection);
    person.says(&["import", "atuin", "history.db"]);
    let found = person.json(&["history", "--json"]);
    assert_eq!(
        (&found[0]["cmd"], &found[0]["cwd"], &found[0]["exit_code"]),
        (&"make".into(), &"/src".into(), &2.into())
    );
}

#[test]
fn a_history_that_is_not_there_or_no_file_is_told() {
    let person = Person::new();
    assert_snapshot!(person.clai(&["import", "fish"]).transcript(), @r"
    --- stderr
    error: no history of fish was found: looked for ~/.local/share/fish/fish_history
    hint: `clai import fish FILE`
    [exit status: 1]
    ");
    assert_snapshot!(person.clai(&["import", "zsh", "/nowhere"]).transcript(), @r"
    --- stderr
    error: cannot import: cannot read `/nowhere`: No such file or directory (os error 2)
    [exit status: 1]
    ");
    assert_snapshot!(person.clai(&["import", "bash", "/dev/zero"]).transcript(), @r"
    --- stderr
    error: cannot import: `/dev/zero` is not a regular file
    [exit status: 1]
    ");
}

#[test]
fn torn_lines_and_endless_ones_are_skipped_and_counted() {
    let person = Person::now();
    let long = "x".repeat(1 << 20);
    let escaped = format!("echo {}", "\u{1}".repeat(100_000));
    person.home.write(
        ".bash_history",
        format!("first\n{long}\n{escaped}\nsecond \u{fffd}\n").replace('\u{fffd}', "\0"),
    );
    let outcome = person.json(&["import", "bash", "--json"]);
    assert_eq!((&outcome["new"], &outcome["skipped"]), (&2.into(), &2.into()), "{outcome}");
}

#[test]
fn commands_of_the_future_are_imported_once_too() {
    let person = Person::now();
    let later = person.home.clock().now_ms() / 1000 + 86_400;
    person.home.write(
        ".bash_history",
        format!("#1750000000\nfirst\n#{later}\nmake\n#{later}\nmake\n#{}\nls\n", later + 9),
    );
    assert_eq!(person.json(&["import", "bash", "--json"])["new"], 4);
    person.home.clock().advance(std::time::Duration::from_secs(60));
    assert_eq!(person.json(&["import", "bash", "--json"])["new"], 0);
    assert_eq!(kept(&person), ["first", "make", "make", "ls"]);
}

#[test]
fn nothing_of_the_history_file_is_changed() {
    let person = Person::now();
    bash_history(&person);
    let before = fs::read(person.home.path().join(".bash_history")).unwrap();
    person.says(&["import", "bash"]);
    assert_eq!(fs::read(person.home.path().join(".bash_history")).unwrap(), before);
}
