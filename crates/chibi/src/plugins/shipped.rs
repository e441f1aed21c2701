//! The plugins that come with us, as files to be written into a new home.

/// A file below `plugins/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shipped {
    pub name: &'static str,
    pub text: &'static str,
    /// Programs, so that they can be run; one of them is disabled by its name.
    pub mode: u32,
}

/// What lets a model go on by itself, and an example to start from.
pub const SHIPPED: [Shipped; 2] = [RECURSE, EXAMPLE];

pub const RECURSE: Shipped = Shipped { name: "recurse", text: include_str!("shipped/recurse"), mode: 0o755 };

pub const EXAMPLE: Shipped =
    Shipped { name: "word_count.py.disabled", text: include_str!("shipped/word_count.py"), mode: 0o755 };
