//! Our stop of the tour: the last commits of the repository around here, as an agent would have read them.

use kit::Failure;
use kit::text::{plain, thousands};
use kit::tour::{Sight, Stage};

use crate::history::{self, GitError, Replayed};
use crate::plan::Limits;
use crate::render::percent;

/// Enough to see how a project is worked on, and read within a second.
const COMMITS: usize = 40;

pub fn stop(stage: &Stage<'_>) -> Result<Sight, Failure> {
    let lines = match history::commits(stage.here, stage.env, COMMITS, stage.patience) {
        Ok(commits) => told(&history::replay(&commits, &Limits::default())),
        Err(error) => missing(&error),
    };
    Ok(Sight { title: "Reads".into(), lines })
}

fn told(replayed: &Replayed) -> Vec<String> {
    let Replayed { commits, files, reads, native, sent, again, worst } = replayed;
    let mut lines = vec![
        format!(
            "the last {commits} commits here, replayed as an agent reads the files again: {reads} reads of {files} files"
        ),
        format!("native   {:>11} tokens", thousands(*native)),
        format!("drip     {:>11} tokens    {} % less", thousands(*sent), replayed.percent()),
    ];
    if again.0 > 0 {
        lines.push(format!(
            "of that, read again: {} tokens became {}, {} % less",
            thousands(again.0),
            thousands(again.1),
            percent(again.0, again.1)
        ));
    }
    if let Some((path, native, sent)) = worst {
        let (path, native, sent) = (plain(path), thousands(*native), thousands(*sent));
        lines.push(format!("least gained in {path}: {native} tokens became {sent}"));
    }
    lines
}

fn missing(error: &GitError) -> Vec<String> {
    vec![
        format!("nothing to replay: {error}"),
        "in a repository, this shows what an agent's reads of its last commits would have cost".to_owned(),
    ]
}
