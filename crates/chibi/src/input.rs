//! What a run shall do, whichever way it was told: actions in a fixed order, then perhaps a prompt. Plain data; knows
//! neither flags nor files.

pub(crate) mod json;

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Input {
    pub(crate) actions: Vec<Action>,
    pub(crate) prompt: Prompt,
    pub(crate) select: Select,
    /// Fork the context at this entry into the one that is switched to.
    pub(crate) from: Option<String>,
    pub(crate) speaker: Speaker,
    pub(crate) asked: Asked,
    pub(crate) ways: Ways,
}

/// Something to do. Without a context it is about the current one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    ListCurrent,
    List,
    Destroy(Option<String>),
    Archive(Option<String>),
    Compact(Option<String>),
    UndoCompaction,
    Rename { old: Option<String>, new: String },
    ShowLog { context: Option<String>, count: i64 },
    Last,
    Inspect { context: Option<String>, thing: String },
    SetSystemPrompt { context: Option<String>, prompt: String },
    Pin(String),
    Unpin(String),
    Pins,
    Search(String),
    Usage,
    Export(String),
    Import(String),
    ListPlugins,
    PluginCheck(String),
    Init,
    Completions(String),
    RunPlugin { name: String, args: Vec<String> },
    CallTool { name: String, args: Vec<String> },
    Help,
    Version,
}

/// What is said to the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Prompt {
    #[default]
    Nothing,
    /// These words; text from a pipe is put below them.
    Words(String),
    /// These words and nothing else.
    Exactly(String),
    /// What standard input has, if it is no terminal.
    Piped,
    /// What standard input has; on a terminal the person is asked.
    Ask,
}

/// Which context a run is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Select {
    #[default]
    Current,
    Switch(String),
    Transient(String),
    /// The one that was spoken in last.
    Latest,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Speaker {
    #[default]
    Known,
    Kept(String),
    Once(String),
}

/// What was said about the model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) api_url: Option<String>,
    pub(crate) schema: Option<String>,
}

/// How it shall be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Ways {
    pub(crate) verbose: bool,
    pub(crate) json: bool,
    pub(crate) wait: bool,
    pub(crate) yes: bool,
    pub(crate) log_requests: bool,
    pub(crate) log_responses: bool,
}

impl Ways {
    /// `request-log`, `response_meta`, `all`; any other word says nothing.
    pub(crate) fn debug(&mut self, key: &str) {
        let key = key.replace('_', "-");
        self.log_requests |= matches!(key.as_str(), "request-log" | "all");
        self.log_responses |= matches!(key.as_str(), "response-meta" | "all");
    }
}
