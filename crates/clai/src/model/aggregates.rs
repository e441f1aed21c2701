//! How often each template is used and what follows it, globally and per repository: what the tables
//! `command_score` and `transition` hold, and the line each template was last seen as.

use std::collections::{HashMap, HashSet};
use std::mem::size_of;
use std::sync::Arc;

use super::{Decayed, LineId, Lines, Outcome, StepId};
use crate::command::{RepoKey, Template};

/// The scope that every command belongs to, as the tables spell it.
pub const GLOBAL: &str = "global";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TemplateId(pub(crate) u32);

/// A repository; [`Scope::NOWHERE`] outside of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Scope(u32);

impl Scope {
    /// Also for repositories beyond the millionth.
    pub(crate) const NOWHERE: Scope = Scope((1 << 20) - 1);
}

/// A row of `command_score`.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreRow {
    pub scope: String,
    pub template: Template,
    pub score: f64,
    pub last_ts: i64,
}

/// A row of `transition`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionRow {
    pub scope: String,
    pub previous: Template,
    pub next: Template,
    pub count: u64,
    pub last_ts: i64,
}

/// How a template was used in one scope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Use {
    pub(crate) uses: Decayed,
    /// The line it was last seen as, by preference one that worked.
    pub(crate) line: LineId,
    /// Beside the line, where it costs nothing: there are as many of these as templates times repositories.
    template: TemplateId,
}

/// One template that followed another in one scope. Sixteen bytes: this is most of what a long history weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Follower {
    pub(crate) next: TemplateId,
    pub(crate) count: u32,
    /// The scope in the upper 20 bits, the time of the last one in milliseconds in the lower 44: until the year 2527.
    scope_and_time: u64,
}

impl Follower {
    const TIME_BITS: u32 = 44;
    const TIME: u64 = (1 << Follower::TIME_BITS) - 1;

    fn new(next: TemplateId, scope: Scope, ts: i64) -> Follower {
        let time = (ts.max(0) as u64).min(Follower::TIME);
        Follower { next, count: 1, scope_and_time: u64::from(scope.0) << Follower::TIME_BITS | time }
    }

    fn scope(&self) -> Scope {
        Scope((self.scope_and_time >> Follower::TIME_BITS) as u32)
    }

    fn last_ts(&self) -> i64 {
        (self.scope_and_time & Follower::TIME) as i64
    }

    /// Counts what `other` counts, in the same scope or, for the sum over all, in another one.
    fn and(self, other: &Follower) -> Follower {
        let time = (self.scope_and_time & Follower::TIME).max(other.scope_and_time & Follower::TIME);
        Follower {
            next: self.next,
            count: self.count.saturating_add(other.count),
            scope_and_time: self.scope_and_time & !Follower::TIME | time,
        }
    }
}

#[derive(Debug)]
struct Entry {
    name: Arc<str>,
    used: Use,
    latest: StepId,
    /// Sorted by template, then scope. The global row is their sum: it is not stored twice.
    followers: Vec<Follower>,
}

#[derive(Debug)]
struct Repo {
    key: Arc<str>,
    /// Sorted by template.
    used: Vec<Use>,
    latest: StepId,
    latest_ts: i64,
}

#[derive(Debug, Default)]
pub(crate) struct Aggregates {
    /// `None` where a template was forgotten.
    entries: Vec<Option<Entry>>,
    ids: HashMap<Arc<str>, TemplateId>,
    repos: Vec<Repo>,
    scopes: HashMap<Arc<str>, Scope>,
}

impl Aggregates {
    pub(crate) fn find(&self, template: &str) -> Option<TemplateId> {
        self.ids.get(template).copied()
    }

    pub(crate) fn name(&self, id: TemplateId) -> Option<&Arc<str>> {
        self.entry(id).map(|entry| &entry.name)
    }

    /// [`Scope::NOWHERE`] also for a repository that nothing ran in yet.
    pub(crate) fn scope(&self, repo: Option<&RepoKey>) -> Scope {
        repo.and_then(|repo| self.scopes.get(repo.0.as_str()).copied()).unwrap_or(Scope::NOWHERE)
    }

    pub(crate) fn enter(&mut self, repo: Option<&RepoKey>) -> Scope {
        let Some(repo) = repo else { return Scope::NOWHERE };
        if let Some(scope) = self.scopes.get(repo.0.as_str()) {
            return *scope;
        }
        if self.repos.len() >= Scope::NOWHERE.0 as usize {
            return Scope::NOWHERE;
        }
        let (key, scope): (Arc<str>, _) = (repo.0.as_str().into(), Scope(self.repos.len() as u32));
        self.scopes.insert(key.clone(), scope);
        self.repos.push(Repo { key, used: Vec::new(), latest: StepId::NONE, latest_ts: i64::MIN });
        scope
    }

    /// The id that this template has, or will have when it is first seen.
    pub(crate) fn id_for(&self, template: &Template) -> TemplateId {
        self.find(&template.0).unwrap_or(TemplateId(self.entries.len() as u32))
    }

    /// Counts a use of what `lines` already know in both scopes. Returns the step where the template was seen before.
    pub(crate) fn ran(&mut self, name: &Template, seen: &Seen, lines: &Lines) -> StepId {
        if let Some(repo) = self.repos.get_mut(seen.scope.0 as usize) {
            match repo.used.binary_search_by_key(&seen.template, |used| used.template) {
                Ok(at) => repo.used[at].again(seen, lines),
                Err(at) => insert_tightly(&mut repo.used, at, seen.as_first_use()),
            }
            (repo.latest, repo.latest_ts) = (seen.step, seen.ts);
        }
        if let Some(Some(entry)) = self.entries.get_mut(seen.template.0 as usize) {
            entry.used.again(seen, lines);
            return std::mem::replace(&mut entry.latest, seen.step);
        }
        let name: Arc<str> = name.0.as_str().into();
        self.ids.insert(name.clone(), seen.template);
        self.entries.push(Some(Entry {
            name,
            used: seen.as_first_use(),
            latest: seen.step,
            followers: Vec::new(),
        }));
        StepId::NONE
    }

    pub(crate) fn followed(&mut self, scope: Scope, previous: TemplateId, next: TemplateId, ts: i64) {
        let Some(Some(entry)) = self.entries.get_mut(previous.0 as usize) else { return };
        let row = Follower::new(next, scope, ts);
        match entry.followers.binary_search_by_key(&(next, scope), |row| (row.next, row.scope())) {
            Ok(at) => entry.followers[at] = entry.followers[at].and(&row),
            Err(at) => insert_tightly(&mut entry.followers, at, row),
        }
    }

    /// The latest step in this repository if it is at most `window` old.
    pub(crate) fn latest_in(&self, scope: Scope, now: i64, window: i64) -> Option<StepId> {
        let repo = self.repos.get(scope.0 as usize)?;
        (0..=window).contains(&now.saturating_sub(repo.latest_ts)).then_some(repo.latest)
    }

    pub(crate) fn latest_of(&self, template: TemplateId) -> StepId {
        self.entry(template).map_or(StepId::NONE, |entry| entry.latest)
    }

    pub(crate) fn used(&self, template: TemplateId) -> Option<&Use> {
        self.entry(template).map(|entry| &entry.used)
    }

    pub(crate) fn used_in(&self, scope: Scope, template: TemplateId) -> Option<&Use> {
        let used = &self.repos.get(scope.0 as usize)?.used;
        used.binary_search_by_key(&template, |used| used.template).ok().map(|at| &used[at])
    }

    /// In the order of their ids.
    pub(crate) fn all_used(&self) -> impl Iterator<Item = &Use> {
        self.entries.iter().flatten().map(|entry| &entry.used)
    }

    pub(crate) fn all_used_in(&self, scope: Scope) -> &[Use] {
        self.repos.get(scope.0 as usize).map_or(&[], |repo| &repo.used)
    }

    /// One more than the largest id there is.
    pub(crate) fn ids(&self) -> usize {
        self.entries.len()
    }

    /// What followed `previous` anywhere, one row per template, in the order of their ids.
    pub(crate) fn followers(&self, previous: TemplateId) -> impl Iterator<Item = Follower> + '_ {
        let rows = self.entry(previous).map_or(&[][..], |entry| &entry.followers);
        rows.chunk_by(|a, b| a.next == b.next).map(|rows| rows[1..].iter().fold(rows[0], Follower::and))
    }

    pub(crate) fn followers_in(
        &self,
        scope: Scope,
        previous: TemplateId,
    ) -> impl Iterator<Item = Follower> + '_ {
        let rows = self.entry(previous).map_or(&[][..], |entry| &entry.followers);
        rows.iter().filter(move |row| scope != Scope::NOWHERE && row.scope() == scope).copied()
    }

    /// The templates whose own text `matches`.
    pub(crate) fn named(&self, matches: impl Fn(&str) -> bool) -> HashSet<TemplateId> {
        let named = self.entries.iter().enumerate();
        named
            .filter(|(_, entry)| entry.as_ref().is_some_and(|entry| matches(&entry.name)))
            .map(|(id, _)| TemplateId(id as u32))
            .collect()
    }

    /// Drops templates with their rows; the others are seen as the latest of their lines that is left.
    pub(crate) fn forget(&mut self, doomed: impl Fn(TemplateId) -> bool, lines: &Lines) {
        let latest = lines.latest_of_templates();
        for (id, slot) in self.entries.iter_mut().enumerate() {
            let id = TemplateId(id as u32);
            if let Some(entry) = slot.take_if(|_| doomed(id)) {
                self.ids.remove(&entry.name);
            } else if let Some(entry) = slot {
                entry.followers.retain(|row| !doomed(row.next));
                if lines.get(entry.used.line).is_none() {
                    entry.used.line = latest.get(&id).copied().unwrap_or(entry.used.line);
                }
            }
        }
        for repo in &mut self.repos {
            repo.used.retain(|used| !doomed(used.template));
        }
    }

    pub(crate) fn scores(&self) -> Vec<ScoreRow> {
        let global = self.all_used().filter_map(|used| self.score_row(GLOBAL, used));
        let local = |repo: &'_ Repo| {
            repo.used.iter().filter_map(|used| self.score_row(&repo.key, used)).collect::<Vec<_>>()
        };
        let local = self.repos.iter().flat_map(local);
        let mut rows: Vec<ScoreRow> = global.chain(local).collect();
        rows.sort_by(|a, b| (&a.scope, &a.template).cmp(&(&b.scope, &b.template)));
        rows
    }

    pub(crate) fn transitions(&self) -> Vec<TransitionRow> {
        let mut rows = Vec::new();
        for previous in (0..self.entries.len()).map(|id| TemplateId(id as u32)) {
            let global =
                self.followers(previous).filter_map(|row| self.transition_row(GLOBAL, previous, row));
            rows.extend(global);
            let local = self.entry(previous).map_or(&[][..], |entry| &entry.followers);
            rows.extend(local.iter().filter_map(|row| {
                let repo = self.repos.get(row.scope().0 as usize)?;
                self.transition_row(&repo.key, previous, *row)
            }));
        }
        rows.sort_by(|a, b| (&a.scope, &a.previous, &a.next).cmp(&(&b.scope, &b.previous, &b.next)));
        rows
    }

    pub(crate) fn bytes(&self) -> usize {
        let entries: usize = self
            .entries
            .iter()
            .flatten()
            .map(|entry| {
                entry.name.len() + 2 * size_of::<usize>() + entry.followers.capacity() * size_of::<Follower>()
            })
            .sum();
        let repos: usize = self.repos.iter().map(|repo| repo.used.capacity() * size_of::<Use>()).sum();
        entries
            + repos
            + self.entries.capacity() * size_of::<Option<Entry>>()
            + self.ids.capacity() * (size_of::<(Arc<str>, TemplateId)>() + 1)
    }

    fn entry(&self, id: TemplateId) -> Option<&Entry> {
        self.entries.get(id.0 as usize)?.as_ref()
    }

    fn score_row(&self, scope: &str, used: &Use) -> Option<ScoreRow> {
        let template = Template(self.name(used.template)?.to_string());
        let Decayed { score, last_ts } = used.uses;
        Some(ScoreRow { scope: scope.to_owned(), template, score, last_ts })
    }

    fn transition_row(&self, scope: &str, previous: TemplateId, row: Follower) -> Option<TransitionRow> {
        Some(TransitionRow {
            scope: scope.to_owned(),
            previous: Template(self.name(previous)?.to_string()),
            next: Template(self.name(row.next)?.to_string()),
            count: u64::from(row.count),
            last_ts: row.last_ts(),
        })
    }
}

/// One use of a template.
pub(crate) struct Seen {
    pub(crate) scope: Scope,
    pub(crate) template: TemplateId,
    pub(crate) line: LineId,
    pub(crate) ts: i64,
    pub(crate) step: StepId,
}

impl Seen {
    fn as_first_use(&self) -> Use {
        Use { uses: Decayed::first(self.ts), line: self.line, template: self.template }
    }
}

impl Use {
    pub(crate) fn template(&self) -> TemplateId {
        self.template
    }

    fn again(&mut self, seen: &Seen, lines: &Lines) {
        self.uses.add(seen.ts);
        let works = |id| lines.get(id).is_some_and(|line| line.latest_outcome == Outcome::Worked);
        if works(seen.line) || !works(self.line) {
            self.line = seen.line;
        }
    }
}

/// A quarter of slack in place of the usual doubling: these vectors are most of the model.
fn insert_tightly<T>(rows: &mut Vec<T>, at: usize, row: T) {
    if rows.len() == rows.capacity() {
        rows.reserve_exact(4 + rows.len() / 4);
    }
    rows.insert(at, row);
}
