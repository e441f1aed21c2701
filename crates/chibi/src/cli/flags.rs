//! Every flag, declared once: parsing, help, completions and the order in which several actions run come from this
//! table. Knows no value that was typed.

/// What a flag is, to whoever reads what was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Id {
    SwitchContext,
    TransientContext,
    Continue,
    From,
    ListCurrent,
    List,
    DestroyCurrent,
    Destroy,
    ArchiveCurrent,
    Archive,
    CompactCurrent,
    Compact,
    UndoCompaction,
    RenameCurrent,
    Rename,
    ShowLogCurrent,
    ShowLog,
    Last,
    InspectCurrent,
    Inspect,
    SetPromptCurrent,
    SetPrompt,
    SetUsername,
    TransientUsername,
    Pin,
    Unpin,
    Pins,
    Search,
    Usage,
    Export,
    Import,
    ListPlugins,
    PluginCheck,
    Init,
    Completions,
    Plugin,
    CallTool,
    Model,
    Provider,
    ApiUrl,
    Schema,
    Wait,
    Yes,
    Verbose,
    NoChibi,
    ForceChibi,
    JsonConfig,
    JsonOutput,
    Debug,
    Help,
    Version,
}

/// Where a flag stands in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Contexts,
    History,
    Identity,
    Finding,
    Plugins,
    Model,
    Running,
}

impl Section {
    pub(crate) const ALL: [(Section, &'static str); 7] = [
        (Section::Contexts, "Contexts"),
        (Section::History, "History"),
        (Section::Identity, "What the model is told"),
        (Section::Finding, "Finding, keeping, moving"),
        (Section::Plugins, "Plugins and set-up"),
        (Section::Model, "Model"),
        (Section::Running, "Running"),
    ];
}

/// Whether the flag is an action after which no prompt is sent, unless `-X` says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Prompt,
    Nothing,
}

#[derive(Debug)]
pub(crate) struct Flag {
    pub(crate) id: Id,
    pub(crate) section: Section,
    pub(crate) short: Option<char>,
    pub(crate) long: &'static str,
    /// Names of older and newer versions, which plugins and scripts still use.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) short_alias: Option<char>,
    /// The names of what follows; the last with dots takes the rest of the line.
    pub(crate) values: &'static [&'static str],
    pub(crate) then: Then,
    pub(crate) help: &'static str,
}

const fn flag(id: Id, section: Section, short: Option<char>, long: &'static str, help: &'static str) -> Flag {
    Flag { id, section, short, long, aliases: &[], short_alias: None, values: &[], then: Then::Prompt, help }
}

impl Flag {
    const fn takes(mut self, values: &'static [&'static str]) -> Flag {
        self.values = values;
        self
    }

    const fn only(mut self) -> Flag {
        self.then = Then::Nothing;
        self
    }

    const fn also(mut self, aliases: &'static [&'static str], short: Option<char>) -> Flag {
        self.aliases = aliases;
        self.short_alias = short;
        self
    }
}

use Id as I;
use Section as S;

/// Actions run in this order, and then the prompt is sent.
#[rustfmt::skip]
pub(crate) const FLAGS: &[Flag] = &[
    flag(I::SwitchContext, S::Contexts, Some('c'), "switch-context", "Switch to a context; `new` and `new:NAME` make one named by the time, `-` is the one before").takes(&["NAME"]),
    flag(I::TransientContext, S::Contexts, Some('C'), "transient-context", "Use a context for this run only").takes(&["NAME"]).also(&["ephemeral-context"], Some('S')),
    flag(I::Continue, S::Contexts, None, "continue", "Use the context that was spoken in last, for this run only"),
    flag(I::From, S::Contexts, None, "from", "With -c NAME: a copy of this context up to the entry ID").takes(&["ID"]),
    flag(I::ListCurrent, S::Contexts, Some('l'), "list-current-context", "Tell about this context").only(),
    flag(I::List, S::Contexts, Some('L'), "list-contexts", "List all contexts").only(),
    flag(I::DestroyCurrent, S::Contexts, Some('d'), "destroy-current-context", "Delete this context, after a question").only().also(&["delete-current-context"], None),
    flag(I::Destroy, S::Contexts, Some('D'), "destroy-context", "Delete a context, after a question").takes(&["CTX"]).only().also(&["delete-context"], None),
    flag(I::ArchiveCurrent, S::History, Some('a'), "archive-current-history", "Begin anew; what was said stays in the transcript"),
    flag(I::Archive, S::History, Some('A'), "archive-history", "The same for another context").takes(&["CTX"]).only(),
    flag(I::CompactCurrent, S::History, Some('z'), "compact-current-context", "Let the model put a summary in the place of what was said"),
    flag(I::Compact, S::History, Some('Z'), "compact-context", "Empty the window of a context without asking a model").takes(&["CTX"]).only(),
    flag(I::UndoCompaction, S::History, None, "undo-compaction", "Take the last compaction back").only(),
    flag(I::RenameCurrent, S::Contexts, Some('r'), "rename-current-context", "Rename this context").takes(&["NEW"]),
    flag(I::Rename, S::Contexts, Some('R'), "rename-context", "Rename a context").takes(&["OLD", "NEW"]).only(),
    flag(I::ShowLogCurrent, S::History, Some('g'), "show-current-log", "Show the last N entries of the window; the first for a negative N, all for 0").takes(&["N"]).only(),
    flag(I::ShowLog, S::History, Some('G'), "show-log", "The same for another context").takes(&["CTX", "N"]).only(),
    flag(I::Last, S::History, None, "last", "Show the last answer again").only().also(&["show-last"], None),
    flag(I::InspectCurrent, S::Identity, Some('n'), "inspect-current", "Show system_prompt, reflection, todos, goals, or a setting; `list` names them all, -v says where a value comes from").takes(&["THING"]).only(),
    flag(I::Inspect, S::Identity, Some('N'), "inspect", "The same for another context").takes(&["CTX", "THING"]).only(),
    flag(I::SetPromptCurrent, S::Identity, Some('y'), "set-current-system-prompt", "Set the system prompt of this context: a file or the text itself").takes(&["PROMPT"]).also(&[], Some('e')),
    flag(I::SetPrompt, S::Identity, Some('Y'), "set-system-prompt", "The same for another context").takes(&["CTX", "PROMPT"]).only(),
    flag(I::SetUsername, S::Identity, Some('u'), "set-username", "Who speaks in this context; kept").takes(&["NAME"]),
    flag(I::TransientUsername, S::Identity, Some('U'), "transient-username", "Who speaks, for this run only").takes(&["NAME"]),
    flag(I::Pin, S::History, None, "pin", "Keep an entry word for word through every compaction").takes(&["ID"]).only(),
    flag(I::Unpin, S::History, None, "unpin", "Let a pinned entry go").takes(&["ID"]).only(),
    flag(I::Pins, S::History, None, "pins", "List what is pinned").only(),
    flag(I::Search, S::Finding, None, "search", "Find entries with all these words, in every context or in the one named by -C").takes(&["WORDS"]).only(),
    flag(I::Usage, S::Finding, None, "usage", "Tell what was spent, by context and day").only(),
    flag(I::Export, S::Finding, None, "export", "Print the whole transcript: markdown or json").takes(&["FORMAT"]).only(),
    flag(I::Import, S::Finding, None, "import", "Make a context of a session file of Claude Code or Codex").takes(&["FILE"]).only(),
    flag(I::ListPlugins, S::Plugins, None, "list-plugins", "List what was loaded and what was not, with the reason").only(),
    flag(I::PluginCheck, S::Plugins, None, "plugin-check", "Look at one plugin closely").takes(&["NAME"]).only(),
    flag(I::Init, S::Plugins, None, "init", "Write a commented config.toml and example plugins").only(),
    flag(I::Completions, S::Plugins, None, "completions", "Print a completion script: bash, zsh, fish, elvish or powershell").takes(&["SHELL"]).only(),
    flag(I::Plugin, S::Plugins, Some('p'), "plugin", "Run a tool of a plugin with these words").takes(&["NAME", "ARGS..."]).only(),
    flag(I::CallTool, S::Plugins, Some('P'), "call-tool", "Run any tool with JSON arguments").takes(&["TOOL", "JSON..."]).only(),
    flag(I::Model, S::Model, None, "model", "Ask this model; script:FILE plays a file").takes(&["NAME"]).also(&[], Some('m')),
    flag(I::Provider, S::Model, None, "provider", "anthropic, openrouter or openai").takes(&["NAME"]),
    flag(I::ApiUrl, S::Model, None, "api-url", "The base of the provider's address").takes(&["URL"]),
    flag(I::Schema, S::Model, None, "schema", "Let the answer be JSON of this schema").takes(&["FILE"]),
    flag(I::Wait, S::Running, None, "wait", "Wait for a context that is in use instead of giving up"),
    flag(I::Yes, S::Running, None, "yes", "Delete without a question"),
    flag(I::Verbose, S::Running, Some('v'), "verbose", "Say on standard error what happens"),
    flag(I::NoChibi, S::Running, Some('x'), "no-chibi", "Send nothing to the model"),
    flag(I::ForceChibi, S::Running, Some('X'), "force-chibi", "Send the prompt even after a command that only shows something"),
    flag(I::JsonConfig, S::Running, None, "json-config", "Read one JSON object with the command from standard input"),
    flag(I::JsonOutput, S::Running, None, "json-output", "Print JSON lines"),
    flag(I::Debug, S::Running, None, "debug", "Log request-log, response-meta or all beside the context").takes(&["KEY"]),
    flag(I::Help, S::Running, Some('h'), "help", "Print this").only(),
    flag(I::Version, S::Running, None, "version", "Print the version").only(),
];

/// A flag with its place in the table.
pub(crate) fn by_long(name: &str) -> Option<(usize, &'static Flag)> {
    FLAGS.iter().enumerate().find(|(_, flag)| flag.long == name || flag.aliases.contains(&name))
}

pub(crate) fn by_short(letter: char) -> Option<(usize, &'static Flag)> {
    let is = |flag: &Flag| flag.short == Some(letter) || flag.short_alias == Some(letter);
    FLAGS.iter().enumerate().find(|(_, flag)| is(flag))
}
