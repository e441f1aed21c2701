//! Each fault that the doctor knows, planted and found.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Stdio;

use store::sqlite::rusqlite::Connection;
use testkit::{bin, hostile};

use crate::person::Person;

/// The lines about one subject, hints included, and how the examination ended.
#[track_caller]
fn about(person: &Person, subject: &str) -> (String, i32) {
    let said = person.clai(&["doctor"]);
    let mut lines = Vec::new();
    let mut within = false;
    for line in said.stdout.lines() {
        // A hint belongs to the finding above it.
        if !line.starts_with("       ") {
            within = line[7..].starts_with(&format!("{subject} "));
        }
        if within {
            lines.push(line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    let text = lines.join("\n").replace(person.home.path().to_str().unwrap(), "[HOME]");
    (text, said.code)
}

/// A shell that loads us in the usual way.
fn loading(person: &Person) {
    let line = format!("eval \"$({} init bash)\"\n", bin("clai").display());
    person.home.write(".bashrc", line);
}

#[test]
fn where_all_is_well_nothing_is_wrong() {
    let person = Person::new();
    loading(&person);
    person.start();
    person.ran("make");
    let said = person.clai(&["doctor"]).ok();
    assert!(said.stdout.lines().all(|line| line.starts_with(" ok ")), "{}", said.stdout);
    assert!(
        said.stdout.contains("loads clai") && said.stdout.contains("1 commands learned, the last 30 s ago"),
        "{}",
        said.stdout
    );
    assert_eq!(person.json(&["doctor", "--json"])["ok"], true);
}

#[test]
fn a_fresh_home_is_told_the_line_to_load() {
    let person = Person::new();
    let (said, code) = about(&person, "bash");
    assert!(
        said.contains("does not load clai\nhint: `echo 'eval \"$(clai init bash)\"' >> ~/.bashrc`"),
        "{said}"
    );
    assert_eq!(code, 0);
    assert!(about(&person, "daemon").0.starts_with("ok daemon not running"));
}

#[test]
fn wrong_permissions_are_found() {
    let person = Person::new();
    person.start();
    person.says(&["daemon", "stop"]);
    let folder = person.home.data().join("clai");
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let (said, code) = about(&person, "history");
    assert!(
        said.contains("open to other users (mode 0755)") && said.contains("chmod 700") && code == 1,
        "{said}"
    );
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(person.database(), Permissions::from_mode(0o644)).unwrap();
    let (said, code) = about(&person, "history");
    assert!(
        said.contains("open to other users (mode 0644)") && said.contains("chmod 600") && code == 1,
        "{said}"
    );
    fs::set_permissions(person.home.runtime().join("clai"), Permissions::from_mode(0o770)).unwrap();
    assert!(about(&person, "runtime").0.contains("mode 0770"));
}

#[test]
fn a_daemon_that_died_or_does_not_answer_is_found() {
    let person = Person::new();
    person.start();
    person.kill();
    let (said, _) = about(&person, "daemon");
    assert!(
        said.starts_with("warn daemon it died and left its socket")
            && said.contains("hint: `clai daemon start`"),
        "{said}"
    );
    person.start();
    let pid = person.daemon();
    person.signal("-STOP", &pid);
    let (said, code) = about(&person, "daemon");
    person.signal("-CONT", &pid);
    assert!(
        said.contains(&format!("process {pid} does not answer")) && said.contains("kill -CONT"),
        "{said}"
    );
    assert_eq!(code, 1);
}

#[test]
fn a_socket_of_somebody_else_or_no_socket_is_found() {
    let person = Person::new();
    let folder = person.home.runtime().join("clai");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    fs::write(person.socket(), "").unwrap();
    let (said, code) = about(&person, "daemon");
    assert!(said.contains("is not a socket") && code == 1, "{said}");
    fs::remove_file(person.socket()).unwrap();
    let _listener = UnixListener::bind(person.socket()).unwrap();
    hostile::give_away(person.socket());
    let (said, code) = about(&person, "daemon");
    assert!(said.contains("belongs to user") && code == 1, "{said}");
}

#[test]
fn a_missing_helper_is_found() {
    let person = Person::new();
    let alone = person.home.install("clai");
    let said = person.home.run(&mut person.command_of(&alone, &["doctor"]));
    assert!(said.code == 1 && said.stdout.contains("`clai-hook` is not beside `clai`"), "{}", said.stdout);
    assert!(said.stdout.contains("`clai-daemon` is not beside"), "{}", said.stdout);
}

#[test]
fn a_broken_or_newer_database_is_found_and_left_where_it_is() {
    let person = Person::new();
    person.start();
    person.ran("make");
    person.says(&["daemon", "stop"]);
    Connection::open(person.database()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let (said, code) = about(&person, "history");
    assert!(said.contains("has schema 99") && code == 1, "{said}");
    for name in ["clai.db-wal", "clai.db-shm"] {
        let _ = fs::remove_file(person.home.data().join("clai").join(name));
    }
    fs::write(
        person.database(),
        "this was a database once, and then it was something else entirely".repeat(100),
    )
    .unwrap();
    let before = fs::read_dir(person.home.data().join("clai")).unwrap().count();
    let (said, code) = about(&person, "history");
    assert!(said.contains("cannot be read") && said.contains("begins anew") && code == 1, "{said}");
    assert!(person.database().exists());
    assert_eq!(fs::read_dir(person.home.data().join("clai")).unwrap().count(), before);
}

#[test]
fn a_daemon_that_is_on_its_way_is_no_fault_and_one_that_holds_the_lock_for_ever_is() {
    for _ in 0..5 {
        let person = Person::new();
        // Whatever it has come to by the time somebody looks.
        let mut daemon =
            person.command_of(&bin("clai-daemon"), &["--foreground"]).stderr(Stdio::null()).spawn().unwrap();
        let (said, code) = about(&person, "daemon");
        let _ = (daemon.kill(), daemon.wait());
        assert!(said.starts_with("ok daemon") && code == 0, "{said}");
    }
    let person = Person::new();
    person.start();
    person.kill();
    let _lock = store::lock::try_acquire(&person.database().with_file_name(".daemon.lock"), "x").unwrap();
    let (said, code) = about(&person, "daemon");
    assert!(said.contains("holds the lock and does not listen") && code == 1, "{said}");
}

#[test]
fn a_configuration_with_a_slip_is_found() {
    let person = Person::new();
    person.home.write(person.home.config().join("clai/config.toml"), "gohst = false\n");
    assert!(about(&person, "config").0.contains("unknown key `gohst`, perhaps `ghost`"));
    person.home.write(person.home.config().join("clai/config.toml"), "ghost = 3\n");
    let (said, code) = about(&person, "config");
    assert!(said.starts_with("fail config") && said.contains("$EDITOR") && code == 1, "{said}");
}

#[test]
fn a_prompt_command_that_was_replaced_is_found_in_a_real_bash() {
    let person = Person::new();
    loading(&person);
    let rc = person.home.read(".bashrc");
    person.home.write(".bashrc", format!("{rc}PROMPT_COMMAND='history -a'\n"));
    let (said, code) = about(&person, "bash");
    assert!(said.starts_with("fail bash something replaced PROMPT_COMMAND") && code == 1, "{said}");
    // An array that keeps ours is well.
    person.home.write(".bashrc", format!("PROMPT_COMMAND='history -a'\n{rc}PROMPT_COMMAND+=('true')\n"));
    let (said, code) = about(&person, "bash");
    assert!(said.starts_with("ok bash") && code == 0, "{said}");
    // Somebody who takes its place and calls it is well, too.
    let theirs = "before=$PROMPT_COMMAND; theirs() { eval \"$before\"; }; PROMPT_COMMAND=theirs";
    person.home.write(".bashrc", format!("{rc}{theirs}\n"));
    let (said, code) = about(&person, "bash");
    assert!(said.starts_with("ok bash") && code == 0, "{said}");
}

#[test]
fn a_trap_that_is_taken_is_found_in_a_real_bash() {
    let person = Person::new();
    loading(&person);
    let rc = person.home.read(".bashrc");
    person.home.write(".bashrc", format!("trap ': mine' DEBUG\n{rc}PROMPT_COMMAND+=('trap - DEBUG')\n"));
    let (said, _) = about(&person, "bash");
    assert!(said.contains("takes your DEBUG trap at the first prompt"), "{said}");
}

#[test]
fn loading_twice_and_start_up_files_that_never_end_are_found() {
    let person = Person::new();
    loading(&person);
    let rc = person.home.read(".bashrc");
    person.home.write(".bashrc", format!("{rc}{rc}"));
    assert!(about(&person, "bash").0.starts_with("warn bash ~/.bashrc loads clai 2 times"));
    person.home.write(".bashrc", "exec true\n");
    let (said, _) = about(&person, "bash");
    assert!(said.contains("end or replace it before there is a prompt"), "{said}");
}

#[test]
fn a_hook_that_is_gone_is_found_in_a_real_shell() {
    let person = Person::new();
    let script =
        person.says(&["init", "bash"]).replace(bin("clai-hook").to_str().unwrap(), "/gone/clai-hook");
    person.home.write(".bashrc", format!("{script}\n"));
    let (said, code) = about(&person, "bash");
    assert!(said.contains("calls `/gone/clai-hook`, which is gone") && code == 1, "{said}");
}

#[test]
fn hooks_of_a_real_zsh_and_another_ghost_are_found() {
    let person = Person::new();
    let load = format!("eval \"$({} init zsh)\"\n", bin("clai").display());
    person.home.write(".zshrc", format!("_zsh_autosuggest_start() {{ :; }}\n{load}"));
    let (said, code) = about(&person, "zsh");
    assert!(
        said.contains("loads clai") && said.contains("zsh-autosuggestions draws ghost text") && code == 0,
        "{said}"
    );
    person.home.write(".zshrc", format!("{load}precmd_functions=()\n"));
    let (said, code) = about(&person, "zsh");
    assert!(said.contains("replaced the precmd hooks") && code == 1, "{said}");
}

#[test]
fn a_real_fish_is_asked() {
    let person = Person::new();
    fs::create_dir_all(person.home.data().join("fish/generated_completions")).unwrap();
    let load = format!("{} init fish | source\n", bin("clai").display());
    person.home.write(person.home.config().join("fish/config.fish"), &load);
    let (said, code) = about(&person, "fish");
    assert!(said.starts_with("ok fish") && code == 0, "{said}");
    person.home.write(
        person.home.config().join("fish/config.fish"),
        format!("{load}function fish_right_prompt; end\n"),
    );
    assert!(about(&person, "fish").0.starts_with("ok fish"), "it is wrapped at the first prompt");
    person.home.write(
        person.home.config().join("fish/config.fish"),
        format!("{load}functions -e __clai_postexec\n"),
    );
    assert!(about(&person, "fish").0.contains("erased clai's functions"));
}
