//! What is typed with a slash. Each order is declared once: help and completion come from the table.

use std::path::{Path, PathBuf};

use kit::{Failure, text};

use crate::commands::contexts;
use crate::keep;
use crate::permission::Mode;
use crate::session::Session;

/// An order to us.
pub(super) struct Order {
    pub(super) name: &'static str,
    /// What may stand behind it.
    takes: &'static str,
    about: &'static str,
    run: fn(&mut Session, &str) -> Result<After, Failure>,
}

pub(super) enum After {
    Stay,
    Leave,
}

pub(super) const ORDERS: &[Order] = &[
    Order { name: "help", takes: "", about: "what can be typed here", run: help },
    Order {
        name: "undo",
        takes: "",
        about: "take back the last exchange and what it did to files",
        run: |session, _| undo(session, 1),
    },
    Order {
        name: "rewind",
        takes: "N",
        about: "take back the last N exchanges and what they did to files",
        run: rewind,
    },
    Order { name: "contexts", takes: "", about: "earlier conversations", run: contexts },
    Order { name: "clear", takes: "", about: "begin a new conversation; this one is kept", run: clear },
    Order {
        name: "compact",
        takes: "",
        about: "put a summary in the place of earlier exchanges",
        run: compact,
    },
    Order { name: "cost", takes: "", about: "what was spent so far", run: cost },
    Order { name: "model", takes: "[NAME]", about: "which model is asked, or ask another", run: model },
    Order {
        name: "permission",
        takes: "[MODE]",
        about: "what may be done without asking: read-only, ask, edits, all",
        run: permission,
    },
    Order { name: "exit", takes: "", about: "leave; `--continue` goes on", run: |_, _| Ok(After::Leave) },
];

/// An order and what stands behind it, or a prompt. A path at the beginning of a prompt is no order.
pub(super) fn read(line: &str) -> Option<(&str, &str)> {
    let words = line.trim().strip_prefix('/')?;
    let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    plain.then_some((name, rest.trim()))
}

pub(super) fn obey(session: &mut Session, (name, rest): (&str, &str)) -> Result<After, Failure> {
    match ORDERS.iter().find(|order| order.name == name) {
        Some(order) => (order.run)(session, rest),
        None => {
            let meant = text::nearest(name, ORDERS.iter().map(|order| order.name));
            let hint = meant.map_or("`/help`".to_owned(), |meant| format!("did you mean `/{meant}`?"));
            Err(Failure::usage(format!("there is no order `/{name}`")).hint(hint))
        }
    }
}

fn help(session: &mut Session, _: &str) -> Result<After, Failure> {
    let mut lines = String::new();
    for order in ORDERS {
        lines.push_str(&format!("  /{:<18} {}\n", format!("{} {}", order.name, order.takes), order.about));
    }
    lines.push_str("  a line that ends with \\ goes on with the next; Ctrl-C interrupts, twice leaves\n");
    session.desk.voice.talk(&lines);
    Ok(After::Stay)
}

fn rewind(session: &mut Session, rest: &str) -> Result<After, Failure> {
    match rest.parse() {
        Ok(count @ 1..) => undo(session, count),
        _ => Err(Failure::usage("how many exchanges?").hint("`/rewind 1` is `/undo`")),
    }
}

fn contexts(session: &mut Session, _: &str) -> Result<After, Failure> {
    let listed = keep::list(session.desk.keep.home())?;
    let page = session.desk.voice.page().cloned();
    if let Some(page) = page {
        let table = contexts::table(&listed, &page, session.desk.clock.unix_ms());
        session.desk.voice.talk(&table);
    }
    Ok(After::Stay)
}

fn cost(session: &mut Session, _: &str) -> Result<After, Failure> {
    let line = crate::voice::spent(&session.total);
    session.desk.voice.talk(&format!("  {line}\n"));
    Ok(After::Stay)
}

fn compact(session: &mut Session, _: &str) -> Result<After, Failure> {
    let told = session.compact()?;
    session.desk.voice.talk(&format!("  {told}\n"));
    Ok(After::Stay)
}

fn clear(session: &mut Session, _: &str) -> Result<After, Failure> {
    session.clear()?;
    let name = session.desk.keep.name().to_owned();
    session.desk.voice.talk(&format!("  a new conversation: {name}\n"));
    Ok(After::Stay)
}

fn model(session: &mut Session, rest: &str) -> Result<After, Failure> {
    if !rest.is_empty() {
        rest.clone_into(&mut session.desk.asks.model);
        session.desk.keep.set_model(rest);
        session.desk.brief_helpers();
    }
    let model = text::plain(&session.desk.asks.model);
    session.desk.voice.talk(&format!("  {model}\n"));
    Ok(After::Stay)
}

fn permission(session: &mut Session, rest: &str) -> Result<After, Failure> {
    if !rest.is_empty() {
        let names = || Mode::ALL.map(|(name, _)| name).join(", ");
        let mode =
            Mode::named(rest).ok_or_else(|| Failure::usage(format!("`{rest}` is none of {}", names())))?;
        session.desk.gate.set_mode(mode);
    }
    let name = session.desk.gate.mode().name();
    session.desk.voice.talk(&format!("  {name}\n"));
    Ok(After::Stay)
}

fn undo(session: &mut Session, count: usize) -> Result<After, Failure> {
    let (prompts, files) = session.undo(count)?;
    let mut lines = String::new();
    for prompt in prompts {
        lines.push_str(&format!("  taken back: {}\n", text::head(&text::plain(&prompt), 100)));
    }
    let project = session.desk.gate.hooks.project.clone();
    let shown = |path: &Path| crate::project::name(path.strip_prefix(&project).unwrap_or(path));
    // What was not there before is not there now.
    let (back, gone): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.restored.iter().partition(|path| path.symlink_metadata().is_ok());
    lines.push_str(&listed("restored   ", back.iter().map(|path| shown(path))));
    lines.push_str(&listed("removed    ", gone.iter().map(|path| shown(path))));
    let reason = |(path, why): &(PathBuf, String)| format!("{}: {}", shown(path), text::plain(why));
    lines.push_str(&listed("NOT        ", files.not.iter().map(reason)));
    if files.unknown > 0 {
        lines.push_str(&format!("  NOT         what {} did\n", cut_off(files.unknown)));
    }
    if files.commands {
        lines.push_str(
            "  what commands did outside of the project, and to files that git ignores, stays done\n",
        );
    }
    if let Some(aside) = &files.aside {
        lines.push_str(&format!("  what was there until now is in {}\n", shown(aside)));
    }
    session.desk.voice.talk(&lines);
    Ok(After::Stay)
}

/// A line for each, up to what fits a screen.
fn listed(what: &str, all: impl ExactSizeIterator<Item = String>) -> String {
    const MOST: usize = 20;
    let more = all.len().saturating_sub(MOST);
    let mut lines: String = all.take(MOST).map(|line| format!("  {what} {line}\n")).collect();
    if more > 0 {
        lines.push_str(&format!("  {what} … and {} more\n", text::thousands(more as u64)));
    }
    lines
}

fn cut_off(commands: usize) -> String {
    match commands {
        1 => "a command that was cut off by our own end".to_owned(),
        _ => format!("{commands} commands that were cut off by our own end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_has_an_end_that_says_how_long_it_is() {
        let names = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
        let of = |count: usize| listed("NOT", names(count).into_iter());
        assert_eq!((of(0).as_str(), of(2).as_str()), ("", "  NOT 0\n  NOT 1\n"));
        assert_eq!(of(20).lines().count(), 20);
        assert!(of(1221).ends_with("  NOT 19\n  NOT … and 1,201 more\n"), "{}", of(1221));
    }

    #[test]
    fn a_slash_is_an_order_and_a_path_is_not() {
        assert_eq!(read(" /rewind  2 "), Some(("rewind", "2")));
        assert_eq!(read("/help"), Some(("help", "")));
        for prompt in ["/usr/bin/ls is gone", "/", "what is /help?", "//", "/a1"] {
            assert_eq!(read(prompt), None, "{prompt}");
        }
    }
}
