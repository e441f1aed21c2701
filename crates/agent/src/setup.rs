//! Puts a conversation together from flags, settings and the world: who is asked, with which tools, behind which guards,
//! kept where. The one place that knows all parts.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chibi::plugins::{Ground, Secrets};
use chibi::servers::Servers;
use conversation::turn::{Budget, Spent};
use conversation::window::{Limits, Relief};
use kit::invocation::{Clock, Environment, Program, place_failure};
use kit::process::Cancel;
use kit::{Exit, Failure, Invocation, Page, Places, places};
use llm::Cost;
use store::blobs::Digest;

use crate::cli::Talk;
use crate::config::{self, Config};
use crate::desk::{Asks, Desk};
use crate::errand::Errands;
use crate::gate::{Answers, Gate, Guard, Person};
use crate::hooks::Hooks;
use crate::interrupt::Interrupt;
use crate::keep::{self, Keep, Which};
use crate::permission::{self, Mode};
use crate::project::Project;
use crate::purse::Purse;
use crate::recall::{Clai, Untold};
use crate::sandbox::{Network, Policy, Sandbox};
use crate::session::Session;
use crate::toolbox::Toolbox;
use crate::tools::code::{self, Absent};
use crate::tools::{Workshop, bash};
use crate::undo::Undo;
use crate::voice::{Manner, Voice};
use crate::{prompt, provider};

/// What is known of the world when a conversation starts.
pub(crate) struct World {
    pub(crate) env: Environment,
    pub(crate) places: Places,
    pub(crate) clock: Clock,
    pub(crate) project: Project,
    pub(crate) page: Page,
    pub(crate) program: Program,
    /// Whether there is a person at a terminal who can be asked.
    pub(crate) attended: bool,
}

impl World {
    pub(crate) fn of(invocation: &Invocation) -> Result<World, Failure> {
        let project = Project::open(&invocation.cwd).map_err(|error| {
            Failure::new(format!("cannot work in `{}`", invocation.cwd.display())).because(&error)
        })?;
        Ok(World {
            env: invocation.env.clone(),
            places: invocation.places()?,
            clock: invocation.clock.clone(),
            project,
            page: Page::of(invocation),
            program: invocation.program.clone(),
            attended: invocation.terminal.stdin && invocation.terminal.stderr,
        })
    }

    /// See [`data`].
    pub(crate) fn data(&self) -> PathBuf {
        data(&self.places)
    }

    /// Output that did not fit a result.
    fn spill(&self) -> PathBuf {
        self.places.cache.join("scrimp/agent")
    }
}

/// What the agent keeps beside conversations.
pub(crate) fn data(places: &Places) -> PathBuf {
    places.data.join("scrimp/agent")
}

/// The way behind the wall. None if we do not know how to be run again.
pub(crate) fn sandbox(program: &Program, policy: Policy) -> Option<Sandbox> {
    let through = program.spoken().split(' ').skip(1).map(OsString::from).collect();
    program.exe.clone().map(|exe| Sandbox::new(exe, through, policy))
}

/// A conversation, ready for its first prompt. Takes our streams, if nothing fails.
pub(crate) fn session(
    world: &World,
    talk: &Talk,
    manner: Manner,
    interrupt: Interrupt,
    invocation: &mut Invocation,
) -> Result<Session, Failure> {
    let config = config::load(&world.places)?;
    let resolved = provider::resolved(&talk.provider, &world.env, &world.places)?;
    let (client, mut warnings) = provider::client(&resolved, &world.env, &world.places)?;
    let asks = Asks {
        model: resolved.model.value,
        system: prompt::SYSTEM.to_owned(),
        max_tokens: talk.max_tokens.unwrap_or(config.max_tokens),
    };
    let opening = prompt::opening(world.project.root());
    let home = keep::home(&world.env, &world.places, &world.clock);
    let (keep, loaded) =
        Keep::open(&home, &world.data(), &which(talk), world.project.root(), &asks.model, &opening)?;
    warnings.extend(config.warnings.iter().cloned().chain(loaded.repairs.iter().map(ToString::to_string)));
    let purse = Purse::default();
    let errands = Arc::new(Errands::new(client.clone(), world.clock.clone(), opening, purse.clone()));
    let (gate, tools) = equipped(world, talk, &config, &keep, &errands, &mut warnings)?;
    let desk = Desk {
        client,
        asks,
        tools,
        gate,
        keep,
        errands,
        voice: voice(manner, talk, invocation),
        clock: world.clock.clone(),
        cancel: Cancel::default(),
        aside: Vec::new(),
        calls: BTreeMap::new(),
        compact: config.compact,
        summaries: Spent::default(),
        purse,
        went_on: false,
    };
    desk.brief_helpers();
    let mut session = Session {
        desk,
        history: loaded.history,
        limits: Limits { relief: Relief::Exchanges, ..Limits::default() },
        budget: Budget { cost: talk.max_usd.and_then(Cost::from_dollars), ..Budget::default() },
        interrupt,
        total: Spent::default(),
        data: world.data(),
        spoken: world.program.spoken(),
    };
    session.introduce(&warnings);
    Ok(session)
}

fn voice(manner: Manner, talk: &Talk, invocation: &mut Invocation) -> Voice {
    let take = |stream: &mut Box<dyn Write + Send>| std::mem::replace(stream, Box::new(io::sink()));
    let (out, err) = (take(&mut invocation.stdout), take(&mut invocation.stderr));
    Voice::new(out, err, manner, talk.verbose)
}

/// The tools, and what stands before them.
fn equipped(
    world: &World,
    talk: &Talk,
    config: &Config,
    keep: &Keep,
    errands: &Arc<Errands>,
    warnings: &mut Vec<String>,
) -> Result<(Gate, Toolbox), Failure> {
    let hooks = Hooks {
        table: config.hooks.clone(),
        session: keep.name().to_owned(),
        transcript: keep.transcript(),
        project: world.project.root().to_owned(),
        env: world.env.clone(),
    };
    let guard = guard(world, talk, config)?;
    let mut workshop = workshop(world, talk, config, keep.name(), Arc::clone(errands), warnings)?;
    if config::path(&world.places).starts_with(world.project.root()) {
        warnings.push(
            "our own settings lie in this directory: a command that you allow can change them".to_owned(),
        );
    }
    workshop.closed = guard.lock().unwrap_or_else(PoisonError::into_inner).settings.closed();
    let workshop = Arc::new(workshop);
    let servers = servers(world, config, &workshop);
    let troubles = servers.warnings();
    warnings.extend(troubles.into_iter().map(|told| format!("the server `{}`: {}", told.plugin, told.what)));
    let tools = Toolbox::new(Arc::clone(&workshop), Some(servers), None)?;
    Ok((Gate::new(hooks, workshop, guard), tools))
}

fn which(talk: &Talk) -> Which<'_> {
    match (&talk.resume, talk.go_on) {
        (Some(name), _) => Which::Named(name),
        (None, true) => Which::Last,
        (None, false) => Which::New,
    }
}

/// Where nobody can be asked, only reading is allowed, unless somebody said otherwise in so many words.
fn guard(world: &World, talk: &Talk, config: &Config) -> Result<Arc<Mutex<Guard>>, Failure> {
    let attended = world.attended && !talk.json;
    let fallback = if attended { config.permission.unwrap_or(Mode::Ask) } else { Mode::ReadOnly };
    let mode = talk.permission().unwrap_or(fallback);
    let data = private(&world.data(), world)?;
    let spill = private(&world.spill(), world)?;
    let settings = permission::Settings::new(mode, config.rules.clone())
        .map_err(|error| Failure::new("the rules cannot be used").because(&error).exit_with(Exit::Usage))?;
    let own = config::path(&world.places);
    let own = own.parent().unwrap_or(&own);
    let mut settings = settings.readable(&spill).guarded(own).guarded(&data);
    let digest = Digest::of(world.project.root().as_os_str().as_encoded_bytes()).to_string();
    let answers = Answers(data.join(format!("allowed-{}.json", &digest[..16])));
    answers.read().into_iter().for_each(|answer| settings.recall(answer));
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| world.env.text(name)).map(str::to_owned);
    let person = attended.then(|| Person { page: world.page.clone(), editor, scratch: data.clone() });
    Ok(Arc::new(Mutex::new(Guard { settings, person, answers })))
}

fn workshop(
    world: &World,
    talk: &Talk,
    config: &Config,
    name: &str,
    errands: Arc<Errands>,
    warnings: &mut Vec<String>,
) -> Result<Workshop, Failure> {
    let mut workshop = Workshop::new(world.project.clone(), &world.spill());
    workshop.environment = bash::environment(&world.env);
    let network = if talk.network || config.network { Network::Open } else { Network::Closed };
    if config.sandbox && !talk.no_sandbox {
        let write = vec![world.project.root().to_owned(), world.places.temp.clone()];
        let sandbox = sandbox(&world.program, Policy { write, network });
        // A guard that cannot stand is told, not left out.
        let missing =
            || Failure::new("there can be no sandbox: we do not know our own file").hint("`--no-sandbox`");
        workshop.sandbox = Some(sandbox.ok_or_else(missing)?);
    }
    let undo = undo(&world.data(), name, world.project.root())?;
    // What is in nobody's way can go another time.
    let _ = undo.sweep();
    workshop.undo = Some(Mutex::new(undo));
    let root = world.project.root();
    match code::Socket::find(root, &world.places.temp, world.places.uid) {
        Ok(socket) => workshop.index = Some(Box::new(socket)),
        Err(Absent::Nobody) => {}
        Err(Absent::Mute) => warnings.push("tldr does not answer: there is no code index".to_owned()),
    }
    if config.recent_commands {
        match Clai::find(root, &world.places) {
            Ok(clai) => workshop.recent = Some(Box::new(clai)),
            Err(Untold::Nobody) => {}
            Err(Untold::Unwilling(why)) => warnings.push(format!(
                "clai does not tell what was run here: {why} (`clai daemon stop`, if it is older than we are)"
            )),
        }
    }
    workshop.subagent = Some(errands);
    Ok(workshop)
}

/// The servers that the settings name; those that are known from before are started when they are called.
fn servers(world: &World, config: &Config, workshop: &Workshop) -> Servers {
    let keys = llm::provider::VARIABLES.iter().map(|variable| variable.name.to_owned());
    let ground = Ground {
        home: world.spill(),
        cwd: world.project.root().to_owned(),
        env: world.env.clone(),
        secrets: Secrets {
            variables: keys.filter(|name| name.ends_with("_API_KEY")).collect(),
            keys: Vec::new(),
        },
        limits: chibi::plugins::Limits::default(),
        settings: BTreeMap::new(),
    };
    let own: Vec<&str> = workshop.tools().iter().map(|tool| tool.name).collect();
    Servers::load(ground, config.servers.clone(), |name| own.contains(&name))
}

/// What files were before this conversation changed them.
pub(crate) fn undo(data: &Path, name: &str, project: &Path) -> Result<Undo, Failure> {
    Undo::open(&data.join("undo"), name, project)
        .map_err(|error| Failure::new("cannot keep what files were before they are changed").because(&error))
}

fn private(path: &Path, world: &World) -> Result<PathBuf, Failure> {
    places::private_dir(path, world.places.uid)
        .map_err(|error| place_failure("cannot make a place for what the agent keeps", &error))?;
    Ok(path.to_owned())
}
