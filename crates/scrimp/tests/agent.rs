//! The agent through the front door: opened by nothing but a provider's name, at work behind the same wall, and counted.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test: fixtures are plain files")]

use insta::assert_snapshot;
use testkit::model::{Server, Wire, turn};
use testkit::terminal::{Key, Size, Terminal};
use testkit::{Home, PATIENCE, bin};

#[test]
fn whoever_has_named_a_provider_and_types_nothing_gets_a_conversation() {
    let home = Home::new();
    let server = Server::scripted([turn().say("Hello.").stream(Wire::Anthropic)]);
    let (url, scrimp) = (format!("ANTHROPIC_BASE_URL={}", server.url()), bin("scrimp"));
    let args = [url.as_str(), "ANTHROPIC_API_KEY=secret", scrimp.to_str().unwrap()];
    let mut terminal = Terminal::spawn(&home, "env", &args, Size { rows: 30, cols: 120 });
    terminal.wait_for("/help says what can be typed", PATIENCE);
    terminal.send("hi");
    terminal.key(Key::Enter);
    terminal.wait_for("Hello.", PATIENCE);
    terminal.send("/exit");
    terminal.key(Key::Enter);
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    assert_eq!(server.finish()[0].header("x-api-key"), Some("secret"));
}

#[test]
fn its_commands_run_behind_the_wall_and_its_reads_are_counted() {
    let home = Home::new();
    let text: String = (1..=200).map(|number| format!("line number {number} of many\n")).collect();
    home.write("p/a.txt", text);
    let look = || turn().call("read_file", &json("path", "a.txt")).stream(Wire::Anthropic);
    let outside = home.path().join("outside");
    let command = format!("touch made; touch {} || echo refused", outside.display());
    let server = Server::scripted([
        look(),
        look(),
        turn().call("bash", &json("command", &command)).stream(Wire::Anthropic),
        turn().say("Done.").stream(Wire::Anthropic),
    ]);
    let mut agent = home.command(bin("scrimp"));
    agent.args(["agent", "--api-url", &server.url(), "--permission", "all", "go"]);
    assert_eq!(home.run(agent.current_dir(home.path().join("p"))).ok().stdout, "Done.\n");
    assert!(home.path().join("p/made").exists());
    let told = server.finish()[3].json().to_string();
    assert!(told.contains("refused") && !outside.exists(), "{told}");
    assert_snapshot!(home.run(home.command(bin("scrimp")).arg("savings")).transcript(), @r"
    agent  file reads  2,792 tokens -> 1,424  49 % less
    [exit status: 0]
    ");
}

fn json(name: &str, value: &str) -> serde_json::Value {
    serde_json::json!({name: value})
}
