//! `clai tasks`: what the project around here offers to run.

use std::path::PathBuf;

use kit::page::Column;
use kit::{Exit, Failure, text};

use super::{Call, Page, alone};
use crate::daemon::{AskFailure, Request, Tasks};
use crate::database::TaskRow;
use crate::repo;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Another directory than this one
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let cwd = args.directory.as_ref().map_or(call.invocation.cwd.clone(), |it| call.invocation.cwd.join(it));
    let request = Request::Tasks { cwd: cwd.to_string_lossy().into_owned() };
    let tasks = match call.ask::<Tasks>(&request) {
        Ok(tasks) => tasks,
        Err(AskFailure::Refused(failure)) => return Err(failure),
        // Reading a few files needs no daemon.
        Err(AskFailure::Absent | AskFailure::Unanswered(_)) => looked(&cwd),
    };
    call.show(&tasks, |page| to_text(page, &tasks))
}

fn looked(cwd: &std::path::Path) -> Tasks {
    let repo = repo::find(cwd);
    let found = alone::project_tasks(&alone::root(repo.as_ref(), cwd));
    let row = |task: &crate::tasks::Task| TaskRow {
        kind: task.kind.name().to_owned(),
        name: task.name.clone(),
        command: task.command.clone(),
        description: task.description.clone(),
    };
    Tasks {
        repo_key: repo.map(|repo| repo.key.0),
        tasks: found.tasks.iter().map(row).collect(),
        notes: found.notes.iter().map(ToString::to_string).collect(),
    }
}

fn to_text(page: &Page, tasks: &Tasks) -> String {
    let rows: Vec<[String; 3]> = tasks
        .tasks
        .iter()
        .map(|it| [it.kind.clone(), it.command.clone(), it.description.clone().unwrap_or_default()])
        .collect();
    let mut out = match rows.is_empty() {
        true => "no tasks were found here\n".to_owned(),
        false => page.aligned([Column::Dim, Column::Left, Column::Dim], &rows),
    };
    for note in &tasks.notes {
        out.push_str(&format!("note: {}\n", text::plain(note)));
    }
    out + &page.next("suggest", "what you will probably run next")
}
