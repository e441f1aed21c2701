//! The one small form every grammar is lowered to: statements of one function over numbered steps and variables.
//!
//! Whatever comes after (graph, reaching definitions, slices) sees only this; it must never know a grammar.

/// A step by its place in [`Body::steps`].
pub(crate) type StepId = usize;
/// A variable, or a field path below one, by its place in [`Body::vars`].
pub(crate) type VarId = usize;

/// One function, lowered.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) steps: Vec<Step>,
    pub(crate) vars: Vec<Var>,
    /// In order; it begins with the header, step 0, where the parameters are defined.
    pub(crate) code: Vec<Stmt>,
    /// What was decided on: branches, loops, cases, handlers, conditional expressions, the loops of comprehensions.
    pub(crate) decisions: usize,
    /// What the source did not let us see exactly.
    pub(crate) notes: Vec<String>,
}

/// A variable `x`, or a path `x.field` whose parent is `x`.
#[derive(Debug)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) parent: Option<VarId>,
    /// Made by the lowering to carry a value between steps; never shown.
    pub(crate) hidden: bool,
}

/// What happens at once, without a visible decision: names read and written, functions called.
#[derive(Debug, Default, Clone)]
pub(crate) struct Step {
    /// First and last line, counted from 1.
    pub(crate) lines: (usize, usize),
    /// The last line that the step covers when a reader asks for a line: further than `lines` for a nested
    /// definition, whose body is not ours.
    pub(crate) covers: usize,
    /// In the order of evaluation.
    pub(crate) refs: Vec<Ref>,
    pub(crate) calls: Vec<String>,
    pub(crate) may_raise: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ref {
    pub(crate) var: VarId,
    pub(crate) access: Access,
    pub(crate) line: usize,
    pub(crate) column: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Access {
    /// The old value is gone.
    Define,
    /// The old value is gone, and went into the new one: `x += 1`.
    Redefine,
    /// The value may have changed in part: a field, an element, a method called for its effect.
    Update,
    Use,
}

#[derive(Debug)]
pub(crate) enum Stmt {
    Step(StepId),
    /// `if`, `else if`, …: tests in order, then what remains.
    Choice {
        arms: Vec<ChoiceArm>,
        otherwise: Vec<Stmt>,
    },
    Loop(Loop),
    Switch(Switch),
    Try(Try),
    /// A block bound to a resource.
    With {
        head: StepId,
        body: Vec<Stmt>,
        swallows: Swallows,
    },
    /// A block that a labelled `break` leaves.
    Labelled {
        label: String,
        body: Vec<Stmt>,
    },
    /// A place that `goto` reaches.
    Target(StepId, String),
    /// Runs when the function is left.
    Defer {
        step: StepId,
        body: Vec<Stmt>,
    },
    Jump(StepId, Jump),
}

/// Whether leaving a resource may end an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Swallows {
    Never,
    /// It may, and almost never does: believed only where nothing else leads on.
    Perhaps,
    /// That is what it is for.
    Expected,
}

#[derive(Debug)]
pub(crate) struct ChoiceArm {
    /// Steps of the test itself that decide something on their own.
    pub(crate) lead: Vec<Stmt>,
    pub(crate) test: Test,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) step: StepId,
    pub(crate) truth: Truth,
    pub(crate) text: String,
}

/// What is known of a test without running it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    Unknown,
    Always,
    Never,
}

#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) label: Option<String>,
    pub(crate) kind: LoopKind,
    pub(crate) lead: Vec<Stmt>,
    pub(crate) test: Test,
    /// Between the body and the next test.
    pub(crate) update: Vec<Stmt>,
    pub(crate) body: Vec<Stmt>,
    /// Runs when the loop ends without `break`.
    pub(crate) otherwise: Vec<Stmt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoopKind {
    While,
    Each,
    /// The test comes after the body.
    Until,
}

#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) label: Option<String>,
    pub(crate) subject: StepId,
    pub(crate) arms: Vec<Arm>,
    /// One of the arms always matches.
    pub(crate) exhaustive: bool,
    /// `break` ends it, as in C.
    pub(crate) breaks: bool,
    /// The arms are tried one after the other, the default last; otherwise the subject alone picks one.
    pub(crate) ordered: bool,
}

#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) test: StepId,
    pub(crate) text: String,
    pub(crate) default: bool,
    /// Its guard is a constant that lets nothing in.
    pub(crate) is_closed: bool,
    /// The end of the body runs on into the next arm.
    pub(crate) falls: bool,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Debug, Default)]
pub(crate) struct Try {
    pub(crate) body: Vec<Stmt>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) otherwise: Vec<Stmt>,
    pub(crate) finally: Vec<Stmt>,
}

#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) head: StepId,
    pub(crate) text: String,
    pub(crate) catches_all: bool,
    pub(crate) body: Vec<Stmt>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Jump {
    Return,
    Raise,
    Break(Option<String>),
    Continue(Option<String>),
    Goto(String),
    /// On into the next arm of a switch.
    Fall,
    /// Back to the start of the guarded body (Ruby's `retry`).
    Retry,
}

impl Body {
    /// Whether `ancestor` is `path` or something it is a field of.
    pub(crate) fn is_prefix(&self, ancestor: VarId, path: VarId) -> bool {
        let mut at = Some(path);
        while let Some(var) = at {
            if var == ancestor {
                return true;
            }
            at = self.vars[var].parent;
        }
        false
    }

    /// Of two related paths the longer one, or nothing where neither is part of the other.
    pub(crate) fn longer(&self, a: VarId, b: VarId) -> Option<VarId> {
        if self.is_prefix(a, b) {
            Some(b)
        } else if self.is_prefix(b, a) {
            Some(a)
        } else {
            None
        }
    }
}
