//! The log: what any cut, any kill and any full disk leave of it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use store::Durability;
use store::journal::{Appended, Journal, JournalError, Line, lines};
use testkit::Crash;
use testkit::hostile::small_disk;

use super::again::{self, as_nobody, chmod, mode, names, tempdir};

fn open(path: &Path) -> (Journal, u64) {
    Journal::open(path, Durability::Cached).unwrap()
}

fn read(path: &Path) -> Vec<Vec<u8>> {
    lines(path, 0).unwrap().map(|line| line.unwrap().bytes).collect()
}

/// What was torn off the log so far.
fn torn(path: &Path) -> Vec<u8> {
    fs::read(path.with_extension("torn")).unwrap_or_default()
}

/// An entry, and now and then one that looks as if it were several.
fn entry() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>().prop_filter("no newline", |byte| *byte != b'\n'), 0..6);
    let brackets = prop::sample::select(vec!["{}", "[]{}", "{\"}\": [1, {}]}", "[\"\\\"]\"]", "[[]"]);
    prop_oneof![bytes, brackets.prop_map(|text| text.as_bytes().to_vec())]
}

proptest! {
    #[test]
    fn a_log_cut_anywhere_keeps_every_byte_and_goes_on(entries in prop::collection::vec(entry(), 0..4)) {
        let home = tempdir().unwrap();
        let path = home.path().join("log");
        let (mut journal, _) = open(&path);
        let ends: Vec<u64> = entries
            .iter()
            .map(|entry| journal.append(entry).unwrap().offset + entry.len() as u64 + 1)
            .collect();
        let whole = fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            let kept = ends.iter().filter(|end| **end <= cut as u64).count();
            let end = if kept == 0 { 0 } else { ends[kept - 1] as usize };
            let tail = &whole[end..cut];
            prop_assert_eq!(read(&path), &entries[..kept], "a reader before any healing");
            let (mut journal, dropped) = open(&path);
            let mut expected = entries[..kept].to_vec();
            if dropped > 0 {
                prop_assert_eq!(dropped as usize, tail.len());
                prop_assert!(torn(&path).ends_with(&[tail, b"\n"].concat()));
            } else if !tail.is_empty() {
                expected.push(tail.to_vec());
            }
            expected.push(b"next".to_vec());
            prop_assert_eq!(journal.append(b"next").unwrap().dropped, 0);
            prop_assert_eq!(read(&path), expected);
        }
    }
}

#[test]
fn a_whole_value_that_lacks_its_newline_gets_it() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    let wholes = ["{\"b\":2}", "[]", "{\"a\":\"}{\\\"\",\"b\":[{},[1]]}", "{\"b\":2}\r", " { } "];
    for whole in wholes.map(str::to_owned).into_iter().chain([format!("[{}]", "[],".repeat(9000))]) {
        fs::write(&path, format!("{{\"a\":1}}\n{whole}")).unwrap();
        let (mut journal, dropped) = open(&path);
        let offset = fs::metadata(&path).unwrap().len();
        assert_eq!((dropped, offset), (0, 9 + whole.len() as u64));
        assert_eq!(journal.append(b"{}").unwrap(), Appended { offset, dropped: 0 });
        assert_eq!(read(&path), [b"{\"a\":1}", whole.as_bytes(), b"{}"]);
    }
    assert_eq!(torn(&path), b"");
}

#[test]
fn no_beginning_of_an_object_is_taken_for_a_whole_one() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    let entry = "{\"a\":\"\\\\\\\"}]\",\"b\":[{\"c\":[]},{}],\"d\":\"é\"}".as_bytes();
    for cut in 1..entry.len() {
        fs::write(&path, &entry[..cut]).unwrap();
        assert_eq!(open(&path).1, cut as u64);
    }
}

#[test]
fn what_is_torn_off_is_kept_beside_the_log() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    fs::write(&path, "precious, one line").unwrap();
    assert_eq!(open(&path).1, 18);
    fs::write(&path, "{}\n{\"torn").unwrap();
    assert_eq!(open(&path).1, 6);
    assert_eq!(fs::read(&path).unwrap(), b"{}\n");
    assert_eq!(torn(&path), b"18 bytes at 0:\nprecious, one line\n6 bytes at 3:\n{\"torn\n");
    assert_eq!(mode(&path.with_extension("torn")), 0o600);
}

#[test]
fn what_is_torn_off_does_not_grow_for_ever() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    for round in 0..8 {
        fs::write(&path, vec![b'a' + round; 700_000]).unwrap();
        assert_eq!(open(&path).1, 700_000);
        assert!(torn(&path).ends_with(&[b'a' + round, b'\n']));
    }
    assert_eq!(names(home.path()), ["log", "log.torn", "log.torn.old"]);
    let kept = names(home.path())
        .iter()
        .map(|name| fs::metadata(home.path().join(name)).unwrap().len())
        .sum::<u64>();
    assert!((2_100_000..3_000_000).contains(&kept), "{kept}");
}

#[test]
fn a_torn_end_that_cannot_be_kept_stays_where_it_is() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    fs::write(&path, "{}\nprecious").unwrap();
    fs::create_dir(home.path().join("log.torn")).unwrap();
    let error = Journal::open(&path, Durability::Cached).unwrap_err();
    assert!(error.to_string().ends_with("log.torn`"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"{}\nprecious");
}

#[test]
fn a_torn_tail_of_any_length_is_healed() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    for torn in [1, 4095, 4096, 4097, 8192, 8193, 20_000] {
        for before in ["", "{}\n"] {
            fs::write(&path, format!("{before}{}", "x".repeat(torn))).unwrap();
            assert_eq!(open(&path).1, torn as u64);
            assert_eq!(fs::read_to_string(&path).unwrap(), before);
        }
    }
}

#[test]
fn the_end_of_the_lines_is_the_end_even_if_the_last_one_is_finished_later() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    fs::write(&path, "{}\n{\"to").unwrap();
    let mut reading = lines(&path, 0).unwrap();
    assert_eq!(reading.next().unwrap().unwrap(), Line { offset: 0, bytes: b"{}".to_vec() });
    assert!(reading.next().is_none());
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"rn\":1}\n{}\n").unwrap();
    assert!(reading.next().is_none() && reading.next().is_none());
    assert_eq!(lines(&path, 3).unwrap().count(), 2, "whoever follows a log asks again");
}

#[test]
fn the_tail_alone_is_read_however_long_the_log_is() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    // A tebibyte of nothing: a look at all of it would not end in the lifetime of this test.
    let long = 1 << 40;
    let mut file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
    file.set_len(long).unwrap();
    file.write_all(b"\ntorn").unwrap();
    let (mut journal, dropped) = open(&path);
    assert_eq!(dropped, 4);
    assert_eq!(journal.append(b"{}").unwrap().offset, long + 1);
    let tail: Vec<Line> = lines(&path, long + 1).unwrap().map(Result::unwrap).collect();
    assert_eq!(tail, [Line { offset: long + 1, bytes: b"{}".to_vec() }]);
}

#[test]
fn bad_lines_are_data() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    fs::write(&path, b"{\"a\":1}\n\xff\xfe\n\nnot json\0\n{}\nhalf").unwrap();
    let expected: [&[u8]; 5] = [b"{\"a\":1}", b"\xff\xfe", b"", b"not json\0", b"{}"];
    assert_eq!(read(&path), expected);
    let offsets: Vec<u64> = lines(&path, 0).unwrap().map(|line| line.unwrap().offset).collect();
    assert_eq!(offsets, [0, 8, 11, 12, 22]);
}

#[test]
fn no_log_has_no_lines_and_a_new_one_is_private() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    assert_eq!(read(&path), [b""; 0]);
    assert!(!path.exists(), "reading makes nothing");
    Journal::open(&path, Durability::Fsync).unwrap().0.append(b"{}").unwrap();
    assert_eq!((read(&path), mode(&path)), (vec![b"{}".to_vec()], 0o600));
}

#[test]
fn an_entry_with_a_newline_is_refused() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    let (mut journal, _) = open(&path);
    assert!(matches!(journal.append(b"a\nb"), Err(JournalError::Newline { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn a_tear_made_while_the_log_is_open_is_healed_by_the_next_append() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    let (mut journal, _) = open(&path);
    journal.append(b"one").unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"to").unwrap();
    assert_eq!(journal.append(b"three").unwrap(), Appended { offset: 4, dropped: 2 });
    assert_eq!(read(&path), [&b"one"[..], b"three"]);
}

#[test]
fn a_log_that_is_a_directory_a_pipe_or_closed_to_us_is_an_error() {
    as_nobody(|| {
        let home = tempdir().unwrap();
        let (pipe, closed) = (home.path().join("pipe"), home.path().join("closed"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
        fs::write(&closed, "{}\n").unwrap();
        chmod(&closed, 0o000);
        let failed = |path: &Path| Journal::open(path, Durability::Cached).unwrap_err();
        assert!(matches!(failed(&pipe), JournalError::NotAFile { .. }));
        for no_log in [&*pipe, home.path()] {
            assert!(matches!(lines(no_log, 0), Err(JournalError::NotAFile { .. })));
        }
        assert!(matches!(failed(home.path()), JournalError::File(e) if e.kind() == ErrorKind::IsADirectory));
        assert!(matches!(failed(&closed), JournalError::File(e) if e.kind() == ErrorKind::PermissionDenied));
        symlink("nowhere/log", home.path().join("link")).unwrap();
        assert!(matches!(failed(&home.path().join("link")), JournalError::File(_)));
    });
}

#[test]
fn an_appender_that_never_finishes_is_told_not_waited_for() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    let (mut journal, _) = open(&path);
    let stuck = File::open(&path).unwrap();
    stuck.lock().unwrap();
    let error = journal.append(b"{}").unwrap_err();
    assert!(matches!(error, JournalError::Busy { .. }) && error.hint().unwrap().starts_with("`fuser -v "));
    drop(stuck);
    journal.append(b"{}").unwrap();
}

#[test]
fn entries_of_several_processes_never_mix() {
    let home = tempdir().unwrap();
    let children: Vec<_> = (0..4).map(|_| again::start("append a hundred", home.path())).collect();
    for child in children {
        again::finish(child);
    }
    let lines = read(&home.path().join("log"));
    assert_eq!(lines.len(), 400);
    assert!(lines.iter().all(|line| line.len() == 9000 && line.iter().all(|byte| *byte == line[0])));
}

pub(crate) fn child_appends_a_hundred(folder: &Path) {
    let (mut journal, _) = open(&folder.join("log"));
    let letter = b'a' + (std::process::id() % 26) as u8;
    for _ in 0..100 {
        journal.append(&[letter; 9000]).unwrap();
    }
}

#[test]
fn a_kill_costs_at_most_the_entry_being_written() {
    let home = tempdir().unwrap();
    let path = home.path().join("log");
    let child = |_| again::command("append many times", home.path());
    let (mut reported, mut killed) = (0, 0);
    Crash::new(2).run(child, |attempt| {
        reported += again::words(attempt);
        killed += 1;
        let kept = read(&path);
        assert!(kept.iter().all(|line| *line == [b'x'; 30_000]));
        // Of each killed child one entry may have been written and not reported.
        assert!((reported..=reported + killed).contains(&kept.len()), "{reported} {}", kept.len());
        if kept.len() > 200 {
            fs::remove_file(&path).unwrap();
            (reported, killed) = (0, 0);
        }
    });
}

pub(crate) fn child_appends_many_times(folder: &Path) {
    let (mut journal, _) = open(&folder.join("log"));
    for _ in 0..40 {
        journal.append(&[b'x'; 30_000]).unwrap();
        again::say(b'.');
    }
}

#[test]
fn a_full_disk_leaves_whole_entries_only() {
    small_disk(256 * 1024, |disk| {
        let (path, ballast) = (disk.join("log"), disk.join("ballast"));
        fs::write(&ballast, [0; 100_000]).unwrap();
        let mut journal = Journal::open(&path, Durability::Fsync).unwrap().0;
        let mut count = 0;
        let error = loop {
            match journal.append(&[b'x'; 7001]) {
                Ok(_) => count += 1,
                Err(error) => break error,
            }
        };
        assert!(matches!(&error, JournalError::File(e) if e.kind() == ErrorKind::StorageFull), "{error:?}");
        assert_eq!(fs::metadata(&path).unwrap().len(), count * 7002);
        fs::remove_file(ballast).unwrap();
        assert_eq!(journal.append(b"room again").unwrap(), Appended { offset: count * 7002, dropped: 0 });
    });
}

#[test]
fn an_append_that_only_fits_in_part_is_taken_back() {
    again::run_limited("append past a limit", 4096);
}

pub(crate) fn child_appends_past_a_limit(folder: &Path) {
    let path = folder.join("log");
    let (mut journal, _) = open(&path);
    journal.append(&[b'x'; 3000]).unwrap();
    let error = journal.append(&[b'y'; 3000]).unwrap_err();
    assert!(matches!(&error, JournalError::File(e) if e.kind() == ErrorKind::FileTooLarge), "{error:?}");
    assert_eq!(fs::metadata(&path).unwrap().len(), 3001);
    assert_eq!(journal.append(b"fits").unwrap(), Appended { offset: 3001, dropped: 0 });
}
