//! Answering without a daemon, from the history as it was written: slower, and without what only a daemon knows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kit::Failure;
use wire::clai::SuggestContext;

use super::{Call, database_failure};
use crate::command::{Place, Ran, RepoKey, SessionId, Template};
use crate::daemon::{Explained, Suggest, Why};
use crate::database::{Found, Query};
use crate::rank::{Ask, Engine, Task};
use crate::repo::{self, Repo};
use crate::tasks::{self, Discovery};

/// What can be learned while somebody waits: a few months of work, in a tenth of a second.
const NEWEST: u64 = 20_000;
/// What looking through a project's files may take.
const LOOK: Duration = Duration::from_millis(500);

pub(super) fn why(call: &Call<'_>, question: &Suggest) -> Result<Why, Failure> {
    let mut engine = Engine::new(crate::config::load(&call.places, &call.invocation.env, &[])?.config.scorer);
    for ran in history(call, Some(NEWEST))? {
        engine.learn(&ran);
    }
    let cwd = Path::new(&question.cwd);
    let repo = repo::find(cwd);
    let offers: Vec<Task> = project_tasks(&root(repo.as_ref(), cwd))
        .tasks
        .iter()
        .map(|task| Task { command: task.command.clone(), template: crate::eval::template_of(&task.command) })
        .collect();
    let place = Place {
        cwd: question.cwd.clone(),
        branch: repo.as_ref().and_then(|repo| repo.branch().map(str::to_owned)),
        repo: question.repo_key.clone().map(RepoKey).or(repo.map(|repo| repo.key)),
    };
    let answer = engine.suggest(&Ask {
        session: &question.session_id,
        place: &place,
        now: call.now(),
        prefix: &question.prefix,
        limit: question.limit,
        tasks: &offers,
        passed: &question.passed,
    });
    let suggestions = answer.suggestions.iter().map(|it| Explained {
        cmd: it.command.clone(),
        cmd_norm: it.template.0.clone(),
        score: it.score,
        confidence: it.confidence,
        reasons: it.reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        parts: it.why.iter().map(|part| (part.name.to_owned(), part.score)).collect(),
    });
    let context = SuggestContext {
        repo_key: place.repo.map(|repo| repo.0),
        last_cmd_norm: answer.last.as_ref().map(|last| last.0.clone()),
        used_sources: answer.used_sources.iter().map(|source| (*source).to_owned()).collect(),
    };
    Ok(Why { suggestions: suggestions.collect(), context })
}

/// What the person ran, oldest first: the newest `limit` of it.
pub(super) fn history(call: &Call<'_>, limit: Option<u64>) -> Result<Vec<Ran>, Failure> {
    let Some(reader) = call.reader()? else { return Ok(Vec::new()) };
    let found = reader
        .find(&Query { limit, ..Query::default() })
        .map_err(|error| database_failure("cannot read the history", &error))?;
    Ok(found.into_iter().rev().map(ran).collect())
}

/// What the files of a project offer.
pub(super) fn project_tasks(directory: &Path) -> Arc<tasks::Found> {
    Discovery::default().look(directory, Instant::now() + LOOK)
}

/// Where a project's files are: the root of the repository, outside of any the directory itself.
pub(super) fn root(repo: Option<&Repo>, cwd: &Path) -> PathBuf {
    repo.map_or_else(|| cwd.to_owned(), |repo| repo.root.clone())
}

fn ran(found: Found) -> Ran {
    Ran {
        session: SessionId(found.session_id),
        ts: found.ts,
        duration_ms: found.duration_ms.map(i64::cast_unsigned),
        exit_code: found.exit_code,
        place: Place { cwd: found.cwd, repo: found.repo_key.map(RepoKey), branch: found.branch },
        line: found.cmd,
        template: Template(found.cmd_norm),
    }
}
