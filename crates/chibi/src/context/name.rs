//! Names of contexts. A name is a folder's name, so nothing but a checked one ever becomes part of a path.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

/// A folder's name may have 255 bytes, and ours get a prefix while they are made or destroyed.
const LONGEST: usize = 200;

/// ASCII letters, digits, `-` and `_`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ContextName(String);

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    #[error("a context needs a name")]
    Empty,
    #[error("`{}` is no name for a context: only letters, digits, `-` and `_`", kit::text::plain(.0))]
    Character(String),
    #[error("a name of {0} bytes is too long for a context: at most {LONGEST}")]
    Long(usize),
}

impl ContextName {
    pub fn new(name: &str) -> Result<ContextName, NameError> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        match name {
            "" => Err(NameError::Empty),
            name if !name.bytes().all(allowed) => {
                Err(NameError::Character(kit::text::head(name, 80).to_owned()))
            }
            name if name.len() > LONGEST => Err(NameError::Long(name.len())),
            name => Ok(ContextName(name.to_owned())),
        }
    }

    /// What `-c NAME` means: `new` and `new:prefix` are names made of `stamp` (the local time as `YYYYMMDD_HHMMSS`), with
    /// `_2`, `_3` … behind when that is taken; anything else is itself.
    pub fn chosen(
        spec: &str,
        stamp: &str,
        taken: impl Fn(&ContextName) -> bool,
    ) -> Result<ContextName, NameError> {
        let base = match spec.split_once(':') {
            None if spec == "new" => stamp.to_owned(),
            Some(("new", "")) => return Err(NameError::Empty),
            Some(("new", prefix)) => format!("{prefix}_{stamp}"),
            _ => return ContextName::new(spec),
        };
        let mut name = ContextName::new(&base)?;
        let mut number = 1;
        while taken(&name) {
            number += 1;
            name = ContextName::new(&format!("{base}_{number}"))?;
        }
        Ok(name)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for ContextName {
    fn default() -> Self {
        ContextName("default".to_owned())
    }
}

impl fmt::Display for ContextName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ContextName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        ContextName::new(name)
    }
}

impl<'de> Deserialize<'de> for ContextName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ContextName::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_would_leave_the_folder_is_refused() {
        for bad in ["", ".", "..", "../../x", "a/b", "a b", "ä", "a\0", "xmpp:bob@x.org", "-\n", ".hidden"] {
            assert!(ContextName::new(bad).is_err(), "{bad:?}");
        }
        assert!(ContextName::new(&"x".repeat(LONGEST + 1)).is_err());
        assert!(["default", "a-b_C9", "-", "_", "agent-1"].iter().all(|name| ContextName::new(name).is_ok()));
    }

    #[test]
    fn new_names_carry_the_time_and_never_collide() {
        let taken = ["20260101_120000", "20260101_120000_2", "work_20260101_120000"];
        let chosen = |spec| {
            ContextName::chosen(spec, "20260101_120000", |name| taken.contains(&name.as_str()))
                .map(|name| name.to_string())
        };
        assert_eq!(chosen("new").unwrap(), "20260101_120000_3");
        assert_eq!(chosen("new:work").unwrap(), "work_20260101_120000_2");
        assert_eq!(chosen("new:other").unwrap(), "other_20260101_120000");
        assert_eq!(chosen("newer").unwrap(), "newer");
        assert_eq!(chosen("new:"), Err(NameError::Empty));
        assert!(chosen("new:../x").is_err() && chosen("old:x").is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_is_one_plain_path_component(name in any::<String>()) {
            if let Ok(name) = ContextName::new(&name) {
                let path = std::path::Path::new("contexts").join(name.as_str());
                prop_assert_eq!(path.components().count(), 2);
                prop_assert!(!name.as_str().starts_with('.'));
            }
        }
    }
}
