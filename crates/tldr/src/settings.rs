//! What a project says about its daemon, in `.tldr/config.json` or, where that is silent, `.claude/settings.json`. A file
//! that cannot be used is a warning and the defaults: questions are answered all the same.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::root::{FOLDER, Root};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub semantic_enabled: bool,
    /// As many changed files make the daemon look through all of them in the background.
    pub auto_reindex_threshold: usize,
    pub semantic_model: String,
    /// A daemon that nobody asks anything for so long ends.
    pub idle_timeout: Duration,
    pub warnings: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            semantic_enabled: true,
            auto_reindex_threshold: 20,
            semantic_model: "bge-large-en-v1.5".to_owned(),
            idle_timeout: Duration::from_secs(30 * 60),
            warnings: Vec::new(),
        }
    }
}

impl Settings {
    pub fn read(root: &Root) -> Settings {
        let mut settings = Settings::default();
        // The first to say something has said it.
        for name in [".claude/settings.json", &format!("{FOLDER}/config.json")] {
            let path = root.path().join(name);
            match written(&path) {
                Ok(Some(said)) => settings.follow(said),
                Ok(None) => {}
                Err(why) => settings.warnings.push(format!("{name} is not followed: {why}")),
            }
        }
        settings
    }

    fn follow(&mut self, said: Written) {
        let Written { semantic_enabled, auto_reindex_threshold, semantic_model, idle_timeout_secs } = said;
        self.semantic_enabled = semantic_enabled.unwrap_or(self.semantic_enabled);
        self.auto_reindex_threshold = auto_reindex_threshold.unwrap_or(self.auto_reindex_threshold).max(1);
        self.semantic_model = semantic_model.unwrap_or_else(|| self.semantic_model.clone());
        self.idle_timeout = idle_timeout_secs.map_or(self.idle_timeout, Duration::from_secs);
    }
}

/// What may stand in a file: at its top, or below the key `tldr` where other tools keep theirs too.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Written {
    semantic_enabled: Option<bool>,
    auto_reindex_threshold: Option<usize>,
    semantic_model: Option<String>,
    idle_timeout_secs: Option<u64>,
}

fn written(path: &Path) -> Result<Option<Written>, String> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut value: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    if let Some(ours) = value.get_mut("tldr").filter(|ours| ours.is_object()) {
        value = ours.take();
    }
    serde_json::from_value(value).map(Some).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn our_own_file_comes_before_the_clients_and_both_before_the_defaults() {
        let home = Home::new();
        home.write(
            "p/.claude/settings.json",
            r#"{"hooks":{},"tldr":{"semantic_enabled":false,"idle_timeout_secs":5}}"#,
        );
        home.write("p/.tldr/config.json", r#"{"idle_timeout_secs":7,"auto_reindex_threshold":0}"#);
        let settings = Settings::read(&Root::find(&home.path().join("p")).unwrap());
        let expected = Settings {
            semantic_enabled: false,
            auto_reindex_threshold: 1,
            idle_timeout: Duration::from_secs(7),
            ..Settings::default()
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn a_broken_file_is_a_warning() {
        let home = Home::new();
        home.write("p/.tldr/config.json", "{");
        home.write("p/.claude/settings.json", r#"{"idle_timeout_secs":"soon"}"#);
        let settings = Settings::read(&Root::find(&home.path().join("p")).unwrap());
        assert_eq!(settings.warnings.len(), 2, "{:?}", settings.warnings);
        assert_eq!(settings.idle_timeout, Settings::default().idle_timeout);
    }
}
