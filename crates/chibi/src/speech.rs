//! What the person wants to say: words of the command line, text from a pipe, or lines typed at a terminal.

use std::io::Read;

use kit::Failure;

use crate::input::Prompt;
use crate::run::Run;

/// More than any model reads; whoever pipes more has piped the wrong thing.
const LONGEST: u64 = 64 << 20;

/// None if nothing is to be said.
pub(crate) fn prompt(run: &mut Run, prompt: Prompt) -> Result<Option<String>, Failure> {
    let said = match prompt {
        Prompt::Nothing => return Ok(None),
        Prompt::Exactly(words) if words.trim().is_empty() => {
            return Err(Failure::usage("the prompt is empty"));
        }
        Prompt::Exactly(words) => words,
        Prompt::Words(words) if run.terminal.stdin => words,
        Prompt::Words(words) => joined(&words, &piped(run)?),
        Prompt::Piped if run.terminal.stdin => return Ok(None),
        Prompt::Ask if run.terminal.stdin => typed(run)?,
        Prompt::Piped | Prompt::Ask => piped(run)?,
    };
    Ok(Some(said).filter(|said| !said.trim().is_empty()))
}

/// Words, a blank line, and what was piped.
fn joined(words: &str, piped: &str) -> String {
    match piped.trim().is_empty() {
        true => words.to_owned(),
        false => format!("{words}\n\n{piped}"),
    }
}

fn piped(run: &mut Run) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = run.stdin.by_ref().take(LONGEST + 1).read_to_end(&mut bytes);
    match read {
        Ok(size) if size as u64 > LONGEST => {
            Err(Failure::new(format!("standard input has more than {} MB", LONGEST >> 20)))
        }
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
        // A closed standard input says nothing.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::BADF.raw_os_error()) => {
            Ok(String::new())
        }
        Err(error) => Err(Failure::new("cannot read standard input").because(&error)),
    }
}

/// Lines up to one with a single dot, or the end.
fn typed(run: &mut Run) -> Result<String, Failure> {
    run.out
        .explain(&format!("[{}] Say something; a line with a single dot sends it.\n", run.current.as_str()));
    let mut lines = Vec::new();
    while let Some(line) = line(run)? {
        if line.trim_end() == "." {
            break;
        }
        lines.push(line);
    }
    Ok(lines.join("\n").trim().to_owned())
}

/// One line without its end; none at the end of the input.
pub(crate) fn line(run: &mut Run) -> Result<Option<String>, Failure> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    // Byte by byte: what follows the line belongs to whoever reads next, such as a plugin that asks a question.
    loop {
        let read = run.stdin.read(&mut byte);
        match read.map_err(|error| Failure::new("cannot read standard input").because(&error))? {
            0 if bytes.is_empty() => return Ok(None),
            0 => break,
            _ if byte[0] == b'\n' => break,
            _ => bytes.push(byte[0]),
        }
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_piped_stands_below_the_words() {
        assert_eq!(joined("explain", "a\nb"), "explain\n\na\nb");
        assert_eq!(joined("explain", " \n"), "explain");
    }
}
