//! What one file says, from one parse: definitions, names and what they are bound to, imports, calls and other uses.
//! Compact, and with no trace of the syntax tree; it knows nothing of other files, so it can be kept by content hash.

mod annotation;
mod def;
mod given;
mod held;
mod imports;
mod lower;
mod names;
pub(crate) mod pack;
mod surface;

use std::borrow::Cow;
use std::ops::Range;

use tree_sitter::Node;

use crate::language::Language;
use crate::parse::{self, Parsed};
use crate::quick::QuickMap;

pub use def::{Def, DefKind, Flags, Param};
pub(crate) use given::{Argument, Given, How, Run};
pub use held::Held;
use names::Texts;
pub use pack::FORMAT;
pub(crate) use surface::{Facet, Moves, differences};

/// A text in the file's own table of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sym(pub u32);

/// A definition of the file. The first one is the file itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefId(pub u32);

/// An expression we may have to know the value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

/// What the whole file is called as a caller.
pub const MODULE: &str = "<module>";

impl DefId {
    pub const FILE: DefId = DefId(0);
}

impl ExprId {
    /// The expression of which nothing is known.
    pub const UNKNOWN: ExprId = ExprId(0);
}

/// What one file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub language: Language,
    pub lines: u32,
    /// The package or namespace the file says it is in.
    pub package: Option<Sym>,
    /// Every text, sorted; [`Sym`] is its place.
    pub(crate) names: Texts,
    pub defs: Vec<Def>,
    pub(crate) exprs: Vec<Expr>,
    /// Sorted by scope and name.
    pub(crate) bindings: Vec<Binding>,
    pub imports: Vec<Import>,
    pub(crate) sites: Vec<Site>,
    /// What calls hand over that may be called where it arrives.
    pub(crate) given: Vec<Given>,
    /// Names in types, imports and texts: uses that are no [`Site`].
    pub(crate) mentions: Vec<Sym>,
    /// What the file says it exports, where a language has a list for it.
    pub(crate) exports: Option<Vec<Sym>>,
}

/// An expression, as far as its value may matter to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Expr {
    Unknown,
    Name(Sym),
    Member(ExprId, Sym),
    /// A member that is looked up by a name of which only the beginning is written.
    Begun(ExprId, Sym),
    Call(ExprId),
    /// An object of the type: made, cast or declared.
    Instance(ExprId),
    /// An element by key, or a type with arguments.
    Index(ExprId, ExprId),
    /// What a loop over it gives.
    Element(ExprId),
    /// The element at a place, taken apart by an assignment.
    Nth(ExprId, u32),
    /// What entering it gives.
    Enter(ExprId),
    /// A literal collection with elements like the first; the rest is another one.
    Items(ExprId, ExprId),
    Either(ExprId, ExprId),
    /// The object the method runs on.
    This,
    /// The parents' view of it.
    Super,
    Text,
    /// A module loaded by an expression.
    Import(u32),
    /// The type of a function: of its parameters, and of what it gives.
    Takes(ExprId, ExprId),
    /// A parameter of a function without a name that is given to a call of this: which argument, and which parameter.
    Passed(ExprId, Spot),
}

/// Where a parameter is: the place of the function among the arguments of a call, and its own among the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Spot {
    pub(crate) argument: u32,
    pub(crate) parameter: u32,
}

/// What a name stands for in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) scope: DefId,
    pub(crate) name: Sym,
    pub(crate) to: Bound,
    /// The scope its expressions are read in.
    pub(crate) within: DefId,
    pub(crate) line: u32,
}

/// What a binding binds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bound {
    Def(DefId),
    Import(u32),
    Value(ExprId),
    /// Declared to be of a type.
    Typed(ExprId),
    /// A parameter at a place; its type comes as another binding.
    Param(u32),
    /// The name means the one of the file.
    Global,
}

/// One imported module or name.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// As written, without leading dots.
    pub module: Sym,
    /// The leading dots of a relative import, or 0.
    pub level: u32,
    /// The name taken out of the module; `None` is the module itself.
    pub name: Option<Sym>,
    /// What it is called here, if it is called anything.
    pub alias: Option<Sym>,
    pub form: ImportForm,
    pub line: u32,
    /// Where the import stands: a whole file, or one function.
    pub(crate) scope: DefId,
}

/// How an import is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportForm {
    /// The module under its name or alias.
    Module,
    /// One name of the module.
    Name,
    /// All names of the module.
    All,
    /// Given on to whoever imports this file.
    Reexport,
    /// All names of the module, given on.
    ReexportAll,
}

/// A place where something is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) scope: DefId,
    pub(crate) line: u32,
    pub(crate) expr: ExprId,
    pub(crate) kind: SiteKind,
}

/// How something is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SiteKind {
    Call,
    /// The making of an object.
    New,
    Read,
    /// A member that is given a value: a property runs code then.
    Write,
    Decorator,
    /// The protocol of `with`, loops and the like: methods called by the language itself.
    Enter,
    AsyncEnter,
    Iterate,
    AsyncIterate,
    Subscript,
    /// A subscript that is given a value.
    Put,
    /// A subscript that is deleted.
    Remove,
    /// Asked for its next element, how long it is, what it says, what it is and whether it holds something.
    Advance,
    Measure,
    Tell,
    Show,
    Contain,
    /// Asked whether it is true, and whether it is equal to something.
    Test,
    Equal,
}

/// The facts of a file. A file that is no program (see [`parse::parse`]) has none.
pub fn extract(language: Language, path: &str, bytes: &[u8]) -> Option<Facts> {
    let source: Cow<'_, str> = String::from_utf8_lossy(bytes);
    let source = source.strip_prefix('\u{feff}').unwrap_or(&source);
    let is_shared = language == Language::C && path.ends_with(".h");
    let language = if is_shared && is_cpp(source) { Language::Cpp } else { language };
    let parsed = parse::parse(language, path, source.as_bytes())?;
    Some(lower::lower(&parsed, source).0)
}

/// The facts of a parsed file with the node of each definition, for whoever reads on in the tree.
pub(crate) fn located<'t>(parsed: &'t Parsed<'_>) -> (Facts, Vec<Option<Node<'t>>>) {
    let (facts, spans) = lower::lower(parsed, &parsed.as_text());
    let wanted: QuickMap<&Span, usize> = spans.iter().zip(0..).collect();
    let mut nodes = vec![None; spans.len()];
    for node in parsed.each_node() {
        if let Some(place) = wanted.get(&Span::of(node)) {
            nodes[*place].get_or_insert(node);
        }
    }
    (facts, nodes)
}

/// Where the node of a definition is, and of which kind: others may begin and end where it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Span {
    bytes: Range<usize>,
    kind: u16,
}

impl Span {
    fn of(node: Node<'_>) -> Self {
        Self { bytes: node.byte_range(), kind: node.kind_id() }
    }
}

/// Whether a header, which both languages have, is one of C++: a line of it begins as none of C does.
fn is_cpp(source: &str) -> bool {
    source.lines().map(str::trim).any(|line| {
        let opens = line.ends_with(['{', ':', ',']) || line.contains(" : ");
        let declares = ["class ", "namespace "].iter().any(|word| line.starts_with(word));
        declares && opens
            || ["template <", "template<", "using namespace "].iter().any(|word| line.starts_with(word))
            || matches!(line, "public:" | "private:" | "protected:")
    })
}

impl Facts {
    pub fn text(&self, sym: Sym) -> &str {
        self.names.get(sym.0 as usize)
    }

    /// The place of a text among the file's names, if it is one of them.
    pub(crate) fn sym(&self, text: &str) -> Option<Sym> {
        self.names.find(text).map(Sym)
    }

    pub fn def(&self, id: DefId) -> &Def {
        &self.defs[id.0 as usize]
    }

    pub(crate) fn expr(&self, id: ExprId) -> Expr {
        self.exprs[id.0 as usize]
    }

    /// All that a name is bound to in a scope.
    pub(crate) fn bound(&self, scope: DefId, name: Sym) -> &[Binding] {
        let key = |binding: &Binding| (binding.scope, binding.name);
        let start = self.bindings.partition_point(|binding| key(binding) < (scope, name));
        let end = start + self.bindings[start..].partition_point(|binding| key(binding) == (scope, name));
        &self.bindings[start..end]
    }

    /// Every definition with its number.
    pub fn each_def(&self) -> impl Iterator<Item = (DefId, &Def)> {
        self.defs
            .iter()
            .enumerate()
            .map(|(place, def)| (DefId(u32::try_from(place).unwrap_or(u32::MAX)), def))
    }

    /// The class a definition is a direct member of, by name.
    pub fn class_of(&self, id: DefId) -> Option<Sym> {
        let def = self.def(id);
        let parent = self.def(def.parent);
        let inside = parent.kind.has_members() && id != DefId::FILE;
        def.owner.or_else(|| inside.then_some(parent.name))
    }

    /// The name a definition goes by everywhere: bare, or `Class.method`.
    pub fn qualified(&self, id: DefId) -> Cow<'_, str> {
        if id == DefId::FILE {
            return Cow::Borrowed(MODULE);
        }
        let def = self.def(id);
        match self.class_of(id) {
            Some(class) if def.kind.runs() => {
                Cow::Owned(format!("{}.{}", self.text(class), self.text(def.name)))
            }
            _ => Cow::Borrowed(self.text(def.name)),
        }
    }

    /// The function that a scope's code is charged to: itself or the nearest around it, else the file.
    pub fn charged(&self, mut scope: DefId) -> DefId {
        while scope != DefId::FILE && !self.def(scope).kind.runs() {
            scope = self.def(scope).parent;
        }
        scope
    }
}
