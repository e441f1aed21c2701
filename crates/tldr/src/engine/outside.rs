//! What only other programs know: what changed since the last commit, and what the project's checkers find. And the call
//! graph as a file for others.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use code::language::Language;
use code::memo::Snapshot;
use code::query::change::{Changed, parse_diff};
use code::query::{Part, calls, diagnostics};
use kit::process::{Ended, Job, Keep, find, minimal_environment};
use serde_json::json;
use wire::tldr::Refusal;

use super::telling::{Telling, Told};
use super::{Engine, lock, refuse, refuse_with};
use crate::index::{Files, Lifetime};
use crate::root::FOLDER;
use crate::{cache, checkers, walk};

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(20);
const LARGEST_DIFF: usize = 64 << 20;
/// What differs from the last commit, told the same way whatever somebody's settings say of prefixes, quotes and filters.
const DIFF: &[&str] = &[
    "-c",
    "core.quotePath=false",
    "diff",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=0",
    "--relative",
    "HEAD",
];

impl Engine {
    /// The lines that changed: in the files named, since this daemon began, or as git sees it.
    pub(super) fn changes(
        &self,
        files: Option<&[PathBuf]>,
        session: Option<bool>,
        git: Option<bool>,
    ) -> Result<Vec<Changed>, Box<Refusal>> {
        let whole = |file: String| Changed { file, lines: Vec::new() };
        if let Some(files) = files {
            let inside = |path: &PathBuf| match self.root.relative(self.root.path(), path) {
                // A name that was mistyped must not look like a change that no test needs.
                Some(path) if !self.root.path().join(&path).exists() => {
                    Err(refuse(format!("`{path}` is not there")))
                }
                Some(path) => Ok(path),
                None => Err(refuse(format!("`{}` is not in the project", path.display()))),
            };
            return files.iter().map(|path| inside(path).map(whole)).collect();
        }
        if session == Some(true) && git != Some(true) {
            if self.lifetime == Lifetime::OneLook {
                return Err(refuse("nobody has watched what changed: that needs `tldr daemon start`"));
            }
            return Ok(lock(&self.touched).iter().cloned().map(whole).collect());
        }
        self.git(&["rev-parse", "--git-dir"])?;
        // Before the first commit everything is new.
        let is_begun = self.git(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok();
        let mut changes = if is_begun { parse_diff(&self.git(DIFF)?) } else { Vec::new() };
        let known: &[&str] = if is_begun { &[] } else { &["--cached"] };
        let new = self.git(&[&["ls-files", "--others", "--exclude-standard", "-z"], known].concat())?;
        changes.extend(new.split('\0').filter(|path| !path.is_empty()).map(|path| whole(path.to_owned())));
        // What we keep ourselves is nobody's change.
        changes.retain(|change| !Path::new(&change.file).starts_with(FOLDER));
        Ok(changes)
    }

    fn git(&self, args: &[&str]) -> Result<String, Box<Refusal>> {
        let program =
            find("git", &self.env).ok_or_else(|| refuse("git is not installed; name the changed files"))?;
        let outcome = Job::new(program)
            .args(args)
            .envs(minimal_environment(&self.env, &[]))
            .cwd(self.root.path())
            .deadline(PATIENCE)
            .keep(Keep { head: LARGEST_DIFF, tail: 0, spill: None })
            .run()
            .map_err(|error| refuse(format!("cannot run git: {error}")))?;
        match outcome.ended {
            Ended::Exited(0) => Ok(String::from_utf8_lossy(&outcome.stdout.head).into_owned()),
            _ => {
                let said = String::from_utf8_lossy(&outcome.stderr.head);
                let line = said.lines().next().unwrap_or("it did not end").trim_start_matches("fatal: ");
                Err(refuse(format!("git does not know what changed: {line}")))
            }
        }
    }

    pub(super) fn diagnostics(
        &self,
        path: &str,
        tell: &Telling,
        files: &Files,
    ) -> Result<Told, Box<Refusal>> {
        let part = Part { path: path.to_owned(), language: None };
        let programs = files.iter().filter_map(|(path, file)| Some((path, file.facts.as_ref()?.language)));
        let languages: BTreeSet<Language> = programs
            .filter(|(path, language)| part.holds(path, *language))
            .map(|(_, language)| language)
            .collect();
        if languages.is_empty() {
            return Err(self.nothing_at(path, files));
        }
        let languages: Vec<Language> = languages.into_iter().collect();
        let target = if path.is_empty() { Path::new(".") } else { Path::new(path) };
        let ran = checkers::run(self.root.path(), target, &languages, &self.env);
        if ran.is_empty() {
            let names: Vec<&str> = checkers::for_languages(&languages).map(|checker| checker.name).collect();
            let message = format!("no checker is installed; looked for {}", names.join(", "));
            return Err(refuse_with(message, "tools_run", json!([])));
        }
        let mut found = Vec::new();
        for run in &ran {
            let output = if run.stdout.trim().is_empty() { &run.stderr } else { &run.stdout };
            let (said, _) = diagnostics::parse(run.format, run.name, output);
            found.extend(
                said.into_iter().map(|one| diagnostics::Diagnostic { file: self.named(&one.file), ..one }),
            );
        }
        found.retain(|one| part.holds(&one.file, Language::ALL[0]));
        let tools = ran.iter().map(|run| run.name.to_owned()).collect();
        Ok(tell.about(diagnostics::answer(found, tools)))
    }

    /// A checker's name of a file as ours.
    fn named(&self, file: &str) -> String {
        self.root.relative(self.root.path(), Path::new(file)).unwrap_or_else(|| file.to_owned())
    }

    /// Writes the call graph for whoever wants to read it without us.
    pub(super) fn warm(&self, language: Option<Language>, snapshot: &Snapshot) -> Result<Told, Box<Refusal>> {
        let _ = walk::write_rules(self.root.path());
        let part = Part { path: String::new(), language };
        let graph = calls::calls(snapshot, &part);
        let programs: Vec<Language> = snapshot
            .files
            .each()
            .map(|(_, entry)| entry.facts.language)
            .filter(|found| language.is_none_or(|wanted| wanted == *found))
            .collect();
        let languages: BTreeSet<&str> = programs.iter().map(|language| language.name()).collect();
        let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let file = json!({"edges": graph.edges, "languages": languages, "timestamp": timestamp});
        let failed =
            |failure: kit::Failure| refuse(failure.to_string().trim_start_matches("error: ").to_owned());
        let cache_path = cache::write_call_graph(&self.root, file.to_string().as_bytes()).map_err(failed)?;
        self.persist().map_err(failed)?;
        let answer = json!({
            "files": programs.len(),
            "edges": graph.edges.len(),
            "languages": languages,
            "cache_path": cache_path,
        });
        Ok(Told::new(&answer.to_string(), HashSet::new()))
    }
}
