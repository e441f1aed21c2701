//! What a tool is told about its world.

use std::ffi::OsString;
use std::io;

use kit::invocation::{Clock, Environment, Program, Terminal};
use kit::{Exit, Failure, Form, Invocation};

fn invocation(stdout: Box<dyn io::Write + Send>) -> Invocation {
    Invocation {
        program: Program::new("scrimp", None),
        args: vec![OsString::from("drip"), OsString::from("read")],
        env: Environment::of([("HOME", "/h"), ("KEY", "secret")]),
        cwd: "/".into(),
        stdin: Box::new(io::empty()),
        stdout,
        stderr: Box::new(io::sink()),
        terminal: Terminal::default(),
        clock: Clock::from_fn(|| 42),
    }
}

struct Closed;

impl io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_tool_below_scrimp_knows_how_it_was_called() {
    let inner = invocation(Box::new(io::sink())).into_subcommand("drip", vec!["read".into()]);
    assert_eq!(inner.program.spoken(), "scrimp drip");
    assert_eq!(inner.args, ["read"]);
}

#[test]
fn the_environment_is_never_shown_with_its_values() {
    let shown = format!("{:?}", invocation(Box::new(io::sink())).env);
    assert!(shown.contains("KEY") && !shown.contains("secret"), "{shown}");
}

#[test]
fn a_reader_that_went_away_is_success() {
    let mut invocation = invocation(Box::new(Closed));
    let result = invocation.print("text").map(|()| Exit::Failed);
    assert_eq!(invocation.conclude(result, Form::Text), Exit::Done);
}

#[test]
fn a_hook_is_the_binary_beside_us_or_a_refusal_with_a_hint() {
    let me = std::env::current_exe().unwrap();
    let name = me.file_name().unwrap().to_str().unwrap();
    let program = Program::new("scrimp", Some(me.clone()));
    assert_eq!(program.sibling(name).unwrap(), me);
    let missing: Failure = program.sibling("no-such-tool").unwrap_err();
    assert_eq!(
        missing.to_string(),
        "error: `no-such-tool` is not beside `scrimp`\nhint: `cargo xtask install`"
    );
}

#[test]
fn the_clock_comes_from_the_invocation() {
    assert_eq!(invocation(Box::new(io::sink())).clock.unix_ms(), 42);
}
