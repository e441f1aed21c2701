//! Questions for what comes next, and for what a project offers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use wire::clai::{SuggestContext, SuggestResponse, Suggestion};

use super::{Service, lock};
use crate::command::{Place, RepoKey};
use crate::config::covers;
use crate::daemon::projects::{Age, Change, ask_make};
use crate::daemon::request::{Explained, Suggest, Tasks, Why};
use crate::rank::{self, Answer, Ask};
use crate::repo::{Repo, Since};

/// More than this nobody cycles through.
const MOST_SUGGESTIONS: usize = 20;

impl Service {
    pub(in crate::daemon) fn suggest(self: &Arc<Self>, ask: &Suggest) -> SuggestResponse {
        let (answer, place) = self.rank(ask);
        let suggestions = answer.suggestions.iter().map(|suggestion| Suggestion {
            cmd: suggestion.command.clone(),
            cmd_norm: suggestion.template.0.clone(),
            score: suggestion.score,
            reasons: suggestion.reasons.iter().map(|reason| (*reason).to_owned()).collect(),
            confidence: suggestion.confidence,
        });
        SuggestResponse { suggestions: suggestions.collect(), context: context(&answer, place) }
    }

    pub(super) fn why(self: &Arc<Self>, ask: &Suggest) -> Why {
        let (answer, place) = self.rank(ask);
        let suggestions = answer.suggestions.iter().map(|suggestion| Explained {
            cmd: suggestion.command.clone(),
            cmd_norm: suggestion.template.0.clone(),
            score: suggestion.score,
            confidence: suggestion.confidence,
            reasons: suggestion.reasons.iter().map(|reason| (*reason).to_owned()).collect(),
            parts: suggestion.why.iter().map(|part| (part.name.to_owned(), part.score)).collect(),
        });
        Why { suggestions: suggestions.collect(), context: context(&answer, place) }
    }

    pub(super) fn tasks(self: &Arc<Self>, cwd: &str) -> Tasks {
        let repo = self.repo(cwd, Since::Nothing, self.world.clock.unix_ms());
        self.offers(repo.as_ref(), cwd, Age::Now);
        let directory = project(repo.as_ref(), cwd);
        let (tasks, notes) = lock(&self.projects).rows(&directory);
        Tasks { repo_key: repo.map(|repo| repo.key.0), tasks, notes }
    }

    fn rank(self: &Arc<Self>, ask: &Suggest) -> (Answer, Place) {
        let now = self.world.clock.unix_ms();
        let repo = self.repo(&ask.cwd, Since::Nothing, now);
        let tasks = self.offers(repo.as_ref(), &ask.cwd, Age::Lately);
        let key = ask.repo_key.clone().map(RepoKey).or_else(|| repo.as_ref().map(|repo| repo.key.clone()));
        let branch = repo.and_then(|repo| repo.branch().map(str::to_owned));
        let place = Place { cwd: ask.cwd.clone(), repo: key, branch };
        let answer = self.engine().suggest(&Ask {
            session: &ask.session_id,
            place: &place,
            now,
            prefix: &ask.prefix,
            limit: ask.limit.min(MOST_SUGGESTIONS),
            tasks: &tasks,
            passed: &ask.passed,
        });
        (answer, place)
    }

    /// What can be run here besides what was run before.
    fn offers(self: &Arc<Self>, repo: Option<&Repo>, cwd: &str, age: Age) -> Arc<[rank::Task]> {
        let directory = project(repo, cwd);
        if !directory.is_absolute() {
            return Arc::new([]);
        }
        let offers = lock(&self.projects).look(&directory, age);
        if let (Some(repo), Change::New) = (repo, offers.change) {
            self.keep_tasks(&repo.key, &directory);
            self.ask_make_where_allowed(repo);
        }
        offers.tasks
    }

    fn keep_tasks(&self, repo: &RepoKey, directory: &Path) {
        let (rows, _) = lock(&self.projects).rows(directory);
        let (repo, now) = (repo.clone(), self.world.clock.unix_ms());
        self.journal.order_unheard(move |database| {
            // They are found again at the next question.
            let _ = database.replace_tasks(&repo, &rows, now);
        });
    }

    fn ask_make_where_allowed(self: &Arc<Self>, repo: &Repo) {
        let root = repo.root.to_string_lossy();
        let allowed = self.config().make_qp.iter().any(|allowed| {
            covers(allowed, &root, &self.world.home) && covers(&root, allowed, &self.world.home)
        });
        if !allowed {
            return;
        }
        let (service, repo) = (Arc::clone(self), repo.clone());
        thread::spawn(move || {
            if let Some(tasks) = ask_make(&repo.root, &service.world.env) {
                lock(&service.projects).put(&repo.root, tasks);
                service.keep_tasks(&repo.key, &repo.root);
            }
        });
    }
}

fn context(answer: &Answer, place: Place) -> SuggestContext {
    SuggestContext {
        repo_key: place.repo.map(|repo| repo.0),
        last_cmd_norm: answer.last.as_ref().map(|last| last.0.clone()),
        used_sources: answer.used_sources.iter().map(|source| (*source).to_owned()).collect(),
    }
}

/// Where the files are that say what can be run: the root of the repository, outside of any the directory itself.
fn project(repo: Option<&Repo>, cwd: &str) -> PathBuf {
    repo.map_or_else(|| PathBuf::from(cwd), |repo| repo.root.clone())
}
