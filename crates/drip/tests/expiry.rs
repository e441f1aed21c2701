//! The end of a session, when there are many of them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use testkit::{Home, bin};

#[test]
fn an_idle_session_is_over_however_many_others_are() {
    let home = Home::new();
    let clock = home.clock();
    home.write("a.txt", "a line of text that is long enough to be worth it\n".repeat(40));
    let read = |session: &str, args: &[&str]| {
        let mut command = home.command(bin("drip"));
        command.args(["read", "a.txt"]).args(args).env("DRIP_SESSION_ID", session).current_dir(home.path());
        home.run(&mut command).ok().stdout
    };
    for number in 0..70 {
        read(&format!("s{number:02}"), &[]);
    }
    assert!(read("s69", &[]).starts_with("[DRIP: unchanged since last read"));
    clock.advance(Duration::from_secs(3 * 3600));
    assert!(read("s69", &["--lines", "1-9"]).starts_with("[DRIP: lines 1-9 of 40"));
    let said = read("s69", &["--lines", "20-29"]);
    assert!(
        said.starts_with("[DRIP: lines 20-29 of 40"),
        "what was shown three hours ago counts again: {said}"
    );
}
