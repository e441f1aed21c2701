//! Accuracy on the person's own history, and the engine behind an evaluator's pipe.

use insta::assert_snapshot;

use crate::person::Person;

#[test]
fn replay_measures_a_habit_beside_the_baselines() {
    let person = Person::now();
    let circle = ["git add -A", "git commit -m x", "git push", "make test"];
    let history: Vec<&str> = (0..120).map(|index| circle[index % 4]).collect();
    person.home.write(".bash_history", history.join("\n") + "\n");
    person.says(&["import", "bash"]);
    let report = person.json(&["replay", "--last", "60", "--json"]);
    assert_eq!((&report["history"], &report["measured"]), (&120.into(), &60.into()));
    let guessers = report["guessers"].as_array().unwrap();
    let top1 = |index: usize| guessers[index]["top1"].as_u64().unwrap();
    assert!(top1(0) >= 55 && top1(1) == 60 && top1(2) < 30, "{report}");
    let said = person.says(&["replay", "--last", "60", "--scorer", "seed"]);
    assert!(said.starts_with("the last 60 of 120 commands, each foreseen from those before it\n"), "{said}");
    assert!(said.contains("100.0 % of them had been run before in exactly this form"), "{said}");
}

#[test]
fn without_a_history_there_is_nothing_to_replay() {
    assert_snapshot!(Person::new().clai(&["replay"]).transcript(), @r"
    --- stderr
    error: there is no history to replay
    hint: `clai import bash`
    [exit status: 1]
    ");
}

#[test]
fn an_evaluator_is_served_line_by_line() {
    let person = Person::new();
    let observe =
        |cmd: &str| format!("{{\"type\":\"observe\",\"session\":\"1\",\"cmd\":\"{cmd}\",\"exit\":null}}\n");
    let ask =
        "{\"type\":\"suggest\",\"limit\":5,\"session\":\"1\",\"cwd\":null,\"ts\":null,\"prefix\":\"\"}\n";
    let round = [observe("make"), observe("make test")].concat();
    let input = [
        "{\"type\":\"reset\",\"user\":\"u\"}\n",
        &round.repeat(5),
        &observe("make"),
        ask,
        "nonsense\n",
        "{\"type\":\"reset\"}\n",
        ask,
    ]
    .concat();
    let said = person.home.run_with(&mut person.command(&["eval", "--scorer", "seed"]), input).ok();
    let answers: Vec<serde_json::Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["suggestions"][0]["cmd"], "make test");
    let forgotten = answers[1]["suggestions"].to_string();
    assert!(!forgotten.contains("make"), "{forgotten}");
    assert_eq!(said.stderr, "note: 1 lines were not understood and passed over\n");
    assert!(!person.database().exists() && !person.socket().exists(), "an evaluation leaves nothing");
}
