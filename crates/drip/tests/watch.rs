//! `drip watch` beside a reader: what it leaves is used, at every size, and never believed against the file.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: starts a child and fails by panicking"
)]

use std::fs;
use std::process::{Child, Stdio};

use store::sqlite::rusqlite::Connection;
use testkit::{Home, PATIENCE, bin, until};

struct Watcher(Child);

impl Watcher {
    fn start(home: &Home) -> Watcher {
        let mut command = home.command(bin("drip"));
        command.args(["watch", "."]).env("DRIP_WATCH_RESCAN_MS", "100").current_dir(home.path());
        Watcher(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn read(home: &Home) -> String {
    let mut command = home.command(bin("drip"));
    command.args(["read", "a.txt"]).env("DRIP_SESSION_ID", "s").env("DRIP_DIFF_POLICY", "cheapest");
    home.run(command.current_dir(home.path())).ok().stdout
}

/// How many comparisons are waiting for their reader.
fn foreseen(home: &Home) -> i64 {
    let store = Connection::open(home.data().join("drip/sessions.db")).unwrap();
    store.query_row("SELECT count(*) FROM precomputed_reads", [], |row| row.get(0)).unwrap_or(0)
}

fn text(lines: usize, changed: &str) -> String {
    (0..lines)
        .map(|number| if number == lines / 2 { format!("{changed}\n") } else { format!("line {number}\n") })
        .collect()
}

#[test]
fn a_change_is_compared_before_it_is_asked_for_at_every_size() {
    for lines in [100, 20_000] {
        let home = Home::new();
        home.write("a.txt", text(lines, "before"));
        read(&home);
        let _watcher = Watcher::start(&home);
        home.write("a.txt", text(lines, "after"));
        assert!(until(PATIENCE, || foreseen(&home) == 1), "nothing was compared");
        let said = read(&home);
        assert!(said.starts_with("[DRIP: delta only | ") && said.contains("after"), "{said}");
    }
}

#[test]
fn a_comparison_that_is_stale_or_made_up_is_not_believed() {
    let home = Home::new();
    home.write("a.txt", text(300, "before"));
    read(&home);
    {
        let _watcher = Watcher::start(&home);
        home.write("a.txt", text(300, "between"));
        assert!(until(PATIENCE, || foreseen(&home) == 1), "nothing was compared");
    }
    home.write("a.txt", text(300, "after"));
    let said = read(&home);
    assert!(said.contains("after") && !said.contains("between"), "{said}");

    home.write("a.txt", text(300, "last"));
    let watcher = Watcher::start(&home);
    let store = Connection::open(home.data().join("drip/sessions.db")).unwrap();
    let lie = "UPDATE precomputed_reads SET diff_text = '[]' WHERE diff_text <> '[]'";
    assert!(until(PATIENCE, || store.execute(lie, []).unwrap_or(0) == 1), "nothing was compared");
    drop(watcher);
    let said = read(&home);
    assert!(said.contains("last"), "{said}");
}

#[test]
fn what_others_may_not_read_is_not_compared() {
    let home = Home::new();
    home.write("a.txt", text(100, "before"));
    read(&home);
    home.write(".dripignore", "a.txt\n");
    let _watcher = Watcher::start(&home);
    home.write("a.txt", text(100, "after"));
    home.write("b.txt", text(100, "x"));
    fs::remove_file(home.path().join("b.txt")).unwrap();
    assert!(
        !until(std::time::Duration::from_millis(600), || foreseen(&home) > 0),
        "an ignored file was compared"
    );
}
