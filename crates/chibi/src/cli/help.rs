//! The help, and the same table as `clap` knows it: for completions and the front door's pages. Nothing is parsed here.

use std::fmt::Write;

use super::flags::{FLAGS, Flag, Section};

pub(crate) const ABOUT: &str = "Conversations that persist, compact, call plugins and talk to each other";

/// Where the second column begins.
const COLUMN: usize = 40;

/// As wide as a help may be that is read everywhere.
const WIDTH: usize = 100;

pub(crate) fn text(spoken: &str) -> String {
    let mut out = format!("{ABOUT}\n\nUsage: {spoken} [FLAGS] [--] [PROMPT...]\n");
    out.push_str("\nWords are the prompt; text from a pipe is put below them. Without any, standard input is read: on a\n");
    out.push_str(
        "terminal up to a line with a single dot. Small letters mean this context, capital ones another.\n",
    );
    for (section, title) in Section::ALL {
        let _ = writeln!(out, "\n{title}:");
        for flag in FLAGS.iter().filter(|flag| flag.section == section) {
            let left = left(flag);
            let gap = COLUMN.saturating_sub(left.chars().count()).max(2);
            let _ =
                writeln!(out, "{left}{:gap$}{}", "", wrapped(flag.help).join(&format!("\n{:COLUMN$}", "")));
        }
    }
    out
}

/// Lines that fit beside the flags.
fn wrapped(words: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let last = lines.last_mut().expect("there is always a line");
        match last.is_empty() {
            true => last.push_str(word),
            false if COLUMN + last.len() + 1 + word.len() <= WIDTH => last.push_str(&format!(" {word}")),
            false => lines.push(word.to_owned()),
        }
    }
    lines
}

pub(crate) fn command() -> clap::Command {
    let args = FLAGS.iter().filter(|flag| !matches!(flag.long, "help" | "version")).map(argument);
    let prompt = clap::Arg::new("PROMPT").num_args(0..).help("What to say");
    clap::Command::new("chibi")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .max_term_width(100)
        .args(args)
        .arg(prompt)
}

fn left(flag: &Flag) -> String {
    let short = flag.short.map_or_else(|| "    ".to_owned(), |letter| format!("-{letter}, "));
    let values: String = flag.values.iter().map(|value| format!(" {value}")).collect();
    format!("  {short}--{}{values}", flag.long)
}

fn argument(flag: &'static Flag) -> clap::Arg {
    let arg = clap::Arg::new(flag.long).long(flag.long).help(flag.help).help_heading(heading(flag.section));
    let arg = flag.short.into_iter().fold(arg, clap::Arg::short);
    match flag.values {
        [] => arg.action(clap::ArgAction::SetTrue),
        [.., last] if last.ends_with("...") => arg.num_args(1..).value_names(flag.values),
        values => arg.num_args(values.len()).value_names(values),
    }
}

fn heading(section: Section) -> &'static str {
    Section::ALL.iter().find(|(known, _)| *known == section).map_or("", |(_, title)| title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_in_the_help_and_in_the_completions() {
        let help = text("chibi");
        for flag in FLAGS {
            assert!(help.contains(&format!("--{}", flag.long)), "{}", flag.long);
        }
        command().debug_assert();
        assert!(help.lines().all(|line| !line.ends_with(' ')));
    }

    #[test]
    fn no_name_is_given_twice() {
        let mut names: Vec<String> = FLAGS
            .iter()
            .flat_map(|flag| [flag.long].into_iter().chain(flag.aliases.iter().copied()))
            .map(str::to_owned)
            .chain(FLAGS.iter().flat_map(|flag| [flag.short, flag.short_alias]).flatten().map(String::from))
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
