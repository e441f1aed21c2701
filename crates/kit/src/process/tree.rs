//! Everything a program started, found again when it must die. A process group is not enough: a child can leave
//! it. So every job carries a mark in its environment, and orphans come back to us because we ask the kernel to be
//! their new parent; an orphan that wiped its environment is still a child of ours that we did not start.
//!
//! Elsewhere than on Linux only the process group is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, test_kill_process_group, waitpid};

/// Set for every process of a job; the value is unique among the living.
const MARK: &str = "SCRIMP_JOB";
/// What a tree is given to end by itself after SIGTERM.
const POLITE: Duration = Duration::from_millis(50);
/// When to give up on what cannot be killed. What can be is gone after some milliseconds; a machine under load takes
/// longer to notice.
const INSIST: Duration = Duration::from_secs(1);

/// Our own children: the only ones that a hunt for orphans must not touch. Locked while a child is born and while
/// one is hunted, so that no hunt sees a child before it carries its mark.
static OURS: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());
static JOBS: AtomicU64 = AtomicU64::new(0);

/// A running job's processes.
#[derive(Debug)]
pub(super) struct Tree {
    root: u32,
    /// When the root started, in the kernel's ticks: nothing older can belong to it.
    born: u64,
    mark: String,
    over: bool,
}

/// Starts `command` as the root of a tree.
pub(super) fn plant(command: &mut Command) -> io::Result<(Child, Tree)> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let me = std::process::id();
    // The start time tells this process from an earlier one with the same id.
    let my_start = process(me).map_or(0, |me| me.start);
    let mark = format!("{me}-{my_start}-{}", JOBS.fetch_add(1, Ordering::Relaxed));
    command.env(MARK, &mark);
    let mut ours = ours();
    let child = command.spawn()?;
    let root = child.id();
    ours.insert(root, mark.clone());
    let born = process(root).map_or(my_start, |root| root.start);
    Ok((child, Tree { root, born, mark, over: false }))
}

/// Starts `command` as a process that no hunt will touch.
pub(super) fn set_free(command: &mut Command) -> io::Result<Child> {
    let mut ours = ours();
    let child = command.spawn()?;
    ours.insert(child.id(), String::new());
    Ok(child)
}

impl Tree {
    /// There is nobody to kill.
    pub(super) fn close(&mut self) {
        self.over = true;
        ours().remove(&self.root);
    }

    /// Lets the job's children live. Its mark stays known, so that no later hunt takes them for strangers.
    pub(super) fn let_go(&mut self) {
        self.over = true;
    }

    /// Whether a root that has ended and was waited for left nobody. Far cheaper than a hunt, and what most jobs end
    /// with: its orphans would be children of ours that we did not start, or in its group.
    pub(super) fn is_bare(&self) -> bool {
        let group_is_gone =
            pid(self.root).is_some_and(|group| test_kill_process_group(group) == Err(Errno::SRCH));
        let ours = ours();
        group_is_gone
            && children().is_some_and(|children| children.iter().all(|child| ours.contains_key(child)))
    }

    /// Ends every process of the job. Gives those that are still there when there is no more to try.
    pub(super) fn kill(&mut self) -> Vec<u32> {
        if self.over {
            return Vec::new();
        }
        let alive = self.chase();
        self.close();
        alive
    }

    fn chase(&self) -> Vec<u32> {
        let asked = Instant::now();
        let mut alive = self.hunt();
        signal_all(&alive, Signal::TERM);
        // A stopped process acts on no SIGTERM before it goes on.
        signal_all(&alive, Signal::CONT);
        while !alive.is_empty() && asked.elapsed() < POLITE {
            pause();
            alive = self.hunt();
        }
        let insisted = Instant::now();
        while !alive.is_empty() && insisted.elapsed() < INSIST {
            // Stopped first, so that what is killed last cannot fork meanwhile.
            signal_all(&alive, Signal::STOP);
            signal_all(&alive, Signal::KILL);
            pause();
            alive = self.hunt();
        }
        alive
    }

    /// The job's living processes. Reaps the dead ones that fell to us on the way.
    fn hunt(&self) -> Vec<u32> {
        let me = std::process::id();
        let ours = ours();
        let young = processes().filter(|process| process.start >= self.born && process.pid != me);
        let all: BTreeMap<u32, Process> = young.map(|process| (process.pid, process)).collect();
        let mut found = BTreeSet::new();
        for process in all.values() {
            let orphan = process.parent == me && !ours.contains_key(&process.pid);
            if process.dead {
                if orphan {
                    reap(process.pid);
                }
                continue;
            }
            let member = process.pid == self.root || process.group == self.root;
            let belongs = member
                || match mark_of(process.pid) {
                    Some(mark) if mark == self.mark => true,
                    // Another job's; a mark that no job of ours has was left by a dead parent's.
                    Some(mark) => orphan && !ours.values().any(|other| *other == mark),
                    None => orphan,
                };
            if belongs {
                found.insert(process.pid);
            }
        }
        // What they started, whatever it did to its environment.
        let mut grew = true;
        while grew {
            let children = all.values().filter(|process| !process.dead && found.contains(&process.parent));
            let more: Vec<u32> = children.map(|child| child.pid).filter(|pid| !found.contains(pid)).collect();
            grew = !more.is_empty();
            found.extend(more);
        }
        found.into_iter().collect()
    }
}

fn ours() -> MutexGuard<'static, BTreeMap<u32, String>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pid(raw: u32) -> Option<Pid> {
    i32::try_from(raw).ok().and_then(Pid::from_raw)
}

fn signal_all(pids: &[u32], signal: Signal) {
    for target in pids.iter().filter_map(|raw| pid(*raw)) {
        // Gone already, or not ours to signal: the next hunt tells which.
        let _ = kill_process(target, signal);
    }
}

fn reap(orphan: u32) {
    if let Some(orphan) = pid(orphan) {
        let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
    }
}

fn pause() {
    #[allow(clippy::disallowed_methods, reason = "between two looks at /proc, within a deadline")]
    std::thread::sleep(Duration::from_millis(2));
}

/// The children of all our threads, or `None` where the kernel does not list them.
fn children() -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for task in fs::read_dir("/proc/self/task").ok()? {
        let listed = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        found.extend(listed.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Some(found)
}

struct Process {
    pid: u32,
    parent: u32,
    group: u32,
    start: u64,
    dead: bool,
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?))
}

fn process(pid: u32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, parentheses too: the fields start after the last one.
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields: Vec<&str> = std::str::from_utf8(&stat[after_name + 1..]).ok()?.split_whitespace().collect();
    Some(Process {
        pid,
        dead: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

fn mark_of(pid: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let prefix = format!("{MARK}=");
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(prefix.as_bytes())?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}
