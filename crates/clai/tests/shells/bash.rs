//! bash: what is already in `PROMPT_COMMAND`, `PS0` and the traps stays; the history tells the line.

use clai::shells::template;
use testkit::{Key, PATIENCE, Shell, until};

use crate::every::{hushed, type_long};
use crate::ground::{Ground, Kind};

/// What the script asks to learn which bash it is in. The variable itself cannot be changed.
const VERSION: &str = "__clai_bash=$((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1]))";

fn as_version(ground: &Ground, version: u32) {
    let script = template(Kind::Bash, &ground.options);
    assert_eq!(script.matches(VERSION).count(), 1);
    ground.home.write("old.sh", script.replace(VERSION, &format!("__clai_bash={version}")));
}

#[test]
fn shellcheck_has_nothing_to_say() {
    let ground = Ground::without_daemon();
    let script = ground.script(Kind::Bash);
    let mut command = ground.home.command("shellcheck");
    let said = ground.home.run(command.args(["--severity=style", "--shell=bash"]).arg(&script));
    assert_eq!((said.code, &*said.stdout), (0, ""), "{}", said.transcript());
}

#[test]
fn what_ran_before_the_prompt_still_runs_and_sees_the_status() {
    let cases = [
        ("unset PROMPT_COMMAND", ""),
        ("PROMPT_COMMAND=", ""),
        ("PROMPT_COMMAND='echo was $?'", "was 1"),
        ("PROMPT_COMMAND='echo was $?;'", "was 1"),
        ("PROMPT_COMMAND='echo was $? ; '", "was 1"),
        ("PROMPT_COMMAND='true & wait; echo was $? # end'", "was 0"),
        ("PROMPT_COMMAND='(true &)'", ""),
        ("PROMPT_COMMAND=('echo was $?' 'echo and $?')", "was 1\nand 1"),
    ];
    for version in [502, 500, 404] {
        for (set, expected) in cases {
            if version < 501 && set.contains("=(") {
                continue;
            }
            let ground = Ground::new();
            as_version(&ground, version);
            let shell = ground.bare(Kind::Bash);
            shell.run_line(set);
            shell.run_line("source ./old.sh; source ./old.sh");
            assert_eq!(shell.run_line("false"), expected, "{version}: {set}");
            shell.run_line("true");
            let events = ground.expect(&["false", "true"]);
            assert_eq!((events[0].exit_code, events[1].exit_code), (1, 0));
        }
    }
}

#[test]
fn an_old_bash_joins_a_string_and_counts_seconds() {
    let ground = Ground::new();
    as_version(&ground, 404);
    let shell = ground.bare(Kind::Bash);
    shell.run_line("PROMPT_COMMAND='echo -n'");
    shell.run_line("source ./old.sh");
    let declared = shell.run_line("declare -p PROMPT_COMMAND");
    assert_eq!(declared, r"declare -- PROMPT_COMMAND=$'__clai_before_prompt\necho -n\n__clai_after_prompt'");
    shell.run_line("sleep 1.2");
    let events = ground.settled("sleep 1.2");
    let duration = events.last().unwrap().duration_ms.unwrap();
    assert!(duration >= 1000 && duration.is_multiple_of(1000), "{duration}");
}

#[test]
fn a_bash_without_ps0_is_left_alone() {
    let ground = Ground::new();
    let script = template(Kind::Bash, &ground.options);
    let condition = "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404))";
    assert_eq!(script.matches(condition).count(), 1);
    ground.home.write("old.sh", script.replace(condition, "((302 >= 404))"));
    let shell = ground.bare(Kind::Bash);
    shell.run_line("source ./old.sh");
    assert_eq!(shell.run_line("declare -p PROMPT_COMMAND PS0 2>/dev/null; compgen -A function __clai"), "");
}

#[test]
fn traps_and_ps0_of_the_user_stay() {
    let ground = Ground::new();
    let shell = ground.bare(Kind::Bash);
    shell
        .run_line("trap 'dbg=$BASH_COMMAND' DEBUG; trap 'echo urgent' URG; trap 'exit' EXIT; PS0='[run]\\n'");
    let before = shell.run_line("trap");
    ground.load(&shell, Kind::Bash);
    assert_eq!(shell.run_line("trap"), before);
    assert!(before.starts_with("[run]\n"), "{before}");
    assert_eq!(shell.run_line("echo one"), "[run]\none");
    ground.expect(&["trap", "echo one"]);
    // Set anew later, it is completed at the next prompt.
    shell.run_line("PS0='[new]\\n'");
    assert_eq!(shell.run_line("echo two"), "[new]\ntwo");
    ground.settled("echo two");
}

/// What is recorded of what is typed, behind a setting.
fn lines(control: &str, typed: &[&str]) -> Vec<String> {
    let ground = Ground::new();
    let shell = ground.bare(Kind::Bash);
    shell.run_line(control);
    ground.load(&shell, Kind::Bash);
    typed.iter().for_each(|line| drop(shell.run_line(line)));
    shell.run_line("echo end");
    ground.settled("echo end").into_iter().map(|event| event.cmd_raw).collect()
}

#[test]
fn a_repeat_is_told_from_a_secret_only_where_bash_tells_them_apart() {
    let typed = ["echo a", "echo a", " echo s", "", "echo b"];
    let all = lines("HISTCONTROL=", &typed);
    assert_eq!(all, ["echo a", "echo a", " echo s", "echo b", "echo end"]);
    let dups = lines("HISTCONTROL=ignoredups", &["echo a", "echo a", "", "echo b"]);
    assert_eq!(dups, ["echo a", "echo a", "echo b", "echo end"]);
    let space = lines("HISTCONTROL=ignorespace", &typed);
    assert_eq!(space, ["echo a", "echo a", "echo b", "echo end"]);
    let both = lines("HISTCONTROL=ignoreboth", &typed);
    assert_eq!(both, ["echo a", "echo b", "echo end"]);
    let pattern = lines("HISTCONTROL=ignoredups; HISTIGNORE='*s*'", &typed);
    assert_eq!(pattern, ["echo a", "echo b", "echo end"]);
    let erased = lines("HISTCONTROL=erasedups", &["echo a", "echo b", "echo a", "echo c", "echo b"]);
    assert_eq!(erased, ["echo a", "echo b", "echo a", "echo c", "echo b", "echo end"]);
    let off = lines("HISTCONTROL=", &["echo a", "set +o history", "echo s", "set -o history", "echo b"]);
    assert_eq!(off, ["echo a", "set +o history", "echo b", "echo end"]);
}

#[test]
fn histories_that_are_shared_or_dated_or_verbatim_are_read_rightly() {
    let shared = "HISTCONTROL=ignorespace; PROMPT_COMMAND='history -a; history -c; history -r'";
    let seen = lines(shared, &["echo a", " echo s", "echo b", "echo b"]);
    assert_eq!(seen, ["echo a", "echo b", "echo b", "echo end"]);
    let dated = lines("HISTTIMEFORMAT='%F %T '", &["echo a", "echo 12  34"]);
    assert_eq!(dated, ["echo a", "echo 12  34", "echo end"]);
    let block = "for i in 1; do\necho $i\ndone";
    assert_eq!(lines("shopt -s cmdhist", &[block])[0], "for i in 1; do echo $i; done");
    assert_eq!(lines("shopt -s cmdhist lithist", &[block])[0], block);
    // Cut into lines by bash itself, a fragment is worse than nothing.
    assert_eq!(lines("shopt -u cmdhist", &[block]), ["echo end"]);
    let small = lines("HISTSIZE=3", &["echo a", "echo b", "echo c", "echo d", "echo e"]);
    assert_eq!(small, ["echo a", "echo b", "echo c", "echo d", "echo e", "echo end"]);
}

#[test]
fn odd_options_of_the_user_do_no_harm() {
    let odd = "set -u; set -o noclobber; IFS=x; alias history=false; printf() { echo mine; }; LC_NUMERIC=de_DE.UTF-8";
    assert_eq!(lines(odd, &["echo axb"]), ["echo axb", "echo end"]);
}

#[test]
fn of_32768_bytes_a_line_is_a_variable_and_of_one_more_it_is_read() {
    let mut ground = Ground::without_daemon();
    let sizes = r#"echo "${2-variable} $(printf %s "$CLAI_CMD" | wc -c) $(wc -c)""#;
    ground.scripted("hook", &format!("[ $1 = ingest ] && {sizes} >> hooked"));
    ground.options.hook = ground.home.path().join("bin/hook");
    let shell = hushed(&ground, Kind::Bash);
    ground.home.write("hooked", "");
    for (size, line) in [
        (32_768, "variable 32768 0\n"),
        (32_769, "--cmd-stdin 0 32769\n"),
        (131_071, "--cmd-stdin 0 131071\n"),
        (131_072, "--cmd-stdin 0 131072\n"),
    ] {
        type_long(&ground, &shell, Kind::Bash, size);
        assert!(until(PATIENCE, || ground.home.read("hooked").ends_with(line)), "{size}");
    }
}

#[test]
fn without_a_daemon_a_session_is_a_hash_of_the_shell_and_the_moment() {
    let ground = Ground::without_daemon();
    let ids = [(); 2].map(|()| ground.shell(Kind::Bash).run_line("echo $CLAI_SESSION_ID"));
    assert!(
        ids.iter().all(|id| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit())),
        "{ids:?}"
    );
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn the_file_with_the_line_is_empty_as_soon_as_it_was_read() {
    let ground = Ground::new();
    let shell = ground.shell(Kind::Bash);
    shell.run_line("echo a secret");
    let pid = shell.run_line("echo $$");
    assert_eq!(ground.home.read(format!("run/clai/history.{pid}")), "");
}

/// A prompt that waits for the daemon's answer, as tests may.
fn patient(ground: &Ground) -> Shell {
    let shell = ground.bare(Kind::Bash);
    shell.run_line("PROMPT_COMMAND='while [[ -n $__clai_answer && ! -s $__clai_answer ]]; do :; done'");
    // Nothing has been run yet that the daemon could answer.
    shell.run_line(&format!("source {}; echo > \"$__clai_answer\"", ground.script(Kind::Bash).display()));
    shell
}

#[test]
fn the_next_command_stands_dim_above_the_prompt_and_keys_take_it() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push", "git status \u{1b}[31m\u{202e}x\ny"]);
    let shell = patient(&ground);
    shell.run_line("true");
    shell.wait_for("» git push\n$", PATIENCE);
    assert!(shell.style_of("» git push").is_faint());
    shell.key(Key::Alt('i'));
    shell.wait_for("clai: git push: freq_repo of 8\n$", PATIENCE);
    shell.key(Key::Alt('j'));
    shell.wait_for("$ git push", PATIENCE);
    assert_eq!(shell.cursor().1, 10);
    shell.key(Key::Alt('k'));
    shell.wait_for("$ git status", PATIENCE);
    shell.key(Key::Ctrl('u'));
    ground.daemon.suggest(&["git status \u{1b}[31m\u{202e}x\ny"]);
    shell.run_line("true");
    shell.wait_for("» git status [31mx⏎y\n$", PATIENCE);
}

#[test]
fn without_an_answer_the_key_asks_with_what_is_typed() {
    let ground = Ground::new();
    ground.scripted("clai", r#"printf '%s and %s\0why\0other\0\0\0' "$*" "$CLAI_PREFIX""#);
    let shell = ground.shell(Kind::Bash);
    shell.send("git");
    shell.key(Key::Alt('j'));
    shell.wait_for("$ suggest --shell bash and git", PATIENCE);
    shell.key(Key::Alt('k'));
    shell.wait_for("$ other", PATIENCE);
    shell.key(Key::Alt('k'));
    shell.wait_for("$ suggest --shell bash and git", PATIENCE);
}

#[test]
fn keys_that_somebody_has_bound_stay() {
    let ground = Ground::new();
    ground.daemon.suggest(&["git push"]);
    let shell = ground.bare(Kind::Bash);
    shell.run_line(r#"bind '"\ej": "mine"'; bind '"\ek": kill-line'"#);
    ground.load(&shell, Kind::Bash);
    shell.key(Key::Alt('j'));
    shell.wait_for("$ mine", PATIENCE);
    shell.key(Key::Ctrl('u'));
    let bound = shell.run_line("bind -X; bind -p | grep kill-line");
    assert!(
        !bound.contains("__clai_cycle")
            && bound.contains("__clai_why")
            && bound.contains("\"\\ek\": kill-line"),
        "{bound}"
    );
}

#[test]
fn a_daemon_that_lets_us_wait_is_left_alone_for_a_while() {
    let ground = Ground::without_daemon();
    let (_listener, _waiting) = ground.daemon.deaf();
    let shell = ground.shell(Kind::Bash);
    shell.run_line("true");
    assert_eq!(shell.run_line("echo $__clai_rest $__clai_slow"), "2 1");
    shell.run_line("true");
    assert_eq!(shell.run_line("echo $__clai_rest $__clai_slow"), "0 1");
    assert_eq!(shell.run_line("echo $__clai_rest $__clai_slow"), "4 2");
}
