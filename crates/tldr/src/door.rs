//! Where a question is answered: by the daemon of the project if one runs, else here, by the same function. Whoever asks
//! twice in one process has the files indexed once.

use std::sync::{Arc, OnceLock};

use kit::invocation::Environment;
use kit::{Failure, Places};
use wire::tldr::Request;

use crate::client::{self, Asked};
use crate::engine::Engine;
use crate::index::Lifetime;
use crate::model;
use crate::progress::Progress;
use crate::root::Root;
use crate::settings::Settings;

pub struct Door {
    root: Root,
    places: Places,
    env: Environment,
    lifetime: Lifetime,
    engine: OnceLock<Engine>,
    progress: Arc<Progress>,
}

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Daemon,
    Us,
}

impl Door {
    pub fn new(root: Root, places: Places, env: Environment, lifetime: Lifetime) -> Door {
        Door { root, places, env, lifetime, engine: OnceLock::new(), progress: Arc::default() }
    }

    /// How far the reading of files has come, where it is done here.
    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// The answer as one line of JSON.
    pub fn ask(&self, request: &Request) -> Result<String, Failure> {
        self.ask_and_tell(request).map(|(line, _)| line)
    }

    pub fn ask_and_tell(&self, request: &Request) -> Result<(String, By), Failure> {
        // A stranger at the daemon's place changes nothing about the answer.
        if client::answers(&self.root, &self.places)
            && let Asked::Said(line) = client::ask(&self.root, &self.places, request, client::PATIENCE)?
        {
            return Ok((line, By::Daemon));
        }
        let engine = self.engine.get_or_init(|| {
            let settings = Settings::read(&self.root);
            let model = model::chosen(&self.places, &settings.semantic_model);
            let engine = Engine::open(self.root.clone(), &settings, self.env.clone(), self.lifetime);
            engine.report_to(&self.progress);
            engine.with_model(model)
        });
        Ok((engine.answer(request).line.into(), By::Us))
    }
}
