//! The authoritative log of one context: entries are appended to `active.jsonl`, which becomes a read-only partition when
//! the policy says so. Nothing is ever rewritten. Knows lines and files; what an entry means to a window it does not know.

mod active;
mod backwards;
mod filter;
mod index;
mod manifest;
mod partition;
mod read;
mod sealed;
mod search;

use std::fs;
use std::path::{Path, PathBuf};

use store::Durability;

use super::fault::At;
use super::home::{make_dir, sync_dir};
use super::{ContextError, Entry};

use active::Active;
use filter::GROUP;
use manifest::{Listed, Manifest};
pub(super) use read::{Backwards, Forwards};

/// When the active partition is closed. It holds from the next append on, whatever an older manifest says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub max_entries: u64,
    pub max_age_seconds: u64,
    /// By the estimate that every tool uses.
    pub max_tokens: Option<u64>,
    pub filters: Filters,
}

/// Whether closed partitions get filters and searches consult them. What is found is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filters {
    Consult,
    Ignore,
}

impl Default for Policy {
    fn default() -> Self {
        Policy { max_entries: 1000, max_age_seconds: 2_592_000, max_tokens: None, filters: Filters::Consult }
    }
}

/// Where the files of a transcript are.
#[derive(Debug, Clone)]
pub(super) struct Transcript {
    folder: PathBuf,
}

/// The transcript of a context that we hold.
#[derive(Debug)]
pub(super) struct Writer {
    transcript: Transcript,
    active: Active,
}

impl Transcript {
    pub(super) fn of(context: &Path) -> Transcript {
        Transcript { folder: context.join("transcript") }
    }

    pub(super) fn active_file(&self) -> PathBuf {
        self.folder.join("active.jsonl")
    }

    /// Every entry, oldest first.
    pub(super) fn forwards(&self) -> Result<Forwards, ContextError> {
        let mut files = self.partition_files()?;
        files.push(self.active_file());
        Ok(Forwards::new(files))
    }

    /// The same, whatever the manifest says, and with what is wrong with it.
    pub(super) fn forwards_through_all(&self) -> Result<Forwards, ContextError> {
        let (manifest, notes) = Manifest::load(&self.folder)?;
        let (manifest, notes) = self.completed(manifest.unwrap_or_default(), notes)?;
        let listed = manifest.partitions.iter().map(|listed| self.folder.join(&listed.file));
        let mut all = Forwards::new(listed.chain([self.active_file()]).collect());
        all.notes = notes;
        Ok(all)
    }

    /// Every entry, newest first.
    pub(super) fn backwards(&self) -> Backwards {
        Backwards::new(self.clone())
    }

    /// Like [`Transcript::backwards`], but the newest partitions that begin after `time` are passed over.
    pub(super) fn backwards_until(&self, time: u64) -> Result<Backwards, ContextError> {
        let (mut manifest, _) = self.manifest()?;
        while manifest.partitions.pop_if(|listed| listed.start_ts > time).is_some() {}
        let files = manifest.partitions.iter().map(|listed| self.folder.join(&listed.file)).collect();
        Ok(Backwards::of(self.clone(), files))
    }

    /// Oldest first, as far as they are there.
    fn partition_files(&self) -> Result<Vec<PathBuf>, ContextError> {
        let (manifest, _) = self.manifest()?;
        Ok(manifest.partitions.iter().map(|partition| self.folder.join(&partition.file)).collect())
    }

    /// With what an interrupted rotation did not write down. To look for it costs a search of a million entries as much
    /// as the search itself, so that it is done only if there may be something.
    fn manifest(&self) -> Result<(Manifest, Vec<String>), ContextError> {
        let (manifest, notes) = Manifest::load(&self.folder)?;
        match manifest {
            // A rotation ends by making the next active file.
            Some(manifest) if self.active_file().exists() && self.is_manifest_newest() => {
                Ok((manifest, notes))
            }
            manifest => self.completed(manifest.unwrap_or_default(), notes),
        }
    }

    /// The original goes on after an interrupted rotation as if nothing were missing.
    fn is_manifest_newest(&self) -> bool {
        let changed = |name: &str| fs::metadata(self.folder.join(name)).and_then(|file| file.modified());
        match (changed("manifest.json"), changed("partitions")) {
            (Ok(manifest), Ok(partitions)) => manifest >= partitions,
            _ => false,
        }
    }

    /// With every partition that lies in the folder.
    fn completed(
        &self,
        mut manifest: Manifest,
        mut notes: Vec<String>,
    ) -> Result<(Manifest, Vec<String>), ContextError> {
        let adopted = manifest.adopt(&self.folder)?;
        notes.extend(adopted.iter().map(|file| format!("`{file}` was in no manifest: listed again")));
        Ok((manifest, notes))
    }
}

impl Writer {
    /// Heals what a crash left: a torn last line, a rotation that did not end. Reads the end of the active partition, no
    /// more. The notes say what was healed.
    pub(super) fn open(context: &Path) -> Result<(Writer, Vec<String>), ContextError> {
        let transcript = Transcript::of(context);
        make_dir(&transcript.folder.join("partitions"))?;
        let mut notes = Vec::new();
        let path = transcript.active_file();
        if !path.exists() {
            let (manifest, found) = transcript.manifest()?;
            if !manifest.partitions.is_empty() {
                manifest.save(&transcript.folder)?;
            }
            notes.extend(found);
        }
        let (active, dropped) = Active::open(&path)?;
        if dropped > 0 {
            notes.push(format!(
                "`{}`: {dropped} bytes of an unfinished entry were moved aside",
                path.display()
            ));
        }
        Ok((Writer { transcript, active }, notes))
    }

    /// One write, and one fsync if asked. After an error the transcript is as it was.
    pub(super) fn append(&mut self, entries: &[Entry], durability: Durability) -> Result<(), ContextError> {
        self.active.append(entries, durability)
    }

    /// How long the active partition is.
    pub(super) fn length(&self) -> u64 {
        self.active.length()
    }

    pub(super) fn is_empty(&self) -> Result<bool, ContextError> {
        // There is a manifest from the first rotation on, and it may be long: to look at it is not to read it.
        let was_rotated = self.transcript.folder.join("manifest.json").exists();
        Ok(self.active.length() == 0 && !was_rotated && self.transcript.partition_files()?.is_empty())
    }

    /// Closes the active partition if it is time.
    pub(super) fn rotate_if_due(&mut self, policy: &Policy, now: u64) -> Result<(), ContextError> {
        if self.active.is_due(policy, now) {
            self.rotate(policy)?;
        }
        Ok(())
    }

    /// The rename is what happens; a crash anywhere after it is mended by whoever opens next.
    fn rotate(&mut self, policy: &Policy) -> Result<(), ContextError> {
        let folder = &self.transcript.folder;
        let (mut manifest, _) = self.transcript.manifest()?;
        self.active.sync()?;
        let from = self.transcript.active_file();
        let shape = partition::measure(&from)?;
        let file = manifest.free_name(folder, shape.start, shape.end);
        let to = folder.join(&file);
        fs::rename(&from, &to).at("rename", &from)?;
        sync_dir(&folder.join("partitions"))?;
        // Without them the partition is searched more slowly, until a search makes them.
        let bloom = self.transcript.index(&to, policy.filters).unwrap_or_default();
        let bloom_file = bloom.map(|_| file.replace(".jsonl", ".bloom"));
        manifest.partitions.push(Listed { bloom_file, ..shape.listed(file) });
        let (groups, rest) = manifest.partitions.as_chunks::<GROUP>();
        if let ([.., last], [], Filters::Consult) = (groups, rest, policy.filters) {
            self.transcript.slab(groups.len() - 1, last);
        }
        manifest.follow(policy);
        manifest.save(folder)?;
        self.active = Active::open(&from)?.0;
        Ok(())
    }
}
