//! Hooks in the form of Claude Code: they see what it would show them, and what they say is done.

use serde_json::{Value, json};

use crate::rig::{Rig, calls, results, says, words};

fn configured(rig: &Rig, hooks: &str) {
    rig.home.write(".config/scrimp/config.toml", format!("[agent]\n{hooks}"));
}

#[test]
fn exit_two_keeps_a_tool_from_running_and_the_model_learns_why() {
    let rig = Rig::new([calls("bash", &json!({"command": "touch made"})), says("Ok.")]);
    configured(
        &rig,
        "[[agent.hooks.PreToolUse]]\nmatcher = \"Bash\"\nhooks = [{ command = \"cat > ../seen; echo not on Fridays >&2; exit 2\" }]\n",
    );
    let _ = rig.run(&["--permission", "all", "go"]).ok();
    assert!(!rig.project().join("made").exists());
    let seen: Value = serde_json::from_str(&rig.home.read("seen")).unwrap();
    assert_eq!((&seen["hook_event_name"], &seen["tool_name"]), (&json!("PreToolUse"), &json!("Bash")));
    assert_eq!(seen["tool_input"], json!({"command": "touch made"}));
    assert_eq!(seen["cwd"], rig.project().to_str().unwrap());
    assert!(seen["session_id"].as_str().unwrap().starts_with("agent-p-"), "{seen}");
    let requests = rig.requests();
    assert_eq!(results(&requests[1]), [("not on Fridays".to_owned(), true)]);
}

#[test]
fn hooks_of_another_file_are_run_with_their_own_words_for_things() {
    let rig = Rig::new([
        calls("edit_file", &json!({"path": "a.txt", "old_str": "", "new_str": "x\n"})),
        says("Ok."),
    ]);
    let hook = "python3 -c pass 2>/dev/null; grep -q '\"file_path\":\"[^\"]*/p/a.txt\"' && echo '{\"hookSpecificOutput\":{\"additionalContext\":\"formatted\"}}'";
    let settings = json!({"hooks": {"PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": hook}]}],
        "Notification": [{"hooks": []}]}});
    rig.home.write(".claude/settings.json", settings.to_string());
    configured(&rig, "hooks_files = [\"~/.claude/settings.json\"]\n");
    let output = rig.run(&["--permission", "edits", "go"]).ok();
    assert!(!output.stderr.contains("warning"), "{}", output.stderr);
    let requests = rig.requests();
    let (told, failed) = results(&requests[1]).remove(0);
    assert!(!failed && told.starts_with("[hook] formatted\n\nCreated a.txt"), "{told}");
}

#[test]
fn a_hook_may_change_what_a_tool_is_given_and_allow_what_would_be_asked() {
    let rig = Rig::new([calls("bash", &json!({"command": "touch wrong"})), says("Ok.")]);
    let answer = json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "touch right"}}});
    configured(
        &rig,
        &format!("[[agent.hooks.PreToolUse]]\nhooks = [{{ command = '''echo '{answer}' ''' }}]\n"),
    );
    let _ = rig.run(&["--permission", "ask", "go"]).ok();
    assert!(rig.project().join("right").exists() && !rig.project().join("wrong").exists());
    let requests = rig.requests();
    let asked = &requests[1]["messages"][1]["content"][0]["input"]["command"];
    assert_eq!(asked, "touch wrong", "the model's own words stay");
    let told = "[not as you asked, but with these arguments: {\"command\":\"touch right\"}]";
    assert!(results(&requests[1])[0].0.starts_with(told), "{:?}", results(&requests[1]));
}

#[test]
fn words_of_a_hook_before_a_call_come_with_its_result_or_its_refusal() {
    let rig = Rig::new([
        calls("read_file", &json!({"path": "a.txt"})),
        calls("bash", &json!({"command": "touch made"})),
        says("Ok."),
    ]);
    rig.home.write("p/a.txt", "one\n");
    let answer =
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "mind the gap"}});
    configured(
        &rig,
        &format!("[[agent.hooks.PreToolUse]]\nhooks = [{{ command = '''echo '{answer}' ''' }}]\n"),
    );
    let _ = rig.run(&["go"]).ok();
    let requests = rig.requests();
    let (read, failed) = results(&requests[1]).remove(0);
    assert!(!failed && read.starts_with("[hook] mind the gap\n\n1: one\n"), "{read}");
    let (refused, failed) = results(&requests[2]).remove(0);
    assert!(
        failed
            && refused.starts_with("[hook] mind the gap\n\n")
            && refused.contains("only reading is allowed"),
        "{refused}"
    );
}

#[test]
fn read_only_holds_whatever_a_hook_allows() {
    let rig = Rig::new([calls("bash", &json!({"command": "touch made"})), says("Ok.")]);
    configured(
        &rig,
        "[[agent.hooks.PreToolUse]]\nhooks = [{ command = '''echo '{\"decision\":\"approve\"}' ''' }]\n",
    );
    let _ = rig.run(&["go"]).ok();
    assert!(!rig.project().join("made").exists());
    drop(rig.requests());
}

#[test]
fn words_of_hooks_reach_the_model_with_the_prompt() {
    let rig = Rig::new([says("Ok.")]);
    configured(
        &rig,
        "[[agent.hooks.SessionStart]]\nhooks = [{ command = \"echo branch main\" }]\n\
         [[agent.hooks.UserPromptSubmit]]\nhooks = [{ command = \"echo be brief\" }]\n",
    );
    let _ = rig.run(&["hi"]).ok();
    assert!(
        words(&rig.requests()[0]["messages"][0]).ends_with("hi\n\n[hook] branch main\n\n[hook] be brief")
    );
}

#[test]
fn a_prompt_that_a_hook_refuses_is_not_sent() {
    let rig = Rig::new([]);
    configured(
        &rig,
        "[[agent.hooks.UserPromptSubmit]]\nhooks = [{ command = \"echo no secrets >&2; exit 2\" }]\n",
    );
    let output = rig.run(&["the password is x"]);
    assert_eq!((output.code, output.stderr.as_str()), (1, "error: no secrets\n"));
    assert_eq!(rig.requests().len(), 0);
}

#[test]
fn a_stop_hook_makes_the_model_go_on_and_knows_that_it_did() {
    let rig = Rig::new([says("Done."), says("Now it is.")]);
    let hook = "grep -q '\"stop_hook_active\":false' && { echo run the tests >&2; exit 2; }; exit 0";
    configured(&rig, &format!("[[agent.hooks.Stop]]\nhooks = [{{ command = '''{hook}''' }}]\n"));
    assert_eq!(rig.run(&["hi"]).ok().stdout, "Done.\nNow it is.\n");
    let requests = rig.requests();
    assert_eq!(words(requests[1]["messages"].as_array().unwrap().last().unwrap()), "[hook] run the tests");
}

#[test]
fn a_broken_hook_is_told_and_changes_nothing() {
    let rig = Rig::new([calls("list_files", &json!({})), says("Ok.")]);
    configured(
        &rig,
        "[[agent.hooks.PreToolUse]]\nhooks = [{ command = \"/nonexistent/hook\" }, { command = \"sleep 60\", timeout = 0 }]\n",
    );
    let output = rig.run(&["hi"]).ok();
    assert!(
        output.stderr.contains("warning: the PreToolUse hook `/nonexistent/hook` ended with 127"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("hook `sleep 60` took too long"), "{}", output.stderr);
    drop(rig.requests());
}
