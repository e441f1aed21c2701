//! What was typed behind `clai-daemon`. Knows flags, not what they do.

use std::ffi::{OsStr, OsString};

use kit::invocation::Environment;
use kit::{Failure, Places, text};

use crate::config::{self, KEYS, Loaded};

pub(super) const HELP: &str = "\
clai-daemon: learns from the commands you run and says what comes next

usage: clai-daemon [OPTIONS]

Without options it starts in the background and returns when it answers.

  --foreground            stay here, and end on Ctrl-C
  --rebuild-aggregates    count everything anew from the commands that are kept
  --set KEY=VALUE         in place of what the configuration says; see `clai config`
  --version, --help
";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) mode: Mode,
    settings: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Background,
    Foreground,
    /// Started by ourselves to live on: in the foreground of nothing.
    Detached,
    RebuildAggregates,
    Version,
    Help,
}

impl Mode {
    /// The flag, as far as there is one.
    pub(super) const DETACHED: &str = "--detached";
}

const FLAGS: [(&str, Mode); 8] = [
    ("--foreground", Mode::Foreground),
    (Mode::DETACHED, Mode::Detached),
    ("--rebuild-aggregates", Mode::RebuildAggregates),
    ("--version", Mode::Version),
    ("-V", Mode::Version),
    ("--help", Mode::Help),
    ("-h", Mode::Help),
    ("help", Mode::Help),
];

impl Options {
    pub(super) fn parse(args: &[OsString]) -> Result<Options, Failure> {
        let mut options = Options { mode: Mode::Background, settings: Vec::new() };
        let mut args = args.iter().map(OsString::as_os_str);
        while let Some(arg) = args.next() {
            let typed = arg.to_string_lossy();
            if let Some((_, mode)) = FLAGS.iter().find(|(flag, _)| OsStr::new(flag) == arg) {
                options.mode = *mode;
            } else if let Some(setting) = typed.strip_prefix("--set=") {
                options.settings.push(setting_of(setting)?);
            } else if typed == "--set" {
                let setting = args.next().ok_or_else(|| Failure::usage("`--set` needs KEY=VALUE"))?;
                options.settings.push(setting_of(&setting.to_string_lossy())?);
            } else {
                let near = text::nearest(&typed, FLAGS.iter().map(|(flag, _)| *flag));
                let hint =
                    near.map_or("`clai-daemon --help`".to_owned(), |near| format!("`clai-daemon {near}`"));
                return Err(Failure::usage(format!("unknown argument `{typed}`")).hint(hint));
            }
        }
        Ok(options)
    }

    /// The configuration with what was typed on top.
    pub(super) fn load(&self, places: &Places, env: &Environment) -> Result<Loaded, Failure> {
        let flags: Vec<(&str, &str)> =
            self.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        config::load(places, env, &flags)
    }
}

fn setting_of(text: &str) -> Result<(String, String), Failure> {
    let (key, value) = text.split_once('=').ok_or_else(|| Failure::usage("`--set` needs KEY=VALUE"))?;
    if KEYS.iter().any(|known| known.name == key) {
        return Ok((key.to_owned(), value.to_owned()));
    }
    let failure = Failure::usage(format!("unknown key `{key}`"));
    match text::nearest(key, KEYS.iter().map(|key| key.name)) {
        Some(near) => Err(failure.hint(format!("`--set {near}={value}`"))),
        None => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        Options::parse(&args).map_err(|failure| failure.to_string())
    }

    #[test]
    fn flags_are_read_and_typing_errors_are_told() {
        assert_eq!(parse(&[]).unwrap().mode, Mode::Background);
        assert_eq!(parse(&["--foreground"]).unwrap().mode, Mode::Foreground);
        let set = parse(&["--set", "debug=true", "--set=retention_days=3"]).unwrap();
        assert_eq!(set.settings, [("debug".into(), "true".into()), ("retention_days".into(), "3".into())]);
        assert_eq!(
            parse(&["--forground"]).unwrap_err(),
            "error: unknown argument `--forground`\nhint: `clai-daemon --foreground`"
        );
        assert_eq!(
            parse(&["--set", "debgu=1"]).unwrap_err(),
            "error: unknown key `debgu`\nhint: `--set debug=1`"
        );
        assert!(parse(&["--set"]).is_err() && parse(&["--set", "debug"]).is_err());
    }
}
