//! What keeping conversations costs, for transcripts of a thousand to a million entries: opening a context, appending to
//! it, and searching a million entries for rare, common and absent words, with filters and without.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and fails by panicking"
)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use chibi::context::{
    ChibiHome, Context, ContextName, Entry, EntryKind, Filters, Ids, Policy, Query, Reader, Wait,
};
use kit::invocation::Clock;
use testkit::measure::{self, Table};
use testkit::{Home, Random};

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
/// Words of a language are used about as often as one divided by their rank.
const VOCABULARY: usize = 60_000;
const WORDS_PER_ENTRY: usize = 45;

fn main() {
    let home = Home::new();
    let chibi = ChibiHome::new(home.path().join(".chibi"), Clock::system(), Ids::random());
    let mut table = Table::default();
    let mut random = Random::new(1);
    for size in SIZES {
        let name = ContextName::new(&format!("with-{size}")).unwrap();
        let began = Instant::now();
        fill(&chibi, &name, size, &mut random);
        println!("{size} entries written in {:.1} s", began.elapsed().as_secs_f64());
        growth(&chibi, &name, size, &mut table, &mut random);
    }
    let largest = ContextName::new(&format!("with-{}", SIZES[2])).unwrap();
    let folder = chibi.context(&largest);
    table.note("megabytes of entries", megabytes(&folder, "jsonl"));
    table.note("megabytes of indexes", megabytes(&folder, "index"));
    table.note("megabytes of filters", megabytes(&folder, "bloom"));
    search(&Reader::open(&chibi, &largest).unwrap(), &mut table);
    table.print();
}

fn fill(chibi: &ChibiHome, name: &ContextName, size: usize, random: &mut Random) {
    let mut context = Context::open(chibi, name, Wait::No).unwrap();
    let batch = Policy::default().max_entries as usize;
    for start in (0..size).step_by(batch) {
        // As tool results, which do not wait for the disk.
        let entries = (start..(start + batch).min(size)).map(|number| {
            let kind = EntryKind::ToolResult;
            Entry::new(chibi.fresh_id(), chibi.now(), kind, "tool", name.as_str(), &text(number, random))
        });
        context.append(entries.collect()).unwrap();
        if (start / batch).is_multiple_of(20) || start + batch >= size {
            // The window of a real context is bounded by compaction.
            context.append(vec![message(chibi, name, "enough")]).unwrap();
            context.archive().unwrap();
        }
    }
}

fn growth(chibi: &ChibiHome, name: &ContextName, size: usize, table: &mut Table, random: &mut Random) {
    table.alone(format!("open a context of {size} entries"), measure::cost(20, || drop(open(chibi, name))));
    let mut context = open(chibi, name);
    let mut append = |kind: EntryKind, context: &mut Context| {
        let content = text(0, random);
        let entry = Entry::new(chibi.fresh_id(), chibi.now(), kind, "ada", name.as_str(), &content);
        context.append(vec![entry]).unwrap();
    };
    let cached = measure::cost(40, || append(EntryKind::ToolResult, &mut context));
    table.alone(format!("append a tool result to {size}"), cached);
    let synced = measure::cost(10, || append(EntryKind::Message, &mut context));
    table.alone(format!("append a message to {size}, on the disk"), synced);
}

fn search(reader: &Reader, table: &mut Table) {
    let common: Vec<String> = (0..40).map(word).collect();
    let medium: Vec<String> = (2_000..2_040).map(word).collect();
    let seldom: Vec<String> = (50_000..50_040).map(word).collect();
    let unique: Vec<String> = (0..40).map(|number| format!("unique{}", number * 24_999)).collect();
    let absent: Vec<String> = (0..40).map(|number| format!("absent{number}")).collect();
    let pairs: Vec<String> =
        (0..40).map(|number| format!("{} {}", word(300 + number), word(9_000 + number))).collect();
    let classes = [
        ("common", common),
        ("medium", medium),
        ("seldom", seldom),
        ("unique", unique),
        ("absent", absent),
        ("two words", pairs),
    ];
    for (class, queries) in &classes {
        let queries: Vec<Query> = queries.iter().map(|query| Query::new(query)).collect();
        let mut next = queries.iter().cycle();
        let mut ask = |filters| drop(reader.search(next.next().unwrap(), 20, filters).unwrap());
        let with = measure::cost(40, || ask(Filters::Consult));
        let without = measure::cost(40, || ask(Filters::Ignore));
        table.row(format!("search {class}, beside no filters"), with, without);
        let mut times: Vec<f64> = Vec::new();
        let mut hits = 0;
        for query in &queries {
            let began = Instant::now();
            hits += reader.search(query, 20, Filters::Consult).unwrap().len();
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
        let figures = format!("p50 {:.2} ms, p99 {:.2} ms, {hits} hits", at(0.5), at(0.99));
        table.note(format!("search {class}, on the clock"), figures);
    }
    let began = Instant::now();
    let read = reader
        .entries()
        .unwrap()
        .filter(|entry| Query::new("absent").matches(&entry.as_ref().unwrap().content));
    let read = read.count();
    table.note(
        "the same by reading everything",
        format!("{:.0} ms, {read} hits", began.elapsed().as_secs_f64() * 1e3),
    );
}

fn open(chibi: &ChibiHome, name: &ContextName) -> Context {
    Context::open(chibi, name, Wait::No).unwrap()
}

fn message(chibi: &ChibiHome, name: &ContextName, content: &str) -> Entry {
    Entry::new(chibi.fresh_id(), chibi.now(), EntryKind::Message, "ada", name.as_str(), content)
}

fn text(number: usize, random: &mut Random) -> String {
    let mut text = format!("Unique{number}");
    for _ in 0..WORDS_PER_ENTRY {
        let rank = (VOCABULARY as f64).powf(random.fraction()) as usize - 1;
        text.push(' ');
        text.push_str(&word(rank));
    }
    text
}

fn word(rank: usize) -> String {
    let mut number = rank + 100;
    let mut word = String::new();
    while number > 0 {
        word.push_str(["ka", "to", "mi", "ren", "su", "lo", "vi", "na"][number % 8]);
        number /= 8;
    }
    word
}

fn megabytes(folder: &Path, ending: &str) -> f64 {
    let partitions = fs::read_dir(folder.join("transcript/partitions")).unwrap().map(|file| file.unwrap());
    let wanted = partitions.filter(|file| file.path().extension().is_some_and(|end| end == ending));
    let bytes: u64 = wanted.map(|file| file.metadata().unwrap().len()).sum();
    (bytes / 100_000) as f64 / 10.0
}
