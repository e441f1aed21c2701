//! Opens a shell as a new terminal would and lets it tell what it holds. Judges nothing.

use std::path::Path;
use std::time::Duration;

use kit::invocation::Environment;
use kit::process::{Ended, Job, Leftovers, find};

use crate::cli::Shell;

/// What start-up files may take: some install things.
const PATIENCE: Duration = Duration::from_secs(10);
/// Stands before what we asked for: start-up files print, too.
const MARK: &str = "clai-doctor:";

pub(super) enum Asked {
    Answered(Facts),
    /// It did not say what we wanted to know.
    Silent(String),
    Impossible(String),
}

/// What a shell said, name by name; a name can come several times.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts(pub(super) Vec<(String, String)>);

impl Facts {
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn get<'a>(&'a self, name: &'a str) -> &'a str {
        self.all(name).next().unwrap_or_default()
    }
}

/// Gives up after ten seconds with [`Asked::Silent`].
pub(super) fn ask(shell: Shell, program: &Path, env: &Environment) -> Asked {
    // Without a session of its own it would find our terminal, see that it is in the background, and stop itself.
    let Some(setsid) = find("setsid", env) else {
        return Asked::Impossible("not asked: `setsid` is not installed".to_owned());
    };
    let ours = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name == "CLAI_SESSION_ID");
    let job = Job::new(setsid)
        .arg("--wait")
        .arg(program)
        .args(["-i", "-c", script(shell)])
        .envs(env.iter().filter(|(name, _)| !ours(name)))
        // What start-up files leave running is the user's, as after opening a terminal.
        .leftovers(Leftovers::Leave)
        .deadline(PATIENCE);
    match job.run() {
        Err(error) => Asked::Silent(format!("cannot be opened: {error}")),
        Ok(outcome) => match (outcome.ended, facts(&outcome.stdout.text())) {
            (_, Some(facts)) => Asked::Answered(facts),
            (Ended::DeadlinePassed, None) => {
                Asked::Silent(format!("did not come to a prompt within {} s", PATIENCE.as_secs()))
            }
            (_, None) => {
                Asked::Silent("its start-up files end or replace it before there is a prompt".to_owned())
            }
        },
    }
}

fn facts(said: &str) -> Option<Facts> {
    let (_, answer) = said.split_once(MARK)?;
    let (fields, _) = answer.split_once("\0\0")?;
    let field = |field: &str| field.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    Some(Facts(fields.split('\0').filter_map(field).collect()))
}

/// Each runs what stands before a prompt once, as the shell would, and tells about before and after.
fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
    }
}

const BASH: &str = r#"
__clai_doctor_tell() { printf '%s=%s\0' "$@"; }
printf 'clai-doctor:'
__clai_doctor_tell version "$BASH_VERSION" hook "${__clai_hook-}" trap_before "$(trap -p DEBUG)"
[[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]] && __clai_doctor_tell array 1
for __clai_doctor in "${PROMPT_COMMAND[@]}"; do
  __clai_doctor_tell prompt "$__clai_doctor"
done
# Two prompts, each behind a command that began; no such line is in the history.
for __clai_doctor_pass in ran stays; do
  __clai_began=1 __clai_at=-1
  for __clai_doctor in "${PROMPT_COMMAND[@]}"; do
    eval "$__clai_doctor"
  done >/dev/null 2>&1 </dev/null
  [[ -z $__clai_began ]] && __clai_doctor_tell "$__clai_doctor_pass" 1
done
__clai_doctor_tell trap_after "$(trap -p DEBUG)"
[[ ${PS0-} == *__clai_began* ]] && __clai_doctor_tell ps0 1
[[ -n ${bash_preexec_imported-}${__bp_imported-} ]] && __clai_doctor_tell preexec 1
[[ -n ${BLE_VERSION-} ]] && __clai_doctor_tell blesh "$BLE_VERSION"
printf '\0\0'
exit
"#;

const ZSH: &str = r#"
emulate -R zsh
printf 'clai-doctor:version=%s\0hook=%s\0' "$ZSH_VERSION" "${__clai_hook-}"
for __clai_doctor in $precmd_functions; do printf 'prompt=%s\0' "$__clai_doctor"; done
for __clai_doctor in $preexec_functions; do printf 'preexec=%s\0' "$__clai_doctor"; done
(( ${+functions[_zsh_autosuggest_start]} )) && printf 'autosuggestions=1\0'
printf '\0\0'
exit
"#;

const FISH: &str = r#"
printf 'clai-doctor:version=%s\0hook=%s\0' "$version" "$__clai_hook"
functions -q __clai_postexec; and printf 'prompt=__clai_postexec\0'
printf '\0\0'
exit
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_start_up_files_print_is_passed_over() {
        let facts =
            facts("welcome!\nclai-doctor:version=5.2\0prompt=a\nb=c\0prompt=d\0\0\0logout\n").unwrap();
        assert_eq!(facts.get("version"), "5.2");
        assert_eq!(facts.all("prompt").collect::<Vec<_>>(), ["a\nb=c", "d"]);
        assert_eq!(facts.get("hook"), "");
        assert_eq!(super::facts("welcome!"), None);
        assert_eq!(super::facts("clai-doctor:version=5"), None);
    }
}
