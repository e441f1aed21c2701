//! Messages of other contexts on their way into a turn: which it takes, how the model reads them, and what becomes of them
//! when there is no answer.

use kit::Failure;

use super::Host;
use crate::context::inbox;
use crate::prompt;

impl Host<'_> {
    /// Those that would fill the window wait for another turn.
    pub(super) fn take_letters(&mut self, mut letters: Vec<inbox::Message>) {
        let texts = letters.iter().map(|letter| letter.content.as_str());
        let fitting = prompt::fitting(texts, self.letters_at_once());
        if let Some(waiting) = letters.len().checked_sub(fitting).filter(|waiting| *waiting > 0) {
            self.run
                .out
                .warn(&format!("{waiting} messages wait for the next turn: they do not fit this one"));
        }
        letters.truncate(fitting);
        self.letters = letters;
    }

    /// How many bytes of letters a turn takes: a quarter of the window.
    pub(super) fn letters_at_once(&self) -> usize {
        usize::try_from(self.stage.config.window).unwrap_or(usize::MAX)
    }

    pub(super) fn inbox(&self, most: usize) -> String {
        let letters = self.letters.iter().map(|letter| (letter.from.as_str(), letter.content.as_str()));
        prompt::inbox(letters, most)
    }

    /// Letters that came with a prompt that was never answered wait again. Rather twice than never.
    pub(super) fn return_letters(&mut self) -> Result<(), Failure> {
        let prompt = self.context.window().iter().rev().find(|entry| entry.is_prompt());
        let letters: Vec<inbox::Message> =
            prompt.and_then(|prompt| prompt.metadata.get("letters")).unwrap_or_default();
        for letter in letters {
            let sent = inbox::send(self.context.home(), self.context.name(), &letter.from, &letter.content);
            sent?;
        }
        Ok(())
    }
}
