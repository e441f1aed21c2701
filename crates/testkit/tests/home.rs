//! Homes, the commands that run in them, and the binaries they find.
#![allow(
    clippy::disallowed_methods,
    reason = "the tests look at plain files and at this process's environment"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use testkit::{Home, bin, panic_of};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_home_is_short_and_its_private_places_are_private() {
    let home = Home::new();
    // The limit for a socket is 100 bytes; the longest of our names has less than 40.
    assert!(home.runtime().as_os_str().len() < 40, "{:?}", home.runtime());
    assert_eq!((mode(home.path()), mode(&home.runtime()), mode(&home.temp())), (0o755, 0o700, 0o700));
}

#[test]
fn a_command_knows_its_own_home_and_nothing_of_ours() {
    let home = Home::new();
    let output = home.run(
        home.command("sh")
            .args(["-c", "env | cut -d= -f1 | grep -v -x -e PWD -e _ -e SHLVL -e OLDPWD | sort; pwd"]),
    );
    let expected = "HOME\nLANG\nPATH\nTERM\nTMPDIR\nXDG_CACHE_HOME\nXDG_CONFIG_HOME\nXDG_DATA_HOME\n\
                    XDG_RUNTIME_DIR\nXDG_STATE_HOME\n[HOME]\n[exit status: 0]\n";
    assert_eq!(output.transcript(), expected);
}

#[test]
fn a_transcript_tells_both_streams_the_status_and_a_missing_newline() {
    let home = Home::new();
    let output = home.run_with(home.command("sh").args(["-c", "cat; echo $HOME/x 1>&2; exit 3"]), "piped");
    assert_eq!(
        output.hide("/x", "[X]").transcript(),
        "piped[no newline]\n--- stderr\n[HOME][X]\n[exit status: 3]\n"
    );
    let killed = home.run(home.command("sh").args(["-c", "kill -9 $$"]));
    assert_eq!(killed.transcript(), "[exit status: 137]\n");
    assert!(panic_of(|| killed.ok()).contains("[exit status: 137]"));
}

#[test]
fn bytes_that_are_no_text_are_kept_beside_the_text() {
    let home = Home::new();
    let output = home.run(home.command("printf").arg("\\377\\n"));
    assert_eq!((output.stdout.as_str(), output.bytes.as_slice()), ("\u{fffd}\n", b"\xff\n".as_slice()));
}

#[test]
fn a_daemon_that_keeps_the_streams_does_not_hold_up_its_starter() {
    let home = Home::new();
    let output =
        home.run(home.command("sh").args(["-c", "(trap '' HUP; exec tail -f /dev/null) & echo $!"])).ok();
    let pid = output.stdout.trim().parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("the daemon is still there");
}

#[test]
fn a_home_goes_away_even_when_it_forbids_to_look() {
    let home = Home::new();
    let path = home.path().to_owned();
    let outside = Home::new();
    outside.write("kept", "x");
    let deep = home.write("a/b/c", "x");
    symlink(outside.path(), home.path().join("a/link")).unwrap();
    for directory in deep.ancestors().skip(1).take(2) {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o000)).unwrap();
    }
    drop(home);
    assert!(!path.exists());
    assert_eq!(outside.read("kept"), "x");
}

#[test]
fn a_repository_has_a_branch_an_identity_and_the_same_hashes_every_time() {
    let commit = || {
        let home = Home::new();
        let repo = home.git_repo("project");
        home.write("project/a", "one\n");
        let _ = home.git(&repo, &["add", "."]);
        let _ = home.git(&repo, &["commit", "-qm", "first"]);
        home.git(&repo, &["log", "-1", "--format=%H %an %D"]).stdout
    };
    let first = commit();
    assert!(first.ends_with(" Ada Test HEAD -> main\n"), "{first}");
    assert_eq!(first, commit());
    let home = Home::new();
    assert!(panic_of(|| home.git(home.path(), &["log"])).contains("not a git repository"));
}

#[test]
fn a_missing_file_and_a_missing_program_are_told_by_name() {
    let home = Home::new();
    assert!(panic_of(|| home.read("absent")).contains("/absent`: No such file"));
    assert!(panic_of(|| home.run(&mut home.command("no-such-program"))).contains("no-such-program"));
}

#[test]
fn a_binary_is_found_beside_the_test_and_a_missing_one_tells_how_to_build_it() {
    let message = panic_of(|| bin("no-such-tool"));
    assert!(message.contains("run `cargo build --workspace --bin no-such-tool"), "{message}");
    let beside = std::env::current_exe().unwrap().parent().unwrap().with_file_name("testkit-probe");
    fs::copy("/bin/true", &beside).unwrap();
    assert_eq!(bin("testkit-probe"), beside);
    let home = Home::new();
    let installed = home.install("testkit-probe");
    fs::remove_file(&beside).unwrap();
    assert_eq!(home.run(&mut home.command(installed)).code, 0);
}
