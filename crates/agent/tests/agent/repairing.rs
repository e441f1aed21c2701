//! A tiny project with a failing test, repaired from the first look to green, whatever happens on the way.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::model::{Reply, Wire};
use testkit::{PATIENCE, until};

use crate::rig::{Rig, calls, results, says};

const ADD: &str = "# Adds two numbers, as the tests next door want it.\n# Arguments: the two numbers. Prints their sum on standard output.\nadd() {\n    echo $(($1 - $2))\n}\n";
const TEST: &str =
    ". ./add.sh\n[ \"$(add 2 3)\" = 5 ] || { echo \"add 2 3 gave $(add 2 3)\"; exit 1; }\necho passed\n";

fn run() -> Reply {
    calls("bash", &json!({"command": "sh test.sh"}))
}

fn look() -> Reply {
    calls("read_file", &json!({"path": "add.sh"}))
}

fn edit(from: &str, to: &str) -> Reply {
    calls("edit_file", &json!({"path": "add.sh", "old_str": from, "new_str": to}))
}

fn rig(replies: impl IntoIterator<Item = Reply>) -> Rig {
    let rig = Rig::new(replies);
    rig.home.write("p/add.sh", ADD);
    rig.home.write("p/test.sh", TEST);
    rig
}

#[track_caller]
fn green(rig: &Rig) {
    let output = rig.home.run(rig.home.command("sh").arg("test.sh").current_dir(rig.project()));
    assert_eq!(output.stdout, "passed\n", "{}", output.transcript());
}

#[test]
fn a_failing_test_is_looked_at_repaired_and_run() {
    let rig = rig([
        run(),
        look(),
        edit("$1 * $2", "x"),
        edit("$1 - $2", "$1 + $2"),
        run(),
        look(),
        says("It adds now."),
    ]);
    let output = rig.run(&["--permission", "all", "repair", "it"]).ok();
    assert_eq!(output.stdout, "It adds now.\n");
    green(&rig);
    let requests = rig.requests();
    let result = |request: &Value| results(request).remove(0);
    assert!(result(&requests[1]).0.contains("add 2 3 gave -1") && result(&requests[1]).1);
    assert!(result(&requests[2]).0.starts_with("1: # Adds two"), "{}", result(&requests[2]).0);
    let (missed, failed) = result(&requests[3]);
    assert!(failed && missed.contains("old_str"), "{missed}");
    assert!(result(&requests[5]).0.starts_with("passed"));
    let (again, _) = result(&requests[6]);
    assert!(!again.contains("1: # Adds"), "what the edit told is not read again: {again}");
}

#[test]
fn the_same_with_a_dropped_connection_and_an_overloaded_and_a_busy_provider_in_between() {
    let busy = |status, kind| Wire::Anthropic.failure(status, kind, "later").header("retry-after", "0");
    let rig = rig([
        run(),
        busy(529, "overloaded_error"),
        look().drop_at("read_file"),
        look(),
        busy(429, "rate_limit_error"),
        edit("$1 - $2", "$1 + $2"),
        run().reset_at("content_block_start"),
        run(),
        says("Done.").drop_at("content_block_start"),
        says("Done."),
    ]);
    let output = rig.run(&["--permission", "all", "repair", "it"]);
    assert_eq!(output.code, 0, "{}", output.transcript());
    assert!(output.stdout.ends_with("Done.\n"), "{}", output.stdout);
    green(&rig);
    assert_eq!(rig.requests().len(), 10);
}

#[test]
fn the_same_with_the_agent_killed_at_every_request() {
    let all = || [run(), look(), edit("$1 - $2", "$1 + $2"), run(), says("Done.")];
    for death in 0..all().len() {
        // The reply on which it dies never begins; after that the model says the same again.
        let mut replies: Vec<Reply> = all()[..death].to_vec();
        replies.push(all()[death].clone().delay_before(Duration::from_secs(600)));
        replies.extend(all()[death..].to_vec());
        let rig = rig(replies);
        let mut child = rig
            .command(&["--permission", "all", "repair"])
            .stdin(std::process::Stdio::null())
            .spawn()
            .unwrap();
        assert!(until(PATIENCE, || rig.server.requests().len() == death + 1));
        child.kill().unwrap();
        child.wait().unwrap();
        let output = rig.run(&["--permission", "all", "--continue"]);
        assert_eq!(
            (output.stdout.as_str(), output.code),
            ("Done.\n", 0),
            "death {death}: {}",
            output.transcript()
        );
        green(&rig);
        assert_eq!(rig.requests().len(), all().len() + 1, "death {death}");
    }
}

#[test]
fn a_command_that_died_with_us_is_not_run_again_and_the_model_is_told() {
    let rig = rig([calls("bash", &json!({"command": "echo once >> log; sleep 300"})), says("I see.")]);
    let mut child =
        rig.command(&["--permission", "all", "go"]).stdin(std::process::Stdio::null()).spawn().unwrap();
    let log = rig.project().join("log");
    // A file is there before what is written to it.
    assert!(until(PATIENCE, || std::fs::read_to_string(&log).is_ok_and(|text| text == "once\n")));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(rig.run(&["--continue"]).ok().stdout, "I see.\n");
    assert_eq!(rig.home.read("p/log"), "once\n");
    let requests = rig.requests();
    let [(told, true)] = &results(&requests[1])[..] else { panic!("{}", requests[1]) };
    assert!(told.contains("Interrupted before it gave a result"), "{told}");
}

#[test]
fn a_helper_sees_nothing_of_ours_and_gives_back_its_report_alone() {
    let rig = rig([
        look(),
        calls("task", &json!({"prompt": "what does add.sh do?"})),
        look(),
        says("It subtracts."),
        look(),
        says("My helper says that it subtracts."),
    ]);
    let output = rig.run(&["look"]).ok();
    assert_eq!(output.stdout, "My helper says that it subtracts.\n");
    let requests = rig.requests();
    let helper = &requests[2]["messages"];
    assert_eq!(helper.as_array().unwrap().len(), 1, "an empty window: {helper}");
    assert!(!requests[2]["tools"].to_string().contains("\"task\""), "no helpers of helpers");
    assert!(
        results(&requests[3])[0].0.contains("1: # Adds"),
        "it is never told that something is unchanged that it has not seen"
    );
    assert_eq!(results(&requests[4]), [("It subtracts.".to_owned(), false)]);
    let (second, _) = &results(&requests[5])[0];
    assert!(second.contains("nothing has changed"), "our own eyes are as they were: {second}");
}
