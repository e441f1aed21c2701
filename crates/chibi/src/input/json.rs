//! A run told as one JSON object: `{"command": …, "flags": …, "context": …, "username_override": …}`. Only the command
//! is needed; keys that nobody knows are passed over, since newer programs may talk to older ones.

use kit::Failure;
use serde::Deserialize;

use super::{Action, Asked, Input, Prompt, Select, Speaker, Ways};

pub(crate) fn parse(text: &str) -> Result<Input, Failure> {
    let told: Told = serde_json::from_str(text).map_err(|error| {
        Failure::usage("cannot read the JSON on standard input")
            .because(&error)
            .hint("`{\"command\":{\"send_prompt\":{\"prompt\":\"hello\"}}}`")
    })?;
    Ok(told.meaning())
}

#[derive(Deserialize)]
struct Told {
    command: Command,
    #[serde(default)]
    flags: Flags,
    #[serde(default)]
    context: Context,
    username_override: Option<Username>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Command {
    ListContexts,
    ListCurrentContext,
    ShowHelp,
    ShowVersion,
    NoOp,
    SendPrompt {
        prompt: String,
    },
    #[serde(alias = "delete_context")]
    DestroyContext {
        name: Option<String>,
    },
    ArchiveHistory {
        name: Option<String>,
    },
    CompactContext {
        name: Option<String>,
    },
    RenameContext {
        old: Option<String>,
        new: String,
    },
    ShowLog {
        context: Option<String>,
        count: i64,
    },
    Inspect {
        context: Option<String>,
        thing: String,
    },
    SetSystemPrompt {
        context: Option<String>,
        prompt: String,
    },
    RunPlugin {
        name: String,
        #[serde(default)]
        args: Vec<String>,
    },
    CallTool {
        name: String,
        #[serde(default)]
        args: Vec<String>,
    },
    UndoCompaction,
    ShowLast,
    Pin {
        id: String,
    },
    Unpin {
        id: String,
    },
    ListPins,
    Search {
        query: String,
    },
    Usage,
    Export {
        format: String,
    },
    Import {
        file: String,
    },
    ListPlugins,
    CheckPlugin {
        name: String,
    },
    Init,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Flags {
    verbose: bool,
    json_output: bool,
    no_chibi: bool,
    debug: Option<String>,
    wait: bool,
    yes: bool,
    model: Option<String>,
    schema: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum Context {
    #[default]
    Current,
    Latest,
    Switch {
        name: String,
        #[serde(default = "yes")]
        persistent: bool,
        /// Fork at this entry.
        from: Option<String>,
    },
    Transient {
        name: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Username {
    Persistent(String),
    Transient(String),
}

fn yes() -> bool {
    true
}

impl Told {
    fn meaning(self) -> Input {
        let Told { command, flags, context, username_override } = self;
        let mut ways = Ways {
            verbose: flags.verbose,
            json: flags.json_output,
            wait: flags.wait,
            yes: flags.yes,
            ..Ways::default()
        };
        flags.debug.iter().for_each(|key| ways.debug(key));
        let (select, from) = match context {
            Context::Current => (Select::Current, None),
            Context::Latest => (Select::Latest, None),
            Context::Switch { name, persistent: true, from } => (Select::Switch(name), from),
            Context::Switch { name, persistent: false, from } => (Select::Transient(name), from),
            Context::Transient { name } => (Select::Transient(name), None),
        };
        let speaker = match username_override {
            None => Speaker::Known,
            Some(Username::Persistent(name)) => Speaker::Kept(name),
            Some(Username::Transient(name)) => Speaker::Once(name),
        };
        let (action, prompt) = command.meaning();
        let prompt = if flags.no_chibi { Prompt::Nothing } else { prompt };
        let asked = Asked { model: flags.model, schema: flags.schema, ..Asked::default() };
        Input { actions: action.into_iter().collect(), prompt, select, from, speaker, asked, ways }
    }
}

impl Command {
    fn meaning(self) -> (Option<Action>, Prompt) {
        let action = match self {
            Command::SendPrompt { prompt } => return (None, Prompt::Exactly(prompt)),
            Command::NoOp => return (None, Prompt::Nothing),
            Command::ListContexts => Action::List,
            Command::ListCurrentContext => Action::ListCurrent,
            Command::ShowHelp => Action::Help,
            Command::ShowVersion => Action::Version,
            Command::DestroyContext { name } => Action::Destroy(name),
            Command::ArchiveHistory { name } => Action::Archive(name),
            Command::CompactContext { name } => Action::Compact(name),
            Command::RenameContext { old, new } => Action::Rename { old, new },
            Command::ShowLog { context, count } => Action::ShowLog { context, count },
            Command::Inspect { context, thing } => Action::Inspect { context, thing },
            Command::SetSystemPrompt { context, prompt } => Action::SetSystemPrompt { context, prompt },
            Command::RunPlugin { name, args } => Action::RunPlugin { name, args },
            Command::CallTool { name, args } => Action::CallTool { name, args },
            Command::UndoCompaction => Action::UndoCompaction,
            Command::ShowLast => Action::Last,
            Command::Pin { id } => Action::Pin(id),
            Command::Unpin { id } => Action::Unpin(id),
            Command::ListPins => Action::Pins,
            Command::Search { query } => Action::Search(query),
            Command::Usage => Action::Usage,
            Command::Export { format } => Action::Export(format),
            Command::Import { file } => Action::Import(file),
            Command::ListPlugins => Action::ListPlugins,
            Command::CheckPlugin { name } => Action::PluginCheck(name),
            Command::Init => Action::Init,
        };
        (Some(action), Prompt::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_objects_are_commands() {
        let input = parse(r#"{"command": "list_contexts", "unknown": 1}"#).unwrap();
        assert_eq!(input.actions, [Action::List]);
        let input = parse(
            r#"{"command": {"send_prompt": {"prompt": "hi"}}, "flags": {"verbose": true, "debug": "all"},
                "context": {"switch": {"name": "work"}}, "username_override": {"transient": "ada"}}"#,
        )
        .unwrap();
        assert_eq!(input.prompt, Prompt::Exactly("hi".into()));
        assert_eq!(input.select, Select::Switch("work".into()));
        assert_eq!(input.speaker, Speaker::Once("ada".into()));
        assert!(input.ways.verbose && input.ways.log_requests && input.ways.log_responses);
    }

    #[test]
    fn an_older_name_and_a_switch_that_is_not_kept_are_understood() {
        let input = parse(
            r#"{"command": {"delete_context": {"name": "x"}},
                "context": {"switch": {"name": "t", "persistent": false}}}"#,
        )
        .unwrap();
        assert_eq!(input.actions, [Action::Destroy(Some("x".into()))]);
        assert_eq!(input.select, Select::Transient("t".into()));
    }

    #[test]
    fn what_is_no_command_is_wrong_usage_with_an_example() {
        for bad in ["", "[]", "{}", r#"{"command": "dance"}"#, r#"{"command": {"show_log": {}}}"#] {
            let failure = parse(bad).unwrap_err();
            assert_eq!(failure.exit(), kit::Exit::Usage);
            assert!(failure.to_string().contains("send_prompt"), "{failure}");
        }
    }
}
