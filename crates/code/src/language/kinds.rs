//! A table made quick: roles by kind number, parts by field number, made once per grammar.

use std::num::NonZeroU16;
use std::sync::OnceLock;

use tree_sitter::{Node, TreeCursor};

use super::{Language, Part, Role, Rule};

/// Where a part of a node is, in the grammar's numbers.
#[derive(Clone, Copy, Debug)]
pub enum Slot {
    Nowhere,
    Field(NonZeroU16),
    Child(u16),
    Nth(u8),
    Last,
}

/// A rule in the grammar's numbers.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub role: Role,
    pub name: Slot,
    pub of: Slot,
    pub ty: Slot,
    pub params: Slot,
    pub body: Slot,
}

/// The roles of all node kinds of one grammar.
pub struct Kinds {
    grammar: tree_sitter::Language,
    shapes: Vec<Option<Shape>>,
}

impl Kinds {
    /// The kinds of the grammar that reads `path`.
    pub fn of(language: Language, path: &str) -> &'static Kinds {
        // No language has more dialects than this; a table is built on first use and lives as long as the process.
        const DIALECTS: usize = 16;
        static BUILT: [[OnceLock<Kinds>; DIALECTS]; Language::ALL.len()] =
            [const { [const { OnceLock::new() }; DIALECTS] }; Language::ALL.len()];
        let dialect = language.dialect(path);
        BUILT[language as usize][dialect].get_or_init(|| Self::build(language, dialect))
    }

    pub fn grammar(&self) -> &tree_sitter::Language {
        &self.grammar
    }

    /// What this node is, if the table names its kind.
    pub fn role(&self, node: Node<'_>) -> Option<Role> {
        self.shape(node).map(|shape| shape.role)
    }

    /// The part of a node that holds its body, name and so on, by the table.
    pub fn shape(&self, node: Node<'_>) -> Option<&Shape> {
        self.shapes.get(usize::from(node.kind_id()))?.as_ref()
    }

    fn build(language: Language, dialect: usize) -> Self {
        let table = language.table();
        let grammar = table.dialects[dialect].1();
        let mut shapes = vec![None; grammar.node_kind_count()];
        for (kind, rule) in table.rules {
            // A grammar may have several numbers for one name, and a word like `this` may be a bare token.
            let named = grammar.id_for_node_kind(kind, true) != 0;
            for (id, shape) in shapes.iter_mut().enumerate() {
                let number = u16::try_from(id).expect("a grammar numbers its kinds in 16 bits");
                if grammar.node_kind_is_named(number) == named
                    && grammar.node_kind_for_id(number) == Some(kind)
                {
                    *shape = Some(Shape::of(rule, &grammar));
                }
            }
        }
        Self { grammar, shapes }
    }
}

impl Shape {
    fn of(rule: &Rule, grammar: &tree_sitter::Language) -> Self {
        let slot = |part| match part {
            Part::Nowhere => Slot::Nowhere,
            Part::Field(name) => grammar.field_id_for_name(name).map_or(Slot::Nowhere, Slot::Field),
            Part::Child(kind) => Slot::Child(grammar.id_for_node_kind(kind, true)),
            Part::Nth(place) => Slot::Nth(place),
            Part::Last => Slot::Last,
        };
        Self {
            role: rule.role,
            name: slot(rule.name),
            of: slot(rule.of),
            ty: slot(rule.ty),
            params: slot(rule.params),
            body: slot(rule.body),
        }
    }
}

impl Slot {
    /// The child that sits there.
    pub fn child<'t>(self, node: Node<'t>) -> Option<Node<'t>> {
        match self {
            Self::Nowhere => None,
            Self::Field(id) => node.child_by_field_id(id.get()),
            Self::Child(kind) => named(node).find(|child| child.kind_id() == kind),
            // Places are small, and counting up to one is cheaper than the cursor that walks all children.
            Self::Nth(place) => {
                let children = (0..).map_while(|at| node.named_child(at));
                children.filter(|child| !child.is_extra()).nth(usize::from(place))
            }
            Self::Last => named(node).last(),
        }
    }
}

/// The named children of a node that are no comments.
pub fn named(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    // A cursor is an allocation, and most nodes are leaves.
    let mut cursor = (node.named_child_count() > 0).then(|| node.walk());
    let mut more = cursor.as_mut().is_some_and(TreeCursor::goto_first_child);
    std::iter::from_fn(move || {
        let cursor = cursor.as_mut()?;
        while more {
            let child = cursor.node();
            more = cursor.goto_next_sibling();
            if child.is_named() && !child.is_extra() {
                return Some(child);
            }
        }
        None
    })
}
