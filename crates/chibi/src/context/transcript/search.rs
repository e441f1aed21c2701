//! Finding entries by their words or their id, newest first. Filters and indexes only say where to look: every entry is
//! looked at before it is believed, and a partition without them is read. What is read so gets them.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use store::{Durability, journal, replace};

use super::super::fault::{At, found};
use super::super::words::{self, Query};
use super::super::{ContextError, Entry, EntryId};
use super::backwards::LinesBackwards;
use super::filter::{self, Filter, Packed};
use super::index::{Builder, Index};
use super::manifest::{Listed, stem};
use super::sealed::hash;
use super::{Filters, Transcript};

/// Common words are found in the newest partitions: so many are looked at before the filters are loaded.
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
        let mut newest = manifest.partitions.iter().rev();
        let terms = wanted.terms();
        for listed in newest.by_ref().take(UNFILTERED) {
            self.look(listed, wanted, &terms, filters, &mut hits)?;
        }
        if !hits.are_enough() && newest.len() > 0 {
            let packed = match filters {
                Filters::Consult => Packed::load(&self.pack_file()).at("read", &self.pack_file())?,
                Filters::Ignore => Packed::default(),
            };
            let known = packed.filters();
            for listed in newest.filter(|listed| self.may_have(&known, listed, &terms)) {
                self.look(listed, wanted, &terms, filters, &mut hits)?;
                if hits.are_enough() {
                    break;
                }
            }
        }
        Ok(hits.entries)
    }

    fn may_have(&self, known: &HashMap<&str, Filter<'_>>, listed: &Listed, terms: &[u64]) -> bool {
        let filter = stem(&listed.file).and_then(|stem| known.get(stem));
        filter.is_none_or(|filter| {
            // A partition never changes; if one did, its filter means nothing.
            filter.may_have(terms)
                || fs::metadata(self.folder.join(&listed.file)).is_ok_and(|file| file.len() != filter.covers)
        })
    }

    fn look(
        &self,
        listed: &Listed,
        wanted: &Wanted<'_>,
        terms: &[u64],
        filters: Filters,
        hits: &mut Hits,
    ) -> Result<(), ContextError> {
        let path = self.folder.join(&listed.file);
        let Some(file) = found(File::open(&path)).at("open", &path)? else { return Ok(()) };
        let length = file.metadata().at("look at", &path)?.len();
        let sealed = found(fs::read(path.with_extension("index"))).at("read", &path)?.unwrap_or_default();
        let Some(index) = Index::read(&sealed).filter(|index| index.covers == length) else {
            // Whoever cannot write them searches without them.
            let _ = self.index(&path, filters);
            return scan(&path, wanted, hits);
        };
        for (start, end) in index.with_all(terms) {
            if hits.are_enough() || start >= end {
                break;
            }
            let mut line = vec![0; (end - start) as usize];
            file.read_exact_at(&mut line, start).at("read", &path)?;
            let whole = memchr::memchr(b'\n', &line).unwrap_or(line.len());
            hits.look_at(&line[..whole], wanted);
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
        let (path, bloom) = (partition.with_extension("bloom"), filter::build(&terms, covers));
        replace(&path, &bloom, Durability::Cached)?;
        let stem = partition.file_stem().unwrap_or_default().to_string_lossy();
        filter::pack(&self.pack_file(), &stem, &bloom).at("append to", &self.pack_file())?;
        Ok(Some(path))
    }

    fn pack_file(&self) -> PathBuf {
        self.folder.join("filters.pack")
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
struct Sieve<'a> {
    needles: Vec<Finder<'a>>,
    escape: Finder<'static>,
    lower: Vec<u8>,
}

impl<'a> Sieve<'a> {
    fn new(wanted: &'a Wanted<'_>) -> Sieve<'a> {
        let needles = match wanted {
            Wanted::Words(query) => query.words().iter().map(Finder::new).collect(),
            // Ids of others may be written in ways that only a parser knows.
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
