//! Beside others that hook into the shell, loaded before us or after us: both hear of every command.
//!
//! They are played by the few lines that their documentation promises to others; where `CLAI_SHELL_PLUGINS` names a
//! folder, by their own files in it: `bash-preexec.sh`, `starship.bash` and `starship.zsh`.

use std::{env, fs};

use testkit::Shell;

use crate::ground::{Ground, Kind};

/// Takes the DEBUG trap and puts itself around what is in `PROMPT_COMMAND`, but not before the first prompt.
const BASH_PREEXEC: &str = r#"
preexec_functions=() precmd_functions=()
__bp_status() { return "$1"; }
__bp_debug() {
  [[ $__bp_ready == 1 && $BASH_COMMAND != __* ]] || return 0
  __bp_ready=0
  local each
  for each in "${preexec_functions[@]}"; do "$each" "$(HISTTIMEFORMAT= history 1 | sed 's/^ *[0-9]* *//')"; done
}
__bp_before() {
  local code=$? each
  for each in "${precmd_functions[@]}"; do __bp_status "$code"; "$each"; done
  return "$code"
}
__bp_after() { __bp_ready=1; }
__bp_install() {
  local rest=${PROMPT_COMMAND[0]}
  rest=${rest/__bp_install/:}
  PROMPT_COMMAND[0]="__bp_before"$'\n'"$rest"$'\n'"__bp_after"
  trap __bp_debug DEBUG
}
PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}__bp_install
"#;

/// Takes the place of what is in `PROMPT_COMMAND` and calls it itself; notes in `PS0` when a command begins.
const STARSHIP_BASH: &str = r#"
starship_precmd() {
  local code=$? all="${PIPESTATUS[*]}"
  # Behind this the status is that of the question.
  if [[ -n ${starship_before-} ]]; then eval "$starship_before"; fi
  PS1=$(::STARSHIP:: prompt --status="$code" --pipestatus="$all")
}
PS0='${starship_began:$((starship_began="$(::STARSHIP:: time)",0)):0}'"${PS0-}"
starship_before=${PROMPT_COMMAND-}
PROMPT_COMMAND=starship_precmd
"#;

const STARSHIP_ZSH: &str = r#"
starship_precmd() { starship_status=$? starship_all=$pipestatus }
autoload -Uz add-zsh-hook
add-zsh-hook precmd starship_precmd
setopt prompt_subst
PROMPT='$(::STARSHIP:: prompt --status="$starship_status" --pipestatus="$starship_all[*]")'
"#;

/// Their own file, or our part in their place.
fn theirs(ground: &Ground, file: &str, played: &str) -> String {
    let text = match env::var_os("CLAI_SHELL_PLUGINS") {
        Some(folder) => fs::read_to_string(std::path::Path::new(&folder).join(file)).unwrap(),
        None => played.to_owned(),
    };
    // The program that draws the prompt says what it was told.
    ground.scripted(
        "starship",
        r#"[ "$1" = time ] && echo 1
[ "$1" = prompt ] || exit 0
for word; do case $word in --status=*|--pipestatus=*) echo "$word" >> told;; esac; done
printf %s "$MARKED""#,
    );
    let program = ground.home.path().join("bin/starship");
    let path = ground.home.write(file, text.replace("::STARSHIP::", program.to_str().unwrap()));
    format!(" source {}", path.display())
}

/// Both orders of loading, each in a shell of its own.
fn both_orders(kind: Kind, file: &str, played: &str, check: impl Fn(&Ground, &Shell)) {
    for first in ["theirs", "ours"] {
        let ground = Ground::new();
        let theirs = theirs(&ground, file, played);
        let ours = format!(" source {}", ground.script(kind).display());
        let shell = ground.bare(kind);
        shell.run_line(" export MARKED=\"$PS1\"");
        let order = if first == "ours" { [&ours, &theirs] } else { [&theirs, &ours] };
        order.iter().for_each(|line| drop(shell.run_line(line)));
        check(&ground, &shell);
    }
}

#[track_caller]
fn heard(ground: &Ground, lines: &[(&str, i32)]) {
    let last = lines.last().unwrap().0;
    let events = ground.settled(last);
    let found: Vec<(&str, i32)> =
        events.iter().map(|event| (event.cmd_raw.as_str(), event.exit_code)).collect();
    assert!(found.ends_with(lines), "{found:#?}");
}

#[test]
fn bash_preexec_and_we_both_hear_of_every_command() {
    both_orders(Kind::Bash, "bash-preexec.sh", BASH_PREEXEC, |ground, shell| {
        shell.run_line(" before() { echo \"before $1\" >> told; }; after() { echo \"after $?\" >> told; }");
        shell.run_line(" preexec_functions+=(before); precmd_functions+=(after)");
        for line in ["false", "echo a | cat", "false"] {
            shell.run_line(line);
        }
        shell.run_line("true end");
        heard(ground, &[("false", 1), ("echo a | cat", 0), ("false", 1), ("true end", 0)]);
        let told = ground.home.read("told");
        let expected =
            "before false\nafter 1\nbefore echo a | cat\nafter 0\nbefore false\nafter 1\nbefore true end";
        assert!(told.contains(expected), "{told}");
        assert!(shell.run_line(" trap -p DEBUG").contains("DEBUG"));
    });
}

#[test]
fn starship_and_we_both_see_the_status_in_bash() {
    both_orders(Kind::Bash, "starship.bash", STARSHIP_BASH, |ground, shell| {
        shell.run_line("false");
        shell.run_line("true end");
        heard(ground, &[("false", 1), ("true end", 0)]);
        let told = ground.home.read("told");
        assert!(told.ends_with("--status=1\n--pipestatus=1\n--status=0\n--pipestatus=0\n"), "{told}");
    });
}

#[test]
fn starship_and_we_both_see_the_status_in_zsh() {
    both_orders(Kind::Zsh, "starship.zsh", STARSHIP_ZSH, |ground, shell| {
        ground.daemon.suggest(&["git push"]);
        shell.run_line("false");
        shell.run_line("true end");
        heard(ground, &[("false", 1), ("true end", 0)]);
        let told = ground.home.read("told");
        assert!(told.contains("--status=1\n--pipestatus=1\n"), "{told}");
        shell.wait_for("git push", testkit::PATIENCE);
    });
}
