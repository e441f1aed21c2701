//! Finding entries by their words or their id, newest first. Filters and indexes only say where to look: every entry is
//! looked at before it is believed, and a partition without them is read. What is read so gets them.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use rustix::fs::{AtFlags, Mode, OFlags};
use store::{Durability, journal, replace};

use super::super::fault::{At, found};
use super::super::words::{self, Query};
use super::super::{ContextError, Entry, EntryId};
use super::backwards::LinesBackwards;
use super::filter::{self, Filter, GROUP, Slab};
use super::index::{Builder, Index};
use super::manifest::{Listed, stem};
use super::sealed::hash;
use super::{Filters, Transcript};

/// So many partitions are looked at before any filter.
const UNFILTERED: usize = 3;
const WORD: u8 = 0;
const ID: u8 = 1;

/// What is looked for.
#[derive(Debug)]
enum Wanted<'a> {
    Words(&'a Query),
    Id(&'a EntryId),
}

impl Transcript {
    /// At most so many, newest first.
    pub(crate) fn search(
        &self,
        query: &Query,
        most: usize,
        filters: Filters,
    ) -> Result<Vec<Entry>, ContextError> {
        match query.words() {
            [] => Ok(Vec::new()),
            _ => self.find(&Wanted::Words(query), most, filters),
        }
    }

    pub(crate) fn entry(&self, id: &EntryId, filters: Filters) -> Result<Option<Entry>, ContextError> {
        Ok(self.find(&Wanted::Id(id), 1, filters)?.pop())
    }

    fn find(&self, wanted: &Wanted<'_>, most: usize, filters: Filters) -> Result<Vec<Entry>, ContextError> {
        let mut hits = Hits { most, ..Hits::default() };
        // The active partition before the list of the others: what is closed in between is found twice, and kept once.
        scan(&self.active_file(), wanted, &mut hits)?;
        if hits.are_enough() {
            return Ok(hits.entries);
        }
        let (manifest, _) = self.manifest()?;
        let Some(shelf) = Shelf::open(&self.folder) else { return Ok(hits.entries) };
        let hunt = Hunt { wanted, terms: wanted.terms(), filters, shelf };
        let partitions = &manifest.partitions;
        for (number, group) in partitions.chunks(GROUP).enumerate().rev() {
            // Common words are found in the newest partitions, before any slab is opened.
            let is_newest = (number + 1) * GROUP >= partitions.len();
            self.search_group(number, group, is_newest, &hunt, &mut hits)?;
            if hits.are_enough() {
                break;
            }
        }
        Ok(hits.entries)
    }

    fn search_group(
        &self,
        number: usize,
        group: &[Listed],
        is_newest: bool,
        hunt: &Hunt<'_>,
        hits: &mut Hits,
    ) -> Result<(), ContextError> {
        let unfiltered = if is_newest { UNFILTERED } else { 0 };
        let mut newest = group.iter().enumerate().rev();
        for (_, listed) in newest.by_ref().take(unfiltered) {
            self.look(listed, hunt, hits)?;
            if hits.are_enough() {
                return Ok(());
            }
        }
        let slab = match hunt.filters {
            Filters::Consult if group.len() == GROUP => self.slab(number, group),
            Filters::Consult | Filters::Ignore => None,
        };
        let mask = slab.as_ref().and_then(|slab| Some((slab, slab.may_have(&hunt.terms)?)));
        for (column, listed) in newest {
            let Some(stem) = stem(&listed.file) else { continue };
            let excluded = match (hunt.filters, mask) {
                (Filters::Ignore, _) => None,
                (Filters::Consult, Some((slab, mask))) => {
                    (mask >> column & 1 == 0).then(|| slab.covers(column))
                }
                (Filters::Consult, None) => hunt.excluded_by_own(stem),
            };
            // A partition never changes; if one did, its filter means nothing.
            if excluded.is_none_or(|covers| hunt.shelf.length(stem) != Some(covers)) {
                self.look(listed, hunt, hits)?;
                if hits.are_enough() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn look(&self, listed: &Listed, hunt: &Hunt<'_>, hits: &mut Hits) -> Result<(), ContextError> {
        let path = self.folder.join(&listed.file);
        let Some(stem) = stem(&listed.file) else { return Ok(()) };
        let Some(length) = hunt.shelf.length(stem) else { return Ok(()) };
        let index =
            hunt.shelf.file(stem, "index").and_then(Index::read).filter(|index| index.covers == length);
        let Some(spans) = index.and_then(|index| index.with_all(&hunt.terms)) else {
            // Whoever cannot write them searches without them.
            let _ = self.index(&path, hunt.filters);
            return scan(&path, hunt.wanted, hits);
        };
        if spans.is_empty() {
            return Ok(());
        }
        let file = File::open(&path).at("open", &path)?;
        for (start, end) in spans {
            if hits.are_enough() {
                break;
            }
            let mut line = vec![0; end.saturating_sub(start) as usize];
            file.read_exact_at(&mut line, start).at("read", &path)?;
            let whole = memchr::memchr(b'\n', &line).unwrap_or(line.len());
            hits.look_at(&line[..whole], hunt.wanted);
        }
        Ok(())
    }

    /// Makes what lets a closed partition be searched without being read. Gives the name of its filter, if it has one.
    pub(super) fn index(&self, partition: &Path, filters: Filters) -> Result<Option<PathBuf>, ContextError> {
        let mut builder = Builder::default();
        let mut covers = 0;
        for line in journal::lines(partition, 0)? {
            let line = line?;
            covers = line.offset + line.bytes.len() as u64 + 1;
            if let Some(entry) = Entry::parse(&line.bytes) {
                builder.entry(line.offset, terms_of(&entry));
            }
        }
        let (terms, index) = builder.finish(covers);
        replace(&partition.with_extension("index"), &index, Durability::Cached)?;
        if filters == Filters::Ignore {
            return Ok(None);
        }
        let path = partition.with_extension("bloom");
        replace(&path, &filter::build(&terms, covers), Durability::Cached)?;
        Ok(Some(path))
    }

    /// The slab of a full group. One that is not there is made, if its filters are.
    pub(super) fn slab(&self, number: usize, group: &[Listed]) -> Option<Slab> {
        let path = self.folder.join(format!("filters-{number}.slab"));
        let stems = || group.iter().map(|listed| stem(&listed.file).unwrap_or_default());
        let kept = File::open(&path).ok().and_then(Slab::read);
        if let Some(slab) = kept.filter(|slab| slab.is_of(stems())) {
            return Some(slab);
        }
        let shelf = Shelf::open(&self.folder)?;
        let filter = |stem| Some((stem, shelf.file(stem, "bloom").and_then(Filter::read)?));
        let filters: Vec<(&str, Filter)> = stems().map(filter).collect::<Option<_>>()?;
        replace(&path, &filter::slab(&filters)?, Durability::Cached).ok()?;
        File::open(&path).ok().and_then(Slab::read)
    }
}

/// What is looked for, and how and where.
struct Hunt<'a> {
    wanted: &'a Wanted<'a>,
    terms: Vec<u64>,
    filters: Filters,
    shelf: Shelf,
}

impl Hunt<'_> {
    /// If the filter of a partition excludes it: how long the partition was then.
    fn excluded_by_own(&self, stem: &str) -> Option<u64> {
        let filter = self.shelf.file(stem, "bloom").and_then(Filter::read)?;
        (filter.may_have(&self.terms) == Some(false)).then_some(filter.covers)
    }
}

/// The folder of the partitions, open: to find a thousand files by their whole paths takes longer than to ask them.
struct Shelf(OwnedFd);

impl Shelf {
    /// None without one: then there are no partitions.
    fn open(transcript: &Path) -> Option<Shelf> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(transcript.join("partitions"), flags, Mode::empty()).ok().map(Shelf)
    }

    fn file(&self, stem: &str, ending: &str) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        rustix::fs::openat(&self.0, format!("{stem}.{ending}"), flags, Mode::empty()).ok().map(File::from)
    }

    /// How long the partition is; None if it is gone.
    fn length(&self, stem: &str) -> Option<u64> {
        let found = rustix::fs::statat(&self.0, format!("{stem}.jsonl"), AtFlags::empty()).ok()?;
        u64::try_from(found.st_size).ok()
    }
}

impl Wanted<'_> {
    fn is(&self, entry: &Entry) -> bool {
        match self {
            Wanted::Words(query) => query.matches(&entry.content),
            Wanted::Id(id) => entry.id == **id,
        }
    }

    fn terms(&self) -> Vec<u64> {
        match self {
            Wanted::Words(query) => query.words().iter().map(|word| hash(WORD, word.as_bytes())).collect(),
            Wanted::Id(id) => vec![hash(ID, id.0.as_bytes())],
        }
    }
}

/// What was found so far, each once.
#[derive(Debug, Default)]
struct Hits {
    entries: Vec<Entry>,
    seen: HashSet<EntryId>,
    most: usize,
}

impl Hits {
    fn are_enough(&self) -> bool {
        self.entries.len() >= self.most
    }

    fn look_at(&mut self, line: &[u8], wanted: &Wanted<'_>) {
        let entry = Entry::parse(line).filter(|entry| wanted.is(entry));
        self.entries.extend(entry.filter(|entry| self.seen.insert(entry.id.clone())));
    }
}

fn terms_of(entry: &Entry) -> Vec<u64> {
    let mut terms = vec![hash(ID, entry.id.0.as_bytes())];
    words::each(&entry.content, |word| terms.push(hash(WORD, word.as_bytes())));
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Reads a partition backwards.
fn scan(path: &Path, wanted: &Wanted<'_>, hits: &mut Hits) -> Result<(), ContextError> {
    let Some(lines) = found(LinesBackwards::open(path)).at("read", path)? else { return Ok(()) };
    let mut sieve = Sieve::new(wanted);
    for line in lines {
        if hits.are_enough() {
            break;
        }
        let (_, line) = line.at("read", path)?;
        if sieve.lets_pass(&line) {
            hits.look_at(&line, wanted);
        }
    }
    Ok(())
}

/// Tells most lines that cannot be meant by their bytes, without parsing them.
struct Sieve {
    needles: Vec<Finder<'static>>,
    escape: Finder<'static>,
    lower: Vec<u8>,
}

impl Sieve {
    fn new(wanted: &Wanted<'_>) -> Sieve {
        let finder = |word: &str| Finder::new(&word.to_ascii_lowercase()).into_owned();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let needles = match wanted {
            Wanted::Words(query) => query.words().iter().map(|word| finder(word)).collect(),
            Wanted::Id(id) if id.0.chars().all(is_plain) => vec![finder(&id.0)],
            // May be written in ways that only a parser knows.
            Wanted::Id(_) => Vec::new(),
        };
        Sieve { needles, escape: Finder::new("\\u"), lower: Vec::new() }
    }

    /// Words of ASCII letters are themselves in a line of ASCII characters, in whatever case, unless the line spells
    /// characters as numbers.
    fn lets_pass(&mut self, line: &[u8]) -> bool {
        if !line.is_ascii() || self.escape.find(line).is_some() {
            return true;
        }
        self.lower.clear();
        self.lower.extend(line.iter().map(u8::to_ascii_lowercase));
        self.needles.iter().all(|needle| needle.find(&self.lower).is_some())
    }
}
