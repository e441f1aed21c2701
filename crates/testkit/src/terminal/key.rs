//! What a terminal sends when a key is pressed.

/// A key that is no letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Enter,
    Tab,
    Escape,
    Backspace,
    Delete,
    Up,
    Down,
    Right,
    Left,
    Home,
    End,
    /// With a letter, as in `Ctrl('c')`.
    Ctrl(char),
    Alt(char),
}

impl Key {
    /// Programs can ask for another spelling of the cursor keys.
    pub(super) fn bytes(self, application_cursor: bool) -> String {
        let cursor = |letter| format!("\x1b{}{letter}", if application_cursor { 'O' } else { '[' });
        match self {
            Key::Enter => "\r".to_owned(),
            Key::Tab => "\t".to_owned(),
            Key::Escape => "\x1b".to_owned(),
            Key::Backspace => "\x7f".to_owned(),
            Key::Delete => "\x1b[3~".to_owned(),
            Key::Up => cursor('A'),
            Key::Down => cursor('B'),
            Key::Right => cursor('C'),
            Key::Left => cursor('D'),
            Key::Home => cursor('H'),
            Key::End => cursor('F'),
            // Control clears the upper bits: `c` is 0x63, Control-C is 0x03.
            Key::Ctrl(letter) => char::from(letter.to_ascii_uppercase() as u8 & 0x1f).to_string(),
            Key::Alt(letter) => format!("\x1b{letter}"),
        }
    }
}
