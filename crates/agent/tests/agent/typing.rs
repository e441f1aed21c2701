//! A person at a real terminal.

use std::time::Duration;

use serde_json::json;
use testkit::model::turn;
use testkit::terminal::{Key, Size, Terminal};
use testkit::{PATIENCE, bin, until};

use crate::rig::{Rig, calls, results, says, stream, words};

const SIZE: Size = Size { rows: 40, cols: 100 };

/// The agent in the home itself.
fn open(rig: &Rig, args: &[&str]) -> Terminal {
    let url = rig.server.url();
    let terminal = Terminal::spawn(&rig.home, bin("agent"), &[&["--api-url", &url], args].concat(), SIZE);
    terminal.wait_for("/help says what can be typed", PATIENCE);
    terminal.wait_for(|screen: &str| screen.ends_with("> "), PATIENCE);
    terminal
}

fn enter(terminal: &Terminal, line: &str) {
    terminal.send(line);
    terminal.key(Key::Enter);
}

#[test]
fn a_conversation_at_a_terminal_from_the_first_line_to_the_last() {
    let rig = Rig::new([stream(turn().say("Hello.").usage(1200, 300)), says("Yes.")]);
    let mut terminal = open(&rig, &[]);
    let screen = terminal.screen();
    assert!(
        screen.contains("asks before it changes anything")
            && screen.contains("sandbox: writes only here, no network"),
        "{screen}"
    );
    enter(&terminal, "");
    terminal.wait_for(|screen: &str| screen.ends_with("> \n> "), PATIENCE);
    enter(&terminal, "hi there");
    let screen = terminal.wait_for("300 out", PATIENCE);
    assert!(screen.contains("Hello.\n") && screen.contains("1 request · 1.2k in · 300 out"), "{screen}");
    enter(&terminal, "/cost");
    terminal.wait_for("  1 request · 1.2k in", PATIENCE);
    enter(&terminal, "/hlep");
    terminal.wait_for("did you mean `/help`?", PATIENCE);
    enter(&terminal, "/help");
    terminal.wait_for("take back the last exchange", PATIENCE);
    enter(&terminal, "still there?");
    terminal.wait_for("Yes.", PATIENCE);
    enter(&terminal, "exit");
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    let requests = rig.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(words(&requests[1]["messages"][2]), "still there?");
}

#[test]
fn an_edit_is_shown_before_it_is_done_and_one_key_decides() {
    let edit = |new: &str| calls("edit_file", &json!({"path": "a.txt", "old_str": "one", "new_str": new}));
    let rig = Rig::new([
        edit("two"),
        says("No then."),
        edit("three"),
        says("Thanks."),
        edit("four"),
        says("Gone."),
        calls("edit_file", &json!({"path": "a.txt", "old_str": "three", "new_str": "five"})),
        says("Still."),
    ]);
    rig.home.write("a.txt", "zero\none\nlast\n");
    let terminal = open(&rig, &[]);
    enter(&terminal, "change it");
    let screen = terminal.wait_for("[y]es [n]o [a]lways", PATIENCE);
    assert!(
        screen.contains("- one") && screen.contains("+ two") && screen.contains("change a.txt?"),
        "{screen}"
    );
    terminal.send("n");
    terminal.wait_for("No then.", PATIENCE);
    assert_eq!(rig.home.read("a.txt"), "zero\none\nlast\n");
    enter(&terminal, "do it");
    terminal.wait_for("+ three", PATIENCE);
    terminal.send("a");
    terminal.wait_for("Thanks.", PATIENCE);
    assert_eq!(rig.home.read("a.txt"), "zero\nthree\nlast\n");
    enter(&terminal, "again");
    terminal.wait_for("Gone.", PATIENCE);
    let requests = rig.server.requests();
    assert!(results(&requests[1].json())[0].0.contains("The user said no"));
    assert!(
        results(&requests[5].json())[0].0.contains("old_str is not in a.txt"),
        "always: it was not asked again"
    );
    drop(terminal);
    let terminal = open(&rig, &[]);
    enter(&terminal, "and in another conversation?");
    let screen = terminal.wait_for("Still.", PATIENCE);
    assert!(!screen.contains("[y]es"), "{screen}");
    assert_eq!(rig.home.read("a.txt"), "zero\nfive\nlast\n");
    drop(terminal);
    drop(rig.requests());
}

#[test]
fn what_was_done_is_taken_back_with_its_words() {
    let edit = calls("edit_file", &json!({"path": "a.txt", "old_str": "one", "new_str": "two"}));
    let rig = Rig::new([says("Hi."), edit, says("Done."), says("What?")]);
    rig.home.write("a.txt", "one\n");
    let terminal = open(&rig, &["--permission", "edits"]);
    enter(&terminal, "hello");
    terminal.wait_for("Hi.", PATIENCE);
    enter(&terminal, "change it");
    terminal.wait_for("Done.", PATIENCE);
    assert_eq!(rig.home.read("a.txt"), "two\n");
    terminal.wait_for(|screen: &str| screen.ends_with("> "), PATIENCE);
    enter(&terminal, "/undo");
    let screen = terminal.wait_for("restored    a.txt", PATIENCE);
    assert!(screen.contains("taken back: change it"), "{screen}");
    assert_eq!(rig.home.read("a.txt"), "one\n");
    enter(&terminal, "/rewind 9");
    terminal.wait_for("there are only 1 exchanges", PATIENCE);
    enter(&terminal, "and now?");
    terminal.wait_for("What?", PATIENCE);
    drop(terminal);
    let requests = rig.requests();
    let all: Vec<String> = requests[3]["messages"].as_array().unwrap().iter().map(words).collect();
    assert_eq!((all.len(), all[1].as_str(), all[2].as_str()), (3, "Hi.", "and now?"));
}

#[test]
fn control_c_interrupts_once_and_leaves_twice() {
    let slow = || says("one\n\ntwo three").pause_at("three", Duration::from_secs(600));
    let rig = Rig::new([slow(), says("Ok."), slow()]);
    let mut terminal = open(&rig, &[]);
    enter(&terminal, "first");
    terminal.wait_for("one", PATIENCE);
    terminal.key(Key::Ctrl('c'));
    terminal.wait_for("error: interrupted", PATIENCE);
    enter(&terminal, "second");
    terminal.wait_for("Ok.", PATIENCE);
    terminal.wait_for(|screen: &str| screen.ends_with("> "), PATIENCE);
    terminal.key(Key::Ctrl('c'));
    terminal.wait_for("Ctrl-C again", PATIENCE);
    terminal.key(Key::Ctrl('c'));
    assert_eq!(terminal.exit_code(PATIENCE), 130);
    // The third reply was for nobody.
    let requests = rig.server.requests();
    assert_eq!(requests.len(), 2);
    let second: Vec<String> = requests[1].json()["messages"].as_array().unwrap().iter().map(words).collect();
    assert!(second[1].starts_with("one\n\ntwo"), "what was read stays: {second:?}");
    std::mem::forget(rig.server);
}

#[test]
fn what_an_edit_writes_can_be_edited_before_it_is_written() {
    let rig = Rig::new([
        calls("edit_file", &json!({"path": "a.txt", "old_str": "", "new_str": "two"})),
        says("So be it."),
    ]);
    let (agent, url) = (bin("agent"), rig.server.url());
    let args = ["EDITOR=sed -i s/two/three/", agent.to_str().unwrap(), "--api-url", &url];
    let terminal = Terminal::spawn(&rig.home, "env", &args, SIZE);
    terminal.wait_for(|screen: &str| screen.ends_with("> "), PATIENCE);
    enter(&terminal, "write it");
    terminal.wait_for("[y]es [n]o [a]lways [e]dit", PATIENCE);
    terminal.send("e");
    terminal.wait_for("So be it.", PATIENCE);
    assert_eq!(rig.home.read("a.txt"), "three");
    drop(terminal);
    let requests = rig.requests();
    assert_eq!(
        requests[1]["messages"][1]["content"][0]["input"]["new_str"], "two",
        "the model's own words stay"
    );
    let (told, _) = &results(&requests[1])[0];
    assert!(
        told.starts_with("[not as you asked, but with these arguments: {") && told.contains("three"),
        "{told}"
    );
}

#[test]
fn a_question_is_ended_by_an_interrupt() {
    let rig = Rig::new([calls("bash", &json!({"command": "touch made"}))]);
    let terminal = open(&rig, &[]);
    enter(&terminal, "go");
    terminal.wait_for("run `touch made`? [y]es [n]o [a]lways", PATIENCE);
    terminal.key(Key::Ctrl('c'));
    terminal.wait_for("error: interrupted", PATIENCE);
    assert!(!rig.home.path().join("made").exists());
    drop(terminal);
    drop(rig.requests());
}

#[test]
fn several_lines_are_one_prompt_and_words_are_completed() {
    let rig = Rig::new([says("Ok.")]);
    rig.home.write("notes/readme.txt", "");
    let terminal = open(&rig, &[]);
    enter(&terminal, "first \\");
    terminal.send("look at notes/re");
    terminal.key(Key::Tab);
    terminal.wait_for("notes/readme.txt", PATIENCE);
    terminal.key(Key::Enter);
    terminal.wait_for("Ok.", PATIENCE);
    enter(&terminal, "/cel");
    terminal.wait_for("there is no order `/cel`", PATIENCE);
    terminal.wait_for(|screen: &str| screen.ends_with("> "), PATIENCE);
    terminal.send("/perm");
    terminal.key(Key::Tab);
    terminal.wait_for(|screen: &str| screen.trim_end().ends_with("> /permission"), PATIENCE);
    drop(terminal);
    assert!(words(&rig.requests()[0]["messages"][0]).ends_with("first \nlook at notes/readme.txt"));
}

#[test]
fn nothing_a_model_says_drives_the_terminal() {
    let rig = Rig::new([says("evil \u{1b}[2J\u{1b}]0;title\u{7} words")]);
    let terminal = open(&rig, &[]);
    enter(&terminal, "hi");
    let screen = terminal.wait_for("words", PATIENCE);
    assert!(screen.contains("/help says what can be typed"), "the screen was not cleared: {screen}");
    drop(terminal);
    drop(rig.requests());
}

#[test]
fn a_new_conversation_begins_when_it_is_told_to() {
    let rig = Rig::new([says("One."), says("Two.")]);
    let terminal = open(&rig, &[]);
    enter(&terminal, "first");
    terminal.wait_for("One.", PATIENCE);
    enter(&terminal, "/clear");
    terminal.wait_for("a new conversation: agent-", PATIENCE);
    enter(&terminal, "second");
    terminal.wait_for("Two.", PATIENCE);
    assert!(until(PATIENCE, || rig.server.requests().len() == 2));
    drop(terminal);
    assert_eq!(rig.requests()[1]["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_single_prompt_at_a_terminal_can_ask_too_and_then_ends() {
    let rig = Rig::new([calls("bash", &json!({"command": "touch made"})), says("Made.")]);
    let args = ["--api-url", &rig.server.url(), "make", "it"];
    let mut terminal = Terminal::spawn(&rig.home, bin("agent"), &args, SIZE);
    terminal.wait_for("run `touch made`? [y]es [n]o [a]lways", PATIENCE);
    terminal.send("y");
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    assert!(rig.home.path().join("made").exists());
    assert!(terminal.screen().contains("Made."), "{}", terminal.screen());
    drop(rig.requests());
}

#[test]
fn a_turn_that_died_goes_on_when_its_conversation_is_opened_again() {
    let rig = Rig::new([
        calls("bash", &json!({"command": "touch one"})),
        says("never said").delay_before(Duration::from_secs(600)),
        says("Both are there."),
    ]);
    let url = rig.server.url();
    let terminal = open(&rig, &["--permission", "all"]);
    enter(&terminal, "make one");
    assert!(until(PATIENCE, || rig.server.requests().len() == 2));
    // Killed, with the terminal.
    drop(terminal);
    let terminal = Terminal::spawn(&rig.home, bin("agent"), &["--api-url", &url, "--continue"], SIZE);
    let screen = terminal.wait_for("Both are there.", PATIENCE);
    assert!(screen.contains("going on with the turn that was cut off"), "{screen}");
    drop(terminal);
    drop(rig.requests());
}

#[test]
fn a_conversation_that_goes_on_shows_where_it_has_got_to() {
    let rig = Rig::new([says("One."), says("The **second** answer.")]);
    let terminal = open(&rig, &[]);
    for (prompt, answer) in [("first", "One."), ("and then?", "The second answer.")] {
        enter(&terminal, prompt);
        terminal.wait_for(answer, PATIENCE);
        terminal.wait_for(|screen: &str| screen.ends_with("\n> "), PATIENCE);
    }
    enter(&terminal, "/exit");
    drop(terminal);
    let terminal = open(&rig, &["--continue"]);
    let screen = terminal.screen();
    assert!(
        screen.ends_with("2 exchanges so far; the last:\n> and then?\nThe second answer.\n> "),
        "{screen}"
    );
    drop(terminal);
    drop(rig.requests());
}

#[test]
fn of_long_output_the_screen_has_the_beginning_and_the_end() {
    let rig = Rig::new([
        calls("bash", &json!({"command": "seq 1 500; printf 'no end'"})),
        calls("bash", &json!({"command": "echo wrong; exit 3"})),
        says("Counted."),
    ]);
    let terminal = open(&rig, &["--permission", "all", "--no-sandbox"]);
    enter(&terminal, "count");
    let screen = terminal.wait_for("Counted.", PATIENCE);
    let told = "    20\n    … 471 lines\n    492\n";
    assert!(screen.contains(told) && screen.contains("    500\n    no end\n    ("), "{screen}");
    assert!(screen.contains("    wrong\n    failed: [exit status 3]\n"), "{screen}");
    drop(terminal);
    assert!(results(&rig.requests()[1])[0].0.contains("\n250\n"), "the model has all of it");
}

#[test]
fn a_summary_that_is_interrupted_is_made_the_next_time() {
    let never = says("never").delay_before(Duration::from_secs(600));
    let read = calls("read_file", &json!({"path": "big.txt"}));
    let rig = Rig::new([says("A"), says("B"), read, never, says("All that was said."), says("Fine.")]);
    rig.home.write("big.txt", "a line of a file that is long\n".repeat(4000));
    for args in [&[][..], &["--continue"]] {
        let mut command = rig.command(args);
        let _ = rig.home.run_with(command.current_dir(rig.home.path()), "word ".repeat(65_000)).ok();
    }
    let terminal = open(&rig, &["--continue"]);
    enter(&terminal, "go");
    terminal.wait_for("summing up", PATIENCE);
    assert!(until(PATIENCE, || rig.server.requests().len() == 4));
    terminal.key(Key::Ctrl('c'));
    terminal.wait_for("interrupted", PATIENCE);
    terminal.wait_for(|screen: &str| screen.ends_with("> "), PATIENCE);
    enter(&terminal, "and now?");
    let screen = terminal.wait_for("Fine.", PATIENCE);
    assert!(!screen.contains("left out"), "{screen}");
    let last = rig.server.requests().pop().unwrap().json();
    let messages: Vec<String> = last["messages"].as_array().unwrap().iter().map(words).collect();
    assert!(messages[0].contains("All that was said."), "{}", messages[0]);
    assert!(messages.last().unwrap().ends_with("and now?"));
    std::mem::forget(rig.server);
}

#[test]
fn neither_a_refusal_nor_half_of_a_summary_is_one() {
    let refused = stream(turn().say("No.").stop("refusal"));
    let cut = stream(turn().say("They spoke of").stop("max_tokens"));
    let rig = Rig::new([says("A."), says("B."), refused, cut, says("C.")]);
    let terminal = open(&rig, &[]);
    let lines = [
        ("one", "A."),
        ("two", "B."),
        ("/compact", "refused (refusal)"),
        ("/compact", "did not finish its answer (max_tokens)"),
        ("three", "C."),
    ];
    for (line, answer) in lines {
        enter(&terminal, line);
        terminal.wait_for(answer, PATIENCE);
        terminal.wait_for(|screen: &str| screen.ends_with("> "), PATIENCE);
    }
    drop(terminal);
    let last = rig.requests().pop().unwrap();
    assert_eq!(last["messages"].as_array().unwrap().len(), 5, "{last}");
}
