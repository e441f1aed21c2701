//! Names to variables: nested scopes with the rules of the language, and field paths below variables.

use std::collections::{HashMap, HashSet};

use crate::flow::form::{Var, VarId};
use crate::language::Language;

/// Paths longer than this are read as their beginning.
const LONGEST_PATH: usize = 3;

pub(super) struct Scopes {
    language: Language,
    open: Vec<Scope>,
    fields: HashMap<(VarId, String), VarId>,
    outermost: HashSet<VarId>,
}

struct Scope {
    names: HashMap<String, VarId>,
    kind: ScopeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// Braces: a scope where the language says so.
    Block,
    /// A scope in every language: a comprehension, a block with parameters.
    Own,
    Function,
}

/// How a name comes to stand for a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binding {
    /// A declaration: this scope's own name.
    Declare,
    /// A declaration that belongs to the whole function.
    Hoist,
    /// An assignment to whatever the name means here.
    Assign,
}

impl Scopes {
    pub(super) fn new(language: Language) -> Self {
        let outermost = Scope { names: HashMap::new(), kind: ScopeKind::Function };
        Self { language, open: vec![outermost], fields: HashMap::new(), outermost: HashSet::new() }
    }

    pub(super) fn enter(&mut self, kind: ScopeKind) {
        self.open.push(Scope { names: HashMap::new(), kind });
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    pub(super) fn find(&self, name: &str) -> Option<VarId> {
        self.open.iter().rev().find_map(|scope| scope.names.get(name).copied())
    }

    /// What a read of `name` means. A name nobody declared belongs to the outermost scope, where a later declaration
    /// will find it: a closure may come before what it captures.
    pub(super) fn read(&mut self, vars: &mut Vec<Var>, name: &str) -> VarId {
        self.find(name).unwrap_or_else(|| self.add(vars, 0, name))
    }

    pub(super) fn bind(&mut self, vars: &mut Vec<Var>, name: &str, binding: Binding) -> VarId {
        let innermost = self.open.len() - 1;
        let function = self.open.iter().rposition(|scope| scope.kind == ScopeKind::Function).unwrap_or(0);
        let at = match binding {
            Binding::Declare
                if matches!(self.language, Language::Python | Language::Ruby | Language::Php) =>
            {
                self.open.iter().rposition(|scope| scope.kind != ScopeKind::Block).unwrap_or(0)
            }
            Binding::Declare => innermost,
            Binding::Hoist => function,
            Binding::Assign => match self.language {
                Language::Python | Language::Php => function,
                Language::Ruby => self.holder(name).filter(|&at| at >= function).unwrap_or(function),
                _ => self.holder(name).unwrap_or(0),
            },
        };
        match self.open[at].names.get(name) {
            Some(&var) => var,
            None => self.add(vars, at, name),
        }
    }

    /// `nonlocal` and `global`: the name means what it means further out.
    pub(super) fn borrow(&mut self, vars: &mut Vec<Var>, name: &str) {
        let Some(mut inner) = self.open.pop() else { return };
        if self.open.is_empty() {
            self.open.push(inner);
            return;
        }
        let var = self.read(vars, name);
        inner.names.insert(name.to_owned(), var);
        self.open.push(inner);
    }

    pub(super) fn field(&mut self, vars: &mut Vec<Var>, parent: VarId, name: &str) -> Option<VarId> {
        let mut length = 1;
        let mut at = vars[parent].parent;
        while let Some(var) = at {
            length += 1;
            at = vars[var].parent;
        }
        if length >= LONGEST_PATH {
            return None;
        }
        let key = (parent, name.to_owned());
        if let Some(&var) = self.fields.get(&key) {
            return Some(var);
        }
        vars.push(Var { name: format!("{}.{name}", vars[parent].name), parent: Some(parent), hidden: false });
        self.fields.insert(key, vars.len() - 1);
        Some(vars.len() - 1)
    }

    pub(super) fn hidden(&mut self, vars: &mut Vec<Var>) -> VarId {
        vars.push(Var { name: String::new(), parent: None, hidden: true });
        vars.len() - 1
    }

    /// Whether a variable belongs to the outermost scope.
    pub(super) fn is_outermost(&self, var: VarId) -> bool {
        self.outermost.contains(&var)
    }

    fn holder(&self, name: &str) -> Option<usize> {
        self.open.iter().rposition(|scope| scope.names.contains_key(name))
    }

    fn add(&mut self, vars: &mut Vec<Var>, at: usize, name: &str) -> VarId {
        vars.push(Var { name: name.to_owned(), parent: None, hidden: false });
        let var = vars.len() - 1;
        self.open[at].names.insert(name.to_owned(), var);
        if at == 0 {
            self.outermost.insert(var);
        }
        var
    }
}
