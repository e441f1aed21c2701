//! Who may call where the system does not say who calls: at a port of the loopback address, which every user of the machine
//! reaches. A secret of the user's, from a file that only they can read, is the first line of every connection. Pure: how it
//! travels is the business of [`Guarded`](crate::transport::Guarded); the transport of Unix sockets asks the kernel and
//! needs none.

use std::fmt::{self, Write};

/// The secret of one listener.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl Token {
    /// From bytes that nobody can guess, new for each listener.
    pub fn new(random: [u8; 32]) -> Token {
        Token(random)
    }

    /// The first line that a caller sends, without its newline; also what the file holds.
    pub fn to_line(&self) -> String {
        self.0.iter().fold(String::with_capacity(64), |mut line, byte| {
            let _ = write!(line, "{byte:02x}");
            line
        })
    }

    /// Nothing for what is no token.
    pub fn from_line(line: &str) -> Option<Token> {
        let digits: Option<Vec<u8>> =
            line.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
        let (pairs, rest) = digits.as_deref()?.as_chunks::<2>();
        let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
        rest.is_empty().then(|| bytes.try_into().ok().map(Token))?
    }

    /// Whether a caller that began with `line` is the user. Takes as long for a wrong token as for the right one, so that
    /// nobody finds it out byte by byte.
    pub fn admits(&self, line: &str) -> bool {
        let Some(Token(theirs)) = Token::from_line(line) else { return false };
        self.0.iter().zip(theirs).fold(0, |differences, (ours, theirs)| differences | (ours ^ theirs)) == 0
    }
}

/// Never shown, not even by accident.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_caller_with_the_right_first_line_is_let_in_and_no_other() {
        let token = Token::new([0xab; 32]);
        assert!(token.admits(&token.to_line()));
        let [short, long] = [token.to_line()[2..].to_owned(), token.to_line() + "ab"];
        let wrong = Token::new([0xac; 32]).to_line();
        for line in ["", "{\"cmd\":\"ping\"}", &short, &long, &wrong, &"é".repeat(64)] {
            assert!(!token.admits(line), "{line}");
        }
        assert!(!format!("{token:?}").contains("ab"));
    }

    proptest! {
        #[test]
        fn a_token_survives_its_line(bytes: [u8; 32], line in ".{0,80}") {
            let token = Token::new(bytes);
            prop_assert_eq!(Token::from_line(&token.to_line()), Some(token.clone()));
            prop_assert!(!token.admits(&line));
        }
    }
}
