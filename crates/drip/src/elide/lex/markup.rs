//! Markup inside scripts: elements, their attributes and their text, in which quotes and slashes mean nothing.

use super::{Doubt, Frame, Lexer};

/// An element and what is open inside it.
#[derive(Clone, Copy)]
pub(super) struct Markup {
    depth: usize,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    OpeningTag,
    ClosingTag,
    Children,
}

impl Lexer<'_> {
    pub(super) fn open_markup(&mut self) {
        self.enter(Frame::Markup(Markup { depth: 0, place: Place::OpeningTag }), 1);
    }

    /// `<T,>` and `<T extends …>` before an arrow function are no elements.
    pub(super) fn is_type_parameter(&self) -> bool {
        let name = self.rest()[1..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        let next = name.trim_start();
        next.starts_with(',') || (next.starts_with("extends ") && next.len() < name.len())
    }

    pub(super) fn markup(&mut self, markup: Markup) -> Result<(), Doubt> {
        let byte = self.byte(0);
        match (byte, markup.place) {
            (b'\n', _) => self.newline(),
            (b'{', Place::Children | Place::OpeningTag) => {
                self.enter(Frame::Code { open: b'{', close: b'}', width: 1, depth: 0 }, 1);
            }
            (b'<', Place::Children) if self.byte(1) == b'/' => self.go_on(2, markup.depth, Place::ClosingTag),
            (b'<', Place::Children) => self.go_on(1, markup.depth, Place::OpeningTag),
            (b'>' | b'}', Place::Children) => return Err(Doubt),
            (_, Place::Children) => self.at += 1,
            (b'>', Place::OpeningTag) => self.go_on(1, markup.depth + 1, Place::Children),
            (b'>', Place::ClosingTag) => {
                self.at += 1;
                self.close_element(markup.depth - 1);
            }
            (b'/', Place::OpeningTag) if self.byte(1) == b'>' => {
                self.at += 2;
                self.close_element(markup.depth);
            }
            (b'"' | b'\'', Place::OpeningTag) => {
                let length =
                    self.bytes[self.at + 1..].iter().position(|found| *found == byte).ok_or(Doubt)?;
                self.skip_to(self.at + length + 2);
            }
            (b' ' | b'\t' | b'\r' | b'.' | b':' | b'-' | b'=' | b'_' | b'$', _) => self.at += 1,
            _ if byte.is_ascii_alphanumeric() || byte >= 0x80 => self.at += 1,
            _ => return Err(Doubt),
        }
        Ok(())
    }

    fn go_on(&mut self, length: usize, depth: usize, place: Place) {
        self.at += length;
        *self.frames.last_mut().expect("markup is read only inside its frame") =
            Frame::Markup(Markup { depth, place });
    }

    /// An element is over, at the depth of what is around it.
    fn close_element(&mut self, depth: usize) {
        if depth == 0 {
            self.leave();
        } else {
            self.go_on(0, depth, Place::Children);
        }
    }
}
