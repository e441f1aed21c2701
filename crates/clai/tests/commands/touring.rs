//! Our stop of the front door's tour, and our part of its doctor and its subcommands.

use std::fs;
use std::path::Path;

use testkit::bin;

use crate::person::Person;

/// Every file and directory with what is in it.
fn everything(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        found.push((path.display().to_string(), fs::read(&path).unwrap_or_default()));
        if path.is_dir() {
            found.extend(everything(&path));
        }
    }
    found.sort();
    found
}

#[track_caller]
fn tour(person: &Person) -> String {
    let said = person.home.run(&mut person.command_of(&bin("scrimp"), &["tour"])).ok().stdout;
    let lines: Vec<&str> =
        said.lines().skip_while(|line| !line.contains(" Shell ")).take(4).map(str::trim).collect();
    lines.join("\n")
}

#[test]
fn the_tour_tells_a_habit_of_ones_own_and_writes_nothing() {
    let person = Person::new();
    let mut history = Vec::new();
    for number in 0..8 {
        history.push("git add -A".to_owned());
        history.push(format!("git commit -m 'number {number}'"));
        history.push(format!("echo {number}"));
    }
    history.push("export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned());
    person.home.write(".bash_history", history.join("\n") + "\n");
    let before = everything(person.home.path());
    let said = tour(&person);
    assert!(said.contains("25 commands in the history of bash, read in "), "{said}");
    assert!(
        said.contains("after `git add -A` you usually run   git commit -m <msg>   (seen 8 times, 8 of 8)"),
        "{said}"
    );
    assert!(said.contains("1 line with a secret") && !said.contains("ghp_"), "{said}");
    assert_eq!(everything(person.home.path()), before);
}

#[test]
fn without_a_history_the_tour_says_so() {
    let person = Person::new();
    let before = everything(person.home.path());
    let said = tour(&person);
    assert!(said.contains("no history of bash, zsh, fish or atuin was found below"), "{said}");
    assert_eq!(everything(person.home.path()), before);
}

#[test]
fn a_history_that_is_no_text_does_not_stop_the_tour() {
    let person = Person::new();
    let noise: Vec<u8> =
        (0..100_000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    person.home.write(".bash_history", &noise);
    person.home.write(".zsh_history", &noise);
    person.home.write(person.home.data().join("atuin/history.db"), &noise);
    assert!(tour(&person).contains("in the history of bash"));
}

#[test]
fn the_front_door_leads_to_every_command_and_speaks_of_itself_rightly() {
    let person = Person::new();
    let said = person.home.run(&mut person.command_of(&bin("scrimp"), &["clai", "status"]));
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (1, "the daemon is not running\n\nNext:  scrimp clai daemon start    start it now\n")
    );
    let said = person.home.run(&mut person.command_of(&bin("scrimp"), &["clai", "statsu"]));
    assert!(said.code == 2 && said.stderr.contains("`scrimp clai --help`"), "{}", said.transcript());
    let said = person.home.run(&mut person.command_of(&bin("scrimp"), &["doctor"])).ok();
    assert!(said.stdout.contains(" ok    clai       daemon: not running"), "{}", said.stdout);
    assert!(
        said.stdout.contains("hint: `echo 'eval \"$(clai init bash)\"' >> ~/.bashrc`"),
        "{}",
        said.stdout
    );
}
