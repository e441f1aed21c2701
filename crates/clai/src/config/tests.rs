//! The layers of the configuration, without a file system.

use proptest::prelude::*;

use super::*;

fn none(_: &Key) -> Option<String> {
    None
}

fn origin_of(loaded: &Loaded, name: &str) -> Origin {
    loaded.settings.iter().find(|setting| setting.key.name == name).unwrap().origin
}

#[test]
fn the_defaults_are_those_of_the_specification() {
    let config = Config::default();
    assert_eq!((config.retention_days, config.hook_timeout_ms), (90, 15));
    assert_eq!(config.synchronous, Synchronous::Normal);
    assert_eq!((config.secrets, config.debug), (redact::Policy::Redact, false));
}

#[test]
fn the_written_file_changes_nothing_and_uncommented_it_is_valid() {
    let loaded = layered(&commented(), none, &[]).unwrap();
    assert_eq!(loaded.config, Config::default());
    let is_setting = |line: &&str| {
        line.strip_prefix("# ")
            .is_some_and(|line| KEYS.iter().any(|key| line.starts_with(&format!("{} = ", key.name))))
    };
    let uncommented: String =
        commented().lines().filter(is_setting).map(|line| format!("{}\n", &line[2..])).collect();
    let loaded = layered(&uncommented, none, &[]).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.warnings.is_empty());
    assert!(loaded.settings.iter().all(|setting| setting.origin == Origin::File));
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let file = "retention_days = 1\nhook_timeout_ms = 11\nscorer = \"seed\"";
    let environment = |key: &Key| match key.name {
        "retention_days" => Some("2".to_owned()),
        "hook_timeout_ms" => Some("12".to_owned()),
        _ => None,
    };
    let loaded = layered(file, environment, &[("retention_days", "3")]).unwrap();
    let config = &loaded.config;
    assert_eq!((config.retention_days, config.hook_timeout_ms, config.scorer), (3, 12, Scorer::Seed));
    let origins =
        ["retention_days", "hook_timeout_ms", "scorer", "debug"].map(|name| origin_of(&loaded, name));
    assert_eq!(origins, [Origin::Flag, Origin::Environment, Origin::File, Origin::Default]);
}

#[test]
fn an_unknown_key_is_a_warning_with_the_nearest_name() {
    let loaded = layered("retension_days = 3\nzzzzzz = 1", none, &[]).unwrap();
    assert_eq!(
        loaded.warnings,
        ["unknown key `retension_days`, perhaps `retention_days`", "unknown key `zzzzzz`"]
    );
}

#[test]
fn a_value_that_cannot_be_taken_is_a_failure_that_says_what_can() {
    for (file, words) in [
        ("hook_timeout_ms = 9", "`hook_timeout_ms` is 9, and must be a whole number from 10 to 20"),
        ("hook_timeout_ms = 21", "`hook_timeout_ms` is 21, and must be a whole number from 10 to 20"),
        ("secrets = \"redcat\"", "`secrets` is \"redcat\", and must be \"redact\" or \"drop\" or \"off\""),
        ("debug = \"yes\"", "`debug` is \"yes\", and must be true or false"),
        ("ignore = \"ssh *\"", "`ignore` is \"ssh *\", and must be a list of strings"),
    ] {
        let problem = layered(file, none, &[]).unwrap_err();
        assert_eq!(problem, Problem { origin: Origin::File, words: words.into() });
    }
    assert!(layered("ignore = [", none, &[]).is_err());
}

#[test]
fn lists_in_the_environment_stand_one_per_line() {
    let environment = |key: &Key| (key.name == "ignore").then(|| "ssh *\n* --password *\n".to_owned());
    assert_eq!(layered("", environment, &[]).unwrap().config.ignore, ["ssh *", "* --password *"]);
}

#[test]
fn a_pattern_describes_the_whole_line() {
    for (pattern, line, expected) in [
        ("ls", "ls", true),
        ("ls", "ls -l", false),
        ("ls*", "ls -l", true),
        ("*pass*", "my pass word", true),
        ("?s", "ls", true),
        ("a*b*c", "axxbyybzc", true),
        ("a*b*c", "axxbyyb", false),
        ("", "", true),
        ("é?", "éa", true),
    ] {
        assert_eq!(glob(pattern, line), expected, "{pattern} {line}");
    }
}

#[test]
fn a_directory_covers_itself_and_what_is_below() {
    let home = Path::new("/home/ada");
    for (pattern, directory, expected) in [
        ("~/secret", "/home/ada/secret/x", true),
        ("~/secret/", "/home/ada/secret", true),
        ("~/secret", "/home/ada/secrets", false),
        ("/srv", "/srv/a", true),
        ("~", "/home/ada", true),
        ("~eve", "/home/ada/eve", false),
    ] {
        assert_eq!(covers(pattern, directory, home), expected, "{pattern} {directory}");
    }
}

proptest! {
    #[test]
    fn no_pattern_takes_long_or_panics(pattern in "[*?ab]{0,12}", line in "[ab]{0,60}") {
        let naive = fits(&pattern.chars().collect::<Vec<_>>(), &line.chars().collect::<Vec<_>>());
        prop_assert_eq!(glob(&pattern, &line), naive);
    }

    #[test]
    fn any_file_is_settings_or_a_problem(file in "\\PC{0,80}") {
        let _ = layered(&file, none, &[]);
    }
}

/// By the definition, with a table so that it ends.
fn fits(pattern: &[char], line: &[char]) -> bool {
    let mut reach = vec![false; line.len() + 1];
    reach[0] = true;
    for c in pattern {
        let mut next = vec![false; line.len() + 1];
        for at in 0..=line.len() {
            next[at] = match c {
                '*' => reach[at] || at > 0 && next[at - 1],
                '?' => at > 0 && reach[at - 1],
                c => at > 0 && reach[at - 1] && line[at - 1] == *c,
            };
        }
        reach = next;
    }
    reach[line.len()]
}
