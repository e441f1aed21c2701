//! Bytes to a syntax tree. Total: whatever the bytes are, there is a tree, with error nodes where the text makes no
//! sense. Nothing here knows what a tree is read for.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use crate::language::{Kinds, Language};

/// A file we do not read: a generated or data file of this size says nothing about a program, and its tree would cost
/// some forty times as much memory.
pub const MAX_BYTES: usize = 4 << 20;

/// A source text and its tree.
pub struct Parsed<'s> {
    pub language: Language,
    pub source: &'s [u8],
    pub kinds: &'static Kinds,
    tree: Tree,
}

/// How often a parser may report a hundred steps, and one time more for every eight bytes. A program takes one in some
/// hundred bytes; a text made to be hard to repair takes hundreds of times that, and is given up. Counted and not timed,
/// so that the answer is the same on every machine.
const PATIENCE: usize = 2_000;

/// Square brackets inside each other, beyond which Scala's grammar is not given a text: its time grows with the square of
/// them, in steps that [`PATIENCE`] counts as one (8,000 take 1.5 s, 2,000 a tenth). No program nests types so deeply.
const SCALA_BRACKETS: usize = 2_000;

/// Parses `source`, which is the file `path`. `None` for a text longer than [`MAX_BYTES`], with a NUL byte in it, or so
/// far from a program that reading it would take too long.
pub fn parse<'s>(language: Language, path: &str, source: &'s [u8]) -> Option<Parsed<'s>> {
    thread_local! {
        // A parser keeps its stacks between files; making one for each costs a tenth of a small file's parse.
        static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
    }
    let too_deep = language == Language::Scala && brackets(source) > SCALA_BRACKETS;
    if source.len() > MAX_BYTES || source.contains(&0) || too_deep {
        return None;
    }
    let kinds = Kinds::of(language, path);
    let tree = PARSER.with_borrow_mut(|parser| {
        parser.set_language(kinds.grammar()).expect("a linked grammar has the library's version");
        let mut left = PATIENCE + source.len() / 8;
        let mut patience = |_: &ParseState| {
            left = left.saturating_sub(1);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut patience);
        let tree =
            parser.parse_with_options(&mut |at, _| &source[at.min(source.len())..], None, Some(options));
        if tree.is_none() {
            // A parse that was given up would be taken up again.
            parser.reset();
        }
        tree
    })?;
    Some(Parsed { language, source, kinds, tree })
}

/// How many square brackets are open at the deepest place.
fn brackets(source: &[u8]) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in source {
        match byte {
            b'[' => open += 1,
            b']' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

impl<'s> Parsed<'s> {
    pub fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// All nodes in the order of the text, outer before inner.
    pub(crate) fn each_node(&self) -> impl Iterator<Item = Node<'_>> {
        let mut cursor = self.tree.walk();
        let mut next = Some(cursor.node());
        std::iter::from_fn(move || {
            let node = next?;
            let mut is_further = cursor.goto_first_child() || cursor.goto_next_sibling();
            while !is_further && cursor.goto_parent() {
                is_further = cursor.goto_next_sibling();
            }
            next = is_further.then(|| cursor.node());
            Some(node)
        })
    }

    /// The source as a text of the same length, so that places stay what they are: question marks for what is no UTF-8.
    pub(crate) fn as_text(&self) -> Cow<'s, str> {
        if let Ok(text) = std::str::from_utf8(self.source) {
            return Cow::Borrowed(text);
        }
        let parts = self.source.utf8_chunks();
        Cow::Owned(parts.map(|part| part.valid().to_owned() + &"?".repeat(part.invalid().len())).collect())
    }

    /// The text of a node; what is no UTF-8 in it is replaced.
    pub fn text(&self, node: Node<'_>) -> Cow<'s, str> {
        String::from_utf8_lossy(&self.source[node.byte_range()])
    }
}

/// The 1-based line a node starts on.
pub fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX - 1) + 1
}

/// The 1-based line of a node's last character.
pub fn last_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    // A node that ends at the very start of a line ends with the line before.
    let row = if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row };
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_bytes_have_a_tree_or_are_refused() {
        let deep = "(".repeat(200_000);
        for language in Language::ALL {
            let path = format!("a.{}", language.table().dialects[0].0);
            for source in [b"".as_slice(), b"\xff\xfe(", b"\r\n\r", deep.as_bytes()] {
                let parsed = parse(language, &path, source).expect("a tree");
                assert!(parsed.root().end_byte() <= source.len());
            }
            assert!(parse(language, &path, b"a\0b").is_none());
        }
    }

    #[test]
    fn scala_is_not_given_a_text_that_would_take_its_grammar_hours() {
        let nested = |depth: usize| format!("val x = {}1{}\n", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(Language::Scala, "a.scala", nested(SCALA_BRACKETS + 1).as_bytes()).is_none());
        assert!(parse(Language::Scala, "a.scala", nested(SCALA_BRACKETS / 4).as_bytes()).is_some());
        // Side by side they are an ordinary list.
        let many = "val x: List[Int] = y\n".repeat(SCALA_BRACKETS + 1);
        assert!(parse(Language::Scala, "a.scala", many.as_bytes()).is_some());
    }

    #[test]
    fn lines_count_from_one_and_end_with_the_last_character() {
        let parsed = parse(Language::Python, "a.py", b"\ndef f():\n    pass\n\n").expect("a tree");
        let function = parsed.root().named_child(0).expect("a function");
        assert_eq!((line(function), last_line(function)), (2, 3));
    }
}
