//! What holds in every shell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;
use std::{fs, io, iter};

use clai::config::Oversize;
use clai::shells::Loaded;
use testkit::{Key, PATIENCE, Shell, until};

use crate::ground::{Ground, KINDS, Kind};

#[test]
fn every_kind_of_line_is_recorded_as_it_was_typed() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = ground.shell(kind);
        let lines = [
            r#"echo "fix: \"quoted\" work" 'a  b' | cat"#,
            "echo 'a\nb'",
            "echo é日本 👩‍👩‍👧 > /dev/null",
            "false",
            "false",
            "true   # twice  as   long",
            "cd /tmp; sleep 0.15",
        ];
        for line in lines {
            shell.run_line(line);
        }
        let events = ground.expect(&lines);
        let codes: Vec<i32> = events.iter().map(|event| event.exit_code).collect();
        assert_eq!(codes, [0, 0, 0, 1, 1, 0, 0], "{kind:?}");
        let home = ground.home.path().to_str().unwrap();
        assert!(events.iter().all(|event| event.shell == kind && event.session_id == events[0].session_id));
        assert_eq!((&*events[0].cwd, &*events[6].cwd), (home, "/tmp"), "{kind:?}");
        // A busy machine may take seconds for it, but never as many milliseconds as there are microseconds in it.
        let slept = events[6].duration_ms;
        assert!(slept.is_some_and(|ms| (150..150_000).contains(&ms)), "{kind:?}: {slept:?}");
        let age = ground.now() - events[6].ts;
        assert!((0..60_000).contains(&age), "{kind:?}: {age} ms old");
    }
}

/// What a key shall put on the line, in the words of each shell. `code` is an expression that gives it.
fn bind(shell: &Shell, kind: Kind, text: &str) {
    shell.run_line(&match kind {
        Kind::Bash => {
            format!(r#" __t() {{ READLINE_LINE={text}; READLINE_POINT=0; }}; bind -x '"\C-t": __t'"#)
        }
        Kind::Zsh => format!(" __t() {{ BUFFER={text} }}; zle -N __t; bindkey ^T __t"),
        Kind::Fish => format!(" function __t; commandline -r -- {text}; end; bind \\ct __t"),
    });
}

/// A line of so many bytes, two to a character. A substitution of fish now and then takes that for too much.
pub(crate) fn type_long(ground: &Ground, shell: &Shell, kind: Kind, size: usize) {
    ground.home.write("long", format!(": {}{}", "é".repeat((size - 2) / 2), "x".repeat(size % 2)));
    bind(shell, kind, if kind == Kind::Fish { "$long" } else { "\"$(<long)\"" });
    if kind == Kind::Fish {
        shell.run_line(" read -z -g long <long");
    }
    shell.key(Key::Ctrl('t'));
    shell.key(Key::Enter);
}

/// A shell in which a line behind a space is nobody's business.
pub(crate) fn hushed(ground: &Ground, kind: Kind) -> Shell {
    let shell = ground.bare(kind);
    match kind {
        Kind::Bash => drop(shell.run_line("HISTCONTROL=ignorespace")),
        Kind::Zsh => drop(shell.run_line("setopt hist_ignore_space")),
        Kind::Fish => {}
    }
    ground.load(&shell, kind);
    shell
}

#[test]
fn bytes_that_are_no_text_arrive_as_replacements() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = hushed(&ground, kind);
        let text = if kind == Kind::Fish { r"echo\ \Xff\Xfe" } else { r"$'echo \xff\xfe'" };
        bind(&shell, kind, text);
        shell.key(Key::Ctrl('t'));
        shell.key(Key::Enter);
        ground.expect(&["echo \u{fffd}\u{fffd}"]);
    }
}

#[test]
fn a_long_line_takes_the_other_way_and_one_over_the_cap_none() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = hushed(&ground, kind);
        // The last that fits a variable, the first that does not, and the first that no program could be started with.
        let sizes = [32_768, 32_769, 131_072, 200_000, 1_000_000];
        for size in sizes {
            type_long(&ground, &shell, kind, size);
            let arrived = || ground.daemon.events().iter().any(|event| event.cmd_raw.len() == size);
            assert!(size > 262_144 || until(PATIENCE, arrived), "{kind:?}: {size}");
        }
        shell.run_line("echo after");
        let events = ground.settled("echo after");
        let longest = events.iter().map(|event| event.cmd_raw.len()).max();
        assert_eq!(longest, Some(200_000), "{kind:?}");
        assert!(events.iter().all(|event| event.cmd_raw.chars().all(|c| c != '\u{fffd}')), "{kind:?}");
    }
}

/// Gives a line up. fish does not hear it while it thinks about a colour, so, like a person, we say it again.
fn interrupt(shell: &Shell) {
    let row = shell.cursor().0;
    let again = Duration::from_millis(500);
    assert!(until(PATIENCE, || {
        shell.key(Key::Ctrl('c'));
        until(again, || shell.cursor().0 > row)
    }));
}

#[test]
fn what_was_not_run_is_not_recorded() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = ground.shell(kind);
        shell.run_line("echo one");
        shell.run_line("");
        shell.run_line("");
        shell.send("echo never");
        shell.wait_for("echo never", PATIENCE);
        interrupt(&shell);
        let sleeping = r#"sh -c 'printf "be%s\n" gun; exec sleep 60'"#;
        shell.send(sleeping);
        shell.key(Key::Enter);
        shell.wait_for("begun", PATIENCE);
        shell.key(Key::Ctrl('c'));
        shell.run_line("echo two");
        let events = ground.expect(&["echo one", sleeping, "echo two"]);
        assert_eq!(events[1].exit_code, 130, "{kind:?}");
    }
}

#[test]
fn a_line_behind_a_space_stays_with_the_user() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = hushed(&ground, kind);
        for line in ["echo one", " echo secret", "echo two", " echo secret"] {
            shell.run_line(line);
        }
        shell.run_line("echo three");
        ground.expect(&["echo one", "echo two", "echo three"]);
    }
}

#[test]
fn the_hook_itself_is_not_recorded_and_its_namesake_is() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = ground.shell(kind);
        let hook = ground.options.hook.display();
        for line in [&format!("{hook} --version"), "clai-hooked 2>/dev/null", "/x/clai-hook 2>/dev/null"] {
            shell.run_line(line);
        }
        shell.run_line("echo end");
        ground.expect(&["clai-hooked 2>/dev/null", "echo end"]);
    }
}

#[test]
fn reading_the_script_twice_records_once_and_keeps_the_session() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = ground.shell(kind);
        shell.run_line("echo one");
        ground.load(&shell, kind);
        ground.load(&shell, kind);
        shell.run_line("echo two");
        let lines: Vec<_> = ground
            .settled("echo two")
            .into_iter()
            .filter(|event| event.cmd_raw.starts_with("echo"))
            .collect();
        assert_eq!(lines.len(), 2, "{kind:?}: {lines:#?}");
        assert_eq!(lines[0].session_id, lines[1].session_id);
    }
}

/// A busy machine may answer too late for the shell, which then has a session of its own.
#[test]
fn a_session_is_asked_of_the_daemon() {
    for kind in KINDS {
        let ground = Ground::new();
        let given = || {
            let shell = ground.shell(kind);
            let pid = if kind == Kind::Fish { "$fish_pid" } else { "$$" };
            let said = shell.run_line(&format!(" echo $CLAI_SESSION_ID {pid}"));
            let (id, pid) = said.split_once(' ').unwrap();
            id.starts_with(&format!("given-{pid}-"))
        };
        assert!(until(PATIENCE, given), "{kind:?}");
    }
}

/// The directory of the session may be open to others, or a link to elsewhere, and then it is not used: shells, hook
/// and daemon have the same rule for it.
#[test]
fn without_a_private_runtime_directory_all_meet_below_the_temporary_one() {
    let spoil: [fn(&Path) -> io::Result<()>; 2] = [
        |run| fs::set_permissions(run, PermissionsExt::from_mode(0o755)),
        |run| {
            fs::rename(run, run.with_extension("real"))
                .and_then(|()| symlink(run.with_extension("real"), run))
        },
    ];
    for kind in KINDS {
        for spoil in spoil {
            let ground = Ground::below_temp();
            spoil(&ground.home.runtime()).unwrap();
            // A busy machine may answer too late for the first shell.
            let mut id = String::new();
            assert!(
                until(PATIENCE, || {
                    let shell = ground.shell(kind);
                    id = shell.run_line("echo $CLAI_SESSION_ID");
                    id.starts_with("given-")
                }),
                "{kind:?}: {id}"
            );
            let events = ground.settled("echo $CLAI_SESSION_ID");
            assert!(events.iter().any(|event| event.session_id.0 == id), "{kind:?}: {id}");
            let answer = ground.daemon.directory().join(format!("next.{id}"));
            assert!(kind == Kind::Zsh || answer.exists(), "{kind:?}: where the daemon answers");
            assert!(!ground.home.runtime().join("clai").exists(), "{kind:?}");
        }
    }
}

#[test]
fn a_shell_has_one_session_and_a_shell_inside_it_another() {
    for kind in KINDS {
        for ground in [Ground::new(), Ground::without_daemon()] {
            let shell = ground.shell(kind);
            if ground.daemon.sessions() == 0 {
                ground.daemon.listen();
            }
            let printed = shell.run_line("echo $CLAI_SESSION_ID");
            shell.run_line(match kind {
                Kind::Bash => "PS1=\"$PS1\" bash --noprofile --norc -i",
                Kind::Zsh => "PS1=\"$PS1\" zsh -f -i",
                Kind::Fish => "fish -i -C (functions fish_prompt fish_title | string collect)",
            });
            ground.load(&shell, kind);
            shell.run_line("echo inside");
            shell.run_line("exit");
            shell.run_line("echo outside");
            let events = ground.settled("echo outside");
            let session = |line: &str| {
                let event = events.iter().find(|event| event.cmd_raw == line);
                event.unwrap_or_else(|| panic!("{kind:?}: no {line} in {events:#?}")).session_id.0.clone()
            };
            let (inside, outside) = (session("echo inside"), session("echo outside"));
            assert_ne!(inside, outside, "{kind:?}");
            assert_eq!(printed, outside, "{kind:?}");
            assert!(outside.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{outside}");
        }
    }
}

#[test]
fn a_session_of_an_earlier_shell_with_the_same_number_is_not_taken() {
    for kind in KINDS {
        let ground = Ground::without_daemon();
        let shell = ground.bare(kind);
        let pid = shell.run_line(if kind == Kind::Fish { " echo $fish_pid" } else { " echo $$" });
        fs::create_dir(ground.daemon.directory()).unwrap();
        fs::set_permissions(ground.daemon.directory(), PermissionsExt::from_mode(0o700)).unwrap();
        fs::write(ground.daemon.directory().join(format!("session.{pid}")), "of-the-dead").unwrap();
        ground.load(&shell, kind);
        let id = shell.run_line("echo $CLAI_SESSION_ID");
        assert!(!id.is_empty() && id != "of-the-dead", "{kind:?}: {id}");
    }
}

#[test]
fn a_daemon_that_is_not_there_is_started_and_one_that_is_there_is_not() {
    for kind in KINDS {
        let ground = Ground::without_daemon();
        ground.scripted("clai-daemon", "echo started > started");
        let _shell = ground.shell(kind);
        assert!(until(PATIENCE, || ground.home.path().join("started").exists()), "{kind:?}");

        // Asked in vain on a busy machine, a shell may still think that there is none.
        let answered = || {
            let ground = Ground::new();
            ground.scripted("clai-daemon", "echo started > started");
            let given = ground.shell(kind).run_line("echo $CLAI_SESSION_ID").starts_with("given-");
            ground.settled("echo $CLAI_SESSION_ID");
            given.then(|| ground.home.path().join("started").exists())
        };
        let mut started = None;
        assert!(until(PATIENCE, || {
            started = answered();
            started.is_some()
        }));
        assert_eq!(started, Some(false), "{kind:?}");
    }
}

/// Programs may lie in a directory of any name.
#[test]
fn a_path_is_read_as_the_bytes_it_is() {
    let mut paths: Vec<Vec<u8>> = testkit::hostile::nasty_bytes();
    paths.retain(|path| path.len() < 1000 && !path.contains(&0));
    for (kind, shell) in [(Kind::Bash, "bash"), (Kind::Zsh, "zsh"), (Kind::Fish, "fish")] {
        let mut ground = Ground::without_daemon();
        for path in paths.iter().filter(|path| !path.is_empty()) {
            ground.options.clai = OsStr::from_bytes(path).into();
            let code = format!("source {}; printf %s \"$__clai_clai\"", ground.script(kind).display());
            let mut command = ground.home.command(shell);
            let output = ground.home.run(command.args(["-c", &code]).env("CLAI_NON_INTERACTIVE", "1"));
            assert_eq!(output.bytes, *path, "{kind:?}");
        }
    }
}

#[test]
fn without_helper_and_daemon_nothing_is_heard_of_us() {
    for kind in KINDS {
        let mut ground = Ground::without_daemon();
        ground.options = clai::shells::Options::beside(&ground.home.path().join("nowhere"));
        let shell = ground.bare(kind);
        ground.load(&shell, kind);
        assert_eq!(shell.run_line("echo one"), "one", "{kind:?}");
        assert_eq!(shell.run_line("false"), "", "{kind:?}");
        shell.key(Key::Alt('j'));
        assert_eq!(shell.run_line(""), "", "{kind:?}");
    }
}

/// At the end of a login its directories go, and what runs on in tmux finds new ones.
#[test]
fn a_runtime_directory_that_goes_and_comes_again_is_no_trouble() {
    for kind in KINDS {
        let ground = Ground::new();
        ground.daemon.suggest(&["git push"]);
        let shell = ground.shell(kind);
        shell.run_line("echo one");
        ground.settled("echo one");
        fs::remove_dir_all(ground.daemon.directory()).unwrap();
        ground.daemon.hang_up();
        shell.run_line("clear");
        for key in [Key::Alt('j'), Key::Alt('k'), Key::Alt('i')] {
            shell.key(key);
        }
        shell.send("echo gone");
        shell.key(Key::Enter);
        shell.wait_for("$ echo gone\ngone\n$", PATIENCE);
        ground.daemon.listen();
        let heard = |line: &str| ground.daemon.events().iter().any(|event| event.cmd_raw == line);
        assert!(until(PATIENCE, || shell.run_line("echo two") == "two" && heard("echo two")), "{kind:?}");
        let taken = || {
            shell.key(Key::Alt('j'));
            until(Duration::from_millis(500), || shell.screen().contains("$ git push"))
        };
        assert!(until(PATIENCE, taken), "{kind:?}\n{}", shell.screen());
    }
}

#[test]
fn what_the_user_sees_of_the_last_command_is_unchanged() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = ground.shell(kind);
        shell.run_line(if kind == Kind::Fish { "sh -c 'exit 7'" } else { "(exit 7)" });
        let status = if kind == Kind::Fish { "echo $status" } else { "echo $?" };
        assert_eq!(shell.run_line(status), "7", "{kind:?}");
        let job = if kind == Kind::Fish { "$last_pid" } else { "$!" };
        shell.run_line(&format!("sleep 100 & echo {job} > job"));
        for _ in 0..3 {
            shell.run_line("true");
        }
        let now = shell.run_line(&format!("echo {job}"));
        assert_eq!(now, ground.home.read("job").trim(), "{kind:?}");
        shell.run_line(&format!("kill {job}"));
        let jobs = shell.run_line("jobs -p");
        assert!(!jobs.contains("clai"), "{kind:?}: {jobs}");
    }
}

#[test]
fn the_prompt_stays_as_it_was() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = ground.bare(kind);
        let asked = if kind == Kind::Fish {
            " functions fish_prompt | string collect"
        } else {
            " echo \"$PS1|$PS2|${RPS1-}\""
        };
        let before = shell.run_line(asked);
        ground.load(&shell, kind);
        shell.run_line("true");
        assert_eq!(shell.run_line(asked), before, "{kind:?}");
    }
}

/// zsh lends us some more while a ghost is shown; there Up, Tab and Enter stay.
#[test]
fn three_keys_are_taken_and_all_others_do_what_they_did() {
    for (kind, list) in [
        (Kind::Bash, "for map in emacs vi-insert; do bind -m $map -p; bind -m $map -X; done"),
        (Kind::Fish, "for map in (bind -L); bind -M $map; end"),
    ] {
        let ground = Ground::new();
        let shell = ground.bare(kind);
        let done = if kind == Kind::Fish { "end" } else { "done" };
        let into = |file: &str| {
            shell.run_line(&format!(" {} {done} > {file}", list.strip_suffix(done).unwrap()));
            let text = ground.home.read(file);
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        let before = into("before");
        ground.load(&shell, kind);
        let (ours, others): (Vec<_>, Vec<_>) =
            into("after").into_iter().partition(|line| line.contains("__clai_"));
        assert_eq!(others, before, "{kind:?}");
        assert!(before.len() > 100 && ours.len() >= 3, "{kind:?}: {ours:#?}");
        let alt = |line: &String| ["\\ej", "\\ek", "\\ei"].iter().any(|key| line.contains(key));
        assert!(ours.iter().all(alt), "{kind:?}: {ours:#?}");
    }
}

#[test]
fn one_word_switches_it_off() {
    for kind in KINDS {
        let ground = Ground::new();
        ground.daemon.suggest(&["git push"]);
        let shell = ground.shell(kind);
        let set = |shell: &Shell, name: &str, value: &str| {
            shell.run_line(&match (kind, value) {
                (Kind::Fish, "") => format!(" set -e {name}"),
                (Kind::Fish, _) => format!(" set -g {name} {value}"),
                (_, "") => format!("unset {name}"),
                _ => format!("{name}={value}"),
            });
        };
        shell.run_line("echo answered");
        ground.settled("echo answered");
        set(&shell, "CLAI_OFF", "1");
        shell.run_line("clear");
        shell.key(Key::Alt('j'));
        shell.send("echo unseen");
        shell.key(Key::Enter);
        shell.wait_for("$ echo unseen\nunseen\n$", PATIENCE);
        assert!(!shell.screen().contains("git push"), "{kind:?}\n{}", shell.screen());
        set(&shell, "CLAI_OFF", "");
        set(&shell, "CLAI_NO_RECORD", "1");
        shell.run_line("echo unseen");
        set(&shell, "CLAI_NO_RECORD", "");
        set(&shell, "CLAI_ACTOR", "robot");
        shell.run_line(if kind == Kind::Fish { " set -x CLAI_ACTOR robot" } else { "export CLAI_ACTOR" });
        shell.run_line("echo seen");
        let events = ground.settled("echo seen");
        assert!(!events.iter().any(|event| event.cmd_raw == "echo unseen"), "{kind:?}: {events:#?}");
        assert_eq!(events.last().unwrap().actor.as_deref(), Some("robot"), "{kind:?}");
    }
}

#[test]
fn a_shell_without_a_person_is_left_alone_unless_it_asks() {
    for (kind, shell, count) in [
        (Kind::Bash, "bash", "compgen -A function __clai | wc -l"),
        (Kind::Zsh, "zsh", "print -l ${(k)functions[(I)__clai*]} | grep -c ."),
        (Kind::Fish, "fish", "functions -a | grep -c __clai"),
    ] {
        let ground = Ground::new();
        let code = format!("source {}; {count}", ground.script(kind).display());
        let mut command = ground.home.command(shell);
        let quiet = ground.home.run(command.args(["-c", &code]));
        assert_eq!(quiet.stdout.trim(), "0", "{kind:?}");
        let mut command = ground.home.command(shell);
        let asked = ground.home.run(command.args(["-c", &code]).env("CLAI_NON_INTERACTIVE", "1"));
        assert_ne!(asked.stdout.trim(), "0", "{kind:?}");
        // As a setting it is in the script, and the variable wins.
        let mut everywhere = Ground::without_daemon();
        everywhere.options.shells = Loaded::Everywhere;
        let code = format!("source {}; {count}", everywhere.script(kind).display());
        for (value, loaded) in [(None, true), (Some("yes"), true), (Some("0"), false), (Some("off"), false)] {
            let mut command = everywhere.home.command(shell);
            command.args(["-c", &code]).envs(value.map(|value| ("CLAI_NON_INTERACTIVE", value)));
            assert_eq!(everywhere.home.run(&mut command).stdout.trim() != "0", loaded, "{kind:?}: {value:?}");
        }
        assert_eq!((&*quiet.stderr, &*asked.stderr), ("", ""), "{kind:?}");
        let send =
            if kind == Kind::Fish { "__clai_send 3 'make test' 5" } else { "__clai_send 3 'make test' 5; :" };
        let mut command = ground.home.command(shell);
        let code = format!("source {}; {send}", ground.script(kind).display());
        ground.home.run(command.args(["-c", &code]).env("CLAI_NON_INTERACTIVE", "1"));
        let events = ground.expect(&["make test"]);
        assert_eq!(events[0].exit_code, 3, "{kind:?}");
        assert!(events[0].duration_ms.is_some_and(|ms| (4..5_000).contains(&ms)), "{kind:?}");
    }
}

#[test]
fn the_settings_of_the_hook_reach_the_hook() {
    for kind in KINDS {
        let mut ground = Ground::new();
        ground
            .scripted("hook", r#"echo "$* $CLAI_HOOK_TIMEOUT_MS $CLAI_OVERSIZE" >> hooked; cat > /dev/null"#);
        ground.options.hook = ground.home.path().join("bin/hook");
        ground.options.timeout_ms = 12;
        ground.options.oversize = Oversize::Skip;
        let shell = hushed(&ground, kind);
        type_long(&ground, &shell, kind, 40_000);
        let hooked = || ground.home.read("hooked");
        assert!(
            until(PATIENCE, || hooked().contains("ingest --cmd-stdin 12 skip\n")),
            "{kind:?}: {}",
            hooked()
        );
        assert!(hooked().starts_with("session-start 12 \n"), "{kind:?}: {}", hooked());
    }
}

/// Arguments can be seen by everybody on the machine; and what the helper says is nobody's business.
#[test]
fn neither_command_nor_directory_is_ever_an_argument_and_the_helper_is_not_heard() {
    for kind in KINDS {
        let mut ground = Ground::without_daemon();
        ground
            .scripted("hook", r#"cat > /dev/null; echo noise; echo noise >&2; echo "$*" >> hooked; exit 3"#);
        ground.options.hook = ground.home.path().join("bin/hook");
        let shell = hushed(&ground, kind);
        if kind == Kind::Zsh {
            // Without a socket it takes the helper for every line.
            shell.run_line(" __clai_alone=1");
        }
        assert_eq!(shell.run_line("echo short"), "short", "{kind:?}");
        assert!(!shell.screen().contains("noise"), "{kind:?}\n{}", shell.screen());
        type_long(&ground, &shell, kind, 40_000);
        let done = || ground.home.read("hooked").lines().count() >= 3;
        assert!(until(PATIENCE, done), "{kind:?}: {}", ground.home.read("hooked"));
        let known = ["session-start", "ingest", "ingest --cmd-stdin"];
        assert!(ground.home.read("hooked").lines().all(|line| known.contains(&line)), "{kind:?}");
        shell.run_line("echo end");
        assert!(!shell.screen().contains("noise"), "{kind:?}\n{}", shell.screen());
    }
}

/// No terminal of ours lies between a command and the person's, and no pipe that reads along.
#[test]
fn a_command_has_the_terminal_for_itself() {
    for kind in KINDS {
        let ground = Ground::new();
        let shell = ground.bare(kind);
        let asked = "sh -c 'tty; tty <&1; tty <&2'";
        let before = shell.run_line(asked);
        assert_eq!(before.matches("/dev/").count(), 3, "{kind:?}: {before}");
        ground.load(&shell, kind);
        assert_eq!(shell.run_line(asked), before, "{kind:?}");
    }
}

#[test]
fn a_line_that_is_too_long_is_left_or_cut_as_it_is_set() {
    for kind in KINDS {
        for (oversize, expected) in [(Oversize::Skip, None), (Oversize::Truncate, Some(32_768))] {
            let mut ground = Ground::new();
            ground.options.oversize = oversize;
            let shell = hushed(&ground, kind);
            type_long(&ground, &shell, kind, 40_000);
            let cut =
                || ground.daemon.events().iter().find(|event| event.cmd_raw.ends_with(" …[cut]")).cloned();
            assert!(expected.is_none() || until(PATIENCE, || cut().is_some()), "{kind:?}");
            type_long(&ground, &shell, kind, 30_000);
            let whole = || ground.daemon.events().iter().any(|event| event.cmd_raw.len() == 30_000);
            assert!(until(PATIENCE, whole), "{kind:?} {oversize:?}\n{}", shell.screen());
            let longest = ground.daemon.events().iter().map(|event| event.cmd_raw.len()).max();
            assert!(longest <= expected.or(Some(30_000)), "{kind:?}: {longest:?}");
        }
    }
}

/// A queue in which nobody is taken, and one more may not even wait.
#[test]
fn a_daemon_that_takes_nobody_does_not_hold_the_prompt() {
    for kind in KINDS {
        let ground = Ground::without_daemon();
        let (_listener, _waiting) = ground.daemon.deaf();
        let shell = ground.shell(kind);
        let lines: Vec<String> = (0..10).map(|number| format!("echo {number}")).collect();
        for (line, number) in iter::zip(&lines, 0..) {
            assert_eq!(shell.run_line(line), number.to_string(), "{kind:?}");
        }
    }
}
