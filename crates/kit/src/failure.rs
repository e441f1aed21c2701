//! A failure as the user meets it: what failed, why, and the command that helps. Each tool converts its own
//! errors to this in one place; this file never decides what a hint should say.

use std::error::Error;
use std::fmt;
use std::io::{self, Write};

use crate::{Exit, text};

/// `error: <what>: <cause>` and, where we know the fix, `hint: <a command to run>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    exit: Exit,
    what: String,
    cause: Option<String>,
    hint: Option<String>,
}

impl Failure {
    pub fn new(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Failed, what: what.into(), cause: None, hint: None }
    }

    pub fn usage(what: impl Into<String>) -> Self {
        Failure::new(what).exit_with(Exit::Usage)
    }

    /// An I/O error while writing to one of our own streams. A closed pipe is success: whoever read us has
    /// seen enough.
    pub fn output(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::new("").exit_with(Exit::Done);
        }
        Failure::new("cannot write the output").because(error)
    }

    /// Adds the cause with its chain of sources, joined by colons; a source that only repeats is left out.
    #[must_use]
    pub fn because(mut self, error: &(dyn Error + '_)) -> Self {
        let mut words = error.to_string();
        let mut next = error.source();
        while let Some(source) = next {
            let said = source.to_string();
            if !words.ends_with(&said) {
                words.push_str(": ");
                words.push_str(&said);
            }
            next = source.source();
        }
        self.cause = Some(words);
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    #[must_use]
    pub fn exit_with(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The same as one JSON object, for programs.
    pub fn to_json(&self) -> String {
        let mut fields = vec![("error", self.headline())];
        fields.extend(self.hint.clone().map(|hint| ("hint", hint)));
        let fields: Vec<_> =
            fields.iter().map(|(key, value)| format!("\"{key}\":{}", text::json_string(value))).collect();
        format!("{{{},\"exit\":{}}}", fields.join(","), self.exit.code())
    }

    /// Says it on `stderr`, as JSON if a program is reading, and gives the exit. Not being able to say it
    /// changes nothing: the exit still tells.
    pub fn report(&self, stderr: &mut dyn Write, form: Form) -> Exit {
        if self.exit != Exit::Done {
            let _ = match form {
                Form::Text => writeln!(stderr, "{self}"),
                Form::Json => writeln!(stderr, "{}", self.to_json()),
            };
        }
        self.exit
    }

    fn headline(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{}: {cause}", self.what),
            None => self.what.clone(),
        }
    }
}

/// How a failure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Text,
    Json,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Causes can quote file names and peers: nothing in them may drive the terminal.
        write!(f, "error: {}", text::plain(&self.headline()))?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {}", text::plain(hint)),
            None => Ok(()),
        }
    }
}

impl Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Outer(io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("cannot read `a`")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    fn said(failure: &Failure, form: Form) -> (String, Exit) {
        let mut stderr = Vec::new();
        let exit = failure.report(&mut stderr, form);
        (String::from_utf8(stderr).unwrap(), exit)
    }

    #[test]
    fn a_failure_says_what_the_whole_chain_of_causes_and_a_hint() {
        let failure = Failure::new("cannot open the store")
            .because(&Outer(io::Error::other("disk on fire")))
            .hint("`scrimp doctor`")
            .exit_with(Exit::Locked);
        let (text, exit) = said(&failure, Form::Text);
        assert_eq!(
            text,
            "error: cannot open the store: cannot read `a`: disk on fire\nhint: `scrimp doctor`\n"
        );
        assert_eq!(exit, Exit::Locked);
        let (json, _) = said(&failure, Form::Json);
        assert_eq!(
            json,
            "{\"error\":\"cannot open the store: cannot read `a`: disk on fire\",\"hint\":\"`scrimp doctor`\",\"exit\":5}\n"
        );
    }

    #[test]
    fn a_closed_pipe_is_silent_success() {
        let failure = Failure::output(&io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(said(&failure, Form::Text), (String::new(), Exit::Done));
    }

    #[test]
    fn a_full_disk_under_our_output_is_a_failure() {
        let failure = Failure::output(&io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(failure.exit(), Exit::Failed);
    }

    #[test]
    fn a_hostile_file_name_cannot_drive_the_terminal() {
        let failure = Failure::new("cannot read `\u{1b}[2Jx\u{202e}y`");
        assert_eq!(failure.to_string(), "error: cannot read `[2Jxy`");
    }
}
