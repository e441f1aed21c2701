//! The front door with a tool that exists only here: one row must be enough to become part of everything.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use kit::doctor::Check;
use kit::invocation::{Clock, Environment, Program, Terminal};
use kit::{Exit, Invocation, savings, tour};
use mcp::{Server, ServerInfo, ToolResult};
use serde_json::json;

use crate::dispatch;
use crate::tools::{Alone, Tool};

const ECHO: Tool = Tool {
    name: "echo",
    about: "Say it again",
    run: |mut invocation| {
        let said = format!("{} {:?}\n", invocation.program.spoken(), invocation.args);
        let printed = invocation.print(&said).map(|()| Exit::Budget);
        invocation.conclude(printed, kit::Form::Text)
    },
    command: || clap::Command::new("echo").arg(clap::arg!(--loud "Say it loudly")),
    tour: |_| Ok(tour::Sight { title: "Echo".into(), lines: vec!["it came back".into()] }),
    doctor: |_, _| vec![Check::fail("echo", "no mountain").hint("`climb`")],
    savings: |_, _| {
        Ok(vec![savings::Row { tool: "echo".into(), what: "shouts".into(), without: 10, with: 4 }])
    },
    mcp: Some(|_, _| {
        let say = |_: &mut (), _: &_| Ok(ToolResult::text("it came back"));
        let tools = vec![mcp::Tool::new("shout", "Shout", json!({"type": "object"}), say)];
        Ok(Server::new(ServerInfo::default(), tools, || ()).into())
    }),
    files: &[],
    variables: &[],
    alone: Alone::Open { is_ready: |_, _| false, how: "Shout to make it ready\n" },
};

#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn scrimp(args: &[&str]) -> (String, Exit) {
    run(args, ECHO, Terminal::default())
}

fn run(args: &[&str], tool: Tool, terminal: Terminal) -> (String, Exit) {
    let home = testkit::Home::new();
    let page = Page::default();
    let invocation = Invocation {
        program: Program::new("scrimp", None),
        args: args.iter().map(Into::into).collect(),
        env: Environment::of(home.environment()),
        cwd: home.path().into(),
        stdin: Box::new(io::empty()),
        stdout: Box::new(page.clone()),
        stderr: Box::new(page.clone()),
        terminal,
        clock: Clock::system(),
    };
    let exit = dispatch(invocation, &[tool]);
    let bytes = page.0.lock().unwrap().clone();
    (String::from_utf8(bytes).unwrap(), exit)
}

#[test]
fn a_tool_gets_its_arguments_as_they_were_typed_and_its_exit_is_ours() {
    let said = scrimp(&["echo", "--help", "--unknown", "-x"]);
    assert_eq!(said, ("scrimp echo [\"--help\", \"--unknown\", \"-x\"]\n".to_owned(), Exit::Budget));
}

#[test]
fn a_tool_is_in_the_help_the_first_screen_and_the_completions() {
    assert!(scrimp(&["--help"]).0.contains("echo         Say it again"));
    assert!(scrimp(&[]).0.contains("scrimp echo       Say it again"));
    for shell in ["bash", "zsh", "fish"] {
        let (script, exit) = scrimp(&["completions", shell]);
        assert!(exit == Exit::Done && script.contains("loud"), "{shell}: {script}");
    }
}

#[test]
fn a_person_who_types_nothing_gets_the_tool_that_is_ready_or_what_it_needs() {
    let at_a_terminal = Terminal { stdin: true, stdout: true, stderr: true };
    let ready = || Tool { alone: Alone::Open { is_ready: |_, _| true, how: "" }, ..ECHO };
    assert_eq!(run(&[], ready(), at_a_terminal), ("scrimp echo []\n".to_owned(), Exit::Budget));
    let (said, exit) = run(&[], ECHO, at_a_terminal);
    assert!(said.ends_with("\nShout to make it ready\n") && exit == Exit::Done, "{said}");
    assert!(run(&[], ready(), Terminal::default()).0.contains("scrimp tour"), "a pipe gets the list");
}

#[test]
fn a_tool_is_a_stop_of_the_tour() {
    let (said, exit) = scrimp(&["tour"]);
    assert!(said.contains("Echo      it came back") && said.contains("what it does here: echo"), "{said}");
    assert_eq!(exit, Exit::Done);
}

#[test]
fn a_tools_finding_is_the_doctors_and_fails_it() {
    let (said, exit) = scrimp(&["doctor"]);
    assert!(said.contains("fail  echo") && said.contains("hint: `climb`"), "{said}");
    assert_eq!(exit, Exit::Failed);
}

#[test]
fn a_tools_savings_are_added_up() {
    let said = scrimp(&["savings"]).0;
    assert_eq!(said, "echo  shouts  10 tokens -> 4  60 % less\n");
    let json = scrimp(&["savings", "--json"]).0;
    assert!(json.contains("\"without\":10,\"with\":4}"), "{json}");
}

#[test]
fn a_typo_is_wrong_usage_and_finds_its_word() {
    let (said, exit) = scrimp(&["docter"]);
    assert!(
        said.starts_with("error: unrecognized subcommand 'docter'\nhint: did you mean `doctor`?"),
        "{said}"
    );
    assert_eq!(exit, Exit::Usage);
}
