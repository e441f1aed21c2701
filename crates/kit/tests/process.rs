//! Programs that will not go away: each test starts one, and none may be left afterwards.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use kit::process::{Cancel, Ended, Job, Keep, Leftovers, Outcome, Spill};

/// One test at a time, also where they share a process: who left an orphan that hides can only be told of a single job.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A duration for `sleep` that no other process uses, by which its survivors are found.
fn forever(number: u32) -> String {
    format!("{}.{number:03}", 100_000 + std::process::id())
}

fn sh(script: &str) -> Job {
    Job::new("/bin/sh").args(["-c", script]).env("PATH", "/usr/local/bin:/usr/bin:/bin")
}

fn stopped_after(millis: u64, script: &str) -> Outcome {
    sh(script).deadline(Duration::from_millis(millis)).run().unwrap()
}

fn alive(needle: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(needle)).collect()
}

fn nobody_left(outcome: &Outcome, needle: &str) {
    assert_eq!(outcome.survivors, Vec::<u32>::new());
    assert_eq!(alive(needle), Vec::<String>::new());
}

fn children_of_ours() -> usize {
    let tasks = format!("/proc/{0}/task", std::process::id());
    let tasks = fs::read_dir(tasks).unwrap().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    children.map(|children| children.split_whitespace().count()).sum()
}

#[test]
fn a_program_that_ends_tells_its_status_and_both_streams() {
    let _alone = alone();
    let outcome = sh("echo out; echo err >&2; exit 7").run().unwrap();
    assert_eq!(outcome.ended, Ended::Exited(7));
    assert_eq!((outcome.stdout.text().as_str(), outcome.stderr.text().as_str()), ("out\n", "err\n"));
    let outcome = sh("kill -9 $$").run().unwrap();
    assert_eq!(outcome.ended, Ended::Signalled(9));
}

#[test]
fn merged_streams_keep_their_order() {
    let _alone = alone();
    let outcome = sh("for i in 1 2 3; do echo o$i; echo e$i >&2; done").merged().run().unwrap();
    assert_eq!(outcome.stdout.text(), "o1\ne1\no2\ne2\no3\ne3\n");
}

#[test]
fn a_program_that_is_not_there_is_an_error_not_an_outcome() {
    let _alone = alone();
    assert!(Job::new("/no/such/program").run().is_err());
}

#[test]
fn only_what_was_put_into_the_environment_is_there() {
    let _alone = alone();
    let outcome = Job::new("/usr/bin/env").env("ONLY", "this").run().unwrap();
    let text = outcome.stdout.text();
    let mut names: Vec<_> = text.lines().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    assert_eq!(names, ["ONLY", "SCRIMP_JOB"]);
}

#[test]
fn children_in_the_background_die_at_the_deadline() {
    let _alone = alone();
    let id = forever(1);
    let started = Instant::now();
    let outcome = stopped_after(100, &format!("sleep {id} & (sleep {id} & sleep {id} &) ; wait"));
    assert_eq!(outcome.ended, Ended::DeadlinePassed);
    nobody_left(&outcome, &id);
    assert!(started.elapsed() < Duration::from_secs(5), "a deadline is a deadline");
}

#[test]
fn children_that_detach_from_group_and_session_die_at_the_deadline() {
    let _alone = alone();
    let id = forever(2);
    let outcome = stopped_after(300, &format!("setsid sh -c 'setsid sleep {id} & sleep {id}' & sleep {id}"));
    nobody_left(&outcome, &id);
}

#[test]
fn a_daemon_that_forked_twice_dies_at_the_deadline() {
    let _alone = alone();
    let id = forever(3);
    let outcome = stopped_after(300, &format!("(setsid sh -c '(sleep {id} &) ' &) ; sleep {id}"));
    nobody_left(&outcome, &id);
}

#[test]
fn a_daemon_that_wiped_its_environment_dies_at_the_deadline() {
    let _alone = alone();
    let id = forever(4);
    let outcome =
        stopped_after(300, &format!("(env -i setsid /bin/sh -c '/bin/sleep {id} &' &) ; sleep {id}"));
    nobody_left(&outcome, &id);
}

#[test]
fn who_ignores_sigterm_or_is_stopped_dies_all_the_same() {
    let _alone = alone();
    let id = forever(5);
    let script = format!("trap '' TERM INT HUP; sleep {id} & kill -STOP $!; while :; do sleep {id}; done");
    let outcome = stopped_after(100, &script);
    nobody_left(&outcome, &id);
}

#[test]
fn a_polite_program_may_clean_up() {
    let _alone = alone();
    let outcome = stopped_after(100, "trap 'echo bye; exit 0' TERM; while :; do sleep 0.01; done");
    assert_eq!(outcome.ended, Ended::DeadlinePassed);
    assert_eq!(outcome.stdout.text(), "bye\n");
}

#[test]
fn a_program_that_forks_all_the_time_is_overtaken() {
    let _alone = alone();
    let id = forever(6);
    let outcome = stopped_after(200, &format!("while :; do setsid sleep {id} & sleep 0.002; done"));
    nobody_left(&outcome, &id);
}

#[test]
fn a_flood_of_output_is_drained_and_both_ends_are_kept() {
    let _alone = alone();
    let folder = testkit::Home::new();
    let path = folder.path().join("spill");
    let keep = Keep { head: 10, tail: 10, spill: Some(Spill { path: path.clone(), max: 1 << 20 }) };
    let outcome = sh("printf START; yes 0123456 | head -c 50000000; printf END").keep(keep).run().unwrap();
    assert_eq!(outcome.stdout.total, 50_000_008);
    assert_eq!(outcome.stdout.head, b"START01234");
    assert!(outcome.stdout.tail.ends_with(b"END"));
    assert_eq!(fs::metadata(&path).unwrap().len(), 1 << 20);
    assert!(fs::read(&path).unwrap().starts_with(b"START0123456\n0123456\n"));
    let said = outcome.stdout.text();
    assert!(said.contains("49,999,988 bytes left out; the first 1,048,576 are in /"), "{said}");
}

#[test]
fn output_that_fits_makes_no_file() {
    let _alone = alone();
    let folder = testkit::Home::new();
    let path = folder.path().join("spill");
    let keep = Keep { head: 4, tail: 4, spill: Some(Spill { path: path.clone(), max: 100 }) };
    let outcome = sh("printf 12345678").keep(keep).run().unwrap();
    assert_eq!((outcome.stdout.text().as_str(), path.exists()), ("12345678", false));
}

#[test]
fn a_file_that_cannot_take_the_rest_does_not_bother_the_program() {
    let _alone = alone();
    let folder = testkit::Home::new();
    let path = folder.write("spill", "already there");
    let keep = Keep { head: 4, tail: 4, spill: Some(Spill { path: path.clone(), max: 100 }) };
    let outcome = sh("printf 1234567890; exit 3").keep(keep).run().unwrap();
    assert_eq!(outcome.ended, Ended::Exited(3));
    let said = outcome.stdout.text();
    assert!(
        said.starts_with("1234\n[… 2 bytes left out; /") && said.contains("could not be written"),
        "{said}"
    );
    assert_eq!(folder.read("spill"), "already there");
}

#[test]
fn a_deadline_that_no_clock_can_express_never_comes() {
    let _alone = alone();
    let keep = Keep { head: usize::MAX, tail: usize::MAX, spill: None };
    let outcome = sh("echo done").deadline(Duration::MAX).keep(keep).run().unwrap();
    assert_eq!(outcome.stdout.text(), "done\n");
}

#[test]
fn a_program_that_waits_for_input_finds_it_closed() {
    let _alone = alone();
    let outcome = sh("cat; echo done").deadline(Duration::from_secs(20)).run().unwrap();
    assert_eq!((outcome.ended, outcome.stdout.text().as_str()), (Ended::Exited(0), "done\n"));
}

#[test]
fn an_attached_program_shares_our_streams_and_our_group_and_dies_all_the_same() {
    let _alone = alone();
    let shared = "readlink /proc/$$/fd/0 /proc/$$/fd/2; cut -d' ' -f5 /proc/$$/stat";
    let ours = |fd: u8| fs::read_link(format!("/proc/self/fd/{fd}")).unwrap().display().to_string();
    let group = rustix::process::getpgrp().as_raw_nonzero();
    let outcome = sh(shared).attached().run().unwrap();
    assert_eq!(outcome.stdout.text(), format!("{}\n{}\n{group}\n", ours(0), ours(2)));
    let outcome = sh("cat").stdin(b"given".to_vec()).attached().run().unwrap();
    assert_eq!(outcome.stdout.text(), "given");
    let needle = forever(40);
    let script = format!("sleep {needle} & setsid sleep {needle} & sleep {needle}");
    let outcome = sh(&script).attached().deadline(Duration::from_millis(100)).run().unwrap();
    assert_eq!(outcome.ended, Ended::DeadlinePassed);
    nobody_left(&outcome, &needle);
}

#[test]
fn input_goes_in_while_output_comes_out() {
    let _alone = alone();
    let bytes = b"0123456789abcdef".repeat(200_000);
    let outcome = Job::new("/bin/cat").stdin(bytes.clone()).run().unwrap();
    assert_eq!(outcome.stdout.total, bytes.len() as u64);
    assert_eq!(outcome.stdout.head, bytes[..1 << 20]);
}

#[test]
fn input_that_nobody_reads_blocks_nobody() {
    let _alone = alone();
    let outcome = sh("exec <&-; echo hi").stdin(vec![b'x'; 1 << 20]).run().unwrap();
    assert_eq!((outcome.ended, outcome.stdout.text().as_str()), (Ended::Exited(0), "hi\n"));
}

#[test]
fn a_child_that_keeps_the_pipe_open_does_not_keep_us_waiting() {
    let _alone = alone();
    let id = forever(7);
    let outcome = sh(&format!("sleep {id} & echo started")).deadline(Duration::from_secs(60)).run().unwrap();
    assert_eq!((outcome.ended, outcome.stdout.text().as_str()), (Ended::Exited(0), "started\n"));
    nobody_left(&outcome, &id);
}

#[test]
fn a_child_may_be_left_behind_on_purpose() {
    let _alone = alone();
    let id = forever(8);
    let job = sh(&format!("setsid sleep {id} >/dev/null 2>&1 & echo started"));
    let outcome = job.leftovers(Leftovers::Leave).run().unwrap();
    assert_eq!(outcome.ended, Ended::Exited(0));
    // Its shell may have ended before it was what it is to be.
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).len() == 1));
    // We are its parent now, and still the next job that is killed must not take it along.
    let outcome = stopped_after(50, "sleep 1000");
    assert_eq!((outcome.survivors.len(), alive(&id).len()), (0, 1));
    sh(&format!("pkill -f 'sleep {id}'")).run().unwrap();
}

#[test]
fn killing_one_job_leaves_its_neighbour_alone() {
    let _alone = alone();
    let id = forever(9);
    let mut neighbour = sh(&format!("(setsid sleep {id} &); exec sleep {id}")).start().unwrap();
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).len() >= 2));
    let outcome = stopped_after(50, "sleep 1000");
    assert_eq!(outcome.ended, Ended::DeadlinePassed);
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).len() == 2));
    assert_eq!(neighbour.kill(), Vec::<u32>::new());
    assert_eq!(alive(&id), Vec::<String>::new());
}

#[test]
fn what_a_neighbour_hid_is_not_taken_for_ours() {
    let _alone = alone();
    let id = forever(12);
    let hidden = format!("(env -i setsid /bin/sleep {id} &); exec sleep {id}");
    let mut neighbour = sh(&hidden).start().unwrap();
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).len() >= 2));
    stopped_after(50, "sleep 1000");
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).len() == 2));
    // Now that it can be nobody else's it goes with its own job.
    assert_eq!(neighbour.kill(), Vec::<u32>::new());
    assert_eq!(alive(&id), Vec::<String>::new());
}

#[test]
fn a_daemon_is_left_alone_whatever_it_does_and_waited_for_when_it_ends() {
    let _alone = alone();
    let id = forever(13);
    let script = format!("(setsid sleep {id} &); exec sleep {id}");
    let daemon = Job::new("/bin/sh").args(["-c", &script]).env("PATH", "/usr/bin:/bin").detach().unwrap();
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).len() >= 2));
    stopped_after(50, "sleep 1000");
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).len() == 2));
    sh(&format!("pkill -f 'sleep {id}'")).run().unwrap();
    let gone = testkit::until(Duration::from_secs(10), || {
        sh("true").run().unwrap();
        !Path::new(&format!("/proc/{daemon}")).exists()
    });
    assert!(gone, "a dead daemon of ours stays a zombie");
}

#[test]
fn an_empty_mark_does_not_protect() {
    let _alone = alone();
    let id = forever(14);
    let outcome = stopped_after(300, &format!("(SCRIMP_JOB= setsid sleep {id} &); sleep {id}"));
    nobody_left(&outcome, &id);
}

#[test]
fn a_program_that_is_reborn_all_the_time_is_overtaken() {
    let _alone = alone();
    let id = forever(15);
    let hydra = format!("echo {id} >/dev/null; setsid sh \"$0\" & exit 0");
    let home = testkit::Home::new();
    let script = home.write("hydra", format!("sleep 0.0005; {hydra}"));
    let outcome =
        sh(&format!("sh {} & sleep 1000", script.display())).deadline(Duration::from_millis(200)).run();
    let outcome = outcome.unwrap();
    nobody_left(&outcome, script.to_str().unwrap());
}

#[test]
fn dropping_the_handle_kills_the_tree() {
    let _alone = alone();
    let id = forever(10);
    drop(sh(&format!("sleep {id} & sleep {id}")).start().unwrap());
    assert!(testkit::until(Duration::from_secs(10), || alive(&id).is_empty()));
}

#[test]
fn cancelling_from_another_thread_ends_the_job() {
    let _alone = alone();
    let id = forever(11);
    let cancel = Cancel::default();
    let other = cancel.clone();
    let job = sh(&format!("echo up; sleep {id}")).cancel(&cancel);
    let outcome = job.run_watched(&mut |_| other.cancel()).unwrap();
    assert_eq!((outcome.ended, outcome.stdout.text().as_str()), (Ended::Cancelled, "up\n"));
    nobody_left(&outcome, &id);
}

#[test]
fn no_zombie_is_left_after_many_orphans() {
    let _alone = alone();
    for _ in 0..20 {
        sh("(setsid true &) ; (true &) ; true").run().unwrap();
    }
    sh("true").run().unwrap();
    let reaped = testkit::until(Duration::from_secs(10), || {
        sh("true").run().unwrap();
        children_of_ours() == 0
    });
    assert!(reaped);
}

#[test]
fn a_program_is_found_on_the_path_and_nowhere_else() {
    let _alone = alone();
    let env = kit::invocation::Environment::of([("PATH", "relative:/nonexistent:/bin:/usr/bin")]);
    assert_eq!(kit::process::find("sh", &env).as_deref(), Some(Path::new("/bin/sh")));
    assert_eq!(kit::process::find("no-such-program", &env), None);
}

#[test]
fn secrets_stay_out_of_a_minimal_environment() {
    let _alone = alone();
    let env = kit::invocation::Environment::of([
        ("PATH", "/bin"),
        ("LC_ALL", "C"),
        ("https_proxy", "x"),
        ("ANTHROPIC_API_KEY", "secret"),
        ("LD_PRELOAD", "evil"),
        ("MINE", "1"),
    ]);
    let mut names: Vec<_> = kit::process::minimal_environment(&env, &["MINE"]);
    names.sort();
    let names: Vec<_> = names.iter().map(|(name, _)| name.to_str().unwrap()).collect();
    assert_eq!(names, ["LC_ALL", "MINE", "PATH", "https_proxy"]);
}
