//! What a panic said: for tests that show that something complains.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The words with which `action` panicked. Panics itself if it did not.
#[track_caller]
pub fn panic_of<T>(action: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(action)) {
        Err(panic) => words(&*panic),
        Ok(_) => panic!("this should have panicked"),
    }
}

/// As `panic!` and `assert!` leave them.
pub(crate) fn words(panic: &(dyn Any + Send)) -> String {
    let owned = panic.downcast_ref::<String>().cloned();
    let words = owned.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    words.unwrap_or_else(|| "a panic without words".to_owned())
}
