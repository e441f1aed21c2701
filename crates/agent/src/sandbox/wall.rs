//! The kernel's two means: Landlock for files, TCP, abstract sockets and signals; a seccomp filter for all sockets but
//! Unix ones, since Landlock covers TCP only, and for keys that nobody pressed. Both hold for everything that this process starts, and cannot be taken
//! off again.

use std::collections::BTreeMap;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::{Network, Policy};

/// What we know the meaning of; a kernel with less gives less, and the test says so.
const KNOWN: ABI = ABI::V6;

/// Files that every program may write to, wherever it runs.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm"];

/// `TIOCSTI` and `TIOCLINUX`, as every machine that has our filters numbers them; libraries do not agree on their type.
const TYPED: [u64; 2] = [0x5412, 0x541C];

type Fault = Box<dyn std::error::Error>;

/// Puts both on this thread, which must be the only one. Gives what the kernel says of Landlock: without it the socket
/// filter still holds.
pub(super) fn build(policy: &Policy) -> Result<String, Fault> {
    let landlock = match restrict_files(policy)? {
        LandlockStatus::NotEnabled => "not enabled in this kernel".to_owned(),
        LandlockStatus::NotImplemented => "not part of this kernel".to_owned(),
        LandlockStatus::Available { effective_abi, .. } => format!("version {effective_abi}"),
    };
    seccompiler::apply_filter(&call_filter(policy.network)?)?;
    Ok(landlock)
}

/// Whether this kernel can keep a command from writing; found out without restricting anybody.
pub(super) fn holds_files() -> bool {
    let wanted = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    wanted.handle_access(AccessFs::from_all(ABI::V3)).is_ok()
}

fn restrict_files(policy: &Policy) -> Result<LandlockStatus, Fault> {
    let (all, read) = (AccessFs::from_all(KNOWN), AccessFs::from_read(KNOWN));
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?;
    if policy.network == Network::Closed {
        rules = rules.handle_access(AccessNet::from_all(KNOWN))?;
    }
    let mut rules = rules.scope(Scope::from_all(KNOWN))?.create()?;
    rules = rules.add_rule(PathBeneath::new(PathFd::new("/")?, read))?;
    let open = policy.write.iter().map(std::path::PathBuf::as_path).chain(DEVICES.map(Path::new));
    for path in open {
        // What is not there cannot be opened, and need not be.
        if let Ok(fd) = PathFd::new(path) {
            rules = rules.add_rule(PathBeneath::new(fd, rights(path, all)))?;
        }
    }
    Ok(rules.restrict_self()?.landlock)
}

/// A file has fewer rights than a directory; the kernel refuses those that make no sense.
fn rights(path: &Path, all: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    if path.is_dir() { all } else { all & AccessFs::from_file(KNOWN) }
}

/// Keys that are put into a terminal as if they had been typed are refused: they would answer for the person, or wait
/// for the shell behind us. Without a network, so is every socket but Unix ones, and `io_uring`, by which a socket can
/// be had without the call.
fn call_filter(network: Network) -> Result<BpfProgram, Fault> {
    use SeccompCmpOp::{Eq, Ne};
    let number = |at, how, number| SeccompCondition::new(at, SeccompCmpArgLen::Dword, how, number);
    let typed: Result<Vec<SeccompRule>, _> =
        TYPED.into_iter().map(|request| SeccompRule::new(vec![number(1, Eq, request)?])).collect();
    let mut rules = BTreeMap::from([(libc::SYS_ioctl, typed?)]);
    if network == Network::Closed {
        let not_unix = number(0, Ne, libc::AF_UNIX.unsigned_abs().into())?;
        rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![not_unix])?]);
        rules.insert(libc::SYS_io_uring_setup, Vec::new());
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
    Ok(filter.try_into()?)
}
