//! From what was typed to what is done: hooks around it, the context that is meant, actions in their order, then the
//! prompt. What each action does is in its own file.

mod contexts;
mod export;
mod history;
mod import;
pub(crate) mod init;
pub(crate) mod inspect;
mod plugins;
mod search;
mod select;
mod tool;
mod usage;

use std::io::Read;
use std::path::PathBuf;

use clap_complete::{Shell, generate};
use kit::{Exit, Failure, Invocation, Places};

use crate::cli::{self, Typed, help};
use crate::context::{ChibiHome, ContextName, Entry, EntryKind, Ids, State};
use crate::hooks::Event;
use crate::input::{self, Action, Input, Prompt, Select, Speaker};
use crate::output::Output;
use crate::run::{Run, home};
use crate::{speech, turn};

/// A JSON command is a few lines; whatever is longer is something else.
const LONGEST: u64 = 64 << 20;

/// What the binary and the front door call.
pub fn run(mut invocation: Invocation) -> Exit {
    let places = invocation.places();
    let root = places.as_ref().map_or_else(|_| PathBuf::new(), |places| home(&invocation.env, places));
    let home = ChibiHome::new(root, invocation.clock.clone(), Ids::random());
    let mut out = Output::of(&mut invocation, home.clone());
    let (input, places, current) = match prepared(&mut invocation, &mut out, &home, places) {
        Ok(prepared) => prepared,
        Err(failure) => return out.conclude(Err(failure)),
    };
    let mut run = Run::new(invocation, places, home, current, out);
    let done = steps(&mut run, input);
    run.out.conclude(done)
}

/// What was typed, where everything is, and which context is meant.
fn prepared(
    invocation: &mut Invocation,
    out: &mut Output,
    home: &ChibiHome,
    places: Result<Places, Failure>,
) -> Result<(Input, Places, ContextName), Failure> {
    let input = read(invocation, out)?;
    let places = places?;
    let (state, note) = State::load(home)?;
    note.iter().for_each(|note| out.warn(note));
    Ok((input, places, state.current_context))
}

fn read(invocation: &mut Invocation, out: &mut Output) -> Result<Input, Failure> {
    let spoken = invocation.program.spoken();
    let input = match cli::parse(&invocation.args, &spoken)? {
        Typed::Input(input) => *input,
        Typed::Json { json_output } => {
            out.set(json_output, false);
            let mut text = String::new();
            let read = invocation.stdin.by_ref().take(LONGEST).read_to_string(&mut text);
            read.map_err(|error| Failure::usage("cannot read standard input").because(&error))?;
            let mut input = input::json::parse(&text)?;
            input.ways.json |= json_output;
            // What the JSON left of standard input is nobody's answer.
            invocation.terminal.stdin = false;
            input
        }
    };
    out.set(input.ways.json, input.ways.verbose);
    Ok(input)
}

fn steps(run: &mut Run, input: Input) -> Result<Exit, Failure> {
    let Input { actions, prompt, select, from, speaker, asked, ways } = input;
    run.ways = ways;
    run.asked = asked;
    run.speaker = speaker;
    if prompt == Prompt::Nothing && !actions.is_empty() && actions.iter().all(is_about_us) {
        actions.into_iter().try_for_each(|action| act(run, action))?;
        return Ok(Exit::Done);
    }
    run.load_plugins()?;
    let before = run.current.clone();
    let event = Event::OnStart { current_context: before.as_str(), verbose: run.ways.verbose };
    run.fire(&event, &before);
    let switches = select != Select::Current || from.is_some();
    select::context(run, &select, from.as_deref())?;
    if let Speaker::Kept(name) = run.speaker.clone() {
        let mut context = run.open(&run.current.clone())?;
        context.set_local(&["username"], name.as_str())?;
    }
    let idle = actions.is_empty() && !switches && !matches!(run.speaker, Speaker::Kept(_));
    let asks = !matches!(prompt, Prompt::Nothing);
    for action in actions {
        act(run, action)?;
    }
    match speech::prompt(run, prompt)? {
        Some(prompt) => drop(turn::speak(run, prompt)?),
        None if idle => return Err(nothing(run, asks)),
        None => {}
    }
    let current = run.current.clone();
    run.fire(&Event::OnEnd { current_context: current.as_str() }, &current);
    Ok(Exit::Done)
}

fn nothing(run: &Run, asks: bool) -> Failure {
    let what = if asks { "the prompt is empty" } else { "there is nothing to do" };
    Failure::usage(what).hint(format!("`{} hello`, or `{} --help`", run.spoken(), run.spoken()))
}

/// Whether it has nothing to do with any context, so that no plugin needs to know.
fn is_about_us(action: &Action) -> bool {
    matches!(action, Action::Help | Action::Version | Action::Completions(_) | Action::Init)
}

fn act(run: &mut Run, action: Action) -> Result<(), Failure> {
    match action {
        Action::ListCurrent => contexts::list_current(run),
        Action::List => contexts::list(run),
        Action::Destroy(name) => contexts::destroy(run, name.as_deref()),
        Action::Rename { old, new } => contexts::rename(run, old.as_deref(), &new),
        Action::Archive(name) => history::archive(run, name.as_deref()),
        Action::Compact(None) => turn::compact(run),
        Action::Compact(Some(name)) => history::compact(run, &name),
        Action::UndoCompaction => history::undo(run),
        Action::ShowLog { context, count } => history::log(run, context.as_deref(), count),
        Action::Last => history::last(run),
        Action::Pin(id) => history::pin(run, &id),
        Action::Unpin(id) => history::unpin(run, &id),
        Action::Pins => history::pins(run),
        Action::Inspect { context, thing } => inspect::show(run, context.as_deref(), &thing),
        Action::SetSystemPrompt { context, prompt } => inspect::set(run, context.as_deref(), &prompt),
        Action::Search(query) => search::search(run, &query),
        Action::Usage => usage::show(run),
        Action::Export(format) => export::export(run, &format),
        Action::Import(file) => import::import(run, &file),
        Action::ListPlugins => plugins::list(run),
        Action::PluginCheck(name) => plugins::check(run, &name),
        Action::Init => init::init(run),
        Action::Completions(shell) => completions(run, &shell),
        Action::RunPlugin { name, args } => tool::plugin(run, &name, &args),
        Action::CallTool { name, args } => tool::call(run, &name, &args),
        Action::Help => {
            let text = help::text(&run.spoken());
            run.out.result(&text);
            Ok(())
        }
        Action::Version => {
            run.out.result(concat!("chibi ", env!("CARGO_PKG_VERSION")));
            Ok(())
        }
    }
}

fn completions(run: &mut Run, shell: &str) -> Result<(), Failure> {
    let shell: Shell = shell.parse().map_err(|_| {
        Failure::usage(format!("`{shell}` is no shell that we know"))
            .hint("bash, zsh, fish, elvish or powershell")
    })?;
    let mut script = Vec::new();
    generate(shell, &mut help::command(), "chibi", &mut script);
    run.out.raw(&String::from_utf8_lossy(&script));
    Ok(())
}

/// How many of these entries are messages that a model would be shown: a prompt that was dropped is none.
pub(crate) fn messages(entries: &[Entry]) -> usize {
    let of = |kind: &EntryKind| entries.iter().filter(|entry| entry.kind == *kind).count();
    of(&EntryKind::Message).saturating_sub(of(&EntryKind::Dropped))
}
