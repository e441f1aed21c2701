//! Whose eyes are reading: an id that a client gave, or one that is derived from where we are. Reads `.git` itself and
//! never runs git; knows no store.
//!
//! Every step of the derivation that is not sure of itself gives way to the next: a wrong branch would show one
//! conversation's delta to another.

mod git;
mod parent;

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use kit::text;
use sha2::{Digest, Sha256};

use crate::settings::Sessions;
pub use parent::Parent;

/// The name of a conversation: never empty, one printable line of at most 256 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(String);

/// Who reads within a conversation: the agent itself, or one that it started.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(String);

/// One context window. What was shown to one pair of eyes was not shown to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Eyes {
    pub session: SessionId,
    pub agent: AgentId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub strategy: Strategy,
    /// What a person recognises it by, such as the branch.
    pub context: String,
}

/// How an id was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    Env,
    Git,
    Pid,
    Cwd,
    /// The client said it.
    Hook,
}

impl SessionId {
    /// Takes an id as it is, if it can stand in a table and a path; any other is replaced by its hash. Nothing
    /// for an empty one.
    pub fn new(raw: impl AsRef<OsStr>) -> Option<SessionId> {
        let raw = raw.as_ref();
        (!raw.is_empty()).then(|| SessionId(fit(raw)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AgentId {
    /// The agent that the person talks to; clients do not name it.
    pub fn main() -> AgentId {
        AgentId(String::new())
    }

    /// Like [`SessionId::new`]; an empty name is the main agent.
    pub fn new(raw: &str) -> AgentId {
        if raw.is_empty() { AgentId::main() } else { AgentId(fit(OsStr::new(raw))) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Strategy {
    pub fn word(self) -> &'static str {
        match self {
            Strategy::Env => "env",
            Strategy::Git => "git",
            Strategy::Pid => "pid",
            Strategy::Cwd => "cwd",
            Strategy::Hook => "hook",
        }
    }
}

impl Session {
    /// The session that a client names in what it sends to a hook.
    pub fn explicit(id: SessionId) -> Session {
        Session { id, strategy: Strategy::Hook, context: "(explicit)".to_owned() }
    }
}

/// The session of a caller that names none. `DRIP_SESSION_ID` first, then the repository and branch around `cwd`, then
/// the parent process. A strategy that was asked for is used where it can be.
pub fn derive(settings: &Sessions, cwd: &Path, parent: Parent) -> Session {
    if let Some(id) = settings.id.as_ref().and_then(SessionId::new) {
        return Session { id, strategy: Strategy::Env, context: "(env)".to_owned() };
    }
    let by_git = || {
        let place = git::find(cwd)?;
        let id = hash(&[b"git:", bytes(cwd), b":", place.branch.as_bytes(), b":", bytes(&place.worktree)]);
        Some(Session { id, strategy: Strategy::Git, context: place.branch })
    };
    let by_pid = || {
        let (pid, start) = (parent.pid.to_le_bytes(), parent.start.to_le_bytes());
        let id = hash(&[b"pid:", bytes(cwd), b":", &pid, b":", &start]);
        Session { id, strategy: Strategy::Pid, context: format!("(pid {})", parent.pid) }
    };
    match settings.strategy {
        Some(Strategy::Cwd) => {
            let id = hash(&[b"cwd:", bytes(cwd)]);
            Session { id, strategy: Strategy::Cwd, context: "(cwd)".to_owned() }
        }
        Some(Strategy::Pid) => by_pid(),
        _ => by_git().unwrap_or_else(by_pid),
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn hash(parts: &[&[u8]]) -> SessionId {
    SessionId(hex(&parts.concat()))
}

/// The first 16 hexadecimal digits of the SHA-256.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn fit(raw: &OsStr) -> String {
    /// Clients use 36; nobody types more than this.
    const LONGEST: usize = 256;
    match raw.to_str() {
        Some(id) if id.len() <= LONGEST && id.trim() == id && text::plain(id) == id => id.to_owned(),
        // The prefix keeps it apart from ids that we derive.
        _ => format!("id-{}", hex(raw.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use testkit::Home;
    use testkit::hostile::nasty_bytes;

    use super::*;
    use crate::settings::Settings;

    const PARENT: Parent = Parent { pid: 4242, start: 99 };

    fn sessions() -> Sessions {
        Settings::default().session
    }

    #[test]
    fn the_ids_have_golden_vectors() {
        // printf 'cwd:/srv/app' | sha256sum
        let cwd = Sessions { strategy: Some(Strategy::Cwd), ..sessions() };
        let session = derive(&cwd, Path::new("/srv/app"), PARENT);
        assert_eq!(session.id.as_str(), "2591d7ca3a66941f");
        assert_eq!((session.strategy.word(), session.context.as_str()), ("cwd", "(cwd)"));
        // printf 'pid:/srv/app:\x92\x10\0\0:\x63\0\0\0\0\0\0\0' | sha256sum
        let session = derive(&sessions(), Path::new("/srv/app"), PARENT);
        assert_eq!(session.id.as_str(), "c92e17e66277c482");
        assert_eq!((session.strategy.word(), session.context.as_str()), ("pid", "(pid 4242)"));
        // printf 'git:/srv/app:main:' | sha256sum
        let id = hash(&[b"git:", b"/srv/app", b":", b"main", b":", b""]);
        assert_eq!(id.as_str(), "26afd5a60967ca81");
    }

    #[test]
    fn what_the_person_set_wins_over_the_repository() {
        let home = Home::new();
        let repo = home.git_repo("repo");
        let named = Sessions { id: Some("mine".into()), strategy: Some(Strategy::Cwd), ..sessions() };
        let session = derive(&named, &repo, PARENT);
        assert_eq!((session.id.as_str(), session.strategy), ("mine", Strategy::Env));
        assert_eq!(session.context, "(env)");
        let forced = Sessions { strategy: Some(Strategy::Pid), ..sessions() };
        assert_eq!(derive(&forced, &repo, PARENT).strategy, Strategy::Pid);
        let asked = Sessions { strategy: Some(Strategy::Git), ..sessions() };
        assert_eq!(derive(&asked, &repo, PARENT).strategy, Strategy::Git);
        assert_eq!(derive(&asked, home.path(), PARENT).strategy, Strategy::Pid);
    }

    #[test]
    fn an_id_that_would_break_a_table_or_a_path_is_replaced_by_its_hash() {
        assert_eq!(SessionId::new("3f1c-ab é").unwrap().as_str(), "3f1c-ab é");
        assert_eq!(SessionId::new(""), None);
        let long = SessionId::new("x".repeat(257)).unwrap();
        assert!(long.as_str().starts_with("id-") && long != SessionId::new("x".repeat(258)).unwrap());
        for raw in nasty_bytes() {
            let Some(id) = SessionId::new(OsStr::from_bytes(&raw)) else { continue };
            let id = id.as_str();
            assert!(!id.is_empty() && id.len() <= 256 && text::plain(id) == id, "{raw:?} became {id:?}");
        }
    }

    #[test]
    fn the_main_agent_has_no_name() {
        assert_eq!(AgentId::new(""), AgentId::main());
        assert_ne!(AgentId::new("a\n"), AgentId::new("a"));
        assert_eq!(AgentId::new("a").as_str(), "a");
    }
}
