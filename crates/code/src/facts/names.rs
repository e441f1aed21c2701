//! The texts of a file, each kept once.

use std::sync::Arc;

use crate::quick::QuickMap;

use super::Sym;

/// Texts in the order they came; sorted at the end.
#[derive(Default)]
pub(super) struct Names {
    places: QuickMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Names {
    pub(super) fn add(&mut self, text: &str) -> Sym {
        if let Some(place) = self.places.get(text) {
            return Sym(*place);
        }
        let place = u32::try_from(self.texts.len()).expect("a file has fewer names than bytes");
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.places.insert(text, place);
        Sym(place)
    }

    pub(super) fn text(&self, sym: Sym) -> &str {
        &self.texts[sym.0 as usize]
    }

    /// The sorted texts, and for each old place the new one.
    pub(super) fn sorted(self) -> (Vec<Box<str>>, Vec<Sym>) {
        let mut order: Vec<u32> = (0..u32::try_from(self.texts.len()).expect("counted in 32 bits")).collect();
        order.sort_unstable_by(|one, other| self.texts[*one as usize].cmp(&self.texts[*other as usize]));
        let mut moved = vec![Sym(0); order.len()];
        for (new, old) in (0..).zip(&order) {
            moved[*old as usize] = Sym(new);
        }
        (order.iter().map(|old| self.texts[*old as usize].as_ref().into()).collect(), moved)
    }
}
