//! A workshop in a throw-away home, and a model that calls its tools and sees what it was told.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use agent::eyes::Eyes;
use agent::project::Project;
use agent::tools::{Surroundings, Workshop, bash};
use agent::undo::Undo;
use conversation::tools::{Output, Task};
use kit::invocation::Environment;
use kit::process::Cancel;
use llm::{Block, Call, CallId, Outcome, ToolResult};
use serde_json::{Map, Value};
use testkit::Home;

pub(crate) struct Shop {
    pub(crate) home: Home,
    pub(crate) workshop: Workshop,
    pub(crate) cancel: Cancel,
    /// All that the model was told and still sees.
    pub(crate) seen: Vec<(Call, ToolResult)>,
    pub(crate) live: String,
    calls: usize,
}

impl Shop {
    pub(crate) fn new() -> Shop {
        let home = Home::new();
        for folder in ["p", "spill", "undo"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        let mut workshop =
            Workshop::new(Project::open(&home.path().join("p")).unwrap(), &home.path().join("spill"));
        workshop.environment = bash::environment(&Environment::of(home.environment()));
        let undo = Undo::open(&home.path().join("undo"), "test", workshop.project.root()).unwrap();
        workshop.undo = Some(Mutex::new(undo));
        let (cancel, seen) = (Cancel::default(), Vec::new());
        Shop { home, workshop, cancel, seen, live: String::new(), calls: 0 }
    }

    pub(crate) fn patience(mut self, patience: Duration) -> Shop {
        self.workshop.limits.patience = patience;
        self
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join("p").join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        self.home.write(format!("p/{name}"), bytes)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        self.home.read(format!("p/{name}"))
    }

    /// A call whose result the model sees from then on.
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Output {
        self.calls += 1;
        let id = CallId(format!("call-{}", self.calls));
        let (call, output) = self.call_as(id, name, arguments);
        let result =
            ToolResult { id: call.id.clone(), content: output.content.clone(), outcome: output.outcome };
        self.seen.push((call, result));
        output
    }

    pub(crate) fn call_as(&mut self, id: CallId, name: &str, arguments: Value) -> (Call, Output) {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = Block::call(id.clone(), name, &arguments).as_call().unwrap().clone();
        let task = Task { id, name: name.to_owned(), arguments };
        let eyes = Eyes::fold(self.seen.iter().map(|(call, result)| (call, result)));
        let live = &mut self.live;
        let mut surroundings =
            Surroundings { eyes: &eyes, live: &mut |text| live.push_str(text), cancel: &self.cancel };
        (call, self.workshop.run(&task, &mut surroundings))
    }

    /// What the model is told of a call that must succeed.
    pub(crate) fn ok(&mut self, name: &str, arguments: Value) -> String {
        let output = self.call(name, arguments);
        assert_eq!(output.outcome, Outcome::Done, "{}", output.content);
        output.content
    }

    /// What the model is told of a call that must fail.
    pub(crate) fn failed(&mut self, name: &str, arguments: Value) -> String {
        let output = self.call(name, arguments);
        assert_eq!(output.outcome, Outcome::Failed, "{}", output.content);
        output.content
    }
}

pub(crate) fn task(name: &str, arguments: Value) -> Task {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    Task { id: CallId("t".to_owned()), name: name.to_owned(), arguments }
}

/// A text without the line that tells of the file.
pub(crate) fn body(told: &str) -> &str {
    told.rsplit_once('\n').map_or("", |(body, _)| body)
}
