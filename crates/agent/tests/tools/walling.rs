//! Commands behind the wall: what the kernel refuses, and what is said of it. Our own binary puts the wall up.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use agent::sandbox::{COMMAND, Held, Network, Policy, Report, Sandbox};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::json;

use super::shop::Shop;

fn walled(network: Network) -> Shop {
    let mut shop = Shop::new();
    shop.workshop.undo = None;
    let write = vec![shop.workshop.project.root().to_owned(), shop.home.temp()];
    shop.workshop.sandbox =
        Some(Sandbox::new(env!("CARGO_BIN_EXE_agent").into(), Vec::new(), Policy { write, network }));
    shop
}

fn run(shop: &mut Shop, command: &str) -> String {
    shop.call("bash", json!({"command": command})).content
}

fn report(shop: &Shop) -> Report {
    let scratch = shop.home.path().join("spill");
    shop.workshop.sandbox.as_ref().unwrap().test(&scratch, &shop.workshop.environment)
}

#[test]
fn writing_is_for_the_project_and_the_temporary_directory() {
    let mut shop = walled(Network::Closed);
    shop.home.write("out/file", "mine\n");
    symlink("../out", shop.file("door")).unwrap();
    let told = run(
        &mut shop,
        "echo a > a && mkdir -p d/e && mv a d/e/ && cat d/e/a && rm -r d && echo x > $TMPDIR/x && cp $TMPDIR/x y && mv y $TMPDIR/ && echo done",
    );
    assert_eq!(told, "a\ndone\n");
    assert_eq!(run(&mut shop, "echo x > /dev/null && cat ../out/file door/file"), "mine\nmine\n");
    let tries = [
        "echo no > ../out/new",
        "echo no > ../out/file",
        "echo no >> door/file",
        "rm ../out/file",
        "mv ../out/file .",
        "ln ../out/file here && echo no > here",
        "truncate -s 0 ../out/file",
        "mkdir ../out/d",
        "ln -s x ../out/l",
        "mkfifo ../out/f",
        "setsid bash -c 'echo no > ../out/new'",
        "(bash -c 'bash -c \"echo no > ../out/new\"')",
        "cp /bin/true ./t && ./t && echo no > ../out/new",
    ];
    for command in tries {
        let told = run(&mut shop, command);
        assert!(told.contains("denied") || told.contains("cross-device"), "{command}: {told}");
        assert_eq!(shop.home.read("out/file"), "mine\n", "{command}");
        assert_eq!(std::fs::read_dir(shop.home.path().join("out")).unwrap().count(), 1, "{command}");
    }
}

#[test]
fn no_key_is_pressed_for_the_person() {
    for network in [Network::Closed, Network::Open] {
        let mut shop = walled(network);
        let told = run(&mut shop, r#"perl -e 'my $key = "y"; ioctl(STDIN, 0x5412, $key) or print "$!\n"'"#);
        assert!(
            told.starts_with("Operation not permitted"),
            "not even of a stream that is no terminal: {told}"
        );
    }
}

#[test]
fn no_socket_but_a_unix_one_is_had_unless_the_network_is_open() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let tcp = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo connected");
    let udp = "(exec 3<>/dev/udp/127.0.0.1/9) && echo connected";
    let mut shop = walled(Network::Closed);
    for command in [tcp.as_str(), udp] {
        let told = run(&mut shop, command);
        assert!(told.contains("Operation not permitted") && !told.contains("connected"), "{told}");
    }
    let mut shop = walled(Network::Open);
    for command in [tcp.as_str(), udp] {
        assert_eq!(run(&mut shop, command), "connected\n");
    }
    assert!(run(&mut shop, "echo no > ../spill/x").contains("denied"), "files are closed all the same");
}

#[test]
fn a_command_behind_the_wall_behaves_as_before_it() {
    let mut shop = walled(Network::Closed);
    assert_eq!(run(&mut shop, "echo out; echo err >&2; exit 3"), "out\n--- stderr ---\nerr\n[exit status 3]");
    assert_eq!(run(&mut shop, "echo $SCRIMP_SANDBOX").split(' ').next(), Some("version"));
    let mark = format!("3604.{}", std::process::id());
    let mut shop = shop.patience(Duration::from_millis(500));
    let told = run(&mut shop, &format!("trap '' TERM; sleep {mark} & sleep {mark}"));
    assert!(told.contains("timed out"), "{told}");
}

#[test]
fn the_test_tells_what_is_held() {
    let closed = report(&walled(Network::Closed));
    assert!(closed.holds(), "{closed}");
    assert_eq!((closed.writes, closed.tcp, closed.udp), (Held::Refused, Held::Refused, Held::Refused));
    assert!(closed.landlock.starts_with("version "), "{closed}");
    assert!(walled(Network::Closed).workshop.sandbox.unwrap().holds_files());
    let open = report(&walled(Network::Open));
    assert_eq!((open.writes, open.tcp, open.udp), (Held::Refused, Held::Open, Held::Open));
    assert!(open.holds() && open.to_string().contains("TCP: open, as you allowed"), "{open}");
    assert!(open.to_string().contains("Unix sockets, such as docker's: possible"), "{open}");
}

/// A kernel without Landlock, as the helper sees it: the system calls are not there.
#[test]
fn without_landlock_the_network_is_still_closed_and_the_rest_is_told() {
    let [report, ran] = thread::spawn(|| {
        let absent = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let rules = BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]);
        let arch = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, absent, arch).unwrap();
        let filter: BpfProgram = filter.try_into().unwrap();
        seccompiler::apply_filter(&filter).unwrap();
        let mut shop = walled(Network::Closed);
        [
            report(&shop).to_string(),
            run(&mut shop, "echo works; (exec 3<>/dev/udp/127.0.0.1/9) || echo closed"),
        ]
    })
    .join()
    .unwrap();
    assert!(
        report.starts_with("writing outside of the project and the temporary directory: POSSIBLE"),
        "{report}"
    );
    assert!(
        report.contains("TCP: refused") && report.contains("Landlock: not part of this kernel"),
        "{report}"
    );
    assert!(ran.starts_with("works\nclosed\n"), "{ran}");
}

#[test]
fn a_sandbox_that_does_not_work_says_why_and_runs_nothing() {
    let mut shop = walled(Network::Closed);
    let policy = shop.workshop.sandbox.as_ref().unwrap().policy().clone();
    shop.workshop.sandbox = Some(Sandbox::new("/nowhere/agent".into(), Vec::new(), policy));
    let report = report(&shop);
    assert!(!report.holds() && report.to_string().starts_with("the sandbox does not work: "), "{report}");
    assert!(run(&mut shop, "echo ran > ran").starts_with("bash could not be started: "));
    assert!(!shop.file("ran").exists());
    let works = walled(Network::Closed);
    let nowhere = works.workshop.sandbox.as_ref().unwrap().test(&works.file("gone"), &[]);
    assert!(nowhere.to_string().starts_with("the sandbox does not work: cannot try it in "), "{nowhere}");
    let agent = PathBuf::from(env!("CARGO_BIN_EXE_agent"));
    for words in [&[][..], &["--write"], &["--"], &["--odd", "--", "true"], &["true"]] {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut command = shop.home.command(&agent);
        let output = shop.home.run(command.arg(COMMAND).args(&words));
        assert!(output.code != 0 && !output.stderr.is_empty(), "{words:?}: {}", output.transcript());
    }
}
