//! chibi in a real terminal: lines until a dot, Markdown, and Ctrl-C.

use testkit::terminal::Key;

use super::*;

#[test]
fn lines_are_typed_until_a_single_dot_and_keep_their_breaks() {
    let server = Server::scripted([says("I see.")]);
    let chibi = Chibi::asking(&server);
    let mut terminal = chibi.terminal(&[]);
    terminal.wait_for("a line with a single dot sends it", PATIENCE);
    terminal.send("first line\rsecond line\r\r.\r");
    terminal.wait_for("I see.", PATIENCE);
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    assert_eq!(spoken(&server.finish()[0]), ["user: first line\nsecond line"]);
}

#[test]
fn markdown_is_rendered_at_a_terminal_and_nowhere_else() {
    let text = "# Title\n\nSome **bold** words and `code`.\n\n- one\n- two\n";
    let server = Server::scripted([says(text), says(text)]);
    let chibi = Chibi::asking(&server);
    let mut terminal = chibi.terminal(&["hello"]);
    terminal.wait_for("• two", PATIENCE);
    assert!(terminal.style_of("bold").bold);
    assert!(!terminal.screen().contains("**"), "{}", terminal.screen());
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    assert_eq!(chibi.told(&["hello"]), text, "a pipe gets the model's own words");
    drop(server);
}

#[test]
fn a_person_is_told_that_half_an_answer_does_not_count_and_never_sees_the_unseen_rest() {
    let broken = |text: &str| said(turn().say(text).fail("server_error", "it broke"));
    let server = Server::scripted([
        broken("```\nseen\n```\nunseen words"),
        broken("not a line of it"),
        says("The whole of it."),
    ]);
    let chibi = Chibi::asking(&server);
    let mut terminal = chibi.terminal(&["hello"]);
    terminal.wait_for("The whole of it.", PATIENCE);
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    let screen = terminal.screen();
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("no `{words}` in {screen}"));
    assert!(at("seen") < at("what was said last does not count"), "{screen}");
    assert_eq!(screen.matches("does not count").count(), 1, "{screen}");
    assert!(!screen.contains("unseen") && !screen.contains("a line of it"), "{screen}");
    drop(server);
}

#[test]
fn ctrl_c_ends_the_turn_and_leaves_a_history_that_can_be_used() {
    let server = Server::scripted([
        says("Once upon a time, there was").pause_at("there", std::time::Duration::from_secs(600)),
        says("fine"),
    ]);
    let chibi = Chibi::asking(&server);
    let mut terminal = chibi.terminal(&["tell", "me"]);
    // At a terminal a line is shown when it is complete, so there is nothing to wait for but the request.
    assert!(testkit::until(PATIENCE, || server.requests().len() == 1));
    terminal.key(Key::Ctrl('c'));
    assert_eq!(terminal.exit_code(PATIENCE), 130);
    terminal.wait_for("interrupted", PATIENCE);
    assert_eq!(chibi.told(&["and now?"]), "fine\n");
    assert!(server.requests()[0].closed_early, "the stream was hung up");
    let last = spoken(&server.requests()[1]);
    assert_eq!(last.last().unwrap(), "user: and now?");
    drop(server);
}
