//! The texts of a file, each kept once.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Sym;
use super::pack::Pack;
use crate::quick::QuickMap;

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
    pub(super) fn sorted(self) -> (Texts, Vec<Sym>) {
        let mut order: Vec<u32> = (0..u32::try_from(self.texts.len()).expect("counted in 32 bits")).collect();
        order.sort_unstable_by(|one, other| self.texts[*one as usize].cmp(&self.texts[*other as usize]));
        let mut moved = vec![Sym(0); order.len()];
        for (new, old) in (0..).zip(&order) {
            moved[*old as usize] = Sym(new);
        }
        (Texts::new(order.iter().map(|old| self.texts[*old as usize].as_ref())), moved)
    }
}

/// Sorted texts in one piece of memory: a project has half a million of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Texts {
    all: Box<str>,
    /// Where each of them ends.
    ends: Box<[u32]>,
}

impl Texts {
    fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut all = String::new();
        let ends = texts.map(|text| {
            all.push_str(text);
            u32::try_from(all.len()).expect("a file's texts are shorter than 32 bits count")
        });
        let ends = ends.collect();
        Self { all: all.into(), ends }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, place: usize) -> &str {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[start as usize..self.ends[place] as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|place| self.get(place))
    }

    /// The place of a text.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.get(middle).cmp(text) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return u32::try_from(middle).ok(),
            }
        }
        None
    }
}

impl Pack for Texts {
    fn put(&self, out: &mut Vec<u8>) {
        self.ends.to_vec().put(out);
        self.all.put(out);
    }

    fn get(rest: &mut &[u8]) -> Option<Self> {
        let ends: Vec<u32> = Pack::get(rest)?;
        let all: Box<str> = Pack::get(rest)?;
        let sound = ends.is_sorted()
            && ends.last().map_or(0, |end| *end as usize) == all.len()
            && ends.iter().all(|end| all.is_char_boundary(*end as usize));
        sound.then(|| Self { all, ends: ends.into() })
    }
}
