//! `drip init` and `drip uninstall`: says what changes in the files of a client, and changes it. What those changes are
//! is decided in [`crate::setup`].

use std::path::PathBuf;

use kit::page::Column;
use kit::{Exit, Failure, Page};
use serde::Serialize;

use super::{Call, Here};
use crate::setup::{self, Action, Agent, Edit, Ground, Mode, Scope};

#[derive(Debug, clap::Args)]
pub(crate) struct Where {
    /// For all projects instead of this one
    #[arg(short, long)]
    global: bool,
    /// The client: claude, codex or gemini
    #[arg(long, default_value = "claude")]
    agent: Agent,
    /// Show the changes and make none
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    to: Where,
    /// How a repeated read is answered: `rewrite` what the client shows, or `deny` the read (older clients)
    #[arg(long, default_value = "rewrite", value_parser = parse_mode)]
    mode: Mode,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    from: Where,
}

#[derive(Serialize)]
struct Changed<'a> {
    agent: &'static str,
    scope: &'static str,
    dry_run: bool,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    change: &'static str,
    lines_added: usize,
    lines_removed: usize,
    diff: &'a str,
}

pub(crate) fn init(call: &mut Call, args: &InitArgs) -> Result<Exit, Failure> {
    // What a client runs at every read is the small program beside us, or nothing.
    let drip = call.here.program.sibling("drip")?;
    run(call, &args.to, Action::Init(args.mode), drip)
}

pub(crate) fn uninstall(call: &mut Call, args: &UninstallArgs) -> Result<Exit, Failure> {
    // What was registered may be gone: taking it out needs no program.
    run(call, &args.from, Action::Uninstall, PathBuf::new())
}

/// Where this call would set things up.
pub(crate) fn ground(here: &Here, drip: PathBuf) -> Ground {
    let codex_home = here.env.get("CODEX_HOME").filter(|path| !path.is_empty());
    Ground {
        project: here.cwd.clone(),
        home: here.places.home.clone(),
        codex_home: codex_home.map(PathBuf::from),
        drip,
    }
}

fn run(call: &mut Call, place: &Where, action: Action, drip: PathBuf) -> Result<Exit, Failure> {
    let scope = if place.global || place.agent == Agent::Codex { Scope::Global } else { Scope::Project };
    let ground = ground(&call.here, drip);
    let edits = setup::plan(place.agent, scope, action, &ground).map_err(|error| {
        let failure = Failure::new("nothing was changed").because(&error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })?;
    if !place.dry_run {
        setup::apply(&edits).map_err(|error| {
            let failure = Failure::new("not everything was changed").because(&error);
            failure.hint(format!("`ls -l {}`", kit::places::shell_word(error.failed.as_os_str())))
        })?;
    }
    let shown: Vec<(String, String)> =
        edits.iter().map(|edit| (edit.path.to_string_lossy().into_owned(), setup::diff(edit))).collect();
    let changed = Changed {
        agent: place.agent.name(),
        scope: if scope == Scope::Global { "global" } else { "project" },
        dry_run: place.dry_run,
        files: edits.iter().zip(&shown).map(|(edit, (path, diff))| file(edit, path, diff)).collect(),
    };
    let paths: Vec<String> = edits.iter().map(|edit| call.here.short(&edit.path)).collect();
    call.show(&changed, |page| to_text(page, &changed, &paths, action, place.agent))
}

fn file<'a>(edit: &Edit, path: &'a str, diff: &'a str) -> File<'a> {
    let body = || diff.lines().skip(2);
    File {
        path,
        change: match (&edit.before, &edit.after) {
            (None, _) => "made",
            (_, None) => "removed",
            _ => "changed",
        },
        lines_added: body().filter(|line| line.starts_with('+')).count(),
        lines_removed: body().filter(|line| line.starts_with('-')).count(),
        diff,
    }
}

fn to_text(page: &Page, changed: &Changed, paths: &[String], action: Action, agent: Agent) -> String {
    let who = format!("{} ({})", changed.agent, changed.scope);
    if changed.files.is_empty() {
        return match action {
            Action::Init(_) => {
                format!("{who} is set up already\n{}", page.next("doctor", "whether all of it works"))
            }
            Action::Uninstall => format!("nothing of ours is in the files of {who}\n"),
        };
    }
    let rows: Vec<[String; 3]> = changed
        .files
        .iter()
        .zip(paths)
        .map(|(file, path)| {
            let lines = format!("+{} -{}", file.lines_added, file.lines_removed);
            [file.change.to_owned(), path.clone(), lines]
        })
        .collect();
    let table = page.aligned([Column::Left, Column::Left, Column::Dim], &rows);
    if changed.dry_run {
        let diffs: String = changed.files.iter().map(|file| kit::text::plain_lines(file.diff)).collect();
        let command = match action {
            Action::Init(_) => "init",
            Action::Uninstall => "uninstall",
        };
        let again = format!("{command} --agent {}{}", changed.agent, flag(changed));
        return format!(
            "{diffs}\nnothing was changed; this would be:\n{table}{}",
            page.next(&again, "do it")
        );
    }
    match action {
        Action::Init(_) => {
            let restart = match agent {
                Agent::Claude => "Claude Code reads this when it starts: begin a new session there.",
                Agent::Codex => "Codex reads this when it starts, and asks once whether to trust the hooks.",
                Agent::Gemini => "Gemini reads this when it starts: begin a new session there.",
            };
            format!("{table}\n{restart}\n{}", page.next("doctor", "whether all of it works"))
        }
        Action::Uninstall => {
            format!("{table}{}", page.next("reset --all", "forget what was kept, too"))
        }
    }
}

fn flag(changed: &Changed) -> &'static str {
    if changed.scope == "global" && changed.agent != Agent::Codex.name() { " -g" } else { "" }
}

fn parse_mode(word: &str) -> Result<Mode, String> {
    match word {
        "rewrite" => Ok(Mode::Rewrite),
        "deny" => Ok(Mode::Deny),
        _ => Err("it is `rewrite` or `deny`".to_owned()),
    }
}
