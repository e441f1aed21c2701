//! Going on with a conversation: the last one here, one by name, and none at all.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::model::turn;
use testkit::{PATIENCE, until};

use crate::rig::{Rig, calls, says, stream, words};

#[test]
fn the_last_conversation_of_this_directory_goes_on_and_no_other() {
    let rig = Rig::new([says("one"), says("other"), says("two")]);
    rig.home.clock().set(1_800_000_000_000);
    let _ = rig.run(&["first"]).ok();
    rig.home.clock().set(1_800_000_100_000);
    let elsewhere = rig.home.path().join("q");
    std::fs::create_dir(&elsewhere).unwrap();
    let output = rig.home.run(rig.command(&["elsewhere"]).current_dir(&elsewhere)).ok();
    assert_eq!(output.stdout, "other\n");
    let _ = rig.run(&["-c", "second"]).ok();
    let requests = rig.requests();
    let all: Vec<String> = requests[2]["messages"].as_array().unwrap().iter().map(words).collect();
    assert_eq!(all.len(), 3);
    assert!(all[0].ends_with("first") && all[1] == "one" && all[2] == "second", "{all:?}");
}

#[test]
fn a_conversation_goes_on_by_its_name_which_the_list_tells() {
    let rig = Rig::new([says("one"), says("two")]);
    let _ = rig.run(&["first"]).ok();
    let listed = rig.home.run(rig.home.command(testkit::bin("agent")).args(["contexts", "--json"])).ok();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let name = listed["contexts"][0]["context"].as_str().unwrap();
    assert!(name.starts_with("agent-p-"), "{name}");
    assert_eq!(listed["contexts"][0]["project"], rig.project().to_str().unwrap());
    let _ = rig.run(&["--resume", name, "second"]).ok();
    assert_eq!(rig.requests()[1]["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn nothing_to_go_on_with_is_said_with_what_to_do() {
    let rig = Rig::new([]);
    let output = rig.run(&["--continue", "x"]);
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    assert!(
        output.stderr.starts_with("error: there is no conversation of this directory to go on with\nhint: "),
        "{}",
        output.stderr
    );
    let output = rig.run(&["--resume", "agent-nope", "x"]);
    assert!(
        output.code == 1 && output.stderr.contains("no conversation `agent-nope`"),
        "{}",
        output.transcript()
    );
    let output = rig.run(&["--resume", "../../etc", "x"]);
    assert!(output.code == 2 && output.stderr.contains("no name for a context"), "{}", output.transcript());
}

#[test]
fn a_conversation_that_somebody_works_with_is_not_taken_from_them() {
    let rig = Rig::new([says("one"), says("slow").pause_at("sl", Duration::from_secs(600))]);
    let _ = rig.run(&["first"]).ok();
    let mut child = rig
        .command(&["-c", "second"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    assert!(until(PATIENCE, || rig.server.requests().len() == 2));
    let output = rig.run(&["-c", "third"]);
    assert_eq!(output.code, 5, "{}", output.transcript());
    let holder = format!("process {} (agent)", child.id());
    assert!(output.stderr.contains(&holder), "{}", output.stderr);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(rig.server.finish());
}

#[test]
fn nothing_is_written_into_the_project() {
    let rig = Rig::new([says("one"), says("two")]);
    let _ = rig.run(&["first"]).ok();
    // A variable that is set to nothing is not set.
    let _ = rig.home.run(rig.command(&["second"]).env("CHIBI_HOME", "")).ok();
    assert_eq!(std::fs::read_dir(rig.project()).unwrap().count(), 0);
    drop(rig.requests());
}

#[test]
fn what_is_kept_is_for_us_alone() {
    let rig = Rig::new([says("one")]);
    let _ = rig.run(&["first"]).ok();
    let open =
        rig.home.run(rig.home.command("find").args([".chibi", ".local/share/scrimp", "-perm", "/077"]));
    assert_eq!(open.stdout, "", "{}", open.transcript());
    drop(rig.requests());
}

#[test]
fn what_tools_did_can_be_read_in_the_transcript() {
    let rig = Rig::new([
        calls("bash", &json!({"command": "echo secret-of-the-day"})),
        calls("bash", &json!({"command": "touch made"})),
        says("done"),
    ]);
    let rule = "[[agent.rules]]\ntool = \"bash\"\ncommand = \"touch made\"\nverdict = \"deny\"\n";
    rig.home.write(".config/scrimp/config.toml", rule);
    let _ = rig.run(&["--permission", "all", "go"]).ok();
    let name = std::fs::read_dir(rig.home.path().join(".chibi/contexts")).unwrap().next().unwrap().unwrap();
    let transcript = std::fs::read_to_string(name.path().join("transcript/active.jsonl")).unwrap();
    for word in
        ["echo secret-of-the-day", "secret-of-the-day\\n", "touch made", "a rule of the user forbids it"]
    {
        assert!(transcript.contains(word), "{word}: {transcript}");
    }
    drop(rig.requests());
}

#[test]
fn a_conversation_is_exported_where_somebody_wants_it_and_nowhere_else() {
    let two =
        turn().say("Looking.").call("list_files", &json!({})).call("read_file", &json!({"path": "none"}));
    let rig = Rig::new([stream(two), says("Done."), says("Yes.")]);
    rig.home.write("p/.entire/metadata/of-others", "theirs");
    let nothing = rig.home.run(&mut export(&rig, &[]));
    assert!(
        nothing.code == 1 && nothing.stderr.contains("there is no conversation"),
        "{}",
        nothing.transcript()
    );
    let _ = rig.run(&["look around"]).ok();
    let _ = rig.run(&["--continue", "again?\nplease"]).ok();
    let first = rig.home.run(&mut export(&rig, &[])).ok().stdout;
    let again = rig.home.run(&mut export(&rig, &["--json"])).ok().stdout;
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["path"], first.trim_end(), "the same conversation is in the same place");
    let folder = std::path::Path::new(first.trim_end());
    assert!(folder.starts_with(rig.project().join(".entire/metadata")), "{first}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("prompt.txt"), "look around\n\nagain?\nplease\n");
    assert!(
        read("context.md").ends_with(
            "## Prompts\n\n- look around\n- again?\n\n## Key Actions\n\n- list_files\n- read_file none\n"
        ),
        "{}",
        read("context.md")
    );
    let lines: Vec<Value> =
        read("full.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant", "user", "assistant", "user", "assistant"]);
    let parents: Vec<&Value> = lines.iter().map(|line| &line["parentUuid"]).collect();
    let ids: Vec<&Value> = lines.iter().map(|line| &line["uuid"]).collect();
    assert!(parents[0].is_null() && parents[1..] == ids[..5], "{parents:?}");
    let content = |place: usize| lines[place]["message"]["content"].as_array().unwrap();
    assert_eq!((content(1).len(), content(2).len()), (3, 2), "blocks as they came, results together");
    // They came in the order in which the calls ended.
    let failed: Vec<&Value> = content(2).iter().filter(|result| result["is_error"] == true).collect();
    assert_eq!((failed.len(), &failed[0]["tool_use_id"]), (1, &content(1)[2]["id"]));
    assert_eq!(lines[0]["cwd"], rig.project().to_str().unwrap());
    assert_eq!(Some(lines[0]["sessionId"].as_str().unwrap()), folder.file_name().unwrap().to_str());
    assert_eq!(rig.home.read("p/.entire/metadata/of-others"), "theirs");
    let elsewhere = rig.home.run(&mut export(&rig, &["--into", "../q"])).ok().stdout;
    assert!(elsewhere.contains("/q/.entire/metadata/"), "{elsewhere}");
    let open = rig.home.run(rig.home.command("find").args(["q/.entire", "-perm", "/077"]));
    assert_eq!(open.stdout, "", "for us alone");
    drop(rig.requests());
}

fn export(rig: &Rig, args: &[&str]) -> std::process::Command {
    let mut command = rig.home.command(testkit::bin("agent"));
    command.arg("export").args(args).current_dir(rig.project());
    command
}
