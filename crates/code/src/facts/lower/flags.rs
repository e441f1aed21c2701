//! Small truths about a definition, read off the words before its name.

use tree_sitter::Node;

use super::Lower;
use crate::facts::{DefId, DefKind, Flags, Sym};
use crate::language::{Language, named};

impl Lower<'_> {
    pub(super) fn is_exported(&self, id: DefId, node: Node<'_>) -> bool {
        let def = &self.defs[id.0 as usize];
        let name_node = self.kinds.shape(node).and_then(|shape| shape.name.child(node));
        let name = name_node.map_or("", |name| self.text_of(name));
        let header_end = name_node.map_or(node.start_byte(), |name| name.start_byte());
        let header = self.source.get(node.start_byte()..header_end).unwrap_or_default();
        let word = |wanted: &str| header.split(|c: char| !c.is_alphanumeric()).any(|word| word == wanted);
        match self.language {
            Language::Python => !name.starts_with('_') || (name.starts_with("__") && name.ends_with("__")),
            Language::Go => name.starts_with(char::is_uppercase),
            Language::Rust => {
                word("pub")
                    || self.kind(def.parent) == DefKind::Extension
                        && !self.defs[def.parent.0 as usize].bases.is_empty()
            }
            Language::JavaScript | Language::TypeScript => node.end_byte() <= self.exporting,
            Language::C | Language::Cpp => !word("static"),
            Language::Elixir => {
                !self.text_of(node).starts_with("defp") && !self.text_of(node).starts_with("defmacrop")
            }
            Language::Kotlin | Language::Scala => !word("private"),
            Language::Java | Language::CSharp => word("public") || word("protected"),
            Language::Swift => word("public") || word("open"),
            Language::Ruby => !self.follows_private(node),
            Language::Php => !word("private"),
            Language::Lua | Language::Luau => !word("local"),
        }
    }

    /// Whether the bare word `private` stands before a Ruby method, in the same class.
    fn follows_private(&self, node: Node<'_>) -> bool {
        let before = std::iter::successors(node.prev_named_sibling(), Node::prev_named_sibling);
        // A class with more members than this is looked at no further: asking for a sibling takes longer and longer.
        before.take(100).any(|one| matches!(self.text_of(one), "private" | "protected"))
    }

    pub(super) fn function_flags(&mut self, id: DefId, node: Node<'_>, body: Option<Node<'_>>) {
        let exported = self.is_exported(id, node);
        let def = &self.defs[id.0 as usize];
        let name_start = self
            .kinds
            .shape(node)
            .and_then(|shape| shape.name.child(node))
            .map_or(node.start_byte(), |name| name.start_byte());
        let header = self.source.get(node.start_byte()..name_start).unwrap_or_default();
        let word = |wanted: &str| header.split(|c: char| !c.is_alphanumeric()).any(|word| word == wanted);
        let (is_async, is_static) =
            (word("async") || word("suspend"), word("static") || node.kind() == "singleton_method");
        let (is_abstract, overrides, getter) = (word("abstract"), word("override"), word("get"));
        let kind = def.kind;
        let parent_name = self.defs[def.parent.0 as usize].name;
        let is_constructor = kind == DefKind::Method && def.name == parent_name;
        let name = def.name;
        let marks: Vec<Sym> = def.decorator_texts.clone();
        let by_name = self.table.constructors.iter().any(|known| self.names.add(known) == name);
        let marks: Vec<String> = marks.iter().map(|mark| self.mark_text(*mark)).collect();
        let marked = |wanted: &[&str]| {
            marks.iter().any(|mark| wanted.contains(&mark.rsplit('.').next().unwrap_or(mark)))
        };
        let flags = &mut self.defs[id.0 as usize].flags;
        flags.set(Flags::EXPORTED, exported);
        flags.set(Flags::ASYNC, is_async);
        flags.set(Flags::STATIC, is_static || marked(&["staticmethod"]));
        flags.set(Flags::CLASS_LEVEL, marked(&["classmethod"]));
        flags.set(Flags::OVERRIDE, overrides || marked(&["override", "Override"]));
        flags.set(Flags::CONSTRUCTOR, is_constructor || (by_name && kind == DefKind::Method));
        let no_body = body.is_none_or(|body| self.says_nothing(body));
        let flags = &mut self.defs[id.0 as usize].flags;
        flags.set(Flags::ABSTRACT, is_abstract || no_body || marked(&["abstractmethod"]));
        let reads = marked(&[
            "property",
            "cached_property",
            "setter",
            "getter",
            "deleter",
            "abstractproperty",
            "hybrid_property",
            "classproperty",
        ]);
        if kind == DefKind::Method && (reads || (getter && node.kind() == "method_definition")) {
            self.defs[id.0 as usize].kind = DefKind::Property;
        }
    }

    /// Whether a Python body leaves the work to others.
    fn says_nothing(&self, body: Node<'_>) -> bool {
        if self.language != Language::Python {
            return false;
        }
        named(body).all(|statement| {
            let text = self.text_of(statement);
            matches!(text, "pass" | "...")
                || text.starts_with("raise NotImplementedError")
                || text.starts_with(['"', '\''])
        })
    }

    fn mark_text(&self, mark: Sym) -> String {
        self.names.text(mark).to_owned()
    }
}
