//! Terminals and shells, all real.

use std::time::Duration;

use testkit::terminal::Size;
use testkit::{Home, Key, PATIENCE, Shell, Terminal, panic_of, until};

const SOON: Duration = Duration::from_millis(50);

fn sh(home: &Home, script: &str) -> Terminal {
    Terminal::spawn(home, "sh", &["-c", script], Size::default())
}

#[test]
fn a_program_in_a_terminal_is_seen_typed_to_and_its_end_is_told() {
    let home = Home::new();
    let mut terminal = sh(&home, "printf 'name? '; read name; echo \"hello $name in $HOME\"; exit 7");
    terminal.wait_for("name? ", PATIENCE);
    assert_eq!(terminal.cursor(), (0, 6));
    terminal.send("ada");
    terminal.key(Key::Enter);
    let screen = terminal.wait_for(|screen: &str| screen.lines().count() == 2, PATIENCE);
    assert_eq!(screen, format!("name? ada\nhello ada in {}", home.path().display()));
    assert_eq!(terminal.exit_code(PATIENCE), 7);
}

#[test]
fn what_never_comes_is_told_with_a_picture_of_the_screen() {
    let home = Home::new();
    let mut terminal = sh(&home, "echo here; cat");
    terminal.wait_for("here", PATIENCE);
    let message = panic_of(|| terminal.wait_for("there", SOON));
    assert!(message.starts_with("waited 50ms for \"there\"\n+------+\n| here |"), "{message}");
    let message = panic_of(|| terminal.exit_code(SOON));
    assert!(message.contains("waited 50ms for the end: None\n") && message.contains("| here |"), "{message}");
    assert!(panic_of(|| terminal.style_of("there")).contains("no \"there\""));
}

#[test]
fn styles_tell_ghosts_from_typed_text() {
    let home = Home::new();
    let terminal = sh(
        &home,
        "printf 'a git \\033[2mstatus\\033[0m \\033[90mlog\\033[0m \\033[1;3;4;7mx\\033[0m 日\\033[2m本'; cat",
    );
    terminal.wait_for("本", PATIENCE);
    assert!(terminal.style_of("status").dim && terminal.style_of("status").is_faint());
    assert!(!terminal.style_of("log").dim && terminal.style_of("log").is_faint());
    assert!(!terminal.style_of("a git ").is_faint());
    assert!(!terminal.style_of("日").dim && terminal.style_of("本").dim);
    let x = terminal.style_of("x");
    assert!(x.bold && x.italic && x.underline && x.inverse);
    assert!(panic_of(|| terminal.style_of("git status")).contains("several styles"));
}

#[test]
fn a_program_learns_its_size_and_a_new_one() {
    let home = Home::new();
    let script = "trap 'stty size' WINCH; stty size; while :; do read x; done";
    let terminal = Terminal::spawn(&home, "bash", &["-c", script], Size { rows: 10, cols: 40 });
    terminal.wait_for("10 40", PATIENCE);
    terminal.resize(Size { rows: 12, cols: 50 });
    terminal.send("\r");
    terminal.wait_for("12 50", PATIENCE);
}

#[test]
fn a_terminal_answers_what_programs_ask_it() {
    let home = Home::new();
    let script =
        "stty raw -echo; printf 'ab\\033[6n\\033[c'; head -c 15 | od -An -c | tr -d ' \\n'; stty sane; cat";
    let terminal = sh(&home, script);
    terminal.wait_for("ab033[1;3R033[?62;22c", PATIENCE);
}

#[test]
fn keys_send_what_a_terminal_sends() {
    let home = Home::new();
    let terminal = sh(
        &home,
        "stty raw -echo; printf 'ready\\r\\n'; head -c 14 | od -An -c | tr -d ' \\n'; stty sane; cat",
    );
    terminal.wait_for("ready", PATIENCE);
    for key in [
        Key::Up,
        Key::Ctrl('c'),
        Key::Alt('f'),
        Key::Escape,
        Key::Tab,
        Key::Backspace,
        Key::Enter,
        Key::Delete,
    ] {
        terminal.key(key);
    }
    terminal.wait_for("033[A003033f033\\t177\\r033[3", PATIENCE);
    let terminal =
        sh(&home, "stty raw -echo; printf 'ready\\033[?1h\\r\\n'; head -c 3 | od -An -c; stty sane; cat");
    terminal.wait_for(|screen: &str| screen == "ready", PATIENCE);
    assert!(until(PATIENCE, || terminal.cursor() == (1, 0)), "the mode was read before the line end");
    terminal.key(Key::Up);
    terminal.wait_for("033   O   A", PATIENCE);
}

#[test]
fn a_terminal_that_goes_away_takes_its_programs_with_it() {
    let home = Home::new();
    let terminal = sh(&home, "trap '' HUP TERM INT; echo $$ > pid; echo up; while :; do read x; done");
    terminal.wait_for("up", PATIENCE);
    let pid = home.read("pid").trim().parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
    assert!(rustix::process::test_kill_process(pid).is_ok());
    drop(terminal);
    assert!(rustix::process::test_kill_process(pid).is_err());
}

/// What every shell must be able to do, in its own words for the last exit status.
fn check(mut shell: Shell, status: &str, home: &Home, history: &str) {
    assert_eq!(shell.run_line("echo one; echo two"), "one\ntwo");
    assert_eq!(shell.run_line("cd /; pwd"), "/");
    assert_eq!(shell.run_line(""), "");
    assert_eq!(shell.run_line("clear"), "");
    shell.run_line("sh -c 'exit 3'");
    assert_eq!(shell.run_line(&format!("echo {status}")), "3");
    let many = shell.run_line("seq 100");
    assert!(many.ends_with("98\n99\n100"), "{many}");
    shell.send("echo typed only");
    shell.wait_for("$ echo typed only", PATIENCE);
    shell.key(Key::Ctrl('u'));
    assert_eq!(shell.run_line(""), "");
    shell.key(Key::Up);
    shell.wait_for("$ seq 100", PATIENCE);
    shell.key(Key::Ctrl('u'));
    assert_eq!(shell.run_line(""), "");
    // Only what has spoken is in the foreground, with the terminal's modes set for it.
    shell.send("sh -c 'echo up; exec cat'\r");
    shell.wait_for("\nup", PATIENCE);
    shell.send("looks like a prompt: $ \r");
    shell.wait_for("$ \nlooks", PATIENCE);
    shell.key(Key::Ctrl('c'));
    assert_eq!(shell.run_line("echo back"), "back");
    shell.send("exit 5\r");
    assert_eq!(shell.exit_code(PATIENCE), 5);
    let written = home.read(history);
    assert!(written.contains("echo one; echo two") && written.contains("seq 100"), "{written}");
}

#[test]
fn bash_runs_line_after_line() {
    let home = Home::new();
    check(Shell::bash(&home), "$?", &home, ".bash_history");
}

#[test]
fn zsh_runs_line_after_line() {
    let home = Home::new();
    check(Shell::zsh(&home), "$?", &home, ".zsh_history");
}

#[test]
fn fish_runs_line_after_line() {
    let home = Home::new();
    check(Shell::fish(&home), "$status", &home, ".local/share/fish/fish_history");
}
