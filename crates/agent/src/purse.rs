//! What a turn may still cost. One purse for the conversation, its summaries and its helpers, whoever pays; what helpers
//! paid is kept apart, since the turn does not see it. Knows no price.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conversation::turn::Spent;
use llm::{Cost, Usage};

#[derive(Debug, Clone, Default)]
pub(crate) struct Purse(Arc<Mutex<Inside>>);

#[derive(Debug, Default)]
struct Inside {
    /// None: as much as anybody wants.
    left: Option<Cost>,
    helpers: Spent,
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

    /// A helper has sent a request.
    pub(crate) fn helper_asks(&self) {
        self.inside().helpers.requests += 1;
    }

    /// For a reply to a helper.
    pub(crate) fn pay_for_helper(&self, usage: &Usage) {
        self.pay(usage);
        self.inside().helpers.usage.add(usage);
    }

    /// What helpers used since somebody asked last.
    pub(crate) fn take_helpers(&self) -> Spent {
        std::mem::take(&mut self.inside().helpers)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
