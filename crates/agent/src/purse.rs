//! What a turn may still cost. One purse for the conversation, its summaries and its helpers, whoever pays; what helpers
//! paid is kept apart, since the turn does not see it. Knows no price.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use llm::{Cost, Usage};

#[derive(Debug, Clone, Default)]
pub(crate) struct Purse(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    /// None: as much as anybody wants.
    left: Option<Cost>,
    helpers: Vec<Usage>,
}

impl Purse {
    /// When a turn begins.
    pub(crate) fn fill(&self, left: Option<Cost>) {
        self.inside().left = left;
    }

    pub(crate) fn left(&self) -> Option<Cost> {
        self.inside().left
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left().is_some_and(|left| left.nanodollars == 0)
    }

    pub(crate) fn pay(&self, usage: &Usage) {
        let spent = usage.cost.unwrap_or_default().nanodollars;
        if let Some(left) = &mut self.inside().left {
            left.nanodollars = left.nanodollars.saturating_sub(spent);
        }
    }

    /// For a reply to a helper.
    pub(crate) fn pay_for_helper(&self, usage: &Usage) {
        self.pay(usage);
        self.inside().helpers.push(*usage);
    }

    /// What helpers paid since somebody asked last, reply by reply.
    pub(crate) fn take_helpers(&self) -> Vec<Usage> {
        std::mem::take(&mut self.inside().helpers)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
