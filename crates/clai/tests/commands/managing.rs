//! The daemon, its pauses, and the configuration.

use insta::assert_snapshot;

use crate::person::Person;

#[test]
fn a_daemon_is_started_once_asked_and_stopped() {
    let person = Person::new();
    assert_snapshot!(person.clai(&["status"]).transcript(), @r"
    the daemon is not running

    Next:  clai daemon start    start it now
    [exit status: 1]
    ");
    assert_eq!(person.says(&["daemon", "start"]), "the daemon is running\n");
    assert_eq!(person.says(&["daemon", "start"]), "the daemon was running already\n");
    person.ran("make");
    let pid = person.daemon();
    let status = person.says(&["daemon", "status"]);
    assert!(status.contains(&format!("ok, process {pid}, version 0.1.0")), "{status}");
    assert!(status.contains("learned  1 command\n") && status.contains("1 since it was started"), "{status}");
    assert_eq!(person.says(&["daemon", "stop"]), "the daemon has written what it had heard and ended\n");
    assert_eq!(person.says(&["daemon", "stop"]), "the daemon was not running\n");
    let status = person.clai(&["status", "--json"]);
    assert_eq!((status.code, status.stdout.as_str()), (1, "{\"running\":false}\n"));
    assert!(person.says(&["history"]).contains("make"));
}

#[test]
fn a_pause_survives_the_daemon_and_ends_when_told() {
    let person = Person::new();
    person.start();
    assert_snapshot!(person.says(&["pause", "30m"]), @r"
    paused for 30 min: nothing is kept or learned

    Next:  clai resume    go on
    ");
    person.says(&["daemon", "stop"]);
    person.start();
    person.ran("echo secret thoughts");
    assert!(person.says(&["status"]).contains("paused for 30 min"), "half a minute is gone");
    assert_eq!(person.says(&["resume"]), "commands are kept and learned from again\n");
    person.ran("echo public");
    let history = person.says(&["history"]);
    assert!(history.contains("public") && !history.contains("thoughts"), "{history}");
    assert!(person.says(&["pause"]).starts_with("paused until you resume: nothing is kept"));
}

#[test]
fn the_configuration_is_shown_with_the_layer_that_won() {
    let person = Person::new();
    assert_eq!(
        person.says(&["config", "path"]),
        format!("{}/clai/config.toml\n", person.home.config().display())
    );
    let said = person.says(&["config", "init"]);
    assert!(said.starts_with("wrote ~/.config/clai/config.toml: every key is in it"), "{said}");
    let again = person.clai(&["config", "init"]);
    assert!(again.code == 1 && again.stderr.contains("is there already"), "{}", again.transcript());
    person
        .home
        .write(person.home.config().join("clai/config.toml"), "retention_days = 30\nsecerts = \"drop\"\n");
    let mut command = person.command(&["config", "show", "--explain"]);
    let said = person.home.run(command.env("CLAI_SCORER", "seed")).ok();
    assert_eq!(said.stderr, "note: unknown key `secerts`, perhaps `secrets`\n");
    let line = |key: &str| said.stdout.lines().find(|line| line.contains(key)).unwrap().to_owned();
    assert!(line("retention_days = 30").contains(" file "), "{}", said.stdout);
    assert!(line("scorer = \"seed\"").contains(" environment "), "{}", said.stdout);
    assert!(line("secrets = \"redact\"").contains(" default "), "{}", said.stdout);
    let rows = person.json(&["config", "--json"]);
    assert_eq!((&rows[0]["key"], &rows[0]["value"]), (&"retention_days".into(), &30.into()));
}

#[test]
fn a_running_daemon_reads_the_configuration_again_when_told() {
    let person = Person::new();
    assert!(person.says(&["config", "reload"]).starts_with("the daemon is not running"));
    person.start();
    person.home.write(person.home.config().join("clai/config.toml"), "ignore = [\"ls\"]\nx = 1\n");
    let said = person.clai(&["config", "reload"]).ok();
    assert!(
        said.stdout.starts_with("the daemon has read") && said.stderr.contains("unknown key `x`"),
        "{}",
        said.transcript()
    );
    person.ran("ls");
    person.ran("make");
    assert_eq!(person.json(&["history", "--json"]).as_array().unwrap().len(), 1);
    person.home.write(person.home.config().join("clai/config.toml"), "ignore = 7\n");
    let said = person.clai(&["config", "reload"]);
    assert!(said.code != 0 && said.stderr.contains("`ignore` is 7"), "{}", said.transcript());
}
