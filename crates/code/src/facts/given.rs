//! What calls hand over, and what becomes of it where it arrives.

use super::{DefId, ExprId, Sym};

/// A place where a function does something with what it was given, itself or in a function inside of it or, by way of an
/// attribute, in another method of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The place of the parameter.
    pub(crate) param: u32,
    pub(crate) by: DefId,
    pub(crate) line: u32,
    pub(crate) how: How,
}

/// What is done with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Called,
    /// A method of it is called.
    Asked(Sym),
    /// It is handed over to what is called.
    Passed(ExprId, Argument),
}

/// What a call hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) callee: ExprId,
    pub(crate) scope: DefId,
    pub(crate) spot: Argument,
    pub(crate) value: ExprId,
}

/// Which argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    At(u32),
    Named(Sym),
}
