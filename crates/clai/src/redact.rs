//! Secrets leave a line before anything keeps it. In their place stands a marker that says of which kind they were:
//! `<secret:github>`. Pure: text in, text out; what becomes of a line is the caller's matter.
//!
//! Two ways to find them: how a token looks ([`patterns`]), and where a word stands ([`arguments`]). A variable
//! (`--password "$PW"`) is no secret: its value is not in the line.

mod arguments;
mod names;
mod patterns;

use std::ops::Range;

pub use names::is_secret_flag;

use crate::words;

/// What to do with a line that holds a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    #[default]
    Redact,
    /// Keep nothing of the line.
    Drop,
    /// Keep the line as it is.
    Off,
}

/// Whose secret, or what it was for: the word in its marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(&'static str);

impl Kind {
    pub fn as_str(self) -> &'static str {
        self.0
    }

    pub fn marker(self) -> String {
        format!("<secret:{}>", self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// What may be kept. `None` if the policy is to drop.
    pub line: Option<String>,
    /// In the order of the line.
    pub found: Vec<Kind>,
}

pub fn redact(line: &str, policy: Policy) -> Redaction {
    if policy == Policy::Off {
        return Redaction { line: Some(line.to_owned()), found: Vec::new() };
    }
    let secrets = secrets(line);
    let found = secrets.iter().map(|secret| secret.kind).collect();
    if policy == Policy::Drop && !secrets.is_empty() {
        return Redaction { line: None, found };
    }
    let mut kept = String::with_capacity(line.len());
    let mut end = 0;
    for secret in secrets {
        kept.push_str(&line[end..secret.span.start]);
        kept.push_str(&secret.kind.marker());
        end = secret.span.end;
    }
    kept.push_str(&line[end..]);
    Redaction { line: Some(kept), found }
}

/// Whether a secret was taken out of this text: such a line can be learned from, but not be run again.
pub fn has_marker(text: &str) -> bool {
    words::marker_in(text)
}

struct Secret {
    span: Range<usize>,
    kind: Kind,
}

/// In order, without overlaps. Where both ways found one, the look of the token names it, and what either found goes.
fn secrets(line: &str) -> Vec<Secret> {
    let mut found = patterns::find(line);
    found.extend(arguments::find(&words::segments(line)));
    found.retain(|secret| !secret.span.is_empty() && !has_marker(&line[secret.span.clone()]));
    found.sort_by_key(|secret| secret.span.start);
    let mut merged: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match merged.last_mut().filter(|last| secret.span.start < last.span.end) {
            Some(last) => {
                last.span.end = last.span.end.max(secret.span.end);
                if names::is_general(last.kind) {
                    last.kind = secret.kind;
                }
            }
            None => merged.push(secret),
        }
    }
    merged
}

#[cfg(test)]
#[path = "redact/tests.rs"]
mod tests;
