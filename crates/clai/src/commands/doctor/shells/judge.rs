//! What a shell's own account of itself means for us. Pure.

use kit::doctor::Check;

use super::ask::Facts;
use crate::cli::Shell;
use crate::commands::init::loading;

/// `is_program` tells whether a path can be run.
pub(super) fn judge(
    shell: Shell,
    facts: &Facts,
    spoken: &str,
    is_program: impl Fn(&str) -> bool,
) -> Vec<Check> {
    let name = shell.name();
    let (line, file) = loading(shell, spoken);
    let hook = facts.get("hook");
    if hook.is_empty() {
        let check = Check::warn(name, format!("{} does not load clai", version(shell, facts)));
        return vec![check.hint(format!("`echo '{line}' >> {file}`"))];
    }
    if !is_program(hook) {
        let finding = format!("calls `{hook}`, which is gone: nothing is recorded");
        return vec![Check::fail(name, finding).hint(format!("open a new shell; is `{line}` in {file}?"))];
    }
    let mut checks = match shell {
        Shell::Bash => bash(facts, file),
        Shell::Zsh => zsh(facts, file),
        Shell::Fish => fish(facts, file),
    };
    if checks.iter().all(|check| check.health == kit::doctor::Health::Ok) {
        checks.insert(0, Check::ok(name, format!("{} loads clai", version(shell, facts))));
    }
    checks
}

fn version(shell: Shell, facts: &Facts) -> String {
    let number = facts.get("version");
    format!("{} {}", shell.name(), number.split(['(', '-']).next().unwrap_or(number))
}

fn bash(facts: &Facts, file: &str) -> Vec<Check> {
    const OURS: &str = "__clai_before_prompt";
    let prompt: Vec<&str> = facts.all("prompt").collect();
    let ours = prompt.iter().filter(|command| command.contains(OURS)).count();
    let arrays = runs_arrays(facts.get("version"));
    let mut checks = Vec::new();
    if facts.get("ran") != "1" {
        let finding = "something replaced PROMPT_COMMAND after clai was loaded: nothing is recorded";
        checks.push(Check::fail("bash", finding).hint(format!("move the line of clai to the end of {file}")));
    } else if facts.get("array") == "1" && !arrays && !prompt[0].contains(OURS) {
        let finding = "this bash runs only the first element of PROMPT_COMMAND, and that is not clai's";
        checks.push(
            Check::fail("bash", finding)
                .hint(format!("set PROMPT_COMMAND as a string, before clai, in {file}")),
        );
    } else if facts.get("stays") != "1" {
        let finding = "something replaces PROMPT_COMMAND at the first prompt: nothing is recorded";
        checks.push(Check::fail("bash", finding).hint(format!("move the line of clai to the end of {file}")));
    } else if !arrays && !prompt[0].trim_start().starts_with(OURS) {
        let first = prompt[0].lines().next().unwrap_or_default();
        let finding = format!("`{first}` runs before clai: exit codes are what it leaves");
        checks.push(Check::warn("bash", finding).hint(format!("move the line of clai to the end of {file}")));
    }
    if ours > 1 {
        let hint = format!("look for two lines of clai in {file} and what it loads");
        checks.push(Check::warn("bash", "clai is in PROMPT_COMMAND twice").hint(hint));
    }
    let (before, after) = (facts.get("trap_before"), facts.get("trap_after"));
    if !before.is_empty() && before != after {
        let who = if facts.get("preexec") == "1" { "bash-preexec" } else { "something" };
        let finding = format!("{who} takes your DEBUG trap at the first prompt; clai needs none, others may");
        checks.push(Check::warn("bash", finding).hint("`trap -p DEBUG` at a prompt shows whose it is now"));
    }
    if !facts.get("blesh").is_empty() {
        checks.push(Check::ok("bash", "ble.sh draws its own ghost text; clai's stands in its own row"));
    }
    checks
}

/// Whether bash runs all elements of an array, and keeps the status for each.
fn runs_arrays(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (5, 1)
}

fn zsh(facts: &Facts, file: &str) -> Vec<Check> {
    let mut checks = Vec::new();
    let missing: Vec<&str> =
        [("prompt", "__clai_precmd", "precmd"), ("preexec", "__clai_preexec", "preexec")]
            .into_iter()
            .filter(|(name, function, _)| !facts.all(name).any(|known| known == *function))
            .map(|(_, _, hook)| hook)
            .collect();
    if !missing.is_empty() {
        let finding = format!(
            "something replaced the {} hooks after clai was loaded: nothing is recorded",
            missing.join(" and ")
        );
        checks.push(Check::fail("zsh", finding).hint(format!("move the line of clai to the end of {file}")));
    }
    if facts.get("autosuggestions") == "1" {
        checks.push(Check::ok("zsh", "zsh-autosuggestions draws ghost text: clai is its first strategy"));
    }
    checks
}

fn fish(facts: &Facts, file: &str) -> Vec<Check> {
    if !facts.get("prompt").is_empty() {
        return Vec::new();
    }
    let finding = "something erased clai's functions after it was loaded: nothing is recorded";
    vec![Check::fail("fish", finding).hint(format!("move the line of clai to the end of {file}"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(pairs: &[(&str, &str)]) -> Facts {
        Facts(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    /// `health finding` of each check.
    fn judged(shell: Shell, pairs: &[(&str, &str)]) -> Vec<String> {
        let checks = judge(shell, &facts(pairs), "clai", |path| path == "/bin/clai-hook");
        checks.iter().map(|check| format!("{} {}", check.health.word(), check.finding)).collect()
    }

    const GOOD: [(&str, &str); 5] = [
        ("version", "5.2.15(1)-release"),
        ("hook", "/bin/clai-hook"),
        ("prompt", "__clai_before_prompt"),
        ("ran", "1"),
        ("stays", "1"),
    ];

    #[test]
    fn a_bash_that_loads_us_is_well() {
        assert_eq!(judged(Shell::Bash, &GOOD), ["ok bash 5.2.15 loads clai"]);
        let with_ble = [&GOOD[..], &[("blesh", "0.4")]].concat();
        assert_eq!(judged(Shell::Bash, &with_ble).len(), 2);
    }

    #[test]
    fn a_shell_that_does_not_load_us_gets_the_line_that_does() {
        let checks = judge(Shell::Fish, &facts(&[("version", "3.6.0")]), "scrimp clai", |_| true);
        assert_eq!(
            checks[0].hint.as_deref(),
            Some("`echo 'scrimp clai init fish | source' >> ~/.config/fish/config.fish`")
        );
    }

    #[test]
    fn a_hook_that_is_gone_is_a_failure() {
        let said = judged(Shell::Zsh, &[("hook", "/gone/clai-hook")]);
        assert_eq!(said, ["fail calls `/gone/clai-hook`, which is gone: nothing is recorded"]);
    }

    #[test]
    fn a_prompt_command_that_was_replaced_or_has_the_wrong_form_is_a_failure() {
        let with = |more: &[(&str, &str)]| judged(Shell::Bash, &[&GOOD[1..2], more].concat());
        let ours = ("prompt", "__clai_before_prompt");
        let (other, ran, stays) = (("prompt", "other"), ("ran", "1"), ("stays", "1"));
        let said = with(&[("version", "5.2.15"), other]);
        assert!(said[0].starts_with("fail something replaced PROMPT_COMMAND after"), "{said:?}");
        let said = with(&[("version", "5.0.3"), ("array", "1"), other, ours, ran]);
        assert!(said[0].starts_with("fail this bash runs only the first element"), "{said:?}");
        let said = with(&[("version", "5.2.15"), ours, ran]);
        assert!(
            said[0].starts_with("fail something replaces PROMPT_COMMAND at the first prompt"),
            "{said:?}"
        );
        let said = with(&[("version", "5.0.3"), ("prompt", "other\n__clai_before_prompt"), ran, stays]);
        assert!(said[0].starts_with("warn `other` runs before clai"), "{said:?}");
        // Newer ones keep the status for each element, and who calls us by another way calls us.
        for prompt in [&[other, ours][..], &[other]] {
            let said = with(&[&[("version", "5.2.15"), ran, stays], prompt].concat());
            assert_eq!(said, ["ok bash 5.2.15 loads clai"]);
        }
        let said = with(&[ours, ours, ran, stays]);
        assert_eq!(said, ["warn clai is in PROMPT_COMMAND twice"]);
    }

    #[test]
    fn a_trap_that_is_taken_is_told() {
        let stolen = [("trap_before", "trap -- 'mine' DEBUG"), ("trap_after", ""), ("preexec", "1")];
        let said = judged(Shell::Bash, &[&GOOD[..], &stolen].concat());
        assert_eq!(
            said,
            ["warn bash-preexec takes your DEBUG trap at the first prompt; clai needs none, others may"]
        );
        let kept = [("trap_before", "trap -- 'mine' DEBUG"), ("trap_after", "trap -- 'mine' DEBUG")];
        assert_eq!(judged(Shell::Bash, &[&GOOD[..], &kept].concat()), ["ok bash 5.2.15 loads clai"]);
    }

    #[test]
    fn hooks_of_zsh_that_are_gone_are_told_and_another_ghost_is_named() {
        let hook = [("hook", "/bin/clai-hook"), ("version", "5.9")];
        let said = judged(Shell::Zsh, &[&hook[..], &[("prompt", "__clai_precmd")]].concat());
        assert!(said[0].starts_with("fail something replaced the preexec hooks"), "{said:?}");
        let both = [("prompt", "__clai_precmd"), ("preexec", "__clai_preexec"), ("autosuggestions", "1")];
        let said = judged(Shell::Zsh, &[&hook[..], &both].concat());
        assert_eq!(said[0], "ok zsh 5.9 loads clai");
        assert!(said[1].starts_with("ok zsh-autosuggestions"), "{said:?}");
    }

    #[test]
    fn a_fish_that_lost_our_functions_is_told() {
        let hook = [("hook", "/bin/clai-hook"), ("version", "3.6.0")];
        assert!(judged(Shell::Fish, &hook)[0].starts_with("fail something erased"));
        let good = [("prompt", "__clai_postexec")];
        assert_eq!(judged(Shell::Fish, &[&hook[..], &good].concat()), ["ok fish 3.6.0 loads clai"]);
    }
}
