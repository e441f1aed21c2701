//! Facts as bytes: numbers as varints, texts with their length, lists with their count. Reading is total: bytes that
//! are no facts give nothing.

use super::{
    Argument, Binding, Bound, Def, DefId, DefKind, Expr, ExprId, Facts, Flags, Given, How, Import,
    ImportForm, Param, Run, Site, SiteKind, Spot, Sym,
};
use crate::language::Language;

/// The first bytes of packed facts. It changes whenever what is packed changes, or what it means.
pub const FORMAT: [u8; 4] = *b"cf15";

impl Facts {
    pub fn pack(&self) -> Vec<u8> {
        let mut out = FORMAT.to_vec();
        self.put(&mut out);
        out
    }

    /// The facts in `bytes`; `None` if they were packed by another version, cut short or changed.
    pub fn unpack(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(&FORMAT)?;
        let facts = Self::get(&mut rest)?;
        (rest.is_empty() && facts.is_sound()).then_some(facts)
    }

    /// Whether every number in it leads somewhere.
    fn is_sound(&self) -> bool {
        let within = Within {
            names: self.names.len(),
            defs: self.defs.len(),
            exprs: self.exprs.len(),
            imports: self.imports.len(),
        };
        let texts = self.mentions.iter().chain(self.exports.iter().flatten()).chain(&self.package);
        within.defs > 0
            && within.exprs > 0
            && self.names.iter().is_sorted()
            && self.defs.iter().enumerate().all(|(place, one)| within.has_def(place, one))
            && self.exprs.iter().enumerate().all(|(place, one)| within.has_expr(place, one))
            && self.bindings.iter().all(|one| within.has_binding(one))
            && self.imports.iter().all(|one| within.has_import(one))
            && self.sites.iter().all(|site| within.def(site.scope) && within.expr(site.expr))
            && self.given.iter().all(|one| within.has_given(one))
            && within.texts(texts)
    }
}

/// How many there are of what can be referred to. Nothing may refer beyond.
struct Within {
    names: usize,
    defs: usize,
    exprs: usize,
    imports: usize,
}

impl Within {
    fn sym(&self, sym: Sym) -> bool {
        (sym.0 as usize) < self.names
    }

    fn texts<'s>(&self, mut syms: impl Iterator<Item = &'s Sym>) -> bool {
        syms.all(|sym| self.sym(*sym))
    }

    fn def(&self, id: DefId) -> bool {
        (id.0 as usize) < self.defs
    }

    fn expr(&self, id: ExprId) -> bool {
        (id.0 as usize) < self.exprs
    }

    fn import(&self, place: u32) -> bool {
        (place as usize) < self.imports
    }

    fn has_def(&self, place: usize, one: &Def) -> bool {
        let own =
            [one.name, one.signature].into_iter().chain(one.doc).chain(one.owner).chain(one.result_text);
        let mut exprs = one.result.iter().chain(&one.returns).chain(&one.bases).chain(&one.decorators);
        // A parent comes before its children, so that climbing ends.
        (one.parent.0 as usize) <= place.saturating_sub(1)
            && own.into_iter().all(|sym| self.sym(sym))
            && self.texts(one.base_texts.iter().chain(&one.decorator_texts))
            && one.params.iter().all(|param| self.sym(param.name) && self.sym(param.text))
            && exprs.all(|id| self.expr(*id))
            && one.runs.iter().all(|run| self.has_run(run))
    }

    fn has_run(&self, one: &Run) -> bool {
        let how = match &one.how {
            How::Called => true,
            How::Asked(name) => self.sym(*name),
            How::Passed(callee, spot) => self.expr(*callee) && self.has_spot(spot),
        };
        how && self.def(one.by)
    }

    fn has_given(&self, one: &Given) -> bool {
        self.expr(one.callee) && self.expr(one.value) && self.def(one.scope) && self.has_spot(&one.spot)
    }

    fn has_spot(&self, spot: &Argument) -> bool {
        match spot {
            Argument::At(_) => true,
            Argument::Named(name) => self.sym(*name),
        }
    }

    fn has_expr(&self, place: usize, one: &Expr) -> bool {
        // An expression is made of earlier ones, so that following it ends.
        let earlier = |id: &ExprId| id.0 == 0 || (id.0 as usize) < place;
        match one {
            Expr::Name(name) => self.sym(*name),
            Expr::Member(of, name) | Expr::Begun(of, name) => earlier(of) && self.sym(*name),
            Expr::Call(of)
            | Expr::Instance(of)
            | Expr::Element(of)
            | Expr::Enter(of)
            | Expr::Nth(of, _)
            | Expr::Passed(of, _) => earlier(of),
            Expr::Index(a, b) | Expr::Items(a, b) | Expr::Either(a, b) | Expr::Takes(a, b) => {
                earlier(a) && earlier(b)
            }
            Expr::Import(place) => self.import(*place),
            Expr::Unknown | Expr::This | Expr::Super | Expr::Text => true,
        }
    }

    fn has_binding(&self, one: &Binding) -> bool {
        let to = match one.to {
            Bound::Def(id) => self.def(id),
            Bound::Import(place) => self.import(place),
            Bound::Value(id) | Bound::Typed(id) => self.expr(id),
            Bound::Param(_) | Bound::Global => true,
        };
        to && self.def(one.scope) && self.def(one.within) && self.sym(one.name)
    }

    fn has_import(&self, one: &Import) -> bool {
        self.sym(one.module) && self.texts(one.name.iter().chain(&one.alias)) && self.def(one.scope)
    }
}

/// What can be written to bytes and read back.
pub(crate) trait Pack: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn get(rest: &mut &[u8]) -> Option<Self>;
}

impl Pack for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        let mut left = *self;
        while left >= 0x80 {
            out.push(left.to_le_bytes()[0] | 0x80);
            left >>= 7;
        }
        out.push(left.to_le_bytes()[0]);
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        let mut number = 0_u32;
        for shift in (0..35).step_by(7) {
            let byte = u8::get(rest)?;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

impl Pack for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        let (first, more) = rest.split_first()?;
        *rest = more;
        Some(*first)
    }
}

impl Pack for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        let (bytes, more) = rest.split_first_chunk()?;
        *rest = more;
        Some(u64::from_le_bytes(*bytes))
    }
}

impl Pack for Box<str> {
    fn put(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).expect("shorter than its file").put(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        let length = u32::get(rest)? as usize;
        let (text, more) = rest.split_at_checked(length)?;
        *rest = more;
        Some(std::str::from_utf8(text).ok()?.into())
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        u32::try_from(self.len()).expect("counted in 32 bits").put(out);
        self.iter().for_each(|item| item.put(out));
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        let count = u32::get(rest)? as usize;
        // Every item takes a byte at least: a count beyond that is a lie, and must not reserve memory.
        if count > rest.len() {
            return None;
        }
        (0..count).map(|_| T::get(rest)).collect()
    }
}

impl<T: Pack> Pack for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(self.is_some()));
        self.iter().for_each(|item| item.put(out));
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        match u8::get(rest)? {
            0 => Some(None),
            1 => T::get(rest).map(Some),
            _ => None,
        }
    }
}

impl Pack for Language {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        Language::ALL.get(usize::from(u8::get(rest)?)).copied()
    }
}

impl Pack for Flags {
    fn put(&self, out: &mut Vec<u8>) {
        u32::from(self.0).put(out);
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        u16::try_from(u32::get(rest)?).ok().map(Flags)
    }
}

/// Numbers with a name.
macro_rules! number {
    ($($name:ident),*) => {$(
        impl Pack for $name {
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }

            fn get(rest: &mut &[u8]) -> Option<Self> {
                u32::get(rest).map($name)
            }
        }
    )*};
}

/// Structures, field by field.
macro_rules! record {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl Pack for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn get(rest: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: Pack::get(rest)?),* })
            }
        }
    };
}

/// Choices: a number, then what the choice holds.
macro_rules! choice {
    ($name:ident { $($tag:literal => $variant:ident $(($($part:ident),*))?),* $(,)? }) => {
        impl Pack for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant $(($($part),*))? => {
                        out.push($tag);
                        $($($part.put(out);)*)?
                    })*
                }
            }

            fn get(rest: &mut &[u8]) -> Option<Self> {
                match u8::get(rest)? {
                    $($tag => Some(Self::$variant $(($({ let $part = Pack::get(rest)?; $part }),*))?),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {choice, number, record};

number!(Sym, DefId, ExprId);
record!(Param { name, text });
record!(Binding { scope, name, to, within, line });
record!(Site { scope, line, expr, kind });
record!(Import { module, level, name, alias, form, line, scope });
record!(Def {
    name,
    kind,
    parent,
    owner,
    line,
    end_line,
    signature,
    doc,
    params,
    result,
    result_text,
    returns,
    bases,
    base_texts,
    decorators,
    decorator_texts,
    wraps,
    runs,
    flags,
});
record!(Run { param, by, line, how });
record!(Given { callee, scope, spot, value });
record!(Facts {
    language,
    lines,
    package,
    names,
    defs,
    exprs,
    bindings,
    imports,
    sites,
    given,
    mentions,
    exports
});
choice!(How { 0 => Called, 1 => Asked(name), 2 => Passed(callee, spot) });
choice!(Argument { 0 => At(place), 1 => Named(name) });
choice!(DefKind {
    0 => File, 1 => Function, 2 => Method, 3 => Property, 4 => Class, 5 => Extension, 6 => Namespace, 7 => Object,
    8 => Lambda,
});
choice!(ImportForm { 0 => Module, 1 => Name, 2 => All, 3 => Reexport, 4 => ReexportAll });
choice!(SiteKind { 0 => Call, 1 => New, 2 => Read, 3 => Decorator, 4 => Enter, 5 => Iterate, 6 => Subscript, 7 => Write, 8 => AsyncEnter, 9 => AsyncIterate, 10 => Put, 11 => Remove, 12 => Advance, 13 => Measure, 14 => Tell, 15 => Show, 16 => Contain, 17 => Test, 18 => Equal });
choice!(Bound { 0 => Def(id), 1 => Import(place), 2 => Value(id), 3 => Typed(id), 4 => Param(place), 5 => Global });
record!(Spot { argument, parameter });
choice!(Expr {
    0 => Unknown, 1 => Name(name), 2 => Member(of, name), 3 => Call(of), 4 => Instance(of), 5 => Index(of, with),
    6 => Element(of), 7 => Enter(of), 8 => Items(first, rest), 9 => Either(one, other), 10 => This, 11 => Super,
    12 => Text, 13 => Import(place), 14 => Nth(of, place), 15 => Begun(of, name), 16 => Takes(params, result),
    17 => Passed(of, spot),
});
