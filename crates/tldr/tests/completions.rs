//! Completions, asked for where people ask for them: with the tab key of a real shell.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use testkit::terminal::Size;
use testkit::{Home, PATIENCE, Terminal, bin};

#[test]
fn a_tab_finishes_a_command_a_flag_and_its_value() {
    let shells: [(&str, &[&str], &str); 3] = [
        ("bash", &["--norc", "--noprofile", "-i"], ""),
        ("zsh", &["-f", "-i"], "autoload -U compinit && compinit -u -D; "),
        ("fish", &["--no-config", "-i"], ""),
    ];
    for (shell, args, before) in shells {
        let home = Home::new();
        let script = home.run(home.command(bin("tldr")).args(["completions", shell])).ok().stdout;
        let script = home.write(format!("tldr.{shell}"), script);
        let terminal = Terminal::spawn(&home, shell, args, Size::default());
        terminal.send(&format!("{before}source {} && echo rea''dy\r", script.display()));
        terminal.wait_for("ready", PATIENCE);
        for (typed, finished) in [
            ("tldr sli\t", "tldr slice "),
            ("a.py f 1 --dir\t", "tldr slice a.py f 1 --direction "),
            ("forw\t", "tldr slice a.py f 1 --direction forward"),
        ] {
            terminal.send(typed);
            // One of them joins a flag to its value.
            terminal.wait_for(|screen: &str| screen.replace('=', " ").contains(finished), PATIENCE);
        }
    }
}
