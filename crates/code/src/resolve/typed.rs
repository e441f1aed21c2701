//! From the name of a type to objects of it.

use super::{Resolver, Value};
use crate::facts::{Bound, DefId, Expr, ExprId, Sym};
use crate::language::Language;
use crate::project::FileId;

impl Resolver<'_> {
    /// The type that `Self` is where it stands.
    pub(super) fn own_type(&mut self, file: FileId, within: DefId, depth: u32) -> Vec<Value> {
        match self.this(file, within, depth) {
            Some(Value::Instance(class) | Value::Class(class)) => vec![Value::Class(class)],
            _ => Vec::new(),
        }
    }

    /// Objects of the type that an expression names.
    pub(super) fn of_type(&mut self, file: FileId, id: ExprId, within: DefId, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let facts = self.facts(file);
        match facts.expr(id) {
            Expr::Index(of, arguments) => self.of_generic(file, of, arguments, within, depth - 1),
            Expr::Items(first, _) if facts.language != Language::Python => {
                vec![Value::ManyOf(file, first, within)]
            }
            Expr::Either(one, other) => {
                let mut values = self.of_type(file, one, within, depth - 1);
                for value in self.of_type(file, other, within, depth - 1) {
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                values
            }
            Expr::Name(name) if matches!(facts.text(name), "Self" | "self") => {
                match self.this(file, within, depth - 1) {
                    Some(Value::Instance(class) | Value::Class(class)) => vec![Value::Instance(class)],
                    _ => Vec::new(),
                }
            }
            Expr::Name(name) => {
                let values = self.infer(file, id, within, depth - 1);
                let objects = self.objects(&values);
                match objects[..] {
                    [] => self.of_alias(file, within, name, depth - 1),
                    [Value::Foreign] if self.is_type_variable(file, name) => Vec::new(),
                    _ => objects,
                }
            }
            _ => {
                let values = self.infer(file, id, within, depth - 1);
                self.objects(&values)
            }
        }
    }

    /// Whether a name stands for any type: what is of it may be ours.
    fn is_type_variable(&mut self, file: FileId, name: Sym) -> bool {
        let facts = self.facts(file);
        facts.bound(DefId::FILE, name).iter().any(|binding| {
            let Bound::Value(made) = binding.to else { return false };
            let Expr::Call(callee) = facts.expr(made) else { return false };
            matches!(facts.expr(callee), Expr::Name(name) | Expr::Member(_, name) if facts.text(name) == "TypeVar")
        })
    }

    /// A name that stands for another type.
    fn of_alias(&mut self, file: FileId, within: DefId, name: Sym, depth: u32) -> Vec<Value> {
        let facts = self.facts(file);
        let scopes = [within, DefId::FILE];
        let bound = scopes.iter().flat_map(|scope| facts.bound(*scope, name));
        let mut out = Vec::new();
        for binding in bound {
            if let Bound::Value(expr) = binding.to
                && matches!(facts.expr(expr), Expr::Index(..) | Expr::Either(..))
            {
                out.extend(self.of_type(file, expr, binding.within, depth.saturating_sub(1)));
            }
        }
        out
    }

    fn objects(&mut self, values: &[Value]) -> Vec<Value> {
        self.each(values, |_, value| match value {
            Value::Class(class) => vec![Value::Instance(class)],
            Value::Foreign | Value::Takes(..) => vec![value],
            _ => Vec::new(),
        })
    }

    /// Objects of a type with arguments: the wrapped one, many of it, or the type itself.
    fn of_generic(
        &mut self,
        file: FileId,
        of: ExprId,
        arguments: ExprId,
        within: DefId,
        depth: u32,
    ) -> Vec<Value> {
        let facts = self.facts(file);
        let name = match facts.expr(of) {
            Expr::Name(name) | Expr::Member(_, name) => facts.text(name),
            _ => "",
        };
        let items = self.items(file, arguments);
        let first = items.first().copied().unwrap_or(ExprId::UNKNOWN);
        let last = items.last().copied().unwrap_or(ExprId::UNKNOWN);
        match shape_of(name) {
            Generic::Same => {
                let mut out = Vec::new();
                for item in items {
                    out.extend(self.of_type(file, item, within, depth));
                }
                out.dedup();
                out
            }
            Generic::First => self.of_type(file, first, within, depth),
            Generic::Last => self.of_type(file, last, within, depth),
            Generic::Tuple => vec![Value::Tuple(file, arguments, within)],
            Generic::Many => vec![Value::ManyOf(file, first, within)],
            Generic::ManyLast => vec![Value::ManyOf(file, last, within)],
            Generic::Class => self
                .infer(file, first, within, depth)
                .iter()
                .copied()
                .filter(|value| matches!(value, Value::Class(_)))
                .collect(),
            Generic::Own => self.of_type(file, of, within, depth),
        }
    }

    pub(super) fn items(&mut self, file: FileId, mut at: ExprId) -> Vec<ExprId> {
        let mut out = Vec::new();
        while let Expr::Items(first, rest) = self.expr(file, at) {
            // Brackets around several arguments make one item of them.
            match self.expr(file, first) {
                Expr::Items(..) if rest == ExprId::UNKNOWN && out.is_empty() => at = first,
                _ => {
                    out.push(first);
                    at = rest;
                }
            }
        }
        out
    }
}

/// What a type does with its arguments.
enum Generic {
    Same,
    First,
    Last,
    Tuple,
    Many,
    ManyLast,
    Class,
    Own,
}

fn shape_of(name: &str) -> Generic {
    match name {
        "Optional" | "Union" | "Annotated" | "Final" | "ClassVar" | "Required" | "NotRequired" => {
            Generic::Same
        }
        "Awaitable"
        | "Promise"
        | "Option"
        | "Result"
        | "Box"
        | "Rc"
        | "Arc"
        | "RefCell"
        | "Cell"
        | "Mutex"
        | "RwLock"
        | "Pin"
        | "Cow"
        | "Task"
        | "ValueTask"
        | "Future"
        | "CompletableFuture"
        | "unique_ptr"
        | "shared_ptr"
        | "Partial"
        | "Readonly"
        | "NonNullable"
        | "Lazy"
        | "ContextManager"
        | "AbstractContextManager"
        | "OnceLock"
        | "OnceCell"
        | "Weak" => Generic::First,
        "Coroutine" => Generic::Last,
        "Tuple" | "tuple" => Generic::Tuple,
        "ContextVar" | "List" | "list" | "Sequence" | "Iterable" | "Iterator" | "Set" | "set"
        | "FrozenSet" | "frozenset" | "Collection" | "Generator" | "AsyncIterator" | "AsyncIterable"
        | "AsyncGenerator" | "Deque" | "deque" | "MutableSequence" | "AbstractSet" | "MutableSet"
        | "Array" | "ReadonlyArray" | "Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "IEnumerable"
        | "IList" | "ICollection" | "ArrayList" | "vector" | "MutableList" | "Seq" => Generic::Many,
        "Dict" | "dict" | "Mapping" | "MutableMapping" | "DefaultDict" | "defaultdict" | "OrderedDict"
        | "Map" | "HashMap" | "BTreeMap" | "Record" | "Dictionary" | "IDictionary" | "map"
        | "unordered_map" | "MutableMap" => Generic::ManyLast,
        "Type" | "type" => Generic::Class,
        _ => Generic::Own,
    }
}
