//! Other users, small disks, limits. These tests need root, and say so without it.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;

use testkit::hostile::{
    OTHER_UID, as_other_uid, file_size_limit, give_away, nasty_bytes, nasty_strings, small_disk,
};
use testkit::{Home, panic_of};

#[test]
fn another_user_is_another_user_without_our_groups_and_is_kept_out_of_private_places() {
    let home = Home::new();
    home.write("open", "hello");
    let script = "id -u; id -G; cat open; ls run";
    let output = home.run(as_other_uid(home.command("sh").args(["-c", script])));
    assert!(output.stdout.starts_with("65534\n65534\nhello"), "{}", output.transcript());
    assert!(output.stderr.contains("Permission denied"), "{}", output.transcript());
}

#[test]
fn what_was_given_away_belongs_to_the_other_user_and_a_link_is_not_followed() {
    let home = Home::new();
    let kept = home.write("kept", "");
    home.write("tree/a/b", "");
    std::os::unix::fs::symlink(&kept, home.path().join("tree/link")).unwrap();
    give_away(home.path().join("tree"));
    let owner = |path: &str| fs::symlink_metadata(home.path().join(path)).unwrap().uid();
    assert_eq!(["tree", "tree/a", "tree/a/b", "tree/link"].map(owner), [OTHER_UID; 4]);
    assert_ne!(owner("kept"), OTHER_UID);
    let output = home.run(as_other_uid(home.command("touch").arg("tree/new")));
    assert_eq!(output.code, 0, "{}", output.transcript());
    assert!(panic_of(|| give_away(home.path().join("absent"))).contains("No such file"));
}

#[test]
fn a_program_that_another_user_cannot_reach_is_told_before_it_fails() {
    let home = Home::new();
    let hidden = home.write("run/tool", "");
    let message = panic_of(|| drop(as_other_uid(&mut home.command(&hidden)).status()));
    assert!(
        message.contains("cannot be reached by another user") && message.contains("Home::install"),
        "{message}"
    );
}

#[test]
fn a_file_cannot_grow_past_its_limit_and_the_writer_lives_to_tell() {
    let home = Home::new();
    let script = "head -c 10000 /dev/zero > big; echo status $?";
    let output = home.run(file_size_limit(&home, 4096, "sh").args(["-c", script]));
    assert!(output.stdout.contains("status 1"), "{}", output.transcript());
    assert!(output.stderr.contains("File too large"), "{}", output.transcript());
    assert_eq!(fs::metadata(home.path().join("big")).unwrap().len(), 4096);
}

#[test]
fn a_small_disk_is_full_soon_for_us_and_for_our_children() {
    small_disk(64 * 1024, |disk| {
        let mut file = fs::File::create(disk.join("ours")).unwrap();
        file.write_all(&[0; 40_000]).unwrap();
        assert_eq!(file.write_all(&[0; 40_000]).unwrap_err().kind(), ErrorKind::StorageFull);
        let home = Home::new();
        let output =
            home.run(home.command("sh").args(["-c", "head -c 9 /dev/zero > \"$0\"/theirs"]).arg(disk));
        assert!(output.stderr.contains("No space left"), "{}", output.transcript());
        drop(file);
    });
}

#[test]
fn what_fails_on_a_small_disk_fails_the_test() {
    let message = panic_of(|| small_disk(64 * 1024, |_| panic!("lost an entry")));
    assert!(message.contains("on a disk of 65536 bytes:") && message.contains("lost an entry"), "{message}");
}

#[test]
fn a_small_disk_is_seen_by_nobody_else() {
    small_disk(64 * 1024, |disk| {
        let mounts = |of: &str| fs::read_to_string(format!("/proc/{of}/mounts")).unwrap();
        let disk = disk.to_str().unwrap();
        assert!(mounts("self").contains(disk));
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().to_string();
        assert!(!mounts(&parent).contains(disk));
    });
}

#[test]
fn nasty_things_are_nasty() {
    let strings = nasty_strings();
    assert!(
        strings.iter().any(|text| text.contains('\u{202e}'))
            && strings.iter().any(|text| text.contains('\u{1b}'))
    );
    assert!(strings.iter().any(|text| text.len() > 65_536));
    let broken = nasty_bytes().iter().filter(|bytes| std::str::from_utf8(bytes).is_err()).count();
    assert!(broken >= 9);
}
