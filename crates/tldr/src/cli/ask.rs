//! The questions about code, each as it is typed, and the request that it is.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use wire::tldr::{DaemonCommand, Direction, Request, SessionId};

use super::{Format, Where};

#[derive(Debug, Subcommand)]
pub(crate) enum Ask {
    /// The files of the project
    Tree(OnPath),
    /// Functions, classes and methods of each file, with their lines
    Structure(OnPath),
    /// Lines that match a regular expression
    Search {
        /// The expression, such as `fn \w+_test`
        pattern: String,
        /// Only what is below it
        path: Option<PathBuf>,
        /// At most so many
        #[arg(long, value_name = "N")]
        max_results: Option<usize>,
        #[command(flatten)]
        how: How,
    },
    /// All that one file declares, with signatures and doc comments
    Extract(OnFile),
    /// A function with what it calls, as far as a model needs it
    Context {
        /// `name`, `Class.method`, or either after `file:`
        #[arg(value_name = "FUNCTION")]
        entry: String,
        /// How many calls away
        #[arg(long, value_name = "N")]
        depth: Option<usize>,
        #[command(flatten)]
        how: How,
    },
    /// The control flow of a function
    Cfg(InFile),
    /// Which definition reaches which use in a function
    Dfg(InFile),
    /// The lines of a function that matter for one of them
    Slice {
        /// The file that it is in
        file: PathBuf,
        /// `name`, `Class.method`, or `name:LINE` where several have the name; `<module>` for what is in no function
        function: String,
        /// The line that is asked about
        line: usize,
        /// What it depends on, or what depends on it
        #[arg(long, value_enum, default_value_t)]
        direction: Way,
        /// Only this variable of the line
        #[arg(long, value_name = "NAME")]
        var: Option<String>,
        #[command(flatten)]
        how: How,
    },
    /// Who calls whom
    Calls(OnPath),
    /// Who calls a function, and who calls those
    Impact {
        /// `name`, `Class.method`, or either after `file:`
        function: String,
        /// Only callers below it
        path: Option<PathBuf>,
        /// How many calls away
        #[arg(long, value_name = "N")]
        depth: Option<usize>,
        #[command(flatten)]
        how: How,
    },
    /// Functions that nothing refers to
    Dead {
        /// Only what is below it
        path: Option<PathBuf>,
        /// Also an entry point; may be repeated
        #[arg(long, value_name = "NAME")]
        entry: Vec<String>,
        #[command(flatten)]
        how: How,
    },
    /// Layers of the directories, and cycles between files
    Arch(OnPath),
    /// What a file imports
    Imports(OnFile),
    /// Who imports a module
    Importers {
        /// Its file, or its name as an import says it: `pkg.mod`, `./mod`, `crate::mod`
        module: String,
        /// Only importers below it
        path: Option<PathBuf>,
        #[command(flatten)]
        how: How,
    },
    /// What the project's own checkers say about a file or a directory
    Diagnostics(OnFile),
    /// The functions and tests that a change reaches
    ChangeImpact {
        /// Files that changed; without any, what git says
        files: Vec<PathBuf>,
        /// What git says has changed
        #[arg(long)]
        git: bool,
        #[command(flatten)]
        how: How,
    },
    /// Functions that fit words, best first
    Semantic {
        /// What it is about, such as `parse a date`
        query: String,
        /// At most so many
        #[arg(long, default_value_t = 10, value_name = "N")]
        top_k: usize,
        #[command(flatten)]
        how: How,
    },
}

/// What every question can say.
#[derive(Debug, Args)]
pub(crate) struct How {
    #[command(flatten)]
    pub(crate) place: Where,
    /// Only files of this language
    #[arg(long, short)]
    lang: Option<String>,
    /// The answer's size at most, in tokens of four bytes
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Go on from here: what the last answer called `next`
    #[arg(long, value_name = "N")]
    offset: Option<usize>,
    /// Count the answer for this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Say who answered
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct OnPath {
    /// Only what is below it
    path: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
pub(crate) struct OnFile {
    /// The file
    file: PathBuf,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Args)]
pub(crate) struct InFile {
    /// The file that it is in
    file: PathBuf,
    /// `name`, `Class.method`, or `name:LINE` where several have the name; `<module>` for what is in no function
    function: String,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Way {
    #[default]
    Backward,
    Forward,
}

impl Ask {
    pub(crate) fn how(&self) -> &How {
        match self {
            Ask::Tree(on) | Ask::Structure(on) | Ask::Calls(on) | Ask::Arch(on) => &on.how,
            Ask::Extract(on) | Ask::Imports(on) | Ask::Diagnostics(on) => &on.how,
            Ask::Cfg(on) | Ask::Dfg(on) => &on.how,
            Ask::Search { how, .. }
            | Ask::Context { how, .. }
            | Ask::Slice { how, .. }
            | Ask::Impact { how, .. }
            | Ask::Dead { how, .. }
            | Ask::Importers { how, .. }
            | Ask::ChangeImpact { how, .. }
            | Ask::Semantic { how, .. } => how,
        }
    }

    /// The request that says the same; paths are made those of somebody who stands in `cwd`.
    pub(crate) fn request(&self, cwd: &Path) -> Request {
        let how = self.how();
        Request {
            command: self.command(&|path| cwd.join(path)),
            session: how.session.clone().map(SessionId),
            max_tokens: how.max_tokens,
            offset: how.offset,
            lang: how.lang.clone(),
            format: match how.place.format.format {
                Format::Json | Format::Dot => wire::tldr::Format::Json,
                Format::Text => wire::tldr::Format::Text,
            },
        }
    }

    fn command(&self, at: &dyn Fn(&PathBuf) -> PathBuf) -> DaemonCommand {
        let maybe = |path: &Option<PathBuf>| path.as_ref().map(at);
        match self {
            Ask::Tree(on) => DaemonCommand::Tree { path: maybe(&on.path) },
            // The wire wants one here.
            Ask::Structure(on) => DaemonCommand::Structure {
                path: maybe(&on.path).unwrap_or_else(|| at(&on.how.place.project)),
            },
            Ask::Search { pattern, path, max_results, .. } => DaemonCommand::Search {
                pattern: pattern.clone(),
                path: maybe(path),
                max_results: *max_results,
            },
            Ask::Extract(on) => DaemonCommand::Extract { file: at(&on.file) },
            Ask::Context { entry, depth, .. } => {
                DaemonCommand::Context { entry: entry.clone(), depth: *depth }
            }
            Ask::Cfg(on) => DaemonCommand::Cfg { file: at(&on.file), function: on.function.clone() },
            Ask::Dfg(on) => DaemonCommand::Dfg { file: at(&on.file), function: on.function.clone() },
            Ask::Slice { file, function, line, direction, var, .. } => DaemonCommand::Slice {
                file: at(file),
                function: function.clone(),
                line: *line,
                direction: match direction {
                    Way::Backward => Direction::Backward,
                    Way::Forward => Direction::Forward,
                },
                var: var.clone(),
            },
            Ask::Calls(on) => DaemonCommand::Calls { path: maybe(&on.path) },
            Ask::Impact { function, path, depth, .. } => {
                DaemonCommand::Impact { func: function.clone(), path: maybe(path), depth: *depth }
            }
            Ask::Dead { path, entry, .. } => {
                DaemonCommand::Dead { path: maybe(path), entry: (!entry.is_empty()).then(|| entry.clone()) }
            }
            Ask::Arch(on) => DaemonCommand::Arch { path: maybe(&on.path) },
            Ask::Imports(on) => DaemonCommand::Imports { file: at(&on.file) },
            Ask::Importers { module, path, .. } => {
                DaemonCommand::Importers { module: module.clone(), path: maybe(path) }
            }
            Ask::Diagnostics(on) => DaemonCommand::Diagnostics { path: at(&on.file), project: None },
            Ask::ChangeImpact { files, git, how } => DaemonCommand::ChangeImpact {
                files: (!files.is_empty()).then(|| files.iter().map(at).collect()),
                session: how.session.is_some().then_some(true),
                git: git.then_some(true),
            },
            Ask::Semantic { query, top_k, .. } => {
                DaemonCommand::Semantic { query: query.clone(), top_k: *top_k }
            }
        }
    }
}
