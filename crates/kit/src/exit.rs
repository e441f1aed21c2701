//! The exit codes of every tool. A tool maps its errors to these; no other file knows a number.

use std::process::ExitCode;

/// How a run ended, for the caller of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    Done,
    Failed,
    Usage,
    Provider,
    Budget,
    Locked,
    Interrupted,
}

impl Exit {
    /// Every exit with its code and meaning: the table in the docs is made from this one.
    pub const TABLE: [(Exit, u8, &str); 7] = [
        (Exit::Done, 0, "done; also when the reader of our output went away"),
        (Exit::Failed, 1, "failed or not found"),
        (Exit::Usage, 2, "wrong usage: an unknown flag, a missing argument"),
        (Exit::Provider, 3, "the model or its provider answered with an error"),
        (Exit::Budget, 4, "a budget was reached: tokens, money, rounds or time"),
        (Exit::Locked, 5, "locked by another process, or already running"),
        (Exit::Interrupted, 130, "interrupted by the user"),
    ];

    pub fn code(self) -> u8 {
        let (_, code, _) = Self::TABLE[self as usize];
        code
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn the_table_is_in_the_order_of_the_variants_and_codes_are_unique() {
        for (index, (exit, code, _)) in Exit::TABLE.iter().enumerate() {
            assert_eq!(*exit as usize, index);
            assert_eq!(exit.code(), *code);
            assert_eq!(Exit::TABLE.iter().filter(|(_, other, _)| other == code).count(), 1);
        }
    }
}
