//! Facts as bytes: numbers as varints, texts with their length, lists with their count. Reading is total: bytes that
//! are no facts give nothing.

use super::{
    Argument, Binding, Bound, Def, DefId, DefKind, Expr, ExprId, Facts, Flags, Given, How, Import,
    ImportForm, Param, Run, Site, SiteKind, Spot, Sym,
};
use crate::language::Language;

/// The first bytes of packed facts. It changes whenever what is packed changes, or what it means.
pub const FORMAT: [u8; 4] = *b"cf11";

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
        let (names, defs, exprs) = (self.names.len(), self.defs.len(), self.exprs.len());
        let sym = |sym: &Sym| (sym.0 as usize) < names;
        let def = |id: DefId| (id.0 as usize) < defs;
        let expr = |id: &ExprId| (id.0 as usize) < exprs;
        let sound_spot = |spot: &Argument| match spot {
            Argument::At(_) => true,
            Argument::Named(name) => sym(name),
        };
        let sound_run = |one: &Run| {
            let how = match &one.how {
                How::Called => true,
                How::Asked(name) => sym(name),
                How::Passed(callee, spot) => expr(callee) && sound_spot(spot),
            };
            how && def(one.by)
        };
        let sound_given =
            |one: &Given| expr(&one.callee) && expr(&one.value) && def(one.scope) && sound_spot(&one.spot);
        let sound_def = |(place, one): (usize, &Def)| {
            let texts = [
                Some(&one.name),
                Some(&one.signature),
                one.doc.as_ref(),
                one.owner.as_ref(),
                one.result_text.as_ref(),
            ];
            // A parent comes before its children, so that climbing ends.
            (one.parent.0 as usize) <= place.saturating_sub(1)
                && texts.into_iter().flatten().chain(&one.base_texts).chain(&one.decorator_texts).all(sym)
                && one.params.iter().all(|param| sym(&param.name) && sym(&param.text))
                && one.result.iter().chain(&one.returns).chain(&one.bases).chain(&one.decorators).all(expr)
                && one.runs.iter().all(sound_run)
        };
        let sound_expr = |(place, one): (usize, &Expr)| {
            // An expression is made of earlier ones, so that following it ends.
            let earlier = |id: &ExprId| id.0 == 0 || (id.0 as usize) < place;
            match one {
                Expr::Name(name) => sym(name),
                Expr::Member(of, name) | Expr::Begun(of, name) => earlier(of) && sym(name),
                Expr::Call(of)
                | Expr::Instance(of)
                | Expr::Element(of)
                | Expr::Enter(of)
                | Expr::Nth(of, _)
                | Expr::Passed(of, _) => earlier(of),
                Expr::Index(a, b) | Expr::Items(a, b) | Expr::Either(a, b) | Expr::Takes(a, b) => {
                    earlier(a) && earlier(b)
                }
                Expr::Import(place) => (*place as usize) < self.imports.len(),
                Expr::Unknown | Expr::This | Expr::Super | Expr::Text => true,
            }
        };
        let sound_binding = |one: &Binding| {
            let to = match &one.to {
                Bound::Def(id) => def(*id),
                Bound::Import(place) => (*place as usize) < self.imports.len(),
                Bound::Value(id) | Bound::Typed(id) => expr(id),
                Bound::Param(_) | Bound::Global => true,
            };
            to && def(one.scope) && def(one.within) && sym(&one.name)
        };
        let sound_import =
            |one: &Import| sym(&one.module) && one.name.iter().chain(&one.alias).all(sym) && def(one.scope);
        defs > 0
            && exprs > 0
            && self.names.iter().is_sorted()
            && self.defs.iter().enumerate().all(sound_def)
            && self.exprs.iter().enumerate().all(sound_expr)
            && self.bindings.iter().all(sound_binding)
            && self.imports.iter().all(sound_import)
            && self.sites.iter().all(|site| def(site.scope) && expr(&site.expr))
            && self.given.iter().all(sound_given)
            && self.mentions.iter().chain(self.exports.iter().flatten()).chain(&self.package).all(sym)
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
