//! Which process started us, and when it was started itself: a process id alone comes back after some days.

use std::fs;

/// A shell, most of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parent {
    pub pid: u32,
    /// In the kernel's ticks since it booted; 0 where nobody tells.
    pub start: u64,
}

impl Parent {
    pub fn of_this_process() -> Parent {
        let pid = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs());
        Parent { pid, start: start(pid).unwrap_or(0) }
    }
}

fn start(pid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, parentheses too: the fields start after the last one.
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(&stat[after_name + 1..]).ok()?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_known_by_id_and_start() {
        let parent = Parent::of_this_process();
        assert!(parent.pid > 0 && parent.start > 0, "{parent:?}");
        assert_eq!(parent, Parent::of_this_process());
        assert_eq!(start(u32::MAX), None);
    }
}
