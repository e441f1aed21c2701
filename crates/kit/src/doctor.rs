//! Findings about this machine, one line each, each bad one with the command that helps. What is checked is
//! each tool's own business; this file only says how it is told.

use crate::{Exit, text};

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Ok,
    Warn,
    Fail,
}

impl Health {
    pub fn word(self) -> &'static str {
        match self {
            Health::Ok => "ok",
            Health::Warn => "warn",
            Health::Fail => "fail",
        }
    }
}

/// One finding: `ok    store      ~/.local/share/drip  0700, 3.1 MB`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    pub health: Health,
    pub subject: String,
    pub finding: String,
    pub hint: Option<String>,
}

impl Check {
    pub fn ok(subject: impl Into<String>, finding: impl Into<String>) -> Self {
        Check { health: Health::Ok, subject: subject.into(), finding: finding.into(), hint: None }
    }

    pub fn warn(subject: impl Into<String>, finding: impl Into<String>) -> Self {
        Check { health: Health::Warn, ..Check::ok(subject, finding) }
    }

    pub fn fail(subject: impl Into<String>, finding: impl Into<String>) -> Self {
        Check { health: Health::Fail, ..Check::ok(subject, finding) }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The exit of a doctor's run: a failed check is a failure, a warning is not.
pub fn exit(checks: &[Check]) -> Exit {
    match checks.iter().any(|check| check.health == Health::Fail) {
        true => Exit::Failed,
        false => Exit::Done,
    }
}

/// The findings for people, subjects aligned, hints below what they mend.
pub fn to_text(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.subject.chars().count()).max().unwrap_or(0).max(9);
    let mut out = String::new();
    for check in checks {
        let word = check.health.word();
        let finding = text::plain(&check.finding);
        out.push_str(&format!(" {word:<5} {:<width$}  {finding}\n", text::plain(&check.subject)));
        if let Some(hint) = &check.hint {
            out.push_str(&format!("       {:<width$}  hint: {}\n", "", text::plain(hint)));
        }
    }
    out
}

/// The findings for programs: `{"ok":true,"checks":[{"health":…,"subject":…,"finding":…,"hint":…}]}`.
pub fn to_json(checks: &[Check]) -> String {
    let rows: Vec<String> = checks
        .iter()
        .map(|check| {
            let hint = check.hint.as_deref().map_or("null".to_owned(), text::json_string);
            format!(
                "{{\"health\":\"{}\",\"subject\":{},\"finding\":{},\"hint\":{hint}}}",
                check.health.word(),
                text::json_string(&check.subject),
                text::json_string(&check.finding),
            )
        })
        .collect();
    format!("{{\"ok\":{},\"checks\":[{}]}}\n", exit(checks) == Exit::Done, rows.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_aligned_and_hints_stand_below_them() {
        let checks = [
            Check::ok("store", "~/.local/share/drip  0700"),
            Check::fail("a long subject", "gone\u{1b}[2J").hint("`drip init -g`"),
        ];
        assert_eq!(
            to_text(&checks),
            " ok    store           ~/.local/share/drip  0700\n \
             fail  a long subject  gone[2J\n                       hint: `drip init -g`\n"
        );
        assert_eq!(exit(&checks), Exit::Failed);
        assert_eq!(exit(&[Check::warn("zsh", "old")]), Exit::Done);
        assert_eq!(
            to_json(&checks[1..]),
            "{\"ok\":false,\"checks\":[{\"health\":\"fail\",\"subject\":\"a long subject\",\
             \"finding\":\"gone\\u001b[2J\",\"hint\":\"`drip init -g`\"}]}\n"
        );
    }
}
