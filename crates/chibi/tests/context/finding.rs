//! Search and lookup find what reading everything would find, whatever the filters and indexes are worth.

use std::fs;
use std::path::PathBuf;

use chibi::context::{Entry, EntryId, Filters, Query, Reader};
use proptest::prelude::*;
use testkit::{Random, crash};

use crate::desk::{Desk, contents, transcript};

const BOTH: [Filters; 2] = [Filters::Consult, Filters::Ignore];

/// The rule, by reading everything.
fn by_reading(reader: &Reader, query: &Query, most: usize) -> Vec<Entry> {
    let mut all = transcript(reader);
    all.reverse();
    all.into_iter().filter(|entry| query.matches(&entry.content)).take(most).collect()
}

fn sidecars(desk: &Desk, endings: &[&str]) -> Vec<PathBuf> {
    let folder = desk.file("contexts/default/transcript");
    let files = [folder.clone(), folder.join("partitions")]
        .into_iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| endings.iter().any(|ending| end == *ending)))
        .collect();
    found.sort();
    found
}

#[test]
fn the_newest_come_first_and_words_are_whole_and_in_any_case() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 3);
    for text in ["Straße one", "two STRASSE", "strassen three", "four", "strasse five é"] {
        context.append(vec![desk.said("default", text)]).unwrap();
    }
    for filters in BOTH {
        let find = |query, most| {
            let found = context.reader().search(&Query::new(query), most, filters).unwrap();
            contents(&found).iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(find("strasse", 20), ["strasse five é", "two STRASSE", "Straße one"]);
        assert_eq!(find("strasse", 2), ["strasse five é", "two STRASSE"]);
        assert_eq!(find("É STRASSE", 20), ["strasse five é"]);
        assert_eq!(find("strass", 20), Vec::<String>::new());
        assert_eq!(find(" ?! ", 20), Vec::<String>::new());
        assert_eq!(find("two", 0), Vec::<String>::new());
    }
}

#[test]
fn an_entry_is_found_by_its_id_in_any_partition() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 5);
    let ids: Vec<EntryId> = (0..40).map(|number| desk.exchange(&mut context, &number.to_string())).collect();
    for (number, id) in ids.iter().enumerate() {
        assert_eq!(context.reader().entry(id).unwrap().unwrap().content, number.to_string());
    }
    assert_eq!(context.reader().entry(&EntryId("nobody".to_owned())).unwrap(), None);
}

#[test]
fn closed_partitions_get_filters_as_the_policy_says_and_at_once() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    desk.exchange(&mut context, "one");
    assert_eq!(sidecars(&desk, &["bloom"]).len(), 1);
    assert_eq!(fs::read(&sidecars(&desk, &["bloom"])[0]).unwrap()[..5], *b"CHBF\x01");
    assert!(
        desk.read("contexts/default/transcript/manifest.json")
            .contains("\"bloom_file\": \"partitions/1767225600-1767225600.bloom\"")
    );
    let policy = chibi::context::Policy { max_entries: 2, filters: Filters::Ignore, ..Default::default() };
    let mut context = context.with_policy(policy);
    desk.exchange(&mut context, "two");
    assert_eq!(sidecars(&desk, &["bloom"]).len(), 1);
    assert!(context.reader().search(&Query::new("one"), 9, Filters::Ignore).unwrap().len() == 2);
    assert_eq!(sidecars(&desk, &["bloom"]).len(), 1);
}

#[test]
fn what_is_missing_is_made_by_the_first_search() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    for number in 0..10 {
        desk.exchange(&mut context, &number.to_string());
    }
    let before: Vec<Vec<u8>> =
        sidecars(&desk, &["bloom", "index"]).iter().map(|path| fs::read(path).unwrap()).collect();
    for path in sidecars(&desk, &["bloom", "index", "slab"]) {
        fs::remove_file(path).unwrap();
    }
    assert!(
        context.reader().search(&Query::new("nothing like it"), 20, Filters::Consult).unwrap().is_empty()
    );
    let after: Vec<Vec<u8>> =
        sidecars(&desk, &["bloom", "index"]).iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(before, after);
}

#[test]
fn a_partition_that_somebody_changed_is_read_as_it_is_now() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 2);
    for number in 0..12 {
        desk.exchange(&mut context, &number.to_string());
    }
    let oldest = sidecars(&desk, &["jsonl"])
        .into_iter()
        .find(|path| path.ends_with("1767225600-1767225600.jsonl"))
        .unwrap();
    let changed = fs::read_to_string(&oldest).unwrap().replace("Context created", "a planted needle");
    fs::write(&oldest, changed).unwrap();
    for filters in BOTH {
        assert_eq!(context.reader().search(&Query::new("needle"), 20, filters).unwrap().len(), 1);
    }
}

/// Enough partitions for two slabs and some without.
#[test]
fn slabs_are_made_used_and_not_believed_when_damaged() {
    let desk = Desk::new();
    let mut context = desk.rotating("default", 1);
    let words = ["red", "green", "blue"];
    for number in 0..140 {
        context.append(vec![desk.said("default", &format!("{} word{number}", words[number % 3]))]).unwrap();
    }
    let slabs = sidecars(&desk, &["slab"]);
    assert_eq!(slabs.len(), 2);
    let check = |why: &str| {
        for text in ["word3", "word70", "word139", "red", "green word7", "red word1", "nowhere", "created"] {
            let query = Query::new(text);
            let expected = by_reading(context.reader(), &query, 20);
            for filters in BOTH {
                assert_eq!(context.reader().search(&query, 20, filters).unwrap(), expected, "{text} {why}");
            }
        }
    };
    check("whole");
    let kept: Vec<Vec<u8>> = slabs.iter().map(|slab| fs::read(slab).unwrap()).collect();
    for (place, slab) in slabs.iter().enumerate() {
        let mut bytes = kept[place].clone();
        bytes[1100..].fill(0);
        fs::write(slab, bytes).unwrap();
    }
    check("rows of nothing");
    fs::write(&slabs[0], &kept[1]).unwrap();
    check("of another group");
    assert_eq!(fs::read(&slabs[0]).unwrap(), kept[0], "made again");
    fs::remove_file(&slabs[1]).unwrap();
    check("missing");
    assert_eq!(fs::read(&slabs[1]).unwrap(), kept[1], "made again");
}

/// Words of which some are everywhere and some nowhere, in several scripts and spellings.
fn text(random: &mut Random) -> String {
    const WORDS: [&str; 16] = [
        "the",
        "The",
        "build",
        "ERROR",
        "error",
        "naïve",
        "NAÏVE",
        "Straße",
        "東京",
        "x",
        "foo_bar",
        "k\u{212a}",
        "\"quoted\"",
        "a\\b",
        "tab\tend",
        "\u{1}odd",
    ];
    let count = random.below(6);
    (0..count)
        .map(|_| *random.pick(&WORDS))
        .collect::<Vec<_>>()
        .join(random.pick::<&str>(&[" ", "-", "\n", ", "]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crash::points(12) as u32))]
    #[test]
    fn a_search_finds_what_reading_everything_finds(seed in any::<u64>(), rotate in 1_u64..12, damage in 0_usize..4) {
        let mut random = Random::new(seed);
        let desk = Desk::new();
        let mut context = desk.rotating("default", rotate);
        let entries: Vec<Entry> = (0..60).map(|_| desk.said("default", &text(&mut random))).collect();
        for batch in entries.chunks(7) {
            context.append(batch.to_vec()).unwrap();
        }
        for _ in 0..damage {
            let paths = sidecars(&desk, &["bloom", "index", "slab"]);
            if paths.is_empty() {
                break;
            }
            let path = random.pick(&paths);
            let mut bytes = fs::read(path).unwrap();
            match random.below(3) {
                0 => bytes.truncate(random.below(bytes.len())),
                1 => { let at = random.below(bytes.len()); bytes[at] ^= 1 << random.below(8); }
                _ => bytes.extend(b"more"),
            }
            fs::write(path, bytes).unwrap();
        }
        for _ in 0..12 {
            let query = Query::new(&text(&mut random));
            let most = random.below(25);
            let expected = by_reading(context.reader(), &query, most);
            for filters in BOTH {
                prop_assert_eq!(&context.reader().search(&query, most, filters).unwrap(), &expected);
            }
        }
        for entry in entries.iter().step_by(9) {
            let found = context.reader().entry(&entry.id).unwrap();
            prop_assert_eq!(found.as_ref(), Some(entry));
        }
    }
}
