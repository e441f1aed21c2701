//! Bringing what is known up to date for a question, and finding what was answered before. Nothing is held while something is
//! worked out that not every question needs. Knows no answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use code::memo::{Asked, Basis, Memo};
use wire::tldr::{DaemonCommand, Request};

use super::answers::Asks;
use super::{Engine, Summary, lock};
use crate::index::{Digests, Files, Index, Lifetime, Refreshed};

/// More changes at once than a person makes, as those of another branch: little of what was put together holds then, and to
/// keep it would be to keep the files as they were.
const MANY: usize = 200;

impl Engine {
    /// Brings everything up to date and looks for a kept answer, in one step: what another question finds changed in
    /// between would be told for a state that was not its own. Who uses whom is then worked out without holding anything:
    /// who asks for something else goes past.
    pub(super) fn look_up(&self, key: &str, asks: &Asks, request: &Request) -> (Asked, Arc<Files>, u128) {
        let one = self.one_file(request);
        let mut turn = None;
        loop {
            let (mut index, mut memo) = (lock(&self.index), lock(&self.memo));
            if one.is_none() || self.lifetime == Lifetime::Long {
                self.remember(&mut index, &mut memo);
            }
            self.bring_up_to_date(&mut index, &mut memo, |index| match (&one, self.lifetime) {
                // Where nothing is watched, one file needs no walk, and who parses it anyway no facts.
                (Some(path), Lifetime::OneLook) if matches!(asks, Asks::Flow { .. }) => index.glance_at(path),
                (Some(path), Lifetime::OneLook) => index.look_at(path),
                (one, _) => index.refresh(one.as_deref()),
            });
            let as_of = as_of(asks, &index);
            let basis = basis(asks, as_of);
            if turn.is_none() && basis == Basis::Facts && memo.is_behind() {
                turn = self.workers.turn_if_free();
                if turn.is_none() {
                    // Whoever works needs these; and most likely knows then what we need as well.
                    drop((index, memo));
                    turn = Some(self.workers.turn());
                    continue;
                }
            }
            let mut asked = match self.is_kept(asks) {
                true => memo.ask(key, basis),
                false => Asked::Make(memo.ticket(key, basis)),
            };
            self.sum_up(&index, &memo);
            let files = Arc::clone(index.files());
            drop((index, memo));
            if let Asked::Make(ticket) = &mut asked
                && let Some(worked) = ticket.worked(|work| self.workers.run(|| work.done()))
            {
                lock(&self.memo).take(worked);
            }
            return (asked, files, as_of);
        }
    }

    /// The one file that a question is about, if whoever holds the index looks at all files: that can take seconds, and
    /// one file needs nothing of it. Nothing if the index is free, or soon will be.
    pub(super) fn past_the_crowd(&self, request: &Request) -> Option<Arc<Files>> {
        let path = self.one_file(request)?;
        if self.has_looked.load(Ordering::SeqCst) || self.index.try_lock().is_ok() {
            return None;
        }
        let mut index = Index::new(self.root.path(), Lifetime::OneLook);
        index.look_at(&path);
        Some(Arc::clone(index.files()))
    }

    /// Brings files and facts up to date; gives what tells this state from others.
    pub fn refresh(&self) -> Digests {
        self.refreshed(|index| index.refresh(None))
    }

    /// Looks at every entry, whatever was told.
    pub fn reindex(&self) {
        self.has_looked.store(false, Ordering::SeqCst);
        self.refreshed(Index::look_at_everything);
    }

    fn refreshed(&self, look: impl FnOnce(&mut Index) -> Refreshed) -> Digests {
        let mut index = lock(&self.index);
        let mut memo = lock(&self.memo);
        self.remember(&mut index, &mut memo);
        self.bring_up_to_date(&mut index, &mut memo, look);
        self.sum_up(&index, &memo);
        index.digests()
    }

    fn bring_up_to_date(
        &self,
        index: &mut Index,
        memo: &mut Memo,
        look: impl FnOnce(&mut Index) -> Refreshed,
    ) {
        std::mem::take(&mut *lock(&self.told)).iter().for_each(|path| index.distrust(path));
        let first = !index.has_looked();
        let changed = look(index).changed;
        if changed.len() > MANY {
            self.let_go();
        }
        let paths: Vec<&String> =
            if memo.is_new() { index.files().keys().collect() } else { changed.iter().collect() };
        let facts = |path: &str| index.files().get(path).and_then(|file| file.facts.clone());
        let changes = paths.into_iter().map(|path| (Arc::from(path.as_str()), facts(path))).collect();
        memo.update(changes);
        self.has_looked.store(index.has_looked(), Ordering::SeqCst);
        if index.has_looked() {
            let all = first.then(|| index.files().keys());
            memo.update_manifests(index.manifests(changed.iter().chain(all.into_iter().flatten())));
        }
        if !first && self.lifetime == Lifetime::Long {
            lock(&self.touched).extend(changed);
        }
    }

    pub(super) fn sum_up(&self, index: &Index, memo: &Memo) {
        let memo = self.counted(memo);
        *lock(&self.summary) = Summary { files: index.files().len(), memo, dedup: index.dedup() };
    }

    /// The file that a command looks at, if it looks at one and no other.
    fn one_file(&self, request: &Request) -> Option<String> {
        match &request.command {
            DaemonCommand::Extract { file }
            | DaemonCommand::Imports { file }
            | DaemonCommand::Cfg { file, .. }
            | DaemonCommand::Dfg { file, .. }
            | DaemonCommand::Slice { file, .. } => self.root.relative(self.root.path(), file),
            _ => None,
        }
    }

    /// Answers that stand on more than files are never kept.
    pub(super) fn is_kept(&self, asks: &Asks) -> bool {
        match asks {
            // Vectors come while it is asked.
            Asks::Semantic { .. } => self.vectors.is_none(),
            Asks::ChangeImpact { .. } | Asks::Diagnostics { .. } | Asks::Warm { .. } => false,
            _ => true,
        }
    }
}

/// What tells the state of what a question looks at.
fn as_of(asks: &Asks, index: &Index) -> u128 {
    match asks {
        Asks::Tree { .. } => index.digests().paths,
        Asks::Extract { file } | Asks::Imports { file } | Asks::Flow { file, .. } => {
            index.files().get(file).map_or(0, |known| known.digests.contents)
        }
        _ => index.digests().contents,
    }
}

/// What an answer stands on: files as they are, or what is known about all of them.
fn basis(asks: &Asks, as_of: u128) -> Basis<'static> {
    match asks {
        Asks::Tree { .. }
        | Asks::Search { .. }
        | Asks::Structure { .. }
        | Asks::Importers { .. }
        | Asks::Extract { .. }
        | Asks::Imports { .. }
        | Asks::Flow { .. }
        | Asks::Diagnostics { .. } => Basis::Given(as_of),
        Asks::Semantic { .. }
        | Asks::Calls { .. }
        | Asks::Impact { .. }
        | Asks::Context { .. }
        | Asks::Dead { .. }
        | Asks::Arch { .. }
        | Asks::ChangeImpact { .. }
        | Asks::Warm { .. } => Basis::Facts,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;
    use std::thread;

    use kit::invocation::Environment;
    use testkit::{Home, PATIENCE, until};

    use super::*;
    use crate::root::Root;
    use crate::settings::Settings;

    #[test]
    fn a_question_about_one_file_waits_for_nobody_who_looks_at_all_and_is_answered_alike() {
        let home = Home::new();
        home.write("p/lib.py", "import os\n\n\ndef helper(a):\n    b = a\n    return b\n");
        home.write("p/notes.txt", "none\n");
        home.write("p/.gitignore", "out/\n");
        home.write("p/out/hidden.py", "def h():\n    pass\n");
        let root = Root::find(&home.path().join("p")).unwrap();
        let env = Environment::of(home.environment());
        let engine = Arc::new(Engine::open(root, &Settings::default(), env, Lifetime::Long));
        let ask = |text: &'static str| {
            let (engine, (tell, told)) = (Arc::clone(&engine), channel());
            thread::spawn(move || {
                tell.send(String::from(engine.answer(&Request::parse(text).unwrap()).line))
            });
            told.recv_timeout(PATIENCE).expect(text)
        };
        let questions = [
            r#"{"cmd":"extract","file":"lib.py"}"#,
            r#"{"cmd":"imports","file":"lib.py"}"#,
            r#"{"cmd":"cfg","file":"lib.py","function":"helper"}"#,
            r#"{"cmd":"dfg","file":"lib.py","function":"helper"}"#,
            r#"{"cmd":"slice","file":"lib.py","function":"helper","line":6}"#,
            r#"{"cmd":"extract","file":"out/hidden.py"}"#,
            r#"{"cmd":"extract","file":"notes.txt"}"#,
            r#"{"cmd":"extract","file":"gone.py"}"#,
            r#"{"cmd":"cfg","file":"lib.py","function":"none"}"#,
        ];
        // As somebody does who looks at a million files.
        let held = engine.hold();
        let before = questions.map(ask);
        drop(held);
        engine.refresh();
        assert_eq!(questions.map(ask), before);
        assert!(before[0].contains("helper") && before[4].contains("\"lines\""), "{before:?}");
    }

    #[test]
    fn only_who_asks_who_uses_whom_waits_until_that_is_worked_out() {
        let home = Home::new();
        home.write("p/lib.py", "def helper():\n    return 1\n");
        home.write("p/app.py", "from lib import helper\n\n\ndef main():\n    helper()\n");
        let root = Root::find(&home.path().join("p")).unwrap();
        let env = Environment::of(home.environment());
        let engine = Arc::new(Engine::open(root, &Settings::default(), env, Lifetime::Long));
        let (tell, told) = channel();
        let ask = |text: &'static str| {
            let (engine, tell) = (Arc::clone(&engine), tell.clone());
            thread::spawn(move || tell.send(String::from(engine.answer(&Request::parse(text).unwrap()).line)))
        };
        // All who work that out have their hands full, as with a project of a million files.
        let pool = engine.workers.pool().unwrap();
        let (busy, gate) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(pool.current_num_threads() + 1)));
        pool.spawn_broadcast({
            let (busy, gate) = (Arc::clone(&busy), Arc::clone(&gate));
            move |_| {
                busy.fetch_add(1, Ordering::SeqCst);
                gate.wait();
            }
        });
        assert!(until(PATIENCE, || busy.load(Ordering::SeqCst) == pool.current_num_threads()));
        let waiting = [ask(r#"{"cmd":"calls"}"#), ask(r#"{"cmd":"impact","func":"helper"}"#)];
        assert!(until(PATIENCE, || engine.workers.turn_if_free().is_none()));
        for text in [
            r#"{"cmd":"tree"}"#,
            r#"{"cmd":"structure","path":"."}"#,
            r#"{"cmd":"search","pattern":"helper"}"#,
            r#"{"cmd":"extract","file":"lib.py"}"#,
            r#"{"cmd":"importers","module":"lib"}"#,
            r#"{"cmd":"cfg","file":"lib.py","function":"helper"}"#,
        ] {
            let asked = ask(text);
            let line = told.recv_timeout(PATIENCE).expect(text);
            assert!(line.starts_with("{\"status\":\"ok\""), "{text}: {line}");
            asked.join().unwrap().unwrap();
        }
        assert_eq!(engine.summary().files, 2);
        // What changes meanwhile is what those who come now are told, and those who waited may be.
        home.write("p/lib.py", "def helper():\n    return 2\n\n\ndef other():\n    helper()\n");
        engine.changed(&home.path().join("p/lib.py"));
        let said = |text| String::from(engine.answer(&Request::parse(text).unwrap()).line);
        assert!(said(r#"{"cmd":"extract","file":"lib.py"}"#).contains("other"));
        gate.wait();
        for asked in waiting {
            asked.join().unwrap().unwrap();
            assert!(told.recv_timeout(PATIENCE).unwrap().contains("main"));
        }
        let calls = said(r#"{"cmd":"calls"}"#);
        assert!(calls.contains("main") && calls.contains("other"), "{calls}");
    }
}
