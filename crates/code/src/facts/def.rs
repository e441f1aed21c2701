//! What a definition is: a function, a class or another scope, and what its file says of it. Knows no other definition.

use super::{DefId, ExprId, Run, Sym};

/// What kind of thing a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefKind {
    File,
    Function,
    Method,
    /// A method that is read like an attribute.
    Property,
    Class,
    /// Members for a class that is defined elsewhere.
    Extension,
    Namespace,
    /// A literal object whose members have names.
    Object,
    /// A function without a name: a scope, never a caller.
    Lambda,
}

impl DefKind {
    /// Whether it has a name and runs when called.
    pub fn runs(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Property)
    }

    /// Whether what is defined in it is reached through it with a dot.
    pub(crate) fn has_members(self) -> bool {
        matches!(self, Self::Class | Self::Extension | Self::Object)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::File => "module",
            Self::Function => "function",
            Self::Method => "method",
            Self::Property => "property",
            Self::Class => "class",
            Self::Extension => "extension",
            Self::Namespace => "namespace",
            Self::Object => "object",
            Self::Lambda => "lambda",
        }
    }
}

/// A function, class or other scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Def {
    pub name: Sym,
    pub kind: DefKind,
    pub parent: DefId,
    /// For a method written outside its class: the class's name.
    pub(crate) owner: Option<Sym>,
    pub line: u32,
    pub end_line: u32,
    pub signature: Sym,
    pub doc: Option<Sym>,
    pub params: Vec<Param>,
    pub(crate) result: Option<ExprId>,
    pub(crate) result_text: Option<Sym>,
    pub(crate) returns: Vec<ExprId>,
    pub(crate) bases: Vec<ExprId>,
    pub(crate) base_texts: Vec<Sym>,
    pub(crate) decorators: Vec<ExprId>,
    pub decorator_texts: Vec<Sym>,
    /// For a function inside another: the line on which it calls a parameter of that one, as what a decorator puts
    /// around others does.
    pub(crate) wraps: Option<u32>,
    /// What becomes of its parameters, in the order of the text.
    pub(crate) runs: Vec<Run>,
    pub flags: Flags,
}

/// A parameter as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Sym,
    pub text: Sym,
}

/// Small truths about a definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub(crate) u16);

impl Flags {
    pub const ASYNC: Flags = Flags(1);
    /// Runs on no object.
    pub const STATIC: Flags = Flags(1 << 1);
    /// Seen from outside its file.
    pub const EXPORTED: Flags = Flags(1 << 2);
    /// Says what is to be done and leaves it to others.
    pub const ABSTRACT: Flags = Flags(1 << 3);
    /// Gives its values one by one.
    pub const GENERATOR: Flags = Flags(1 << 4);
    /// Makes objects of its class.
    pub const CONSTRUCTOR: Flags = Flags(1 << 5);
    /// Replaces a member of a parent, says the author.
    pub const OVERRIDE: Flags = Flags(1 << 6);
    /// Takes the class where others take the object.
    pub const CLASS_LEVEL: Flags = Flags(1 << 7);

    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn set(&mut self, other: Flags, on: bool) {
        if on {
            self.0 |= other.0;
        }
    }
}
