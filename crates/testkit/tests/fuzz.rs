//! The fuzzer, with functions that hold and functions that do not.
#![allow(clippy::disallowed_methods, reason = "the tests look at plain files")]

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;

use testkit::{Home, fuzz, panic_of};

fn corpus() -> Home {
    let home = Home::new();
    home.write("corpus/one", "{\"a\": [1, 2, 3]}");
    home.write("corpus/two", "hello");
    home
}

#[test]
fn every_file_of_the_corpus_and_every_made_input_is_tried_the_same_ones_in_each_run() {
    let home = corpus();
    let inputs = || {
        let seen = RefCell::new(Vec::new());
        fuzz("same", home.path().join("corpus"), 1000, |bytes| seen.borrow_mut().push(bytes.to_vec()));
        seen.into_inner()
    };
    let first = inputs();
    assert_eq!(first[..2], [b"{\"a\": [1, 2, 3]}".to_vec(), b"hello".to_vec()]);
    assert_eq!(first[..1002], inputs()[..1002]);
    assert!(first.iter().collect::<HashSet<_>>().len() > 900, "the inputs differ");
}

#[test]
fn a_failing_input_is_kept_and_told_with_its_seed() {
    let home = corpus();
    let message = panic_of(|| {
        fuzz("finds", home.path().join("corpus"), 10_000, |bytes| {
            assert!(std::str::from_utf8(bytes).is_ok(), "not UTF-8");
        });
    });
    assert!(message.contains("made from seed ") && message.ends_with("not UTF-8"), "{message}");
    let path = message.split("kept in ").nth(1).unwrap().split(':').next().unwrap();
    assert!(path.contains("/fuzz/finds-"), "{path}");
    assert!(std::str::from_utf8(&fs::read(path).unwrap()).is_err());
    fs::remove_file(path).unwrap();
}

#[test]
fn a_corpus_that_is_not_there_or_empty_is_a_failure() {
    let home = Home::new();
    assert!(panic_of(|| fuzz("x", home.path().join("absent"), 1, |_| {})).contains("no corpus in"));
    assert!(panic_of(|| fuzz("x", home.runtime(), 1, |_| {})).contains("holds no file"));
}
