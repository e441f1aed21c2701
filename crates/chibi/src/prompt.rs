//! What the model is told beside the conversation. Pure: whoever calls has read the files and asked the hooks.
//!
//! What rarely changes is sent first, what changes from turn to turn last, so that a provider finds what it remembers
//! again. People and hooks are shown the same as one text, in the order that has always been shown.

/// The parts; an empty one is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Parts {
    /// What plugins put before all the rest.
    pub(crate) before: Vec<String>,
    pub(crate) prompt: String,
    pub(crate) username: String,
    pub(crate) summary: String,
    pub(crate) goals: String,
    pub(crate) todos: String,
    pub(crate) reflection: String,
    pub(crate) inbox: String,
    /// What plugins put behind all the rest.
    pub(crate) after: Vec<String>,
}

/// Who speaks if nobody was named; not worth a word.
const ANYBODY: &str = "user";

impl Parts {
    /// What is sent first and stays.
    pub(crate) fn fixed(&self) -> String {
        joined([self.prompt.clone(), self.speaker(), self.reflection.clone()])
    }

    /// What is sent last and may differ next time.
    pub(crate) fn changing(&self) -> String {
        let state = [self.summary(), self.goals(), self.todos(), self.inbox.clone()];
        joined(self.before.iter().cloned().chain(state).chain(self.after.iter().cloned()))
    }

    /// All of it as one text.
    pub(crate) fn whole(&self) -> String {
        let middle = [
            self.prompt.clone(),
            self.speaker(),
            self.summary(),
            self.goals(),
            self.todos(),
            self.reflection.clone(),
        ];
        joined(self.before.iter().cloned().chain(middle).chain(self.after.iter().cloned()))
    }

    fn speaker(&self) -> String {
        match self.username.as_str() {
            "" | ANYBODY => String::new(),
            name => format!("The user speaking to you is called: {name}"),
        }
    }

    fn summary(&self) -> String {
        titled("CONVERSATION SUMMARY", &self.summary)
    }

    fn goals(&self) -> String {
        titled("CURRENT GOALS", &self.goals)
    }

    fn todos(&self) -> String {
        titled("CURRENT TODOS", &self.todos)
    }
}

/// How many of the letters, the first at least, have together at most so many bytes: whoever writes to a context must not
/// be able to fill its window.
pub(crate) fn fitting<'a>(letters: impl IntoIterator<Item = &'a str>, most: usize) -> usize {
    let sizes = letters.into_iter().scan(0_usize, |sum, letter| {
        *sum += letter.len();
        Some(*sum)
    });
    sizes.take_while(|sum| *sum <= most).count().max(1)
}

/// Messages from other contexts, sender and text; of a text not more than about so many bytes.
pub(crate) fn inbox<'a>(messages: impl IntoIterator<Item = (&'a str, &'a str)>, most: usize) -> String {
    let line = |(from, words): (&str, &str)| {
        format!("[From: {}] {}\n", kit::text::plain(from), kit::text::clip(words, most, ""))
    };
    let lines: String = messages.into_iter().map(line).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("--- INBOX MESSAGES ---\n{lines}--- END INBOX ---"),
    }
}

fn titled(title: &str, text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("--- {title} ---\n{text}"),
    }
}

fn joined(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> =
        parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts {
        Parts {
            before: vec!["B".into()],
            prompt: "You are kind.\n".into(),
            username: "ada".into(),
            summary: "S".into(),
            goals: "G".into(),
            todos: "T".into(),
            reflection: "R".into(),
            inbox: inbox([("work", "hello")], 100),
            after: vec!["A".into()],
        }
    }

    #[test]
    fn what_is_shown_has_the_order_that_has_always_been_shown() {
        assert_eq!(
            parts().whole(),
            "B\n\nYou are kind.\n\nThe user speaking to you is called: ada\n\n\
             --- CONVERSATION SUMMARY ---\nS\n\n--- CURRENT GOALS ---\nG\n\n--- CURRENT TODOS ---\nT\n\nR\n\nA"
        );
    }

    #[test]
    fn what_changes_is_not_in_what_stays() {
        let before = parts();
        let after = Parts { todos: "other".into(), goals: String::new(), before: Vec::new(), ..parts() };
        assert_eq!(before.fixed(), after.fixed());
        assert_eq!(before.fixed(), "You are kind.\n\nThe user speaking to you is called: ada\n\nR");
        assert_eq!(
            before.changing(),
            "B\n\n--- CONVERSATION SUMMARY ---\nS\n\n--- CURRENT GOALS ---\nG\n\n--- CURRENT TODOS ---\nT\n\n\
             --- INBOX MESSAGES ---\n[From: work] hello\n--- END INBOX ---\n\nA"
        );
    }

    #[test]
    fn nothing_is_said_of_what_is_not_there() {
        let nothing = Parts { username: "user".into(), todos: " \n".into(), ..Parts::default() };
        assert_eq!([nothing.whole(), nothing.fixed(), nothing.changing()], [const { String::new() }; 3]);
        assert_eq!(inbox([], 100), "");
    }
}
