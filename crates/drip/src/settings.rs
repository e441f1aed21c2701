//! What a person can set, all of it by environment variables. Each is declared once, in [`VARIABLES`]: its default is
//! parsed from there, and so is the generated page. Knows no store, no hook and no file.
//!
//! A value that cannot be taken is a [`Warning`] and the default, because a hook must go on; `doctor` shows it.

mod read;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use kit::Places;
use kit::invocation::Environment;
use kit::places::Variable;

use crate::elide;
use crate::load::Symlinks;
use crate::plan::{self, Policy};
use crate::session::Strategy;
use read::Reader;

/// All settings, as plain values.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `DRIP_DATA_DIR`; see [`Settings::data_dir`].
    pub store_root: Option<PathBuf>,
    /// Reads go through as if drip were not there.
    pub disabled: bool,
    pub session: Sessions,
    /// Who reads, for the table of sessions.
    pub agent: Option<Agent>,
    /// When a delta is sent, and what is left out of a first read.
    pub limits: plan::Limits,
    pub inline: Inline,
    /// The seed's hook substitutes first reads of at least this size.
    pub first_read_min_bytes: Option<u64>,
    /// The seed's hook renders first reads above this many tokens itself.
    pub claude_read_tokens: u64,
    pub certificates: Certificates,
    /// Whether an edit of lines that were never shown is stopped.
    pub edit_guard: bool,
    pub ignore_file: Option<PathBuf>,
    pub symlinks: Symlinks,
    /// As it was set, even if it makes no sense: who refuses paths outside must refuse all of them then.
    pub workspace_root: Option<PathBuf>,
    pub registry: bool,
    pub replay: Replay,
    /// A search without hits is answered by us as well.
    pub grep_always: bool,
    /// More of a command's output than this the client may cut or put into a file, after we have seen it whole. The
    /// person's own limit, which the client hands on to its hooks, may be lower.
    pub shell_output_bytes: usize,
    pub watch_rescan: Duration,
    /// From which share of vanished files on, in percent, the meter proposes to prune.
    pub ghost_hint: u32,
    pub price: Price,
    pub warnings: Vec<Warning>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    /// `DRIP_SESSION_ID`, raw: [`crate::session::derive`] makes an id of it.
    pub id: Option<OsString>,
    pub strategy: Option<Strategy>,
    /// How long a session may be idle.
    pub ttl: Duration,
}

/// Which contents live in the database and which in files beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inline {
    All,
    UpTo(u64),
}

impl Inline {
    pub fn holds(self, bytes: u64) -> bool {
        match self {
            Inline::All => true,
            // Zero sends even an empty content to its file, as the seed says.
            Inline::UpTo(max) => max > 0 && bytes <= max,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certificates {
    pub enabled: bool,
    /// How long after an edit its certificate may answer a read.
    pub window: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    pub enabled: bool,
    /// Rows per session.
    pub keep: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    pub dollars_per_mtok: f64,
    pub co2_grams_per_ktok: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
}

impl Agent {
    pub fn word(self) -> &'static str {
        match self {
            Agent::Claude => "claude",
            Agent::Codex => "codex",
            Agent::Gemini => "gemini",
        }
    }

    pub fn parse(name: &str) -> Option<Agent> {
        match name {
            "claude" | "claude-code" => Some(Agent::Claude),
            "codex" | "codex-cli" | "openai-codex" => Some(Agent::Codex),
            "gemini" | "gemini-cli" => Some(Agent::Gemini),
            _ => None,
        }
    }
}

/// A variable that was not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub variable: String,
    pub why: String,
}

/// Anything shorter would end a session while its agent thinks or its person has lunch.
const TTL_FLOOR: Duration = Duration::from_secs(1_800);
/// What the client keeps whole if nobody set it.
const SHELL_OUTPUT_CEILING: usize = 25_000;
/// Faster than this a rescan would never end.
const RESCAN_FLOOR: Duration = Duration::from_millis(50);

impl Settings {
    pub fn read(env: &Environment) -> Settings {
        let mut reader = Reader::new(env, VARIABLES);
        let settings = Settings {
            store_root: reader.absolute("DRIP_DATA_DIR"),
            disabled: reader.flag("DRIP_DISABLE"),
            session: Sessions {
                id: reader.raw("DRIP_SESSION_ID"),
                strategy: reader.choice("DRIP_SESSION_STRATEGY", |word| match word {
                    "auto" => Some(None),
                    "git" => Some(Some(Strategy::Git)),
                    "pid" => Some(Some(Strategy::Pid)),
                    "cwd" => Some(Some(Strategy::Cwd)),
                    _ => None,
                }),
                ttl: Duration::from_secs(reader.number("DRIP_SESSION_TTL_SECS")).max(TTL_FLOOR),
            },
            agent: reader.choice("DRIP_AGENT", |word| match word {
                "none" => Some(None),
                name => Agent::parse(name).map(Some),
            }),
            limits: limits(&mut reader),
            inline: reader.choice("DRIP_INLINE_MAX_BYTES", |word| match word {
                "-1" => Some(Inline::All),
                bytes => bytes.parse().ok().map(Inline::UpTo),
            }),
            first_read_min_bytes: Some(reader.number("DRIP_COMPRESS_FIRST_READ_MIN_BYTES"))
                .filter(|bytes| *bytes > 0),
            claude_read_tokens: reader.number("DRIP_CLAUDE_READ_TOKEN_BUDGET"),
            certificates: Certificates {
                enabled: !reader.switch("DRIP_CERT_DISABLE"),
                window: Duration::from_secs(reader.number("DRIP_CERT_WINDOW_SECS")),
            },
            edit_guard: reader.switch("DRIP_PRE_EDIT_WARN"),
            ignore_file: reader.raw("DRIP_IGNORE_FILE").map(PathBuf::from),
            symlinks: if reader.flag("DRIP_REJECT_SYMLINKS") { Symlinks::Refuse } else { Symlinks::Follow },
            workspace_root: reader.raw("DRIP_WORKSPACE_ROOT").map(PathBuf::from),
            registry: !reader.switch("DRIP_REGISTRY_DISABLE"),
            replay: Replay {
                enabled: reader.switch("DRIP_REPLAY_LOG"),
                keep: reader.number("DRIP_REPLAY_KEEP"),
            },
            grep_always: reader.switch("DRIP_GREP_ALWAYS_FILTER"),
            shell_output_bytes: reader.number::<usize>("BASH_MAX_OUTPUT_LENGTH").min(SHELL_OUTPUT_CEILING),
            watch_rescan: Duration::from_millis(reader.number("DRIP_WATCH_RESCAN_MS")).max(RESCAN_FLOOR),
            ghost_hint: reader.number("DRIP_GHOST_HINT_THRESHOLD"),
            price: Price {
                dollars_per_mtok: reader.amount("DRIP_PRICE_PER_MTOK"),
                co2_grams_per_ktok: reader.amount("DRIP_CO2_G_PER_KTOK"),
            },
            warnings: Vec::new(),
        };
        Settings { warnings: reader.finish(), ..settings }
    }

    /// Where the store is.
    pub fn data_dir(&self, places: &Places) -> PathBuf {
        self.store_root.clone().unwrap_or_else(|| places.data.join("drip"))
    }
}

impl Default for Settings {
    /// What holds where nothing is set.
    fn default() -> Self {
        Settings::read(&Environment::default())
    }
}

fn limits(reader: &mut Reader) -> plan::Limits {
    let whole_bodies = reader.switch("DRIP_NO_COMPRESS");
    let elision = elide::Limits {
        min_bytes: reader.number("DRIP_COMPRESS_MIN_BYTES"),
        min_body: reader.number::<usize>("DRIP_COMPRESS_MIN_BODY").max(elide::Limits::FLOOR),
        doc_comments: reader.switch("DRIP_COMPRESS_JAVADOC"),
    };
    plan::Limits {
        policy: reader.choice("DRIP_DIFF_POLICY", |word| match word {
            "gated" => Some(Policy::Gated),
            "cheapest" => Some(Policy::Cheapest),
            _ => None,
        }),
        max_hunks: reader.number("DRIP_MAX_HUNKS"),
        max_changed: share(reader.amount("DRIP_MAX_CHANGED_PCT")),
        elision: (!whole_bodies).then_some(elision),
        ..plan::Limits::default()
    }
}

/// `0.4` and `40` mean the same; all of a file is `1`.
fn share(amount: f64) -> f64 {
    if amount > 1.0 { amount / 100.0 } else { amount }
}

/// Every variable that drip reads. Where a default is a value, it is the one that counts.
pub const VARIABLES: &[Variable] = &[
    row("DRIP_DATA_DIR", "$XDG_DATA_HOME/drip", "where the store is"),
    row("DRIP_SESSION_ID", "unset", "the id of the session, whatever else is known"),
    row("DRIP_SESSION_STRATEGY", "auto", "`git`, `pid` or `cwd`: how a session is told from others"),
    row("DRIP_SESSION_TTL_SECS", "7200", "how long a session may be idle; at least 1800"),
    row("DRIP_AGENT", "none", "`claude`, `codex` or `gemini`: who reads, for the list of sessions"),
    row("DRIP_DISABLE", "0", "set and neither empty, `0` nor `false`: reads go through untouched"),
    row("DRIP_DIFF_POLICY", "gated", "`cheapest`: the smallest encoding wins, at any size and spread"),
    row("DRIP_MAX_HUNKS", "6", "more separate changes than this: the whole file"),
    row(
        "DRIP_MAX_CHANGED_PCT",
        "0.40",
        "more changed lines than this part: the whole file; above 1, percent",
    ),
    row("DRIP_INLINE_MAX_BYTES", "32768", "larger contents are files beside the database; -1: none, 0: all"),
    row("DRIP_NO_COMPRESS", "0", "1: no function body is ever left out"),
    row("DRIP_COMPRESS_MIN_BYTES", "1024", "smaller files are never shortened"),
    row("DRIP_COMPRESS_MIN_BODY", "15", "shorter bodies stay; at least 4 lines"),
    row("DRIP_COMPRESS_JAVADOC", "1", "0: long doc comments stay"),
    row(
        "DRIP_COMPRESS_FIRST_READ_MIN_BYTES",
        "0",
        "`hook claude` shortens first reads from this size on; 0: none",
    ),
    row("DRIP_CLAUDE_READ_TOKEN_BUDGET", "10000", "`hook claude` renders larger first reads itself"),
    row("DRIP_CERT_DISABLE", "0", "1: a read after an edit is never answered by a certificate"),
    row("DRIP_CERT_WINDOW_SECS", "300", "how long after an edit a certificate may answer"),
    row("DRIP_PRE_EDIT_WARN", "1", "0: edits of lines that were never shown are not stopped"),
    row("DRIP_IGNORE_FILE", "unset", "a file of ignore rules besides `.dripignore`"),
    row(
        "DRIP_REJECT_SYMLINKS",
        "0",
        "set and neither empty, `0` nor `false`: symbolic links are not followed",
    ),
    row("DRIP_WORKSPACE_ROOT", "unset", "`drip mcp` reads nothing outside of it"),
    row("DRIP_REGISTRY_DISABLE", "0", "1: nothing is remembered from one session to the next"),
    row("DRIP_REPLAY_LOG", "1", "0: what was sent is not kept for `drip replay`"),
    row("DRIP_REPLAY_KEEP", "500", "how many answers per session are kept"),
    row("DRIP_GREP_ALWAYS_FILTER", "0", "1: `hook claude-grep` answers searches without hits too"),
    row(
        "BASH_MAX_OUTPUT_LENGTH",
        "25000",
        "the client's own: longer outputs of commands are left as they are; at most 25000",
    ),
    row("DRIP_WATCH_RESCAN_MS", "1000", "how often `drip watch` looks by itself"),
    row("DRIP_GHOST_HINT_THRESHOLD", "50", "percent of vanished files from which `meter` proposes `--prune`"),
    row("DRIP_PRICE_PER_MTOK", "3.0", "dollars for a million tokens, for `meter`"),
    row("DRIP_CO2_G_PER_KTOK", "0.4", "grams of CO₂ for a thousand tokens, for `meter`"),
];

const fn row(name: &'static str, default: &'static str, meaning: &'static str) -> Variable {
    Variable { name, meaning, default }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Settings {
        Settings::read(&Environment::of(variables.iter().copied()))
    }

    #[test]
    fn nothing_set_is_the_documented_default_without_a_warning() {
        let settings = Settings::default();
        assert_eq!(settings.warnings, []);
        assert_eq!(settings.limits, plan::Limits::default());
        assert_eq!(settings.session.ttl, Duration::from_secs(7200));
        assert_eq!(settings.inline, Inline::UpTo(32_768));
        assert_eq!(settings.first_read_min_bytes, None);
        assert_eq!(settings.certificates, Certificates { enabled: true, window: Duration::from_secs(300) });
        assert_eq!(settings.replay, Replay { enabled: true, keep: 500 });
        assert_eq!(settings.price, Price { dollars_per_mtok: 3.0, co2_grams_per_ktok: 0.4 });
        assert!(settings.edit_guard && settings.registry && !settings.disabled && !settings.grep_always);
        assert_eq!((settings.symlinks, settings.ghost_hint), (Symlinks::Follow, 50));
        assert_eq!((settings.claude_read_tokens, settings.watch_rescan.as_millis()), (10_000, 1_000));
    }

    #[test]
    fn every_variable_is_told_once_and_read() {
        // A name that is read but not declared panics in `read`; this finds one that is declared and not read.
        for variable in VARIABLES {
            assert_eq!(VARIABLES.iter().filter(|other| other.name == variable.name).count(), 1);
            let odd = with(&[(variable.name, "∞ odd/")]);
            assert_ne!(odd, Settings::default(), "{} changes nothing", variable.name);
        }
    }

    #[test]
    fn zero_false_and_nothing_do_not_disable() {
        for off in ["", "0", "false", "FALSE", "no", "off"] {
            assert!(!with(&[("DRIP_DISABLE", off)]).disabled, "{off:?}");
        }
        for on in ["1", "true", "please", " "] {
            assert!(with(&[("DRIP_DISABLE", on)]).disabled, "{on:?}");
        }
        assert_eq!(with(&[("DRIP_REJECT_SYMLINKS", "x")]).symlinks, Symlinks::Refuse);
    }

    #[test]
    fn a_share_above_one_is_a_percentage() {
        let changed = |text| with(&[("DRIP_MAX_CHANGED_PCT", text)]).limits.max_changed;
        assert_eq!([changed("0.25"), changed("25"), changed("1"), changed("100")], [0.25, 0.25, 1.0, 1.0]);
    }

    #[test]
    fn a_bad_value_is_the_default_and_a_warning() {
        for (name, bad) in [
            ("DRIP_MAX_CHANGED_PCT", "NaN"),
            ("DRIP_MAX_CHANGED_PCT", "-0.5"),
            ("DRIP_MAX_CHANGED_PCT", "inf"),
            ("DRIP_MAX_HUNKS", "-1"),
            ("DRIP_MAX_HUNKS", "99999999999999999999999"),
            ("DRIP_INLINE_MAX_BYTES", "-2"),
            ("DRIP_SESSION_STRATEGY", "moon"),
            ("DRIP_DIFF_POLICY", "both"),
            ("DRIP_PRE_EDIT_WARN", "maybe"),
            ("DRIP_DATA_DIR", "relative/dir"),
            ("DRIP_AGENT", "cursor"),
        ] {
            let settings = with(&[(name, bad)]);
            assert_eq!(settings.warnings.len(), 1, "{name}={bad}");
            assert_eq!(settings.warnings[0].variable, name);
            assert_eq!(Settings { warnings: Vec::new(), ..settings }, Settings::default(), "{name}={bad}");
        }
    }

    #[test]
    fn floors_hold() {
        let low = with(&[
            ("DRIP_SESSION_TTL_SECS", "5"),
            ("DRIP_COMPRESS_MIN_BODY", "1"),
            ("DRIP_WATCH_RESCAN_MS", "0"),
        ]);
        assert_eq!(low.session.ttl, Duration::from_secs(1_800));
        assert_eq!(low.limits.elision.unwrap().min_body, 4);
        assert_eq!(low.watch_rescan, RESCAN_FLOOR);
    }

    #[test]
    fn what_is_inline_is_decided_by_size() {
        let inline = |text| with(&[("DRIP_INLINE_MAX_BYTES", text)]).inline;
        assert!(inline("10").holds(10) && !inline("10").holds(11));
        assert!(inline("-1").holds(u64::MAX));
        assert!(!inline("0").holds(0) && !inline("0").holds(1));
    }

    #[test]
    fn a_misspelt_variable_is_told_with_the_one_that_was_meant() {
        let settings = with(&[("DRIP_MAX_HUNK", "3"), ("DRIP_VERSION", "1"), ("OTHER", "x")]);
        let said: Vec<String> =
            settings.warnings.iter().map(|w| format!("{}: {}", w.variable, w.why)).collect();
        assert_eq!(
            said,
            ["DRIP_MAX_HUNK: is not read; did you mean DRIP_MAX_HUNKS?", "DRIP_VERSION: is not read"]
        );
    }

    #[test]
    fn places_are_taken_as_they_are_set() {
        let settings =
            with(&[("DRIP_DATA_DIR", "/x/y"), ("DRIP_WORKSPACE_ROOT", "rel"), ("DRIP_IGNORE_FILE", "")]);
        let places = Environment::of([("HOME", "/home/u")]).places().unwrap();
        assert_eq!(settings.data_dir(&places), PathBuf::from("/x/y"));
        assert_eq!(Settings::default().data_dir(&places), PathBuf::from("/home/u/.local/share/drip"));
        assert_eq!(settings.workspace_root, Some(PathBuf::from("rel")));
        assert_eq!(settings.ignore_file, None);
    }
}
