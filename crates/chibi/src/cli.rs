//! What was typed, and what it means. Knows no context and no file.
//!
//! Words begin the prompt, and everything behind the first is prompt; so is a short flag that nobody knows. A long one
//! is an error, since nobody types `--foo` as prose.

mod flags;
pub(crate) mod help;

use std::ffi::{OsStr, OsString};

use kit::{Failure, text};

use crate::input::{Action, Asked, Input, Prompt, Select, Speaker, Ways};
use flags::{FLAGS, Flag, Id, Then};

/// The command line, or that it is to be found on standard input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Input(Box<Input>),
    /// As one JSON object; nothing else that was typed counts, but for how answers are written.
    Json {
        json_output: bool,
    },
}

pub(crate) fn parse(args: &[OsString], spoken: &str) -> Result<Typed, Failure> {
    let mut reading = Reading { spoken, ..Reading::default() };
    let mut parser = lexopt::Parser::from_args(args);
    reading.all(&mut parser)?;
    Ok(reading.meaning())
}

#[derive(Default)]
struct Reading<'a> {
    spoken: &'a str,
    /// With the place of their flag in the table.
    actions: Vec<(usize, Action)>,
    words: Option<String>,
    select: Select,
    from: Option<String>,
    speaker: Speaker,
    asked: Asked,
    ways: Ways,
    json_config: bool,
    quiet: bool,
    forced: bool,
    no_chibi: bool,
}

impl Reading<'_> {
    fn all(&mut self, parser: &mut lexopt::Parser) -> Result<(), Failure> {
        loop {
            // Between two arguments, what follows can still be seen whole.
            if let Some(rest) = parser.try_raw_args() {
                let Some(next) = rest.peek() else { return Ok(()) };
                let dashes = next == "--";
                if dashes || is_prose(next) {
                    let words = rest.skip(usize::from(dashes));
                    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
                    self.words = Some(words.join(" "));
                    return Ok(());
                }
            }
            let (place, flag) = match parser.next().map_err(|error| self.wrong(&error.to_string()))? {
                Some(lexopt::Arg::Long(name)) => {
                    let name = name.to_owned();
                    flags::by_long(&name).ok_or_else(|| unknown(&name))?
                }
                Some(lexopt::Arg::Short(letter)) => {
                    flags::by_short(letter).ok_or_else(|| self.wrong(&format!("`-{letter}` is no flag")))?
                }
                Some(lexopt::Arg::Value(_)) | None => return Ok(()),
            };
            self.flag(place, flag, parser)?;
        }
    }

    fn flag(&mut self, place: usize, flag: &Flag, parser: &mut lexopt::Parser) -> Result<(), Failure> {
        let mut values = Vec::new();
        for name in flag.values {
            if name.ends_with("...") {
                let rest =
                    parser.raw_args().map_err(|error| self.wrong(&format!("--{}: {error}", flag.long)))?;
                values.extend(rest.map(|word| word.to_string_lossy().into_owned()));
                break;
            }
            let missing = |_| self.wrong(&format!("--{} needs {}", flag.long, flag.values.join(" ")));
            values.push(parser.value().map_err(missing)?.to_string_lossy().into_owned());
        }
        self.quiet |= flag.then == Then::Nothing;
        if let Some(action) = self.means(flag.id, values)? {
            self.actions.push((place, action));
        }
        Ok(())
    }

    /// What a flag adds; an action if it is one.
    fn means(&mut self, id: Id, values: Vec<String>) -> Result<Option<Action>, Failure> {
        let first = values.first().cloned().unwrap_or_default();
        match id {
            // What holds for this run wins over what is kept.
            Id::SwitchContext if matches!(self.select, Select::Transient(_)) => {}
            Id::SwitchContext => self.select = Select::Switch(first),
            Id::TransientContext => self.select = Select::Transient(first),
            Id::Continue => self.select = Select::Latest,
            Id::From => self.from = Some(first),
            Id::SetUsername if matches!(self.speaker, Speaker::Once(_)) => {}
            Id::SetUsername => self.speaker = Speaker::Kept(first),
            Id::TransientUsername => self.speaker = Speaker::Once(first),
            Id::Model => self.asked.model = Some(first),
            Id::Provider => self.asked.provider = Some(first),
            Id::ApiUrl => self.asked.api_url = Some(first),
            Id::Schema => self.asked.schema = Some(first),
            Id::Wait => self.ways.wait = true,
            Id::Yes => self.ways.yes = true,
            Id::Verbose => self.ways.verbose = true,
            Id::NoChibi => self.no_chibi = true,
            Id::ForceChibi => self.forced = true,
            Id::JsonConfig => self.json_config = true,
            Id::JsonOutput => self.ways.json = true,
            Id::Debug => self.ways.debug(&first),
            action => return self.action(action, values),
        }
        Ok(None)
    }

    fn action(&self, id: Id, values: Vec<String>) -> Result<Option<Action>, Failure> {
        let mut values = values.into_iter();
        let mut next = || values.next().unwrap_or_default();
        Ok(Some(match id {
            Id::ListCurrent => Action::ListCurrent,
            Id::List => Action::List,
            Id::DestroyCurrent => Action::Destroy(None),
            Id::Destroy => Action::Destroy(Some(next())),
            Id::ArchiveCurrent => Action::Archive(None),
            Id::Archive => Action::Archive(Some(next())),
            Id::CompactCurrent => Action::Compact(None),
            Id::Compact => Action::Compact(Some(next())),
            Id::UndoCompaction => Action::UndoCompaction,
            Id::RenameCurrent => Action::Rename { old: None, new: next() },
            Id::Rename => Action::Rename { old: Some(next()), new: next() },
            Id::ShowLogCurrent => Action::ShowLog { context: None, count: self.count(&next())? },
            Id::ShowLog => Action::ShowLog { context: Some(next()), count: self.count(&next())? },
            Id::Last => Action::Last,
            Id::InspectCurrent => Action::Inspect { context: None, thing: next() },
            Id::Inspect => Action::Inspect { context: Some(next()), thing: next() },
            Id::SetPromptCurrent => Action::SetSystemPrompt { context: None, prompt: next() },
            Id::SetPrompt => Action::SetSystemPrompt { context: Some(next()), prompt: next() },
            Id::Pin => Action::Pin(next()),
            Id::Unpin => Action::Unpin(next()),
            Id::Pins => Action::Pins,
            Id::Search => Action::Search(next()),
            Id::Usage => Action::Usage,
            Id::Export => Action::Export(next()),
            Id::Import => Action::Import(next()),
            Id::ListPlugins => Action::ListPlugins,
            Id::PluginCheck => Action::PluginCheck(next()),
            Id::Init => Action::Init,
            Id::Completions => Action::Completions(next()),
            Id::Plugin => Action::RunPlugin { name: next(), args: values.collect() },
            Id::CallTool => Action::CallTool { name: next(), args: values.collect() },
            Id::Help => Action::Help,
            Id::Version => Action::Version,
            _ => return Ok(None),
        }))
    }

    fn count(&self, typed: &str) -> Result<i64, Failure> {
        typed.parse().map_err(|_| self.wrong(&format!("`{typed}` is no number of entries")))
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::usage(what).hint(format!("`{} --help`", self.spoken))
    }

    fn meaning(mut self) -> Typed {
        if self.json_config {
            return Typed::Json { json_output: self.ways.json };
        }
        self.actions.sort_by_key(|(place, _)| *place);
        let actions: Vec<Action> = self.actions.into_iter().map(|(_, action)| action).collect();
        let idle = actions.is_empty()
            && matches!(self.select, Select::Current | Select::Latest)
            && !matches!(self.speaker, Speaker::Kept(_));
        let prompt = match self.words {
            _ if self.no_chibi || self.quiet && !self.forced => Prompt::Nothing,
            Some(words) if !words.trim().is_empty() => Prompt::Words(words),
            _ if idle || self.forced => Prompt::Ask,
            _ => Prompt::Piped,
        };
        Typed::Input(Box::new(Input {
            actions,
            prompt,
            select: self.select,
            from: self.from,
            speaker: self.speaker,
            asked: self.asked,
            ways: self.ways,
        }))
    }
}

/// A word, or a dash with letters of which the first is no flag.
fn is_prose(argument: &OsStr) -> bool {
    let bytes = argument.as_encoded_bytes();
    match bytes {
        [b'-', b'-', ..] => false,
        [b'-'] => true,
        [b'-', first, ..] => flags::by_short(char::from(*first)).is_none(),
        _ => true,
    }
}

fn unknown(name: &str) -> Failure {
    let known = FLAGS.iter().flat_map(|flag| [flag.long].into_iter().chain(flag.aliases.iter().copied()));
    let failure = Failure::usage(format!("there is no flag `--{name}`"));
    match text::nearest(name, known) {
        Some(near) => {
            failure.hint(format!("did you mean `--{near}`? As a part of the prompt: `-- --{name}`"))
        }
        None => failure.hint(format!("as a part of the prompt: `-- --{name}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(line: &[&str]) -> Input {
        let args: Vec<OsString> = line.iter().map(OsString::from).collect();
        match parse(&args, "chibi").unwrap() {
            Typed::Input(input) => *input,
            Typed::Json { .. } => panic!("that is JSON"),
        }
    }

    fn refused(line: &[&str]) -> String {
        let args: Vec<OsString> = line.iter().map(OsString::from).collect();
        parse(&args, "chibi").unwrap_err().to_string()
    }

    #[test]
    fn words_are_the_prompt_and_so_is_all_behind_the_first() {
        assert_eq!(typed(&["hello", "-L", "--foo"]).prompt, Prompt::Words("hello -L --foo".into()));
        assert_eq!(typed(&["--", "--foo", "x"]).prompt, Prompt::Words("--foo x".into()));
        assert_eq!(typed(&["-V", "x"]).prompt, Prompt::Words("-V x".into()), "there is no -V");
        assert_eq!(typed(&["-5", "degrees"]).prompt, Prompt::Words("-5 degrees".into()));
        assert_eq!(typed(&["-"]).prompt, Prompt::Words("-".into()));
        assert_eq!(typed(&[]).prompt, Prompt::Ask);
        assert_eq!(typed(&["", " "]).prompt, Prompt::Ask, "nothing was said");
    }

    #[test]
    fn an_unknown_long_flag_is_an_error_that_says_how_to_say_it() {
        assert_eq!(
            refused(&["--foo"]),
            "error: there is no flag `--foo`\nhint: as a part of the prompt: `-- --foo`"
        );
        assert!(refused(&["--serach", "x"]).contains("did you mean `--search`?"));
        assert_eq!(refused(&["-G", "a"]), "error: --show-log needs CTX N\nhint: `chibi --help`");
        assert_eq!(refused(&["-vQ"]), "error: `-Q` is no flag\nhint: `chibi --help`");
        assert_eq!(refused(&["-g", "many"]), "error: `many` is no number of entries\nhint: `chibi --help`");
    }

    #[test]
    fn values_may_be_attached_and_negative() {
        assert_eq!(typed(&["-Dold"]).actions, [Action::Destroy(Some("old".into()))]);
        assert_eq!(typed(&["-g-3"]).actions, [Action::ShowLog { context: None, count: -3 }]);
        assert_eq!(typed(&["-g", "-3"]).actions, [Action::ShowLog { context: None, count: -3 }]);
        assert_eq!(typed(&["--search=a b"]).actions, [Action::Search("a b".into())]);
        assert_eq!(
            typed(&["-p", "run", "-x", "--", "y"]).actions,
            [Action::RunPlugin { name: "run".into(), args: vec!["-x".into(), "--".into(), "y".into()] }]
        );
    }

    #[test]
    fn actions_run_in_the_order_of_the_table_and_then_the_prompt_is_sent() {
        let input = typed(&["-y", "Be kind", "-a", "hello"]);
        assert_eq!(
            input.actions,
            [Action::Archive(None), Action::SetSystemPrompt { context: None, prompt: "Be kind".into() }]
        );
        assert_eq!(input.prompt, Prompt::Words("hello".into()));
        assert_eq!(typed(&["-L", "-l"]).actions, [Action::ListCurrent, Action::List]);
    }

    #[test]
    fn what_only_shows_something_sends_nothing_unless_it_is_forced() {
        assert_eq!(typed(&["-L", "hi"]).prompt, Prompt::Nothing);
        assert_eq!(typed(&["-X", "-L", "hi"]).prompt, Prompt::Words("hi".into()));
        assert_eq!(typed(&["-X", "-L"]).prompt, Prompt::Ask);
        assert_eq!(typed(&["-x", "-a", "hi"]).prompt, Prompt::Nothing);
        assert_eq!(typed(&["-a"]).prompt, Prompt::Piped);
        assert_eq!(typed(&["-c", "work"]).prompt, Prompt::Piped, "a switch alone asks nobody");
    }

    #[test]
    fn what_holds_for_one_run_wins_over_what_is_kept() {
        let input = typed(&["-C", "a", "-c", "b", "-U", "x", "-u", "y", "hi"]);
        assert_eq!(input.select, Select::Transient("a".into()));
        assert_eq!(input.speaker, Speaker::Once("x".into()));
        assert_eq!(typed(&["-c", "b", "-C", "a"]).select, Select::Transient("a".into()));
    }

    #[test]
    fn older_names_still_work() {
        assert_eq!(typed(&["-S", "a", "hi"]).select, Select::Transient("a".into()));
        assert_eq!(typed(&["--ephemeral-context", "a"]).select, Select::Transient("a".into()));
        assert_eq!(typed(&["--delete-context", "a"]).actions, [Action::Destroy(Some("a".into()))]);
        assert_eq!(
            typed(&["-e", "p"]).actions,
            [Action::SetSystemPrompt { context: None, prompt: "p".into() }]
        );
    }

    #[test]
    fn with_a_json_config_only_the_form_of_the_answer_counts() {
        let args: Vec<OsString> =
            ["-L", "--json-config", "--json-output"].iter().map(OsString::from).collect();
        assert_eq!(parse(&args, "chibi").unwrap(), Typed::Json { json_output: true });
    }
}
