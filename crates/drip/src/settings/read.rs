//! Values out of an environment, each with its default from the table that declares it. Knows no meaning.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::str::FromStr;

use kit::invocation::Environment;
use kit::places::Variable;
use kit::text;

use super::Warning;

pub(super) struct Reader<'a> {
    env: &'a Environment,
    table: &'static [Variable],
    warnings: Vec<Warning>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(env: &'a Environment, table: &'static [Variable]) -> Reader<'a> {
        Reader { env, table, warnings: Vec::new() }
    }

    /// What could not be followed, and what looks like ours but is not.
    pub(super) fn finish(mut self) -> Vec<Warning> {
        let names = self.env.iter().filter_map(|(name, _)| name.to_str());
        let strange = |name: &&str| name.starts_with("DRIP_") && !self.table.iter().any(|v| v.name == *name);
        let mut unknown: Vec<&str> = names.filter(strange).collect();
        unknown.sort_unstable();
        for name in unknown {
            let why = match text::nearest(name, self.table.iter().map(|variable| variable.name)) {
                Some(meant) => format!("is not read; did you mean {meant}?"),
                None => "is not read".to_owned(),
            };
            self.warnings.push(Warning { variable: name.to_owned(), why });
        }
        self.warnings
    }

    /// The bytes as they were set, if there are any.
    pub(super) fn raw(&self, name: &str) -> Option<OsString> {
        self.default(name);
        self.env.get(name).filter(|value| !value.is_empty()).map(OsStr::to_owned)
    }

    /// A relative path would mean another place in every directory.
    pub(super) fn absolute(&mut self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.raw(name)?);
        if path.is_absolute() {
            return Some(path);
        }
        self.warn(name, &path.to_string_lossy(), "is not an absolute path");
        None
    }

    pub(super) fn number<T: FromStr>(&mut self, name: &str) -> T {
        self.choice(name, |text| text.trim().parse().ok())
    }

    /// A number that is there, finite and not negative.
    pub(super) fn amount(&mut self, name: &str) -> f64 {
        self.choice(name, |text| {
            text.trim().parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)
        })
    }

    pub(super) fn switch(&mut self, name: &str) -> bool {
        self.choice(name, |word| match word.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(true),
            _ => is_off(word).then_some(false),
        })
    }

    /// On by being set: whoever wrote anything but a word for "off" meant it.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.choice(name, |word| Some(!is_off(word)))
    }

    /// What `parse` makes of the value, or of the default. An empty value is as good as none.
    pub(super) fn choice<T>(&mut self, name: &str, parse: impl Fn(&str) -> Option<T>) -> T {
        let default = || parse(self.default(name)).expect("a declared default can be parsed");
        let Some(value) = self.raw(name) else { return default() };
        let value = value.to_string_lossy();
        match parse(&value) {
            Some(parsed) => parsed,
            None => {
                let parsed = default();
                self.warn(name, &value, "is not a value it takes");
                parsed
            }
        }
    }

    fn default(&self, name: &str) -> &'static str {
        let row = self.table.iter().find(|variable| variable.name == name);
        row.expect("every variable that is read is declared").default
    }

    fn warn(&mut self, name: &str, value: &str, why: &str) {
        let value = text::plain(text::head(value, 80));
        self.warnings.push(Warning { variable: name.to_owned(), why: format!("`{value}` {why}") });
    }
}

fn is_off(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}
