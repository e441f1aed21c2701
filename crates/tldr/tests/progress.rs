//! Long work, watched: somebody at a terminal sees how far it has come and keeps nothing of it on the screen; a program that
//! reads us gets the answer and not a byte more.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and runs plain programs"
)]

use std::fmt::Write as _;

use kit::text::thousands;
use testkit::terminal::Size;
use testkit::{Home, PATIENCE, Terminal, bin};

/// More than one thread reads in the time for which nothing is shown, and not so much that a busy machine is at it for half a
/// minute: a build for speed takes a sixth of the time.
const FILES: usize = 600;
const FUNCTIONS: usize = if cfg!(debug_assertions) { 16 } else { 96 };

fn large_project() -> Home {
    let home = Home::new();
    for file in 0..FILES {
        let mut text = String::new();
        for at in 0..FUNCTIONS {
            let next = at * 7 % FUNCTIONS;
            write!(text, "def f{at}(a):\n    b = f{next}(a)\n    if b.x > {at}:\n        return b.y(a)\n    return b\n\n")
                .unwrap();
        }
        home.write(format!("p/m{file}.py"), text);
    }
    home
}

#[test]
fn a_terminal_shows_how_far_it_is_and_then_the_answer_alone() {
    let home = large_project();
    let project = home.path().join("p");
    let tldr = bin("tldr");
    let args = ["calls", "--format", "text", "--max-tokens", "40", "--project"];
    let plain = home.run(home.command(&tldr).args(args).arg(&project)).ok();
    let edges = format!("{} edges", thousands((FILES * FUNCTIONS) as u64));
    assert!(plain.stdout.contains(&edges), "{}", plain.stdout);
    assert_eq!(plain.stderr, "");

    home.run(home.command(&tldr).args(["cache", "clear", "--project"]).arg(&project)).ok();
    let one_thread = ["RAYON_NUM_THREADS=1", tldr.to_str().unwrap()];
    let all: Vec<&str> = [&one_thread[..], &args, &[project.to_str().unwrap()]].concat();
    let mut terminal = Terminal::spawn(&home, "env", &all, Size::default());
    let is_bar = |screen: &str| screen.contains("of 600 files") || screen.contains("600 files read");
    terminal.wait_for(|screen: &str| is_bar(screen), PATIENCE);
    assert_eq!(terminal.exit_code(PATIENCE), 0);
    let screen = terminal.screen();
    assert!(!is_bar(&screen), "{screen}");
    assert_eq!(
        screen.lines().map(str::trim_end).collect::<Vec<_>>(),
        plain.stdout.lines().collect::<Vec<_>>()
    );
}
