//! Documentation: the first text of a body, or the comment lines right above.

use std::borrow::Cow;

use tree_sitter::{Node, TreeCursor};

use super::Lower;
use crate::facts::Sym;
use crate::language::{Language, Role, named};
use crate::parse::{last_line, line};

/// A documentation longer than this is cut: answers show its beginning, and search needs no more.
const DOC: usize = 600;

/// Comment lines without a gap.
pub(in crate::facts) struct Run {
    start: usize,
    end: usize,
    last: u32,
    /// Where that ends which they stand in: what comes later they say nothing about.
    until: usize,
}

impl Lower<'_> {
    pub(super) fn note(&mut self, node: Node<'_>) {
        // One behind code is about that code.
        let before = self.source.get(..node.start_byte()).and_then(|text| text.rsplit('\n').next());
        if before.is_none_or(|text| !text.trim().is_empty()) {
            return;
        }
        let (end, last) = (node.end_byte(), last_line(node));
        let run = match self.comment.take() {
            Some(run) if line(node) <= run.last + 1 => Run { end, last, ..run },
            _ => {
                let until = node.parent().map_or(usize::MAX, |around| around.end_byte());
                Run { start: node.start_byte(), end, last, until }
            }
        };
        self.comment = Some(run);
    }

    pub(super) fn doc(&mut self, node: Node<'_>, body: Option<Node<'_>>) -> Option<Sym> {
        if let Some(doc) = body.and_then(|body| self.inner_doc(body)) {
            return Some(doc);
        }
        let run = self.comment.take()?;
        // Attributes may stand between a comment and what it is about.
        let near = run.last < line(node) && line(node) <= run.last + 3 && node.start_byte() < run.until;
        let text = self.source.get(run.start..run.end).filter(|_| near)?;
        let text = text.strip_prefix("@doc ").map_or(text, |text| text.trim_matches(['"', '\n', ' ']));
        self.doc_text(text)
    }

    /// The beginning of a node, up to `end`, without the comments in it.
    pub(super) fn uncommented(&self, node: Node<'_>, end: usize) -> Cow<'_, str> {
        let all = self.source.get(node.start_byte()..end).unwrap_or_default();
        // Most have none, and a walk costs more than a look.
        if !["#", "//", "/*", "--"].iter().any(|mark| all.contains(mark)) {
            return Cow::Borrowed(all);
        }
        let (mut text, mut at) = (String::new(), node.start_byte());
        let mut cursor = node.walk();
        let mut is_inside = cursor.goto_first_child();
        while is_inside && cursor.node().start_byte() < end {
            let inner = cursor.node();
            if inner.is_extra() {
                text.push_str(self.source.get(at..inner.start_byte()).unwrap_or_default());
                at = inner.end_byte();
            }
            is_inside = !inner.is_extra() && cursor.goto_first_child() || next_outwards(&mut cursor);
        }
        text.push_str(self.source.get(at..end).unwrap_or_default());
        Cow::Owned(text)
    }

    /// Python's text at the start of a body.
    pub(super) fn inner_doc(&mut self, body: Node<'_>) -> Option<Sym> {
        if self.language != Language::Python {
            return None;
        }
        let first = named(body).next()?;
        let text = named(first)
            .next()
            .filter(|text| self.role(*text) == Some(Role::Text) && first.named_child_count() == 1)?;
        let text = self.text_of(text).trim_start_matches(|c: char| c.is_alphabetic());
        self.doc_text(text.trim_matches(['"', '\'']))
    }

    /// The words of a comment without its marks, as single lines.
    pub(super) fn doc_text(&mut self, text: &str) -> Option<Sym> {
        let marks = ['/', '*', '#', '!', '-', ';', ' ', '\t'];
        let lines =
            text.lines().map(|line| line.trim_start_matches(marks).trim_end_matches(['*', '/', ' ', '\r']));
        let mut out = String::new();
        for line in lines {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(line.trim_end());
            if out.len() > DOC {
                break;
            }
        }
        let text = kit::text::head(out.trim(), DOC);
        (!text.is_empty()).then(|| self.names.add(text))
    }
}

/// To what comes next in the text that the cursor is not in; whether there is something.
fn next_outwards(cursor: &mut TreeCursor<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::facts::extract;
    use crate::language::Language;

    fn said(path: &str, source: &str) -> Vec<(String, Option<String>)> {
        let facts = extract(Language::of_path(path).unwrap(), path, source.as_bytes()).unwrap();
        let text = |sym| facts.text(sym).to_owned();
        facts.each_def().skip(1).map(|(_, def)| (text(def.signature), def.doc.map(text))).collect()
    }

    #[test]
    fn a_comment_is_about_what_comes_next_beside_it_and_no_part_of_a_signature() {
        let some = |signature: &str, doc: Option<&str>| (signature.to_owned(), doc.map(str::to_owned));
        assert_eq!(
            said(
                "a.py",
                "x = 1  # of x\ndef f(x):  # note\n    # in f\n    return x\nclass A: pass\n# of g\n@h\ndef g(\n    x, # one\n): pass\n"
            ),
            [some("def f(x)", None), some("class A", None), some("def g( x, )", Some("of g"))]
        );
        assert_eq!(
            said(
                "a.rs",
                "fn f(a: u8) // note\n-> u8 { a }\nfn g(/* in */ a: u8) {}\n/// Of h.\n#[inline]\npub fn h() {}\n"
            ),
            [some("fn f(a: u8) -> u8", None), some("fn g( a: u8)", None), some("pub fn h()", Some("Of h."))]
        );
        assert_eq!(
            said(
                "a.ts",
                "/** Of f. */\nexport function f(a: string /* word */) {\n  // end\n}\nfunction g() {}\n"
            ),
            [some("function f(a: string )", Some("Of f.")), some("function g()", None)]
        );
    }
}
