//! All tools of a conversation: our own and those of servers, under one list that does not change while it lasts.

use std::sync::Arc;

use chibi::servers::Servers;
use conversation::drive::Work;
use conversation::tools::{Output, Registry, Spec, Specs, Task};
use conversation::turn::Turn;
use kit::Failure;

use crate::eyes::Eyes;
use crate::tools::{Declared, Surroundings, Workshop};

#[derive(Clone)]
pub(crate) struct Toolbox {
    workshop: Arc<Workshop>,
    servers: Option<Servers>,
    specs: Arc<Specs>,
}

impl Toolbox {
    /// `without` is the name of a tool that is left out.
    pub(crate) fn new(
        workshop: Arc<Workshop>,
        servers: Option<Servers>,
        without: Option<&str>,
    ) -> Result<Toolbox, Failure> {
        let own = workshop.tools().into_iter().filter(|tool| Some(tool.name) != without).map(Declared::spec);
        let theirs = servers.iter().flat_map(Servers::specs);
        let all: Vec<(Spec, ())> = own.chain(theirs).map(|spec| (spec, ())).collect();
        let registry = Registry::new(all)
            .map_err(|error| Failure::new("the tools cannot be declared").because(&error))?;
        let specs = Arc::clone(registry.specs());
        Ok(Toolbox { workshop, servers, specs })
    }

    pub(crate) fn specs(&self) -> Arc<Specs> {
        Arc::clone(&self.specs)
    }

    pub(crate) fn start(&self, task: &Task, turn: &Turn) -> Work {
        let task = task.clone();
        if let Some(servers) = self.servers.clone().filter(|servers| servers.has_tool(&task.name)) {
            return Work::thread(move |cancel, _| servers.call(&task.name, &task.arguments, cancel));
        }
        if self.specs.get(&task.name).is_none() {
            return Work::Done(Output::failed(format!("there is no tool `{}`", task.name)));
        }
        let (workshop, eyes) = (Arc::clone(&self.workshop), Eyes::of(turn));
        Work::thread(move |cancel, live| {
            let mut live = |text: &str| live.show(text);
            workshop.run(&task, &mut Surroundings { eyes: &eyes, live: &mut live, cancel })
        })
    }
}
