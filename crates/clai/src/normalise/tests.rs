//! Templates as data, and what holds for every line.

use proptest::prelude::*;

use super::*;
use crate::words::segments;

/// Line, template, slot values.
const GOLDEN: &str = include_str!("golden.txt");

/// Blocks of a line, its template, and its slot values, told apart by their first sign.
#[test]
fn lines_have_the_templates_of_the_golden_file() {
    let mut count = 0;
    for block in GOLDEN.split("\n\n").filter(|block| !block.trim().is_empty() && !block.starts_with('#')) {
        let mut rows = block.lines().map(|row| row.split_once(' ').unwrap_or((row, "")));
        let (Some(("$", line)), Some(("=", template))) = (rows.next(), rows.next()) else {
            panic!("{block}")
        };
        let values: Vec<&str> = rows.map(|(_, value)| value).collect();
        let normalised = normalise(&line.replace('⏎', "\n"));
        let template = template.replace('⏎', "\n");
        assert_eq!(normalised.template.0, template, "of {line}");
        assert_eq!(
            normalised.slots.iter().map(|slot| slot.value.as_str()).collect::<Vec<_>>(),
            values,
            "in {line}"
        );
        count += 1;
    }
    assert!(count >= 80, "{count}");
}

#[test]
fn a_filled_template_is_the_line_again() {
    for line in [
        r#"git commit -m "fix: it's $VERSION""#,
        "git push origin main && npm run 'a b' | tee /tmp/x",
        r#"git commit -m"a b" --depth=3"#,
        "cp ~/a\\ b 'c/d e'",
    ] {
        let Normalised { template, slots } = normalise(line);
        assert_eq!(texts(&fill(&template, &slots).unwrap()), texts(line));
    }
}

#[test]
fn slots_that_are_not_the_templates_do_not_fill_it() {
    let template = Template("git push <remote> <branch>".into());
    let slot = |kind, value: &str| Slot { kind, value: value.into() };
    let remote = slot(SlotKind::Remote, "origin");
    assert_eq!(slots_of(&template), [SlotKind::Remote, SlotKind::Branch]);
    let fill_with = |branch: Slot| fill(&template, &[remote.clone(), branch]);
    assert_eq!(fill_with(slot(SlotKind::Branch, "main")).as_deref(), Some("git push origin main"));
    assert_eq!(fill_with(slot(SlotKind::Path, "main")), None);
    assert_eq!(fill(&template, std::slice::from_ref(&remote)), None);
    assert_eq!(fill(&Template("ls".into()), std::slice::from_ref(&remote)), None);
    for hostile in ["x; rm -rf ~", "a b", "", "it's", "x\nls", "$(", "x &"] {
        assert_eq!(fill_with(slot(SlotKind::Branch, hostile)), None, "{hostile}");
    }
}

#[test]
fn what_was_taken_out_as_a_secret_is_never_a_slot() {
    for line in [
        "curl -H \"X: <secret:header>\" <secret:url>",
        "git clone https://me:<secret:url>@github.com/a/b.git",
        "git commit -m \"add <secret:github>\"",
        "export AWS_KEY=<secret:aws>",
        "npm run <secret:npm>",
    ] {
        let normalised = normalise(line);
        assert_eq!((normalised.template.0.as_str(), normalised.slots.len()), (line, 0));
    }
}

#[test]
fn lines_that_once_lost_a_word_or_a_second_template_keep_them() {
    for line in [
        "a¡",
        "'a/b' '",
        "`)${/ `",
        "`a`\\ \\\n ''.",
        "\\\n",
        " <<EOF\n\n\n",
        "\"\t;<path> \"\"",
        "/{ ~",
        " <<EOF\n\nEOF\n;&",
        "` #'\n`",
    ] {
        let Normalised { template, slots } = normalise(line);
        assert_eq!(normalise(&template.0).template, template, "{line:?}");
        assert_eq!(fill(&template, &slots).map(|filled| texts(&filled)), Some(texts(line)), "{line:?}");
    }
}

fn texts(line: &str) -> Vec<String> {
    let mut out = Vec::new();
    for segment in segments(line) {
        out.extend(segment.operator_before.map(|operator| operator.as_str().to_owned()));
        out.extend(segment.words.iter().map(|word| word.text.clone().into_owned()));
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_template_is_its_own_template(line in words::tests::shell_text()) {
        let once = normalise(&line);
        let twice = normalise(&once.template.0);
        prop_assert_eq!(&twice.template, &once.template);
        let kinds = |normalised: &Normalised| normalised.slots.iter().map(|slot| slot.kind).collect::<Vec<_>>();
        prop_assert_eq!(kinds(&twice), kinds(&once));
        prop_assert_eq!(slots_of(&once.template), kinds(&once));
    }

    #[test]
    fn filling_gives_the_words_back(line in words::tests::shell_text()) {
        let Normalised { template, slots } = normalise(&line);
        let filled = fill(&template, &slots);
        prop_assert!(filled.is_some(), "{} {:?}", template, slots);
        prop_assert_eq!(texts(&filled.unwrap()), texts(&line));
    }

    #[test]
    fn any_bytes_have_a_template(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        normalise(&String::from_utf8_lossy(&bytes));
    }
}
