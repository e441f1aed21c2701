//! Killed at any moment, at work and while it takes back: each file is the old one or the new one, the conversation goes
//! on, and taking back brings all of it back or names what it cannot.

use std::cell::RefCell;

use serde_json::json;
use testkit::crash::Crash;
use testkit::model::{Reply, Request, Server};
use testkit::terminal::{Key, Size, Terminal};
use testkit::{Home, PATIENCE, bin, until};

use crate::rig::{Rig, calls, says, words};

const SIZE: Size = Size { rows: 60, cols: 160 };
const VERSIONS: [&str; 3] = ["zero\nand more\n", "one\nand more\n", "two\nand more\n"];

/// The same work whatever was cut off: each result leads to the next call.
fn model(request: &Request) -> Reply {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    if words(messages.last().unwrap()).ends_with("and now?") {
        return says("As if nothing had been.");
    }
    let blocks =
        messages.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    let edit = |path: &str, old: &str, new: &str| {
        calls("edit_file", &json!({"path": path, "old_str": old, "new_str": new}))
    };
    match blocks.filter(|block| block["type"] == "tool_result").count() {
        0 => edit("a.txt", "zero", "one"),
        1 => edit("deep/new.txt", "", "all of it\n"),
        2 => edit("a.txt", "one", "two"),
        3 => calls("bash", &json!({"command": "mv b.txt moved.txt; echo more > c.txt"})),
        _ => says("Done."),
    }
}

fn rig() -> Rig {
    let rig = Rig { home: Home::new(), server: Server::answering(model) };
    rig.home.write("p/a.txt", VERSIONS[0]);
    rig.home.write("p/b.txt", "mine\n");
    rig
}

/// Goes on with the conversation, up to where a person can type; none if nothing of it was kept.
fn go_on(rig: &Rig) -> Option<Terminal> {
    let (project, agent, url) = (rig.project(), bin("agent"), rig.server.url());
    let args = ["-C", project.to_str().unwrap(), agent.to_str().unwrap(), "--api-url", &url];
    let flags = ["--permission", "all", "--no-sandbox", "--continue"];
    let terminal = Terminal::spawn(&rig.home, "env", &[&args[..], &flags[..]].concat(), SIZE);
    const NOTHING: &str = "there is no conversation of this directory";
    let ready = |screen: &str| screen.ends_with("\n> ") || screen.contains(NOTHING);
    let screen = terminal.wait_for(ready, PATIENCE);
    (!screen.contains(NOTHING)).then_some(terminal)
}

fn order(terminal: &Terminal, order: &str) {
    terminal.send(order);
    terminal.key(Key::Enter);
}

/// All files, as they are now.
fn state(rig: &Rig) -> [Option<String>; 5] {
    ["a.txt", "deep/new.txt", "b.txt", "moved.txt", "c.txt"]
        .map(|name| std::fs::read_to_string(rig.project().join(name)).ok())
}

/// What is noted of what was done to files.
fn journal(rig: &Rig) -> String {
    let folder = rig.home.data().join("scrimp/agent/undo");
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let journals = files.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    journals.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Whether the command was running when the agent died.
fn cut_off(rig: &Rig) -> bool {
    let text = journal(rig);
    text.contains("\"began\"") && !text.contains("\"ended\"")
}

fn has_begun_to_edit(rig: &Rig) -> bool {
    journal(rig).lines().any(|line| line.contains("/a.txt\"") && line.contains("\"edit\""))
}

fn names(rig: &Rig) -> Vec<String> {
    let entries = std::fs::read_dir(rig.project()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What a reader may find at any moment.
fn whole(rig: &Rig) {
    let [edited, new, ..] = state(rig);
    assert!(VERSIONS.contains(&edited.unwrap().as_str()), "{:?}", state(rig));
    assert!(new.is_none_or(|new| new == "all of it\n"), "{:?}", state(rig));
}

#[test]
fn killed_anywhere_it_goes_on_and_takes_back() {
    eprintln!("{}", sweep(6, Second::None));
}

#[test]
fn killed_again_while_it_takes_back_it_takes_back() {
    eprintln!("{}", sweep(7, Second::WhileUndoing));
}

/// A second death.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    None,
    WhileUndoing,
}

/// Half of the usual number each. Gives what was hit.
fn sweep(seed: u64, second: Second) -> String {
    let current: RefCell<Option<Rig>> = RefCell::new(None);
    let (mut unmade, mut named, mut again) = (0, 0, 0);
    let child = |_| {
        let rig = rig();
        let command = rig.command(&["--permission", "all", "--no-sandbox", "go"]);
        current.replace(Some(rig));
        command
    };
    let report = Crash::new(seed).points(25).run(child, |_| {
        let rig = current.take().unwrap();
        whole(&rig);
        // What a death in the middle of the write leaves, once it has begun.
        if has_begun_to_edit(&rig) {
            rig.home.write("p/.a.txt.0123456789abcdef.replacing", "o");
        }
        let Some(mut terminal) = go_on(&rig) else {
            assert_eq!(rig.home.read("p/a.txt"), VERSIONS[0], "what was done without a word of it");
            unmade += 1;
            return;
        };
        assert!(!names(&rig).iter().any(|name| name.ends_with(".replacing")), "{:?}", names(&rig));
        if second == Second::WhileUndoing {
            // As soon as it has begun: somewhere in the middle of it, or after it.
            let before = state(&rig);
            order(&terminal, "/undo");
            assert!(until(PATIENCE, || state(&rig) != before));
            drop(terminal);
            whole(&rig);
            terminal = go_on(&rig).expect("it was there before");
        }
        order(&terminal, "/undo");
        const NONE: &str = "there are only 0 exchanges";
        let done = |screen: &str| screen.contains("taken back: go") || screen.contains(NONE);
        let screen = terminal.wait_for(|screen: &str| done(screen) && screen.ends_with("\n> "), PATIENCE);
        again += usize::from(!screen.contains(NONE));
        let cut_off = cut_off(&rig);
        named += usize::from(cut_off);
        assert_eq!(state(&rig)[..2], [Some(VERSIONS[0].to_owned()), None], "{screen}");
        assert!(cut_off || state(&rig)[2..] == [Some("mine\n".to_owned()), None, None], "{screen}");
        const CUT_OFF: &str = "NOT         what a command that was cut off by our own end did";
        assert!(screen.contains(NONE) || cut_off == screen.contains(CUT_OFF), "{screen}");
        let not = screen.lines().filter(|line| line.contains("NOT  ") && !line.contains(CUT_OFF)).count();
        assert!(cut_off || not == 0, "{screen}");
        order(&terminal, "and now?");
        terminal.wait_for("As if nothing had been.", PATIENCE);
        drop(terminal);
        let last = rig.requests().pop().unwrap();
        assert_eq!(last["messages"].as_array().unwrap().len(), 1, "{last}");
    });
    format!("{report:?}, {unmade} died before a word, {named} in a command, {again} taken back in the end")
}
