//! The pure text parts of clai from outside: real shells read what we quote, and any bytes keep the promises.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "shells run a script of our own and end with it"
)]

use std::process::Command;

use clai::redact::Policy;
use clai::{danger, normalise, redact, words};
use proptest::prelude::*;

/// Words in which everything is frequent that any shell gives a meaning.
fn hostile_words() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        r#"[-'"\\ ;&|<>(){}$`#=/~.*!?^%@\[\]a-c0-9]{0,12}"#,
        "[ -~é日🦀]{0,12}",
        prop::sample::select(vec![
            "x; rm -rf ~",
            "$(id)",
            "`id`",
            "!!",
            "!-1",
            "~root",
            "=ls",
            "'\\''",
            "a\\",
            "\\",
            "''"
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(word, 1..120)
}

fn read_back(shell: &str, arguments: &[&str], script: &str) -> Vec<String> {
    let output =
        Command::new(shell).args(arguments).args(["-c", script]).output().expect("the shell is installed");
    assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("a shell prints the words it was given");
    text.strip_suffix('\n').expect("each word ends a line").split('\n').map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_shell_reads_a_quoted_word_as_the_word(words in hostile_words()) {
        let quoted: Vec<String> = words.iter().map(|word| words::quote(word).unwrap()).collect();
        let print = format!("printf '%s\\n' {}\n", quoted.join(" "));
        for (shell, arguments, before) in [
            ("bash", ["--norc", "--noprofile"].as_slice(), "set -o history -o histexpand\n"),
            ("zsh", ["-f"].as_slice(), "setopt rcquotes extendedglob banghist\n"),
            ("fish", ["-N"].as_slice(), ""),
        ] {
            prop_assert_eq!(&read_back(shell, arguments, &format!("{before}{print}")), &words, "{}", shell);
        }
    }
}

#[test]
fn any_bytes_keep_the_promises() {
    testkit::fuzz("clai-text", "tests/corpus/text", 10_000, |bytes| {
        let line = String::from_utf8_lossy(bytes);
        for word in words::segments(&line).iter().flat_map(|segment| &segment.words) {
            assert_eq!(&line[word.span()], word.raw);
        }
        let kept = redact::redact(&line, Policy::Redact).line.expect("redacting keeps a line");
        let normalised = normalise::normalise(&kept);
        assert_eq!(normalise::normalise(&normalised.template.0).template, normalised.template);
        assert!(normalise::fill(&normalised.template, &normalised.slots).is_some());
        assert!(normalised.slots.iter().all(|slot| !redact::has_marker(&slot.value)));
        danger::danger(&line);
    });
}
