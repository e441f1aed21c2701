//! The same work on many things at the same time, when it mostly waits for others. Knows nothing of the work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// More programs than this, starting at the same time, only wait for each other.
const AT_ONCE: usize = 16;

/// What `work` makes of each of `items`, in their order. Takes as long as the work takes.
pub(crate) fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = || loop {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(place) else { return };
        let result = work(item);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
    };
    thread::scope(|scope| {
        for _ in 1..items.len().min(AT_ONCE) {
            scope.spawn(run);
        }
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items_and_work_goes_on_together() {
        let barrier = Barrier::new(AT_ONCE);
        let items: Vec<usize> = (0..AT_ONCE).collect();
        let work = |item: &usize| {
            barrier.wait();
            item * 2
        };
        assert_eq!(each(&items, work), (0..AT_ONCE).map(|item| item * 2).collect::<Vec<_>>());
        assert!(each(&[] as &[u8], |item| *item).is_empty());
        assert_eq!(each(&(0..100).collect::<Vec<_>>(), |item| *item).len(), 100);
    }
}
