//! Everything a program started, found again when it must die. A process group is not enough: a child can leave
//! it. So every job carries a mark in its environment, and orphans come back to us because we ask the kernel to be
//! their new parent; an orphan that wiped its environment is still a child of ours that we did not start.
//!
//! Where `/proc` cannot be read, only the process group is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, kill_process_group, test_kill_process_group, waitpid,
};

/// Set for every process of a job; the value is unique among the living.
const MARK: &str = "SCRIMP_JOB";
/// What a tree is given to end by itself after SIGTERM.
const POLITE: Duration = Duration::from_millis(50);
/// When to give up on what cannot be killed. What can be is gone after some milliseconds; a machine under load takes
/// longer to notice.
const INSIST: Duration = Duration::from_secs(1);
/// A process that forks and ends in a loop can slip through one look at `/proc`, hardly through several.
const LOOKS: u32 = 3;

/// Our own children: the only ones that a hunt for orphans must not touch. Locked while a child is born and while
/// one is hunted, so that no hunt sees a child before it carries its mark.
static OURS: Mutex<BTreeMap<u32, Kin>> = Mutex::new(BTreeMap::new());
static JOBS: AtomicU64 = AtomicU64::new(0);

/// A child that we started, or that we let go and whose own children may come back to us.
#[derive(Debug)]
struct Kin {
    /// None for a daemon: nothing that it starts can be told by a mark.
    mark: Option<String>,
    /// When it started, in the kernel's ticks: nothing older can come from it.
    born: u64,
    /// It has ended and left children on purpose: remembered as long as one of them carries its mark.
    let_go: bool,
}

/// A running job's processes.
#[derive(Debug)]
pub(super) struct Tree {
    root: u32,
    born: u64,
    mark: String,
    /// The root was waited for: its id may be somebody else's by now.
    reaped: bool,
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
    let born = process(root).map_or(my_start, |root| root.start);
    ours.insert(root, Kin { mark: Some(mark.clone()), born, let_go: false });
    Ok((child, Tree { root, born, mark, reaped: false, over: false }))
}

/// Starts `command` as a process that no hunt will touch.
pub(super) fn set_free(command: &mut Command) -> io::Result<Child> {
    let mut ours = ours();
    let child = command.spawn()?;
    let born = process(child.id()).map_or(0, |child| child.start);
    ours.insert(child.id(), Kin { mark: None, born, let_go: false });
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
        if let Some(kin) = ours().get_mut(&self.root) {
            kin.let_go = true;
        }
    }

    /// The root has been waited for.
    pub(super) fn root_is_gone(&mut self) {
        self.reaped = true;
    }

    /// Whether a root that was waited for left nobody. Far cheaper than a hunt, and what most jobs end with: its
    /// orphans would be children of ours that we did not start, or in its group.
    pub(super) fn is_bare(&self) -> bool {
        let group_is_gone =
            pid(self.root).is_some_and(|group| test_kill_process_group(group) == Err(Errno::SRCH));
        group_is_gone && strangers(&mut ours()).is_some_and(|strangers| strangers.is_empty())
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
        let mut alive = Vec::new();
        let mut looks = 0;
        while looks < LOOKS && asked.elapsed() < POLITE + INSIST {
            let polite = asked.elapsed() < POLITE;
            let Some(found) = self.hunt(if polite { None } else { Some(Signal::STOP) }) else {
                return self.end_group();
            };
            let first = looks == 0 && alive.is_empty();
            alive = found;
            if alive.is_empty() {
                looks += 1;
                continue;
            }
            looks = 0;
            if !polite {
                signal_all(&alive, Signal::KILL);
            } else if first {
                signal_all(&alive, Signal::TERM);
                // A stopped process acts on no SIGTERM before it goes on.
                signal_all(&alive, Signal::CONT);
            }
            pause();
        }
        alive
    }

    /// The job's living processes, or `None` where nobody tells. Each gets `on_sight` at once: what forks and ends
    /// faster than we look stands still then.
    fn hunt(&self, on_sight: Option<Signal>) -> Option<Vec<u32>> {
        let me = std::process::id();
        let mut ours = ours();
        forget_the_gone(&mut ours);
        let mut all = BTreeMap::new();
        let mut found = self.adopted(&mut ours, on_sight);
        for process in processes()?.filter(|process| process.pid != me && process.start >= self.born) {
            if !process.dead && self.owns(&process, &ours) {
                signal_all(&[process.pid], on_sight);
                found.insert(process.pid);
            }
            all.insert(process.pid, process);
        }
        // What they started, whatever it did to its environment.
        loop {
            let children = all.values().filter(|process| !process.dead && found.contains(&process.parent));
            let more: Vec<u32> = children.map(|child| child.pid).filter(|pid| !found.contains(pid)).collect();
            if more.is_empty() {
                // A look at all processes takes milliseconds: who was born meanwhile is our child by now.
                found.extend(self.adopted(&mut ours, on_sight));
                return Some(found.into_iter().collect());
            }
            signal_all(&more, on_sight);
            found.extend(more);
        }
    }

    /// The job's orphans that came to us, by a look that takes microseconds.
    fn adopted(&self, ours: &mut BTreeMap<u32, Kin>, on_sight: Option<Signal>) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for stranger in strangers(ours).unwrap_or_default() {
            let ours_to_end = |process: &Process| process.start >= self.born && self.owns(process, ours);
            if process(stranger).is_some_and(|process| !process.dead && ours_to_end(&process)) {
                signal_all(&[stranger], on_sight);
                found.insert(stranger);
            }
        }
        found
    }

    fn owns(&self, process: &Process, ours: &BTreeMap<u32, Kin>) -> bool {
        if !self.reaped && (process.pid == self.root || process.group == self.root) {
            return true;
        }
        let mark = mark_of(process.pid);
        if mark.as_deref() == Some(self.mark.as_str()) {
            return true;
        }
        let orphan = process.parent == std::process::id() && !ours.contains_key(&process.pid);
        let mut others = ours.iter().filter(|(pid, _)| **pid != self.root).map(|(_, kin)| kin);
        // An orphan without a mark of ours is this job's only if it can be nobody else's: better a leftover of a
        // program that hid it than the death of a neighbour's helper.
        orphan && !others.any(|kin| kin.born <= process.start && (mark.is_none() || kin.mark == mark))
    }

    /// All that can be done where `/proc` cannot be read.
    fn end_group(&self) -> Vec<u32> {
        let Some(group) = pid(self.root).filter(|_| !self.reaped) else { return Vec::new() };
        for signal in [Signal::TERM, Signal::KILL] {
            // An error means that nobody is left in it, or that the root shares our group.
            let _ = kill_process_group(group, signal).or_else(|_| kill_process(group, signal));
            let asked = Instant::now();
            while asked.elapsed() < POLITE && test_kill_process_group(group).is_ok() {
                pause();
            }
        }
        // The root itself is not waited for yet and still counts.
        Vec::new()
    }
}

/// Living children of ours that we did not start, or `None` where the kernel does not list them. The dead among them,
/// and dead daemons, are waited for on the way: nobody else will.
fn strangers(ours: &mut BTreeMap<u32, Kin>) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    for task in fs::read_dir("/proc/self/task").ok()? {
        let listed = fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        for child in listed.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()) {
            let daemon = ours.get(&child).map(|kin| kin.mark.is_none());
            match daemon {
                Some(false) => {}
                _ if reap(child) => drop(ours.remove(&child)),
                Some(true) => {}
                None => found.push(child),
            }
        }
    }
    Some(found)
}

/// A job that was let go and whose last child has ended can no longer be the origin of an orphan.
fn forget_the_gone(ours: &mut BTreeMap<u32, Kin>) {
    if ours.values().any(|kin| kin.let_go) {
        let marks: BTreeSet<String> =
            processes().into_iter().flatten().filter_map(|process| mark_of(process.pid)).collect();
        ours.retain(|_, kin| !kin.let_go || kin.mark.as_ref().is_some_and(|mark| marks.contains(mark)));
    }
}

fn ours() -> MutexGuard<'static, BTreeMap<u32, Kin>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pid(raw: u32) -> Option<Pid> {
    i32::try_from(raw).ok().and_then(Pid::from_raw)
}

fn signal_all(pids: &[u32], signal: impl Into<Option<Signal>>) {
    let Some(signal) = signal.into() else { return };
    for target in pids.iter().filter_map(|raw| pid(*raw)) {
        // Gone already, or not ours to signal: the next hunt tells which.
        let _ = kill_process(target, signal);
    }
}

/// Whether it had ended and is gone now.
fn reap(child: u32) -> bool {
    pid(child).is_some_and(|child| matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(Some(_))))
}

fn pause() {
    #[allow(clippy::disallowed_methods, reason = "between two looks at /proc, within a deadline")]
    std::thread::sleep(Duration::from_millis(2));
}

struct Process {
    pid: u32,
    parent: u32,
    group: u32,
    start: u64,
    dead: bool,
}

/// `None` where there is no list of processes, or one without ourselves.
fn processes() -> Option<impl Iterator<Item = Process>> {
    process(std::process::id())?;
    let entries = fs::read_dir("/proc").ok()?.flatten();
    Some(entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)))
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
        let value = entry.strip_prefix(prefix.as_bytes()).filter(|value| !value.is_empty())?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}
