//! A client's hook: JSON on standard input, JSON or nothing on standard output. Fails open and silent: whatever goes
//! wrong, the client does what it would have done without us, and the reason is in the log that `doctor` reads.
//!
//! Two mechanisms. By default the client reads and we rewrite what its model sees (`*-post*`, `*-after`). The seed's own
//! one refuses the read and gives the answer as the reason (`claude`, `claude-glob`, …): for clients that cannot rewrite.
//! Nothing here ever permits a call: what the person is asked to allow stays as it was.

mod batch;
mod claude_bash;
mod claude_edit;
mod claude_read;
mod codex;
mod command;
mod edit;
mod epoch;
mod gemini;
mod guard;
mod numbered;
mod output;
mod owed;
mod page;
mod payload;
mod refuse_read;
mod refuse_search;
mod world;

use std::io::{Read, Write};

use kit::{Exit, Invocation, text};

use crate::cli;
use world::{Reply, Trouble, World};

/// Larger than anything a client sends: its own reading tool gives up at a sixteenth of it.
const MOST_INPUT: u64 = 4 << 20;

/// Of what is sent to a hook that we do not know, before we go.
const DRAIN: u64 = 32 << 10;

/// One hook of one client.
struct Hook {
    name: &'static str,
    /// What is printed when there is nothing to say.
    silence: Silence,
    answer: fn(&World, &[u8]) -> Result<Reply, Trouble>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Silence {
    Nothing,
    /// As the seed's hooks have it.
    EmptyObject,
}

const HOOKS: &[Hook] = &[
    rewrite("claude-post-read", claude_read::rewrite),
    rewrite("claude-post-batch", batch::claude),
    rewrite("claude-post-bash", claude_bash::answer),
    // Hits are fragments: nothing in them may be left out, and none of them proves that a line was shown.
    rewrite("claude-post-search", |_, _| Ok(Reply::Nothing)),
    rewrite("claude-compact", epoch::compact),
    rewrite("codex-post", codex::answer),
    rewrite("codex-session", epoch::session),
    rewrite("gemini-after", gemini::after_tool),
    rewrite("gemini-before", gemini::before_tool),
    rewrite("gemini-turn", gemini::before_model),
    rewrite("gemini-session", gemini::session),
    seed("claude", refuse_read::answer),
    seed("claude-delivered", claude_read::record),
    seed("claude-glob", refuse_search::glob),
    seed("claude-grep", refuse_search::grep),
    seed("claude-pre-edit", guard::answer),
    seed("claude-post-edit", claude_edit::answer),
    seed("claude-session-start", epoch::claude_session),
    rewrite("gemini", gemini::read),
    seed("gemini-compress", epoch::gemini_compress),
];

const fn rewrite(name: &'static str, answer: fn(&World, &[u8]) -> Result<Reply, Trouble>) -> Hook {
    Hook { name, silence: Silence::Nothing, answer }
}

const fn seed(name: &'static str, answer: fn(&World, &[u8]) -> Result<Reply, Trouble>) -> Hook {
    Hook { name, silence: Silence::EmptyObject, answer }
}

/// Answers `drip hook NAME`.
pub(crate) fn run(mut invocation: Invocation) -> Exit {
    let name = invocation.args.get(1).and_then(|word| word.to_str()).unwrap_or_default().to_owned();
    let said = match HOOKS.iter().find(|hook| hook.name == name) {
        Some(hook) => {
            answer(invocation, hook);
            return Exit::Done;
        }
        None if matches!(&*name, "--help" | "-h") => help(&invocation),
        None => unknown(&mut invocation, &name),
    };
    let _ = invocation.print(&said);
    Exit::Done
}

/// A client that went away needs no answer: that nothing can be printed is no trouble here.
fn answer(mut invocation: Invocation, hook: &Hook) {
    let silence = match hook.silence {
        Silence::Nothing => "",
        Silence::EmptyObject => "{}\n",
    };
    let Ok(places) = invocation.places() else {
        // Without a place for the store there is none for a log either.
        let _ = invocation.print(silence);
        return;
    };
    let input = input(&mut invocation);
    let world = World::new(invocation, places);
    let said = match input.and_then(|input| (hook.answer)(&world, &input)) {
        Ok(Reply::Said) => return,
        Ok(Reply::Nothing) => silence.to_owned(),
        Ok(Reply::Json(value)) => format!("{value}\n"),
        Err(trouble) => {
            world.log(hook.name, &trouble);
            silence.to_owned()
        }
    };
    let _ = world.say(&said);
}

fn input(invocation: &mut Invocation) -> Result<Vec<u8>, Trouble> {
    let mut input = Vec::new();
    (&mut invocation.stdin).take(MOST_INPUT + 1).read_to_end(&mut input).map_err(Trouble::Unreadable)?;
    if input.len() as u64 > MOST_INPUT { Err(Trouble::TooLarge) } else { Ok(input) }
}

/// A name that another version registered. The client must not be told of an error at every call.
fn unknown(invocation: &mut Invocation, name: &str) -> String {
    let _ = (&mut invocation.stdin).take(DRAIN).read_to_end(&mut Vec::new());
    let name = text::plain(text::head(name, 80));
    let _ = writeln!(
        invocation.stderr,
        "drip: ignoring stale hook subcommand `{name}`: `drip init` registers those that there are"
    );
    "{}\n".to_owned()
}

fn help(invocation: &Invocation) -> String {
    match cli::parse(invocation) {
        Err(asked) => cli::help(&asked, invocation),
        Ok(_) => String::new(),
    }
}
