//! One run: what was read once, who listens, and which context it is about. Commands and turns stand on this.

use std::cell::OnceCell;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use kit::invocation::{Environment, Program, Terminal};
use kit::process::Cancel;
use kit::{Failure, Invocation, Places};

use crate::config::Layers;
use crate::context::{ChibiHome, Context, ContextName, Policy, Reader, Wait};
use crate::hooks::{Event, Fired};
use crate::input::{Asked, Speaker, Ways};
use crate::output::Output;
use crate::plugins::{Plugins, Scene};
use crate::servers::Servers;
use crate::{interrupt, moment, tools};

/// Somebody who queues has a whole long turn before them; longer than this it is no queue.
pub(crate) const QUEUE: Duration = Duration::from_secs(3600);

pub(crate) struct Run {
    pub(crate) program: Program,
    pub(crate) env: Environment,
    pub(crate) cwd: PathBuf,
    pub(crate) places: Places,
    pub(crate) stdin: Box<dyn Read + Send>,
    pub(crate) terminal: Terminal,
    pub(crate) home: ChibiHome,
    pub(crate) out: Output,
    pub(crate) ways: Ways,
    pub(crate) asked: Asked,
    pub(crate) speaker: Speaker,
    /// The context that is meant when none is named.
    pub(crate) current: ContextName,
    /// It was named in this run.
    pub(crate) chosen: bool,
    pub(crate) cancel: Cancel,
    heedful: bool,
    plugins: Option<Plugins>,
    servers: Option<Servers>,
    /// What is wrong with plugins and servers and was not said yet.
    troubles: Vec<String>,
    offset: OnceCell<i64>,
}

impl Run {
    /// Nothing is written and no plugin asked yet.
    pub(crate) fn new(
        mut invocation: Invocation,
        places: Places,
        home: ChibiHome,
        current: ContextName,
        out: Output,
    ) -> Run {
        Run {
            program: invocation.program.clone(),
            env: std::mem::take(&mut invocation.env),
            cwd: std::mem::take(&mut invocation.cwd),
            places,
            stdin: std::mem::replace(&mut invocation.stdin, Box::new(std::io::empty())),
            terminal: invocation.terminal,
            home,
            out,
            ways: Ways::default(),
            asked: Asked::default(),
            speaker: Speaker::Known,
            current,
            chosen: false,
            cancel: Cancel::default(),
            heedful: false,
            plugins: None,
            servers: None,
            troubles: Vec::new(),
            offset: OnceCell::new(),
        }
    }

    pub(crate) fn spoken(&self) -> String {
        self.program.spoken()
    }

    /// A name that was typed, or the current context.
    pub(crate) fn named(&self, name: Option<&str>) -> Result<ContextName, Failure> {
        match name {
            None => Ok(self.current.clone()),
            Some(name) => ContextName::new(name).map_err(Failure::from),
        }
    }

    pub(crate) fn reader(&self, name: &ContextName) -> Result<Reader, Failure> {
        Reader::open(&self.home, name).map_err(Failure::from)
    }

    /// Takes a context to write to it, or makes it.
    pub(crate) fn open(&mut self, name: &ContextName) -> Result<Context, Failure> {
        let wait = if self.ways.wait { Wait::Until(QUEUE) } else { Wait::No };
        let context = Context::open(&self.home, name, wait)?;
        for note in context.notes() {
            self.out.diagnostic(note);
        }
        let policy = self.policy(name)?;
        Ok(context.with_policy(policy))
    }

    /// The settings that hold in a context.
    pub(crate) fn layers(&self, name: &ContextName) -> Result<Layers, Failure> {
        let local = self.home.context(name).join("local.toml");
        let mut flags: Vec<(&str, String)> = Vec::new();
        if let Speaker::Once(username) | Speaker::Kept(username) = &self.speaker {
            flags.push(("username", username.clone()));
        }
        flags.extend(self.asked.model.clone().map(|model| ("model", model)));
        flags.extend(self.asked.provider.clone().map(|provider| ("provider", provider)));
        let (config, models) = (self.home.config_file(), self.home.models_file());
        Layers::read(&config, &models, Some(&local), &flags).map_err(Failure::from)
    }

    /// Says what should be known of the settings, once.
    pub(crate) fn warn_of_settings(&mut self, layers: &Layers) {
        for line in layers.unknown() {
            self.out.warn(&line);
        }
    }

    /// Says what is wrong with plugins and servers, once. Who only looks at something does not need to know.
    pub(crate) fn warn_of_tools(&mut self) {
        for trouble in self.troubles.drain(..) {
            self.out.warn(&trouble);
        }
    }

    /// From now on an interrupt ends what runs, and not us. A second time changes nothing.
    pub(crate) fn heed_interrupts(&mut self) {
        if !std::mem::replace(&mut self.heedful, true) {
            interrupt::watch(&self.cancel);
        }
    }

    /// How far local time is ahead of UTC.
    pub(crate) fn offset(&self) -> i64 {
        *self.offset.get_or_init(|| moment::offset(&self.env))
    }

    pub(crate) fn now(&self) -> i64 {
        self.home.clock().unix_ms() / 1000
    }

    /// Finds the plugins; before that, nobody listens.
    pub(crate) fn load_plugins(&mut self) -> Result<(), Failure> {
        let layers = self.layers(&self.current.clone())?;
        let plugins = Plugins::load(crate::ground::of(self, &layers)).attached();
        self.troubles.extend(plugins.warnings().iter().map(ToString::to_string));
        if self.ways.verbose {
            self.warn_of_tools();
        }
        self.plugins = Some(plugins);
        Ok(())
    }

    /// The servers that the settings name; asked when first needed.
    pub(crate) fn servers(&mut self, layers: &Layers) -> Servers {
        if let Some(servers) = &self.servers {
            return servers.clone();
        }
        let plugins = self.plugins.clone();
        let theirs = |name: &str| plugins.as_ref().is_some_and(|plugins| plugins.has_tool(name));
        let taken = |name: &str| tools::is_built_in(name) || theirs(name);
        let servers = Servers::load(crate::ground::of(self, layers), crate::ground::servers(layers), taken);
        self.troubles.extend(servers.warnings().iter().map(ToString::to_string));
        self.servers.insert(servers).clone()
    }

    pub(crate) fn plugins(&self) -> Option<&Plugins> {
        self.plugins.as_ref()
    }

    /// Tells all plugins that listen, and shows what they have to say.
    pub(crate) fn fire(&mut self, event: &Event<'_>, context: &ContextName) -> Fired {
        let hook = event.hook();
        let Some(plugins) = self.plugins.clone().filter(|plugins| plugins.listen_to(hook)) else {
            return Fired::silent(hook);
        };
        self.out.diagnostic(&format!("hook {}", hook.name()));
        let scene = Scene { context: context.as_str(), verbose: self.ways.verbose };
        let fired = plugins.fire(event, &scene, &self.cancel);
        self.out.aside(&fired.said);
        for warning in &fired.warnings {
            self.out.warn(&warning.to_string());
        }
        fired
    }

    fn policy(&self, name: &ContextName) -> Result<Policy, Failure> {
        Ok(crate::config::policy(&self.layers(name)?))
    }
}

/// `CHIBI_HOME` says where everything is.
pub(crate) fn home(env: &Environment, places: &Places) -> PathBuf {
    env.get("CHIBI_HOME")
        .filter(|root| !root.is_empty())
        .map_or_else(|| places.home.join(".chibi"), PathBuf::from)
}
