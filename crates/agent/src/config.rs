//! What the user has set: the table `[agent]` of scrimp's own file, next to the provider's. Every key is declared once,
//! and the file that `config init` writes is made of the declarations. Knows no flag and no environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chibi::servers::Setting;
use kit::{Failure, Places, text};
use llm::provider::{self, ConfigFile};
use serde::Deserialize;
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::hooks;
use crate::permission::{Mode, Rule};

/// As in the seed: room for a long answer, and no more than every model takes.
pub(crate) const MAX_TOKENS: u32 = 16_384;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    pub(crate) permission: Option<Mode>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) sandbox: bool,
    pub(crate) network: bool,
    pub(crate) max_tokens: u32,
    pub(crate) compact: bool,
    pub(crate) recent_commands: bool,
    pub(crate) hooks: hooks::Table,
    pub(crate) servers: BTreeMap<String, Setting>,
    /// Settings that were not understood.
    pub(crate) warnings: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            permission: None,
            rules: Vec::new(),
            sandbox: true,
            network: false,
            max_tokens: MAX_TOKENS,
            compact: true,
            recent_commands: false,
            hooks: hooks::Table::default(),
            servers: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }
}

/// A server whose tools appear beside ours, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Server {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    set: BTreeMap<String, String>,
    /// Seconds.
    timeout: Option<u64>,
}

impl From<Server> for Setting {
    fn from(Server { command, args, env, set, timeout }: Server) -> Setting {
        Setting { command, args, env, set, timeout: timeout.map(Duration::from_secs) }
    }
}

struct Key {
    name: &'static str,
    default: &'static str,
    meaning: &'static str,
}

const KEYS: &[Key] = &[
    Key {
        name: "permission",
        default: "\"ask\"",
        meaning: "what may be done without asking: read-only, ask, edits, all; where nobody can be asked: read-only",
    },
    Key {
        name: "sandbox",
        default: "true",
        meaning: "commands write only below the project and the temporary directory",
    },
    Key { name: "network", default: "false", meaning: "commands in the sandbox may reach the network" },
    Key { name: "max_tokens", default: "16384", meaning: "the most tokens of one reply" },
    Key {
        name: "compact",
        default: "true",
        meaning: "sum up what no longer fits, instead of leaving it out",
    },
    Key {
        name: "recent_commands",
        default: "false",
        meaning: "the model may ask clai what you ran last and how it ended",
    },
    Key {
        name: "hooks_files",
        default: "[]",
        meaning: "files with hooks in the form of Claude Code, such as \"~/.claude/settings.json\"",
    },
];

/// Tables of [agent], beside the keys.
const TABLES: &[&str] = &["hooks", "mcp", "rules"];

/// Where it stands.
pub(crate) fn path(places: &Places) -> PathBuf {
    places.config.join("scrimp/config.toml")
}

/// Reads the file; one that is not there says nothing.
pub(crate) fn load(places: &Places) -> Result<Config, Failure> {
    let path = path(places);
    let failed = |cause: String| {
        Failure::new(format!("cannot read `{}`: {cause}", path.display()))
            .hint(format!("mend it, or move it away: {}", path.display()))
    };
    let Some(file) = ConfigFile::read(&path).map_err(|error| failed(error.to_string()))? else {
        return Ok(Config::default());
    };
    let whole: Table = toml::from_str(&file.text).map_err(|error| {
        // The parser's report quotes the line, and a line may hold a key.
        let before = error.span().and_then(|span| file.text.get(..span.start)).unwrap_or_default();
        failed(format!("line {}: {}", before.matches('\n').count() + 1, error.message()))
    })?;
    let table = whole.get("agent").and_then(Value::as_table).cloned().unwrap_or_default();
    let mut config = Config::default();
    config.read(&table, &places.home).map_err(failed)?;
    config.unknown(&table);
    Ok(config)
}

impl Config {
    fn read(&mut self, table: &Table, home: &Path) -> Result<(), String> {
        if let Some(word) = optional::<String>(table, "permission")? {
            let known = || Mode::ALL.map(|(name, _)| name).join(", ");
            let mode = Mode::named(&word)
                .ok_or_else(|| format!("agent.permission: `{word}` is none of {}", known()));
            self.permission = Some(mode?);
        }
        self.rules = optional(table, "rules")?.unwrap_or_default();
        self.sandbox = optional(table, "sandbox")?.unwrap_or(self.sandbox);
        self.network = optional(table, "network")?.unwrap_or(self.network);
        self.max_tokens = optional(table, "max_tokens")?.unwrap_or(self.max_tokens);
        self.compact = optional(table, "compact")?.unwrap_or(self.compact);
        self.recent_commands = optional(table, "recent_commands")?.unwrap_or(self.recent_commands);
        let servers = optional::<BTreeMap<String, Server>>(table, "mcp")?.unwrap_or_default();
        self.servers = servers.into_iter().map(|(name, server)| (name, server.into())).collect();
        if let Some(hooks) = optional::<Json>(table, "hooks")? {
            self.warnings.extend(self.hooks.add(&hooks));
        }
        for file in optional::<Vec<PathBuf>>(table, "hooks_files")?.unwrap_or_default() {
            let file = file.strip_prefix("~").map_or_else(|_| file.clone(), |rest| home.join(rest));
            self.hooks_of(&file);
        }
        Ok(())
    }

    /// Another client's file is that client's: what is wrong with it is told, and we go on without.
    fn hooks_of(&mut self, path: &Path) {
        let read = std::fs::read_to_string(path).map_err(|error| error.to_string());
        match read.and_then(|text| serde_json::from_str::<Json>(&text).map_err(|error| error.to_string())) {
            Ok(settings) => self.warnings.extend(self.hooks.add(&settings["hooks"])),
            Err(cause) => self.warnings.push(format!("no hooks from `{}`: {cause}", path.display())),
        }
    }

    fn unknown(&mut self, table: &Table) {
        let known = || KEYS.iter().map(|key| key.name).chain(TABLES.iter().copied());
        for key in table.keys().filter(|key| !known().any(|known| known == *key)) {
            let meant = text::nearest(key, known())
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            self.warnings.push(format!("unknown key `agent.{key}`{meant}"));
        }
    }
}

fn optional<T: for<'de> Deserialize<'de>>(table: &Table, key: &str) -> Result<Option<T>, String> {
    let value = table.get(key).cloned().map(T::deserialize).transpose();
    value.map_err(|error: toml::de::Error| format!("agent.{key}: {}", error.message()))
}

/// The file with every setting, all of them commented out: it changes nothing until somebody edits it.
pub(crate) fn template() -> String {
    let mut out =
        String::from("# scrimp's settings. Lines with a # say what holds without them.\n\n[provider]\n");
    for (name, meaning) in provider::KEYS {
        out.push_str(&format!("# {meaning}\n# {name} = \"\"\n"));
    }
    out.push_str("\n[agent]\n");
    for key in KEYS {
        out.push_str(&format!("# {}\n# {} = {}\n", key.meaning, key.name, key.default));
    }
    out.push_str(TAIL);
    out
}

const TAIL: &str = "
# What is allowed, asked or denied whatever the permission says; the strictest rule that fits counts.
# [[agent.rules]]
# tool = \"bash\"
# command = \"cargo test\"
# verdict = \"allow\"
# [[agent.rules]]
# tool = \"edit_file\"
# path = \"**/*.lock\"
# verdict = \"deny\"

# Commands of your own at PreToolUse, PostToolUse, UserPromptSubmit, SessionStart and Stop, in the form of Claude Code:
# JSON on standard input, exit 2 refuses.
# [[agent.hooks.PreToolUse]]
# matcher = \"Edit|Write\"
# hooks = [{ command = \"./check.sh\", timeout = 60 }]

# Servers whose tools appear beside the agent's own: env names variables that one may see, set gives it others.
# [agent.mcp.NAME]
# command = \"some-server\"
# args = []
# env = []
# set = {}
# timeout = 300
";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let mut config = Config::default();
        let table: Table = toml::from_str(text).unwrap();
        let table = table["agent"].as_table().unwrap();
        config.read(table, Path::new("/home/a"))?;
        config.unknown(table);
        Ok(config)
    }

    #[test]
    fn the_file_that_is_written_changes_nothing_until_it_is_edited() {
        assert_eq!(read(&template()), Ok(Config::default()));
        let lines = template();
        let uncommented: String = lines
            .lines()
            .skip_while(|line| *line != "[agent]")
            .filter(|line| !line.starts_with("# ") || line.contains(" = ") || line.starts_with("# ["))
            .map(|line| format!("{}\n", line.trim_start_matches("# ")))
            .filter(|line| !line.contains("such as"))
            .collect();
        let edited = read(&uncommented).unwrap();
        assert_eq!(edited.warnings, [] as [String; 0], "every key that is shown is known");
        assert_eq!((edited.hooks.len(), edited.servers.len(), edited.rules.len()), (1, 1, 2));
    }

    #[test]
    fn what_is_not_understood_is_named() {
        assert_eq!(
            read("[agent]\nsandbx = true").unwrap().warnings,
            ["unknown key `agent.sandbx`; did you mean `sandbox`?"]
        );
        assert!(read("[agent]\nmax_tokens = \"many\"").unwrap_err().starts_with("agent.max_tokens: "));
        assert!(read("[agent]\npermission = \"yolo\"").unwrap_err().starts_with("agent.permission: "));
        let broken =
            read("[agent]\nhooks_files = [\"/nonexistent\"]\n[[agent.hooks.Stop]]\nhooks = 3").unwrap();
        assert_eq!(broken.warnings.len(), 2, "{:?}", broken.warnings);
    }
}
