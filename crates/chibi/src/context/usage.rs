//! What replies cost: one line per reply in `usage.jsonl`, whatever becomes of its context. Knows no price list.

use std::collections::BTreeMap;
use std::path::PathBuf;

use llm::{Cost, Usage};
use serde::{Deserialize, Serialize};
use store::Durability;
use store::journal::{self, Journal};

use super::{ChibiHome, ContextError, ContextName};

/// One reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    pub timestamp: u64,
    pub context: ContextName,
    pub model: String,
    pub usage: Usage,
}

/// Many replies together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    pub replies: u64,
    pub usage: Usage,
    /// Replies of which nobody knows what they cost.
    pub unpriced: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Spent(Spending),
    Renamed { renamed: ContextName, to: ContextName },
}

/// Notes what a reply cost. It is kept for statistics, so it does not wait for the disk.
pub fn record(
    home: &ChibiHome,
    context: &ContextName,
    model: &str,
    usage: &Usage,
) -> Result<(), ContextError> {
    let (context, model) = (context.clone(), model.to_owned());
    write(home, &Line::Spent(Spending { timestamp: home.now(), context, model, usage: *usage }))
}

/// Every reply, oldest first, under the present name of its context.
pub fn all(home: &ChibiHome) -> Result<Vec<Spending>, ContextError> {
    let mut spent: Vec<Spending> = Vec::new();
    for line in journal::lines(&file(home), 0)? {
        match serde_json::from_slice(&line?.bytes) {
            Ok(Line::Spent(spending)) => spent.push(spending),
            Ok(Line::Renamed { renamed, to }) => {
                for spending in spent.iter_mut().filter(|spending| spending.context == renamed) {
                    spending.context = to.clone();
                }
            }
            Err(_) => {}
        }
    }
    Ok(spent)
}

/// Totals by whatever `key` says: the context, the day, the model.
pub fn totals<K: Ord>(spent: &[Spending], key: impl Fn(&Spending) -> K) -> BTreeMap<K, Total> {
    let mut totals: BTreeMap<K, Total> = BTreeMap::new();
    for spending in spent {
        totals.entry(key(spending)).or_default().add(&spending.usage);
    }
    totals
}

impl Total {
    fn add(&mut self, more: &Usage) {
        let Usage { input, cache_read, cache_write, output, thinking, cost } = &mut self.usage;
        let sums = [
            (input, more.input),
            (cache_read, more.cache_read),
            (cache_write, more.cache_write),
            (output, more.output),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        *thinking = either(*thinking, more.thinking);
        *cost = either(cost.map(|cost| cost.nanodollars), more.cost.map(|cost| cost.nanodollars))
            .map(|nanodollars| Cost { nanodollars });
        self.replies += 1;
        self.unpriced += u64::from(more.cost.is_none());
    }
}

pub(super) fn renamed(home: &ChibiHome, old: &ContextName, new: &ContextName) -> Result<(), ContextError> {
    match file(home).exists() {
        true => write(home, &Line::Renamed { renamed: old.clone(), to: new.clone() }),
        false => Ok(()),
    }
}

fn write(home: &ChibiHome, line: &Line) -> Result<(), ContextError> {
    let (mut journal, _) = Journal::open(&file(home), Durability::Cached)?;
    journal.append(&serde_json::to_vec(line).expect("names and numbers can be written as JSON"))?;
    Ok(())
}

fn either(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.saturating_add(right)),
        (left, right) => left.or(right),
    }
}

fn file(home: &ChibiHome) -> PathBuf {
    home.root().join("usage.jsonl")
}
