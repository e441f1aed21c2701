//! zsh: one socket, one ghost.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::{Key, PATIENCE, Shell, until};

use crate::ground::{Ground, Kind};

#[test]
fn the_next_command_stands_in_grey_on_the_empty_line_and_a_key_takes_it() {
    for accept in [Key::Right, Key::End, Key::Ctrl('f'), Key::Ctrl('e'), Key::Alt('j')] {
        let ground = Ground::new();
        ground.daemon.suggest(&["git push", "git status"]);
        let shell = ground.shell(Kind::Zsh);
        shell.wait_for("$ git push", PATIENCE);
        assert!(shell.style_of("git push").is_faint());
        shell.key(Key::Alt('k'));
        shell.wait_for("$ git status", PATIENCE);
        assert!(shell.style_of("git status").is_faint());
        shell.key(Key::Alt('i'));
        shell.wait_for("clai: git status: freq_repo of 10", PATIENCE);
        shell.key(accept);
        shell.wait_for(|_: &str| shell.cursor().1 == 12, PATIENCE);
        assert!(!shell.style_of("$ git status").is_faint(), "{accept:?}");
    }
}

#[test]
fn no_child_of_ours_is_left_to_end_while_zsh_draws() {
    let ground = Ground::new();
    let shell = ground.bare(Kind::Zsh);
    shell.run_line(
        "seen=(); look() { local kids; read -r kids </proc/$$/task/$$/children; seen+=(\"<$kids>\") }",
    );
    shell.run_line(&format!(" source {}; precmd_functions+=(look)", ground.script(Kind::Zsh).display()));
    assert_eq!(ground.daemon.connections(), 2, "of the helper and of the shell");
    assert_eq!(shell.run_line(" print -r -- $seen"), "<>");
}

#[test]
fn the_ghost_goes_when_a_letter_comes_and_the_keys_do_what_they_did() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.shell(Kind::Zsh);
    shell.wait_for("$ git push", PATIENCE);
    shell.send("ec");
    shell.wait_for(|screen: &str| screen.trim_end().ends_with("$ ec"), PATIENCE);
    shell.key(Key::Left);
    shell.key(Key::Right);
    shell.send("ho x");
    shell.key(Key::Ctrl('a'));
    shell.key(Key::Ctrl('e'));
    shell.send("y");
    shell.key(Key::Enter);
    shell.wait_for("\nxy\n", PATIENCE);
    ground.settled("echo xy");
}

#[test]
fn what_is_begun_is_finished_by_a_key_without_a_process() {
    let ground = Ground::new();
    ground.daemon.suggest(&["make", "git commit", "git clone"]);
    let shell = ground.shell(Kind::Zsh);
    offered(&shell, "$ make");
    shell.send("git c");
    shell.key(Key::Alt('j'));
    shell.wait_for("$ git commit", PATIENCE);
    shell.key(Key::Alt('k'));
    shell.wait_for("$ git clone", PATIENCE);
    shell.key(Key::Alt('i'));
    shell.wait_for("clai: git clone: freq_repo of 9", PATIENCE);
    // Of what nobody knows, nothing comes; and what was typed stays.
    shell.key(Key::Ctrl('u'));
    shell.send("xyz");
    shell.key(Key::Alt('k'));
    shell.send("!");
    shell.wait_for("$ xyz!", PATIENCE);
}

#[test]
fn nothing_of_the_ghost_is_left_behind_enter() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.shell(Kind::Zsh);
    shell.wait_for("$ git push", PATIENCE);
    shell.key(Key::Enter);
    let rows = |screen: &str| screen.lines().map(|row| row.trim_end().to_owned()).collect::<Vec<_>>();
    shell.wait_for(|screen: &str| rows(screen)[1..] == ["$", "$ git push"], PATIENCE);
}

#[test]
fn what_drives_terminals_is_taken_out_of_the_ghost_but_not_of_the_command() {
    let ground = Ground::new();
    ground.daemon.suggest(&["printf '\u{1b}[31m\u{202e}%s' a\nb"]);
    let shell = ground.shell(Kind::Zsh);
    shell.wait_for("$ printf '[31m%s' a⏎b", PATIENCE);
    assert!(shell.style_of("printf '[31m%s' a⏎b").is_faint());
    shell.key(Key::Right);
    shell.wait_for("'^[[31m", PATIENCE);
}

#[test]
fn a_long_ghost_does_not_wrap() {
    let ground = Ground::new();
    ground.daemon.suggest(&["x".repeat(200).as_str()]);
    let shell = ground.shell(Kind::Zsh);
    shell.wait_for("x…", PATIENCE);
    assert_eq!(shell.cursor().1, 2);
    assert_eq!(shell.screen().lines().count(), 2, "{}", shell.screen());
}

#[test]
fn all_prompts_take_one_connection_and_no_process() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.shell(Kind::Zsh);
    offered(&shell, "$ git push");
    let connections = ground.daemon.connections();
    // The helper may go: it was needed for the session only.
    shell.run_line("__clai_hook=/nowhere");
    let lines: Vec<String> = (0..20).map(|number| format!("echo {number}")).collect();
    lines.iter().for_each(|line| drop(shell.run_line(line)));
    let mut expected = vec!["__clai_hook=/nowhere"];
    expected.extend(lines.iter().map(String::as_str));
    ground.expect(&expected);
    assert_eq!(ground.daemon.connections(), connections);
}

#[test]
fn a_daemon_that_comes_back_is_found_again() {
    let ground = Ground::new();
    let shell = ground.shell(Kind::Zsh);
    shell.run_line("echo one");
    ground.expect(&["echo one"]);
    ground.daemon.hang_up();
    fs::remove_file(ground.daemon.socket()).unwrap();
    shell.run_line("echo lost");
    ground.daemon.listen();
    shell.run_line("echo two");
    ground.expect(&["echo one", "echo two"]);
}

/// A write to it is a signal, which the shell survives.
#[test]
fn a_daemon_that_ends_while_a_command_runs_is_told_of_it_when_it_is_back() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.shell(Kind::Zsh);
    offered(&shell, "$ git push");
    let long = "touch begun; until [[ -e go ]]; do zselect -t 1; done; echo through";
    shell.send(long);
    shell.key(Key::Enter);
    assert!(until(PATIENCE, || ground.home.path().join("begun").exists()));
    ground.daemon.hang_up();
    ground.home.write("go", "");
    shell.wait_for("\nthrough", PATIENCE);
    shell.run_line("echo and on");
    ground.expect(&[long, "echo and on"]);
}

#[test]
fn a_daemon_that_stops_reading_costs_events_and_no_time() {
    let ground = Ground::new();
    ground.daemon.take_only(0);
    let shell = ground.shell(Kind::Zsh);
    // Each takes 4 KB of a buffer of some 200 KB; what does not fit is dropped.
    shell.run_line("for i in {1..200}; do __clai_send 0 ${(l:4000::x:)} 1; done; echo $__clai_fd > fd");
    shell.run_line("echo after");
    assert_ne!(ground.home.read("fd").trim(), "", "the connection stays");
    ground.daemon.wake();
    let heard = || ground.daemon.events().iter().any(|event| event.cmd_raw == "echo awake");
    assert!(until(PATIENCE, || !shell.run_line("echo awake").is_empty() && heard()));
    let events = ground.daemon.events();
    assert!(events.len() < 200, "{}", events.len());
    assert!(events.len() > 5, "{}", events.len());
}

/// A shell with a key that shows how many answers it has read, and what it holds as the last.
fn telling(ground: &Ground) -> Shell {
    let shell = ground.shell(Kind::Zsh);
    offered(&shell, "$ git push");
    shell.run_line("tell() { BUFFER=\"$__clai_answered<$__clai_next>\" }; zle -N tell; bindkey ^T tell");
    shell.wait_for("$ git push", PATIENCE);
    shell
}

/// Asks until so many answers were read.
#[track_caller]
fn held(shell: &Shell, answers: usize) -> String {
    let mut held = String::new();
    let read = until(PATIENCE, || {
        shell.key(Key::Ctrl('t'));
        let line = shell.wait_for(|screen: &str| screen.trim_end().ends_with('>'), PATIENCE);
        shell.key(Key::Ctrl('u'));
        shell.wait_for(|screen: &str| !screen.trim_end().ends_with('>'), PATIENCE);
        held = line.lines().last().unwrap().trim_end().to_owned();
        held.starts_with(&format!("$ {answers}<"))
    });
    assert!(read, "{held}");
    held
}

fn answers(shell: &Shell) -> usize {
    shell.run_line("echo $__clai_answered").parse().unwrap()
}

#[test]
fn an_answer_to_an_earlier_prompt_is_nobodys() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = telling(&ground);
    let before = answers(&shell);
    shell.wait_for("$ git push", PATIENCE);
    ground.daemon.take_only(0);
    shell.run_line("echo one");
    shell.run_line("echo two");
    // The first line and the question behind it.
    ground.daemon.take_only(2);
    assert_eq!(held(&shell, before + 2), format!("$ {}<>", before + 2));
    ground.daemon.suggest(&["git pull"]);
    ground.daemon.wake();
    shell.wait_for("$ git pull", PATIENCE);
}

#[test]
fn switched_off_it_does_not_even_take_what_it_has_asked_for() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = telling(&ground);
    let before = answers(&shell);
    shell.wait_for("$ git push", PATIENCE);
    let asked = ground.daemon.asked();
    ground.daemon.take_only(0);
    shell.run_line("echo one");
    shell.run_line("CLAI_OFF=1");
    ground.daemon.wake();
    assert_eq!(held(&shell, before + 2), format!("$ {}<>", before + 2));
    shell.run_line("unset CLAI_OFF");
    shell.wait_for("$ git push", PATIENCE);
    assert_eq!(ground.daemon.asked(), asked + 2, "behind the first line and behind the last");
}

#[test]
fn a_daemon_that_was_missed_once_is_tried_again_at_once_and_then_more_rarely() {
    let ground = Ground::without_daemon();
    let (_listener, _waiting) = ground.daemon.deaf();
    let shell = ground.shell(Kind::Zsh);
    let state = "echo $__clai_missed $(( __clai_retry > EPOCHSECONDS ))";
    assert_eq!(shell.run_line(state), "1 0");
    assert!(shell.run_line(state).starts_with("5 "));
    let rests = || shell.run_line("(( __clai_retry > EPOCHSECONDS + 2 )) && echo rests") == "rests";
    assert!(until(PATIENCE, rests));
}

#[test]
fn a_guarded_connect_gives_up_and_leaves_no_trace() {
    let ground = Ground::without_daemon();
    let (_listener, _waiting) = ground.daemon.deaf();
    let shell = ground.bare(Kind::Zsh);
    shell.run_line("trap 'echo urgent' URG");
    ground.load(&shell, Kind::Zsh);
    ground
        .home
        .write("five", "repeat 5 { __clai_retry=0; __clai_link && echo linked }; zselect -t 5; jobs; trap");
    assert_eq!(shell.run_line("source ./five"), "trap -- 'echo urgent' URG");
    // Neither descriptors nor children of the guard stay.
    let before = shell.run_line("echo /proc/$$/fd/*(N:t)");
    shell.run_line("__clai_retry=0; __clai_link");
    assert_eq!(shell.run_line("echo /proc/$$/fd/*(N:t)"), before);
    let pid = shell.run_line("echo $$");
    let children = Path::new("/proc").join(&pid).join("task").join(&pid).join("children");
    assert!(until(PATIENCE, || fs::read_to_string(&children).unwrap().is_empty()));
}

#[test]
fn a_socket_of_somebody_else_is_not_spoken_to() {
    let ground = Ground::new();
    testkit::hostile::give_away(ground.daemon.socket());
    let shell = ground.shell(Kind::Zsh);
    shell.run_line("echo one");
    shell.run_line("echo two");
    assert_eq!(ground.daemon.connections(), 0);
}

#[test]
fn lines_that_zsh_is_told_to_ignore_are_ignored() {
    let ground = Ground::new();
    let shell = ground.shell(Kind::Zsh);
    for line in
        ["HISTORY_IGNORE='(ls|cd *|*secret*)'", "ls", "cd /", "echo secret", "echo one", " echo spaced"]
    {
        shell.run_line(line);
    }
    shell.run_line("setopt hist_ignore_space");
    shell.run_line(" echo hushed");
    shell.run_line("echo end");
    // Without the option a space means nothing in zsh.
    ground.expect(&["echo one", " echo spaced", "setopt hist_ignore_space", "echo end"]);
}

#[test]
fn keys_that_somebody_has_bound_stay() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.bare(Kind::Zsh);
    shell.run_line("bindkey '^[j' kill-line '^[k' kill-line '^F' kill-word");
    ground.load(&shell, Kind::Zsh);
    shell.wait_for("$ git push", PATIENCE);
    for (key, widget) in
        [("^[j", "kill-line"), ("^[k", "kill-line"), ("^F", "kill-word"), ("^[i", "__clai_why")]
    {
        assert_eq!(shell.run_line(&format!("bindkey '{key}'")), format!("\"{key}\" {widget}"));
    }
    for (key, widget) in [("^[[A", "up-line-or-history"), ("^I", "expand-or-complete"), ("^M", "accept-line")]
    {
        assert_eq!(shell.run_line(&format!("bindkey '{key}'")), format!("\"{key}\" {widget}"));
    }
}

#[test]
fn odd_options_and_own_hooks_of_the_user_do_no_harm() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.bare(Kind::Zsh);
    shell.run_line("setopt ksh_arrays sh_word_split no_unset no_clobber warn_create_global glob_subst");
    shell.run_line("precmd() { print -r precmd $? }; preexec() { print -r preexec \"$1\" }");
    ground.load(&shell, Kind::Zsh);
    offered(&shell, "$ git push");
    assert_eq!(shell.run_line("false"), "preexec false\nprecmd 1");
    shell.wait_for("$ git push", PATIENCE);
    shell.key(Key::Right);
    shell.wait_for(|_: &str| shell.cursor().1 == 10, PATIENCE);
    shell.key(Key::Ctrl('u'));
    ground.expect(&["false"]);
}

/// Waits until zsh has met the daemon. A prompt has ten milliseconds for that; where the machine is busy it goes without,
/// and one of the next tries again.
#[track_caller]
fn offered(shell: &Shell, hint: &str) {
    let mut asked = Instant::now();
    let is_shown = |screen: &str| {
        let is_shown = screen.contains(hint);
        if !is_shown && asked.elapsed() > Duration::from_secs(1) {
            shell.key(Key::Enter);
            asked = Instant::now();
        }
        is_shown
    };
    shell.wait_for(is_shown, PATIENCE);
}

#[test]
fn without_sockets_in_zsh_the_helper_is_taken() {
    let ground = Ground::new();
    let shell = ground.bare(Kind::Zsh);
    shell.run_line("zmodload() { [[ $* != *socket* ]] && builtin zmodload \"$@\" }");
    ground.load(&shell, Kind::Zsh);
    shell.run_line("echo 'one\ntwo'");
    ground.settled("echo 'one\ntwo'");
    assert_eq!(shell.run_line("echo $!"), "0");
}

/// Plugins that share the line with us, where systems put them.
fn with_plugins(ground: &Ground, before: bool) -> Shell {
    let plugins = ["autosuggestions", "syntax-highlighting"].map(|plugin| {
        let folders = ["/usr/share", "/usr/share/zsh/plugins", "/opt/homebrew/share"];
        let mut paths = folders.iter().map(|folder| format!("{folder}/zsh-{plugin}/zsh-{plugin}.zsh"));
        let found = paths.find(|path| Path::new(path).exists());
        found.unwrap_or_else(|| panic!("zsh-{plugin} is not installed: `cargo xtask test` says how"))
    });
    let mut scripts = plugins.to_vec();
    scripts.insert(if before { 0 } else { 2 }, ground.script(Kind::Zsh).display().to_string());
    let lines: Vec<String> = scripts.iter().map(|path| format!("source {path}\n")).collect();
    let shell = ground.bare(Kind::Zsh);
    shell.run_line(&format!("source {}", ground.home.write("rc", lines.concat()).display()));
    shell
}

#[test]
fn the_ghost_lives_beside_autosuggestions_and_highlighting() {
    for before in [true, false] {
        let ground = Ground::new();
        ground.daemon.suggest(&["git push", "make test"]);
        let shell = with_plugins(&ground, before);
        shell.run_line("echo hello");
        shell.wait_for("$ git push", PATIENCE);
        assert!(shell.style_of("git push").is_faint(), "{before}");
        shell.key(Key::Right);
        shell.wait_for(|_: &str| shell.cursor().1 == 10, PATIENCE);
        shell.key(Key::Ctrl('u'));
        // What is being typed is theirs to complete, with our commands first and their history behind.
        shell.send("mak");
        shell.wait_for("$ make test", PATIENCE);
        assert!(shell.style_of("e test").is_faint());
        shell.key(Key::Ctrl('u'));
        shell.send("echo h");
        shell.wait_for("$ echo hello", PATIENCE);
        shell.key(Key::Right);
        shell.key(Key::Enter);
        shell.wait_for("hello\n$", PATIENCE);
        ground.settled("echo hello");
    }
}
