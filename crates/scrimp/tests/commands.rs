//! The front door as its user meets it: the real binary, its output and its exit.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: fixtures are plain files")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use testkit::{Home, Output, bin, hostile};

fn scrimp(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(bin("scrimp"));
    command.args(args).current_dir(home.path());
    command
}

fn run(home: &Home, args: &[&str]) -> Output {
    home.run(&mut scrimp(home, args))
}

/// Every path below the home, so that a test can say what was written.
fn everything(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        found.push(entry.path().display().to_string());
        if entry.path().is_dir() {
            found.extend(everything(&entry.path()));
        }
    }
    found.sort();
    found
}

#[test]
fn the_first_screen_says_where_to_go() {
    let home = Home::new();
    assert_snapshot!(run(&home, &[]).transcript(), @r"
    scrimp 0.1.0 · spend tokens like they are yours

      scrimp tour       what it does, shown here in a few seconds; nothing is installed
      scrimp doctor     what works on this machine and what does not
      scrimp savings    what was saved so far
      scrimp mcp        reads and code questions for an agent: `claude mcp add scrimp -- scrimp mcp`
      scrimp drip       An agent that reads a file again gets what changed, not the file
      scrimp tldr       Code questions answered from a warm index instead of from whole files
      scrimp clai       Your next command, learned from what you do
      scrimp chibi      Conversations that persist, compact, call plugins and talk to each other
      scrimp agent      A coding agent in your terminal that never corrupts its own history

    To talk to a model, name one; then `scrimp` alone opens a conversation:
      export ANTHROPIC_API_KEY=…      Anthropic
      export OPENROUTER_API_KEY=…     OpenRouter, with `--model NAME`
      export OPENAI_BASE_URL=http://localhost:8080/v1   a server of your own; `scrimp agent config init` keeps it
    Without any of them, `scrimp tour` shows it at work with a scripted model.
    [exit status: 0]
    ");
}

#[test]
fn the_tour_ends_well_and_leaves_nothing() {
    let home = Home::new();
    let before = everything(home.path());
    let said = run(&home, &["tour"]).ok();
    for title in ["Private", "Durable", "Local", "Contained", "Spoken", "Next:  scrimp doctor"] {
        assert!(said.stdout.contains(title), "no {title} in:\n{}", said.stdout);
    }
    assert!(
        said.stdout.contains("999 entries kept") && said.stdout.contains(" 0 survivors"),
        "{}",
        said.stdout
    );
    assert_eq!(everything(home.path()), before);
}

#[test]
fn the_tour_needs_no_home_that_can_be_written() {
    let home = Home::new();
    let locked = home.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o500)).unwrap();
    home.run(scrimp(&home, &["tour"]).env("HOME", &locked)).ok();
    assert_eq!(everything(&locked), Vec::<String>::new());
}

#[test]
fn a_doctor_in_a_good_home_finds_nothing_wrong() {
    let home = Home::new();
    let said = run(&home, &["doctor"]).ok();
    assert!(said.stdout.lines().all(|line| line.starts_with(" ok ")), "{}", said.stdout);
    assert!(said.stdout.contains("state      ~/"), "{}", said.stdout);
    let json: serde_json::Value =
        serde_json::from_str(&run(&home, &["doctor", "--json"]).ok().stdout).unwrap();
    assert_eq!(json["ok"], true);
    let subjects: Vec<_> = json["checks"].as_array().unwrap().iter().map(|check| &check["subject"]).collect();
    assert!(subjects.len() >= 8, "{subjects:?}");
}

/// What the doctor says about one subject when the home is `path` and the XDG variables are unset.
fn examined(home: &Home, path: &Path, subject: &str) -> String {
    let mut command = scrimp(home, &["doctor"]);
    for name in ["DATA_HOME", "CONFIG_HOME", "STATE_HOME", "CACHE_HOME", "RUNTIME_DIR"] {
        command.env_remove(format!("XDG_{name}"));
    }
    let said = home.run(command.env("HOME", path));
    assert_eq!(said.code, 1, "{}", said.transcript());
    let lines = said.stdout.lines().skip_while(|line| !line.starts_with(&format!(" fail  {subject} ")));
    let words = lines.take(2).map(str::trim).collect::<Vec<_>>().join("\n");
    words.replace(home.path().to_str().unwrap(), "[HOME]")
}

#[test]
fn a_home_that_is_a_file_is_a_finding_with_a_hint() {
    let home = Home::new();
    let file = home.write("file", "mine");
    assert_snapshot!(examined(&home, &file, "state"), @r"
    fail  state      `[HOME]/file` is not a directory
    hint: `ls -ld [HOME]/file`, then move it out of the way
    ");
    assert_eq!(home.read("file"), "mine");
}

#[test]
fn a_home_that_does_not_exist_could_still_be_made() {
    let home = Home::new();
    let said = home.run(scrimp(&home, &["doctor"]).env("HOME", home.path().join("gone")));
    assert_eq!(said.code, 0, "{}", said.transcript());
}

#[test]
fn a_home_that_leads_to_somebody_elses_is_refused_before_anything_is_written() {
    let home = Home::new();
    let foreign = home.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    hostile::give_away(&foreign);
    let link = home.path().join("link");
    symlink(&foreign, &link).unwrap();
    assert_snapshot!(examined(&home, &link, "state"), @r"
    fail  state      `[HOME]/link` belongs to user 65534, and we are user 0
    hint: run as the owner, or with `sudo -H` so that HOME is your own
    ");
    assert_eq!(everything(&foreign), Vec::<String>::new());
}

#[test]
fn a_home_that_cannot_be_written_is_a_finding() {
    let home = Home::new();
    hostile::small_disk(1 << 16, |disk| {
        // Read-only for root as well.
        let script = "mount -o remount,ro \"$HOME\" && exec \"$0\" doctor";
        let mut command = home.command("sh");
        command.args(["-c", script]).arg(bin("scrimp")).env("HOME", disk);
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        let said = home.run(&mut command);
        assert!(said.code == 1 && said.stdout.contains("read-only"), "{}", said.transcript());
    });
}

#[test]
fn a_runtime_directory_of_somebody_else_is_not_followed_and_said_so() {
    let home = Home::new();
    let foreign = home.path().join("run-of-somebody");
    fs::create_dir(&foreign).unwrap();
    hostile::give_away(&foreign);
    let said = home.run(scrimp(&home, &["doctor"]).env("XDG_RUNTIME_DIR", &foreign)).ok();
    assert!(said.stdout.contains("XDG_RUNTIME_DIR is not followed: "), "{}", said.stdout);
    let said = home.run(scrimp(&home, &["doctor"]).env("XDG_RUNTIME_DIR", "relative/run")).ok();
    assert!(said.stdout.contains("`relative/run` is not an absolute path"), "{}", said.stdout);
    home.run(scrimp(&home, &["doctor"]).env_remove("XDG_RUNTIME_DIR")).ok();
}

#[test]
fn a_hooks_trouble_is_told_by_the_doctor() {
    let home = Home::new();
    home.write(
        home.state().join("scrimp/drip.log"),
        "{\"ts\":1,\"event\":\"read\",\"error\":\"store is locked\"}\n{\"ts\":2,\"event\":\"stopped\"}\n",
    );
    fs::set_permissions(home.state().join("scrimp"), Permissions::from_mode(0o700)).unwrap();
    let said = run(&home, &["doctor"]).ok();
    assert!(said.stdout.contains("warn  drip") && said.stdout.contains("store is locked"), "{}", said.stdout);
}

#[test]
fn nothing_counted_is_said_as_such() {
    let home = Home::new();
    assert_snapshot!(run(&home, &["savings"]).transcript(), @r"
    nothing counted yet

    Next:  scrimp tour
    [exit status: 0]
    ");
    assert_eq!(run(&home, &["savings", "--json"]).ok().stdout, "{\"rows\":[],\"without\":0,\"with\":0}\n");
}

#[test]
fn wrong_usage_ends_with_two_and_says_what_was_wrong() {
    let home = Home::new();
    assert_snapshot!(run(&home, &["doctor", "--jsno"]).transcript(), @r"
    --- stderr
    error: unexpected argument '--jsno' found
    hint: did you mean `--json`? `scrimp --help` lists what there is
    [exit status: 2]
    ");
}

#[test]
fn what_is_missing_or_possible_is_part_of_the_message() {
    let home = Home::new();
    let said = run(&home, &["completions"]).stderr;
    assert!(
        said.starts_with("error: the following required arguments were not provided: <SHELL>\n"),
        "{said}"
    );
    let said = run(&home, &["completions", "foo"]).stderr;
    assert!(said.contains("'foo'") && said.contains("[possible values: bash, "), "{said}");
}

#[test]
fn a_temporary_directory_that_is_no_place_for_a_tour_is_told_with_a_hint() {
    let home = Home::new();
    let gone = home.path().join("gone");
    let said = home.run(scrimp(&home, &["tour"]).env("TMPDIR", &gone));
    assert!(said.code == 1 && said.stderr.contains("hint: set TMPDIR"), "{}", said.transcript());
    assert!(!gone.exists());
    let long = home.path().join("x".repeat(90));
    fs::create_dir(&long).unwrap();
    let said = home.run(scrimp(&home, &["tour"]).env("TMPDIR", &long));
    assert!(said.code == 1 && said.stderr.contains("hint: "), "{}", said.transcript());
}

#[test]
fn a_relative_home_is_a_finding_and_nothing_is_written_below_it() {
    let home = Home::new();
    let said = home.run(scrimp(&home, &["doctor"]).env("HOME", "rel"));
    assert!(said.code == 1 && said.stdout.contains("HOME is `rel`"), "{}", said.transcript());
    assert!(!home.path().join("rel").exists());
}

#[test]
fn a_program_gets_wrong_usage_as_an_object() {
    let home = Home::new();
    assert_snapshot!(run(&home, &["savings", "--json", "--x"]).transcript(), @r#"
    --- stderr
    {"error":"unexpected argument '--x' found","hint":"`scrimp --help`","exit":2}
    [exit status: 2]
    "#);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::new();
    let mut child = scrimp(&home, &["completions", "zsh"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn completions_are_scripts_that_the_shells_accept() {
    let home = Home::new();
    for (shell, check) in [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")] {
        let script = home.write(format!("scrimp.{shell}"), run(&home, &["completions", shell]).ok().stdout);
        home.run(home.command(check).arg("-n").arg(&script)).ok();
    }
}

#[test]
fn the_version_is_one_line() {
    let home = Home::new();
    let version = format!("scrimp {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run(&home, &["--version"]).ok().stdout, version);
}
