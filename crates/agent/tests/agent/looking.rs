//! How it looks on a screen, and that it also works without colours.

use serde_json::json;
use testkit::model::{Event, Reply, anthropic, turn};
use testkit::terminal::{Key, Size, Style, Terminal};
use testkit::{PATIENCE, bin};

use crate::rig::{Rig, says, stream};

const SIZE: Size = Size { rows: 40, cols: 100 };

/// The agent in the home itself, with more in its environment.
fn open(rig: &Rig, environment: &[&str], args: &[&str]) -> Terminal {
    let (agent, url) = (bin("agent"), rig.server.url());
    let program = [agent.to_str().unwrap(), "--api-url", &url];
    let terminal = Terminal::spawn(&rig.home, "env", &[environment, &program, args].concat(), SIZE);
    terminal.wait_for(|screen: &str| screen.ends_with("\n> "), PATIENCE);
    terminal
}

fn enter(terminal: &Terminal, line: &str, answer: &str) -> String {
    terminal.send(line);
    terminal.key(Key::Enter);
    terminal.wait_for(|screen: &str| screen.contains(answer) && screen.ends_with("\n> "), PATIENCE)
}

#[test]
fn markdown_is_set_on_a_screen_and_words_stay_words_without_colours() {
    let words = "# Layers\n\nThe **transport** is `small`:\n\n- one\n- two\n";
    // What a colour says on one is said by a sign on the other.
    for (environment, coloured, code) in [
        (&[][..], true, "small"),
        (&["NO_COLOR=1"][..], false, "`small`"),
        (&["TERM=dumb"][..], false, "`small`"),
    ] {
        let rig = Rig::new([stream(turn().say_in(words.split_inclusive(' ')))]);
        let terminal = open(&rig, environment, &[]);
        let screen = enter(&terminal, "hi", "two\n");
        let set = format!("# Layers\n\nThe transport is {code}:\n\n• one\n• two\n");
        assert!(screen.contains(&set), "{screen}");
        for text in ["# Layers", "transport"] {
            assert_eq!(
                terminal.style_of(text) != Style::default(),
                coloured,
                "{text}: {:?}",
                terminal.style_of(text)
            );
        }
        drop(terminal);
        drop(rig.requests());
    }
}

#[test]
fn a_turn_ends_with_what_it_took() {
    let usage = json!({"input_tokens": 100, "cache_read_input_tokens": 900});
    let message =
        json!({"id": "m", "role": "assistant", "model": "claude-opus-5-5", "content": [], "usage": usage});
    let rig = Rig::new([Reply::sse([
        Event::named("message_start", &json!({"type": "message_start", "message": message})),
        anthropic::block_start(0, &json!({"type": "text", "text": "Hi."})),
        anthropic::block_stop(0),
        anthropic::message_delta("end_turn", &json!({"output_tokens": 300})),
        anthropic::message_stop(),
    ])]);
    let terminal = open(&rig, &[], &[]);
    let screen = enter(&terminal, "hi", "300 out");
    assert!(screen.contains(" 1 request · 1.0k in (90 % cached) · 300 out · $0.0068"), "{screen}");
    drop(terminal);
    drop(rig.requests());
}

#[test]
fn lines_of_earlier_conversations_come_back_and_the_end_of_input_leaves() {
    let rig = Rig::new([says("One."), says("Two.")]);
    let mut terminal = open(&rig, &[], &[]);
    enter(&terminal, "the first prompt", "One.");
    let screen = enter(&terminal, "/contexts", "agent-");
    assert!(screen.contains("now"), "{screen}");
    terminal.key(Key::Ctrl('d'));
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    let terminal = open(&rig, &[], &[]);
    for _ in 0..2 {
        terminal.key(Key::Up);
    }
    terminal.wait_for(|screen: &str| screen.ends_with("\n> the first prompt"), PATIENCE);
    enter(&terminal, "", "Two.");
    drop(terminal);
    drop(rig.requests());
}
