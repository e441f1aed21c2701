//! All tools of a conversation: our own and those of servers, under one list that does not change while it lasts.

use std::sync::Arc;

use conversation::drive::Work;
use conversation::tools::{Output, Registry, Specs, Task};
use conversation::turn::Turn;
use kit::Failure;

use crate::eyes::Eyes;
use crate::servers::Offered;
use crate::tools::{Surroundings, Workshop};

#[derive(Clone)]
pub(crate) struct Toolbox {
    workshop: Arc<Workshop>,
    registry: Arc<Registry<Handler>>,
}

/// What runs a tool.
enum Handler {
    Own,
    Server(Arc<Offered>),
}

impl Toolbox {
    /// `without` is the name of a tool that is left out.
    pub(crate) fn new(
        workshop: Arc<Workshop>,
        offered: &[Arc<Offered>],
        without: Option<&str>,
    ) -> Result<Toolbox, Failure> {
        let own = workshop
            .tools()
            .into_iter()
            .filter(|tool| Some(tool.name) != without)
            .map(|tool| (tool.spec(), Handler::Own));
        let theirs =
            offered.iter().map(|offered| (offered.spec.clone(), Handler::Server(Arc::clone(offered))));
        let registry = Registry::new(own.chain(theirs).collect::<Vec<_>>())
            .map_err(|error| Failure::new("the tools cannot be declared").because(&error))?;
        Ok(Toolbox { workshop, registry: Arc::new(registry) })
    }

    pub(crate) fn specs(&self) -> Arc<Specs> {
        Arc::clone(self.registry.specs())
    }

    pub(crate) fn start(&self, task: &Task, turn: &Turn) -> Work {
        let task = task.clone();
        match self.registry.handler(&task.name) {
            None => Work::Done(Output::failed(format!("there is no tool `{}`", task.name))),
            Some(Handler::Server(offered)) => {
                let offered = Arc::clone(offered);
                Work::thread(move |_, _| offered.call(task.arguments))
            }
            Some(Handler::Own) => {
                let (workshop, eyes) = (Arc::clone(&self.workshop), Eyes::of(turn));
                Work::thread(move |cancel, live| {
                    let mut live = |text: &str| live.show(text);
                    workshop.run(&task, &mut Surroundings { eyes: &eyes, live: &mut live, cancel })
                })
            }
        }
    }
}
