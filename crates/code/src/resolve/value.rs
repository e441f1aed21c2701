//! What an expression can be.

use crate::facts::{DefId, ExprId, Sym};
use crate::project::{FileId, Place};

/// One of the things that an expression may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Value {
    /// A file as a module.
    Module(FileId),
    /// A folder of modules or a package; the import that named it, to find its name again.
    Folder(FileId, u32),
    /// A folder inside such a folder is found by walking there: the file is any file of it.
    Inside(FileId),
    /// A class, object or namespace itself.
    Class(Place),
    /// An object of a class.
    Instance(Place),
    /// A function or method.
    Function(Place),
    /// The methods of a class, and of those below it, whose names begin as a text of that file does.
    Begun(Place, FileId, Sym),
    /// The parents' view of an object of a class.
    Super(Place),
    /// A collection; its elements are values of the expression.
    Many(FileId, ExprId, DefId),
    /// A collection; its elements are of the type that the expression names.
    ManyOf(FileId, ExprId, DefId),
    /// A tuple; its elements are of the types in the expression, in order.
    Tuple(FileId, ExprId, DefId),
    /// A function of the type in the expression, whichever it is.
    Takes(FileId, ExprId, DefId),
    /// Something outside the project, or of the language itself: known not to be ours.
    Foreign,
}
