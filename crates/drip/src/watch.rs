//! `drip watch`: compares files with what readers hold of them as soon as they change, so that the next read finds the
//! comparison done. What it leaves is named by the two contents, and a read checks it line by line: a stale or broken
//! entry is passed over, never believed.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use kit::invocation::Clock;
use kit::text::plain;
use kit::{Exit, Failure, Places};
use notify::{Event, RecursiveMode, Watcher};

use crate::database::{Database, DatabaseError, Foreseen, Options};
use crate::diff;
use crate::ignored::{self, Ignored};
use crate::lines::Text;
use crate::load::{self, Limits, Loaded};
use crate::settings::Settings;

/// Editors write, rename and touch a file within this.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// What a watcher needs of the world.
pub(crate) struct Ground {
    pub(crate) settings: Settings,
    pub(crate) places: Places,
    pub(crate) clock: Clock,
    /// The folder that is watched, without links in its path.
    pub(crate) root: PathBuf,
}

/// Watches until it is interrupted. What it does is told on `stderr`.
pub(crate) fn run(ground: &Ground, stderr: &mut dyn Write) -> Result<Exit, Failure> {
    let (sender, changes) = mpsc::channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // The receiver lives as long as this process.
        let _ = sender.send(event.map(|event| event.paths).unwrap_or_default());
    });
    let watcher = watcher.and_then(|mut watcher| {
        watcher.watch(&ground.root, RecursiveMode::Recursive)?;
        Ok(watcher)
    });
    let mut watch = Watch { ground, stderr };
    let heard = match &watcher {
        Ok(_) => "",
        // Too many folders for the system, perhaps: looking again and again still works.
        Err(error) => {
            watch.tell(&format!("cannot be told of changes, looks every time instead: {error}"));
            ", by looking again only"
        }
    };
    let known = watch.rescan();
    watch.tell(&format!("watching {}, {known} files that somebody reads{heard}", ground.root.display()));
    loop {
        match next(&changes, ground.settings.watch_rescan) {
            Some(paths) => watch.look_at(&paths),
            None => {
                watch.rescan();
            }
        }
    }
}

/// The paths of one burst of changes; nothing when it is time to look at everything.
fn next(changes: &Receiver<Vec<PathBuf>>, rescan: Duration) -> Option<BTreeSet<PathBuf>> {
    let mut paths: BTreeSet<PathBuf> = match changes.recv_timeout(rescan) {
        Ok(paths) => paths.into_iter().collect(),
        Err(RecvTimeoutError::Timeout) => return None,
        // Nobody will tell us of changes any more.
        Err(RecvTimeoutError::Disconnected) => {
            std::thread::park_timeout(rescan);
            return None;
        }
    };
    let quiet = Instant::now() + DEBOUNCE;
    while let Ok(more) = changes.recv_timeout(quiet.saturating_duration_since(Instant::now())) {
        paths.extend(more);
    }
    Some(paths)
}

struct Watch<'a> {
    ground: &'a Ground,
    stderr: &'a mut dyn Write,
}

impl Watch<'_> {
    /// Looks at every file below the root that somebody was shown. Returns how many there are.
    fn rescan(&mut self) -> usize {
        let Some(mut database) = self.database() else { return 0 };
        let known = match database.read_below(&self.ground.root) {
            Ok(known) => known,
            Err(error) => return self.trouble(&error),
        };
        let ignored = self.ignored();
        for path in &known {
            self.foresee(&mut database, &ignored, path);
        }
        known.len()
    }

    fn look_at(&mut self, paths: &BTreeSet<PathBuf>) {
        let Some(mut database) = self.database() else { return };
        let ignored = self.ignored();
        for path in paths.iter().filter(|path| path.starts_with(&self.ground.root)) {
            if let Some(path) = path.to_str() {
                self.foresee(&mut database, &ignored, path);
            }
        }
    }

    /// Compares a file with what each reader holds of it.
    fn foresee(&mut self, database: &mut Database, ignored: &Ignored, path: &str) {
        let heads = match database.heads_of(path) {
            Ok(heads) if heads.is_empty() => return,
            Ok(heads) => heads,
            Err(error) => {
                self.trouble(&error);
                return;
            }
        };
        if !ignored.verdict_of_read(Path::new(path)).is_free() {
            return;
        }
        let Loaded::Text { text, stamp } =
            load::load(Path::new(path), Limits::new(self.ground.settings.symlinks))
        else {
            return;
        };
        let now = Text::new(text);
        let hash = now.hash();
        for (eyes, head) in heads.iter().filter(|(_, head)| head.hash != hash) {
            let done = database.is_foreseen(eyes, path, &head.hash, &hash).and_then(|known| {
                let base = if known { None } else { database.view(head, &now, &hash)? };
                let Some(base) = base else { return Ok(()) };
                let changes = diff::changes(&base.text, &now);
                let stamp = &stamp;
                database.foresee(&Foreseen {
                    eyes,
                    path,
                    base: &head.hash,
                    now: &hash,
                    text: &now,
                    stamp,
                    changes: &changes,
                })?;
                self.tell(&format!("{}: {} changes since it was shown", plain(path), changes.len()));
                Ok(())
            });
            if let Err(error) = done {
                self.trouble(&error);
            }
        }
    }

    /// Opened anew each time: the store may be reset or made again meanwhile, and nobody should wait for us.
    fn database(&mut self) -> Option<Database> {
        let Ground { settings, places, clock, .. } = self.ground;
        match Database::open(&settings.data_dir(places), Options::from(settings), clock.unix_ms()) {
            Ok(database) => Some(database),
            Err(error) => {
                self.trouble(&error);
                None
            }
        }
    }

    fn ignored(&self) -> Ignored {
        Ignored::load(ignored::Places {
            cwd: &self.ground.root,
            home: Some(&self.ground.places.home),
            extra: self.ground.settings.ignore_file.as_deref(),
        })
    }

    fn trouble(&mut self, error: &DatabaseError) -> usize {
        self.tell(&format!("the store cannot be used: {error}"));
        0
    }

    /// Not being able to say it changes nothing.
    fn tell(&mut self, line: &str) {
        let _ = writeln!(self.stderr, "drip watch: {line}");
    }
}
