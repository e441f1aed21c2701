//! A command line that was not understood, in our words. Knows what a parser said as text, and no parser.

use crate::Failure;

/// What the parser said, shortened to what is wrong, with what was probably meant. `spoken` is the command whose help
/// lists what there is.
pub fn refused(said: &str, meant: Option<&str>, spoken: &str) -> Failure {
    // What is missing or possible stands on the lines below the first, up to an empty one.
    let lines: Vec<&str> = said.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let words = lines.join(" ");
    let words = words.strip_prefix("error: ").unwrap_or(&words);
    Failure::usage(words).hint(match meant {
        Some(word) => format!("did you mean `{word}`? `{spoken} --help` lists what there is"),
        None => format!("`{spoken} --help`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exit;

    #[test]
    fn the_first_paragraph_is_what_is_wrong_and_the_rest_is_left_out() {
        let said =
            "error: unrecognized subcommand 'raed'\n\n  tip: a similar one exists: 'read'\n\nUsage: …\n";
        let failure = refused(said, Some("read"), "drip");
        assert_eq!(
            failure.to_string(),
            "error: unrecognized subcommand 'raed'\nhint: did you mean `read`? `drip --help` lists what there is"
        );
        assert_eq!(failure.exit(), Exit::Usage);
        let said = "error: the following required arguments were not provided:\n  <FILE>\n\nUsage: …\n";
        assert_eq!(
            refused(said, None, "drip read").to_string(),
            "error: the following required arguments were not provided: <FILE>\nhint: `drip read --help`"
        );
        assert_eq!(refused("", None, "x").to_string(), "error: \nhint: `x --help`");
    }
}
