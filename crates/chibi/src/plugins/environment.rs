//! What of our environment a plugin sees. Pure.

use std::ffi::{OsStr, OsString};

use kit::invocation::Environment;
use llm::key::Key;

/// What the host says to a plugin itself. Never passed on: an outer conversation's call is none of an inner one's.
pub(super) const PROTOCOL: &[&str] = &[
    "CHIBI_HOME",
    "CHIBI_CONTEXT",
    "CHIBI_VERBOSE",
    "CHIBI_HOOK",
    "CHIBI_HOOK_DATA",
    "CHIBI_HOOK_DATA_FILE",
    "CHIBI_TOOL_NAME",
    "CHIBI_TOOL_ARGS",
    "CHIBI_TOOL_ARGS_FILE",
];

const NAMES: &[&str] = &["PATH", "HOME", "USER", "SHELL", "TERM", "LANG", "TZ", "TMPDIR"];
const PREFIXES: &[&str] = &["LC_", "XDG_", "UV_", "CHIBI_"];

/// What no plugin sees, even if it was promised to it.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// Variables that a key is read from.
    pub variables: Vec<String>,
    /// Keys that we know, whatever the variable that holds one is called.
    pub keys: Vec<Key>,
}

/// The variables for a plugin that may also see those called `also`.
pub(crate) fn seen(env: &Environment, also: &[String], secrets: &Secrets) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr, value: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        let wanted = is_usual(name) || also.iter().any(|listed| listed == name);
        wanted && !PROTOCOL.contains(&name) && !secrets.hold(name, value)
    };
    let passed = env.iter().filter(|(name, value)| passes(name, value));
    passed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

impl Secrets {
    fn hold(&self, name: &str, value: &OsStr) -> bool {
        let key = || value.to_str().and_then(|value| Key::new(value).ok());
        self.variables.iter().any(|variable| variable == name)
            || key().is_some_and(|key| self.keys.contains(&key))
    }
}

fn is_usual(name: &str) -> bool {
    NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || name.to_ascii_uppercase().ends_with("_PROXY")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(env: &[(&str, &str)], also: &[&str], secrets: &Secrets) -> Vec<String> {
        let also: Vec<String> = also.iter().map(ToString::to_string).collect();
        let seen = seen(&Environment::of(env.iter().copied()), &also, secrets);
        let mut names: Vec<String> = seen.into_iter().map(|(name, _)| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_plugin_sees_what_it_needs_and_what_it_was_promised() {
        let env = [
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("USER", "u"),
            ("SHELL", "s"),
            ("TERM", "t"),
            ("LANG", "C"),
            ("LC_ALL", "C"),
            ("TZ", "UTC"),
            ("TMPDIR", "/t"),
            ("XDG_DATA_HOME", "/d"),
            ("HTTPS_PROXY", "p"),
            ("no_proxy", "p"),
            ("UV_CACHE_DIR", "/u"),
            ("CHIBI_THEME", "dark"),
        ];
        assert_eq!(names(&env, &[], &Secrets::default()).len(), env.len());
        let secret =
            [("OPENROUTER_API_KEY", "k"), ("AWS_SECRET", "k"), ("LD_PRELOAD", "/x.so"), ("LOGNAME", "u")];
        assert_eq!(names(&secret, &[], &Secrets::default()), [] as [&str; 0]);
        assert_eq!(names(&secret, &["AWS_SECRET"], &Secrets::default()), ["AWS_SECRET"]);
    }

    #[test]
    fn the_key_is_never_seen_whatever_it_is_called() {
        let env = [("CHIBI_KEY", "sk-1"), ("UV_INDEX_TOKEN", " sk-1\n"), ("MY_KEY", "sk-1"), ("TZ", "UTC")];
        let by_name = Secrets { variables: vec!["CHIBI_KEY".to_owned()], keys: Vec::new() };
        assert_eq!(names(&env, &["MY_KEY"], &by_name), ["MY_KEY", "TZ", "UV_INDEX_TOKEN"]);
        let by_value = Secrets { variables: Vec::new(), keys: vec![Key::new("sk-1").unwrap()] };
        assert_eq!(names(&env, &["MY_KEY"], &by_value), ["TZ"]);
    }

    #[test]
    fn what_an_outer_conversation_said_is_not_said_again() {
        let env: Vec<(&str, &str)> = PROTOCOL.iter().map(|name| (*name, "x")).collect();
        assert_eq!(names(&env, PROTOCOL, &Secrets::default()), [] as [&str; 0]);
    }
}
