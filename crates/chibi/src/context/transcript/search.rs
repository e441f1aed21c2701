//! Finding entries by their words or their id, newest first. Filters and indexes only say where to look: every entry is
//! looked at before it is believed, and a partition without them is read. What is read so gets them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
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
        let hunt = Hunt { wanted, terms: wanted.terms(), filters };
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
            let path = self.folder.join(&listed.file);
            let excluded = match (hunt.filters, mask) {
                (Filters::Ignore, _) => None,
                (Filters::Consult, Some((slab, mask))) => {
                    (mask >> column & 1 == 0).then(|| slab.covers(column))
                }
                (Filters::Consult, None) => excluded_by_own(&path, &hunt.terms),
            };
            // A partition never changes; if one did, its filter means nothing.
            if excluded.is_none_or(|covers| fs::metadata(&path).is_ok_and(|file| file.len() != covers)) {
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
        let Some(length) = found(fs::metadata(&path)).at("look at", &path)?.map(|file| file.len()) else {
            return Ok(());
        };
        let index = Index::open(&path.with_extension("index")).filter(|index| index.covers == length);
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
        if let Some(slab) = Slab::open(&path).filter(|slab| slab.is_of(stems())) {
            return Some(slab);
        }
        let read = |listed: &Listed| fs::read(self.folder.join(&listed.file).with_extension("bloom")).ok();
        let sealed: Vec<Vec<u8>> = group.iter().map(read).collect::<Option<_>>()?;
        let filters: Vec<(&str, Filter<'_>)> = stems()
            .zip(&sealed)
            .map(|(stem, sealed)| Some((stem, Filter::read(sealed)?)))
            .collect::<Option<_>>()?;
        replace(&path, &filter::slab(&filters), Durability::Cached).ok()?;
        Slab::open(&path)
    }
}

/// What is looked for, and how.
struct Hunt<'a> {
    wanted: &'a Wanted<'a>,
    terms: Vec<u64>,
    filters: Filters,
}

/// If the filter of a partition excludes it: how long the partition was then.
fn excluded_by_own(partition: &Path, terms: &[u64]) -> Option<u64> {
    let sealed = fs::read(partition.with_extension("bloom")).ok()?;
    let filter = Filter::read(&sealed)?;
    (!filter.may_have(terms)).then_some(filter.covers)
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
