//! First contact: no words, wrong words, help, completions, and the script of a shell.

use insta::assert_snapshot;
use testkit::bin;

use crate::person::Person;

#[test]
fn without_a_word_it_says_in_five_lines_what_to_do() {
    let person = Person::new();
    let mut command = person.command(&[]);
    let said = person.home.run(command.env("SHELL", "/usr/bin/fish").env_remove("CLAI_SESSION_ID"));
    assert_snapshot!(said.transcript(), @r"
    clai 0.1.0 · your next command, learned from what you do
      echo 'clai init fish | source' >> ~/.config/fish/config.fish  load it in every shell you open from now on
      clai import fish                                              start with the history you have
      clai suggest                                                  what you will probably run next, also without a key
      clai doctor                                                   what works on this machine and what does not
    [exit status: 0]
    ");
}

#[test]
fn a_shell_that_has_loaded_it_is_told_the_keys() {
    let person = Person::new();
    let said = person.says(&[]);
    assert!(said.contains("Alt-J  Alt-K  Alt-I") && !said.contains("echo"), "{said}");
}

#[test]
fn wrong_usage_ends_with_two_and_says_what_was_probably_meant() {
    let person = Person::new();
    let said = |args: &[&str]| person.clai(args).transcript();
    assert_snapshot!(said(&["sugest"]), @r"
    --- stderr
    error: unrecognized subcommand 'sugest'
    hint: did you mean `suggest`? `clai --help` lists what there is
    [exit status: 2]
    ");
    assert_snapshot!(said(&["history", "--faild"]), @r"
    --- stderr
    error: unexpected argument '--faild' found
    hint: did you mean `--failed`? `clai history --help` lists what there is
    [exit status: 2]
    ");
    assert_snapshot!(said(&["forget"]), @r"
    --- stderr
    error: the following required arguments were not provided: <PATTERN|--last <N>|--since <TIME>>
    hint: `clai forget --help`
    [exit status: 2]
    ");
    assert_snapshot!(said(&["history", "--since", "yesterday"]), @r"
    --- stderr
    error: invalid value 'yesterday' for '--since <TIME>': a time is a number with a unit: 90s, 30m, 2h, 1h30m, 3d, 1w
    hint: `clai history --help`
    [exit status: 2]
    ");
    assert_snapshot!(said(&["forget", "x", "--last", "3", "--json"]), @r#"
    --- stderr
    {"error":"the argument '[PATTERN]' cannot be used with '--last <N>'","hint":"`clai forget --help`","exit":2}
    [exit status: 2]
    "#);
}

#[test]
fn every_command_can_speak_json() {
    let person = Person::new();
    let help = person.says(&["--help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 20, "{help}");
    for command in commands {
        let help = person.says(&[command, "--help"]);
        assert!(help.contains("--json"), "{command}: {help}");
    }
}

#[test]
fn completions_know_the_commands_and_their_options() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = person.says(&["completions", shell]);
        assert!(script.contains("why-not") && script.contains("dry-run"), "{shell}");
    }
    assert_eq!(person.json(&["completions", "fish", "--json"])["shell"], "fish");
}

#[test]
fn init_prints_a_script_that_calls_the_binaries_beside_us() {
    let person = Person::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = person.says(&["init", shell]);
        let hook = bin("clai-hook");
        assert!(script.contains(hook.to_str().unwrap()) && script.contains("CLAI_OFF"), "{script}");
        assert_eq!(person.json(&["init", shell, "--json"])["script"], script);
        let mut check = person.home.command(shell);
        let _ = person.home.run_with(check.arg("-n").arg("/dev/stdin"), script).ok();
    }
}

#[test]
fn init_refuses_where_the_hook_is_missing() {
    let person = Person::new();
    let alone = person.home.install("clai");
    let said = person.home.run(&mut person.command_of(&alone, &["init", "zsh"]));
    assert_snapshot!(said.transcript(), @r"
    --- stderr
    error: `clai-hook` is not beside `clai`
    hint: `cargo xtask install`
    [exit status: 1]
    ");
}

#[test]
fn settings_reach_the_script() {
    let person = Person::new();
    let off = person.home.run(person.command(&["init", "zsh"]).env("CLAI_GHOST", "off")).ok().stdout;
    let on = person.says(&["init", "zsh"]);
    assert!(on.contains("__clai_shown='1'") && off.contains("__clai_shown=''"), "{off}");
    let settings = "hook_timeout_ms = 20\noversize = \"truncate\"\nnon_interactive = true\nhints = false\n";
    person.home.write(".config/clai/config.toml", settings);
    for (shell, assigned) in [("bash", "='"), ("zsh", "='"), ("fish", " ")] {
        let script = person.says(&["init", shell]);
        for setting in ["timeout_ms#20", "oversize#truncate"] {
            let expected = format!("__clai_{}", setting.replace('#', assigned));
            assert!(script.contains(&expected), "{shell}: {script}");
        }
        assert!(
            script.contains("CLAI_NON_INTERACTIVE-1}") || script.contains("CLAI_NON_INTERACTIVE 1\n"),
            "{shell}"
        );
    }
}
