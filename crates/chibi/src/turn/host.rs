//! What a turn asks of chibi: hooks in their order, tools, the context's files, and what the person sees. Decides nothing
//! about the conversation itself.

mod letters;
mod room;

use std::collections::HashMap;

use conversation::Record;
use conversation::drive::{self, Work};
use conversation::tools::{Output, Task};
use conversation::turn::{Departure, Entry as Entering, Finale, Permit, Say, Turn, Words};
use kit::Failure;
use llm::{Block, Cache, CallId, Message, Outcome, Request, Stop, StopKind};
use serde_json::json;

use super::stage::{Handler, Stage, account};
use crate::commands::inspect;
use crate::compaction;
use crate::context::{Context, Entry, EntryId, inbox, records};
use crate::desk::Desk;
use crate::failure;
use crate::hooks::{Blocked, Event, Fired, Verdict};
use crate::plugins::Scene;
use crate::prompt::Parts;
use crate::run::Run;

/// The tool by which a model asks for another turn.
const RECURSE: &str = "recurse";

pub(super) struct Host<'a> {
    pub(super) run: &'a mut Run,
    context: &'a mut Context,
    stage: &'a Stage,
    /// The note of a model that wants another turn.
    pub(super) again: Option<String>,
    parts: Parts,
    /// Hooks have put their words to the parts.
    assembled: bool,
    letters: Vec<inbox::Message>,
    /// As it was stored: with the letters.
    prompt: String,
    /// Which tool a call is of.
    names: HashMap<CallId, String>,
    voice: Voice,
    retried: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    Heard,
    /// Nothing is shown, and no tool is offered.
    Quiet,
}

impl<'a> Host<'a> {
    pub(super) fn new(
        run: &'a mut Run,
        context: &'a mut Context,
        stage: &'a Stage,
    ) -> Result<Host<'a>, Failure> {
        let parts = inspect::parts(run, context.reader(), &stage.config)?;
        Ok(Host {
            run,
            context,
            stage,
            again: None,
            parts,
            assembled: false,
            letters: Vec::new(),
            prompt: String::new(),
            names: HashMap::new(),
            voice: Voice::Heard,
            retried: 0,
        })
    }

    pub(super) fn quiet(mut self) -> Host<'a> {
        self.voice = Voice::Quiet;
        self
    }

    /// Bytes of a request beside its messages.
    pub(super) fn overhead(&self) -> usize {
        let tools = self.stage.specs().tools();
        let tools =
            tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len());
        self.parts.fixed().len() + self.parts.changing().len() + tools.sum::<usize>()
    }

    /// A turn that nobody asked for is nobody's event.
    fn fire(&mut self, event: &Event<'_>) -> Fired {
        if self.voice == Voice::Quiet {
            return Fired::silent(event.hook());
        }
        let name = self.context.name().clone();
        self.run.fire(event, &name)
    }

    /// Asks the hooks for their words, once a turn. Who was forbidden to speak is not asked for more.
    fn assemble(&mut self, summary: &str) -> Option<Blocked> {
        if std::mem::replace(&mut self.assembled, true) {
            return None;
        }
        let name = self.context.name().as_str().to_owned();
        let Parts { todos, goals, .. } = self.parts.clone();
        let (context_name, todos, goals) = (name.as_str(), todos.as_str(), goals.as_str());
        let before = self.fire(&Event::PreSystemPrompt { context_name, summary, todos, goals });
        if let Some(blocked) = before.forbidden() {
            return Some(blocked);
        }
        let after = self.fire(&Event::PostSystemPrompt { context_name, summary, todos, goals }).inject();
        self.parts.before = before.inject().into_iter().collect();
        self.parts.after = after.into_iter().collect();
        None
    }

    fn own(&mut self, record: &Record) -> Result<(), Failure> {
        let user = &self.stage.config.username;
        let mut entries = records::write(record, self.context.home(), self.context.name(), user);
        match record {
            Record::Prompt { .. } => {
                let entry = entries.first_mut().expect("a prompt is an entry");
                entry.content.clone_from(&self.prompt);
                if !self.letters.is_empty() {
                    let taken: Vec<&EntryId> = self.letters.iter().map(|letter| &letter.id).collect();
                    entry.metadata.set("inbox", &taken);
                    entry.metadata.set("letters", &self.letters);
                }
            }
            Record::Dropped { .. } => self.return_letters()?,
            Record::Reply { blocks, .. } => {
                let calls = blocks.iter().filter_map(Block::as_call);
                self.names.extend(calls.map(|call| (call.id.clone(), call.name.clone())));
            }
            Record::Result(returned) => {
                for entry in &mut entries {
                    let name = self.names.get(&returned.result.id);
                    name.into_iter().for_each(|name| entry.from.clone_from(name));
                }
            }
            _ => {}
        }
        if self.voice == Voice::Quiet {
            entries.iter_mut().for_each(Entry::mark_about_a_summary);
        }
        self.context.append(entries.clone())?;
        for entry in &entries {
            self.run.out.entry_line(entry);
        }
        Ok(())
    }
}

impl drive::Host for Host<'_> {
    type Error = Failure;

    fn withhold(&mut self, turn: &Turn) -> Option<String> {
        self.assemble(turn.history().summary()).map(|blocked| blocked.message)
    }

    fn compose(&mut self, messages: Vec<Message>, _turn: &Turn) -> Request {
        let mut messages = messages;
        let changing = self.parts.changing();
        let last = messages.iter().rposition(|said| matches!(said, Message::User(_) | Message::Results(_)));
        let cache = match (self.stage.config.prompt_caching, last) {
            (false, _) => Cache::Off,
            (true, Some(last)) if !changing.is_empty() => Cache::Through(last),
            (true, _) => Cache::Whole,
        };
        if !changing.is_empty() {
            messages.push(Message::System(changing));
        }
        let request = Request {
            model: self.stage.reached.model.clone(),
            system: self.parts.fixed(),
            messages,
            tools: match self.voice {
                Voice::Heard => self.stage.specs().tools(),
                Voice::Quiet => Vec::new(),
            },
            cache,
            options: self.stage.options(),
        };
        self.stage.log_request(self.run, self.context, &request);
        request
    }

    fn start(&mut self, task: &Task, _turn: &Turn) -> Work {
        match self.stage.handler(&task.name) {
            Some(Handler::Own(tool)) => {
                let mut desk = Desk { run: self.run, context: self.context };
                Work::Done(tool.run(&task.arguments, self.stage.config.reflection, &mut desk))
            }
            Some(Handler::Plugin) if let Some(plugins) = self.stage.plugins.clone() => {
                let task = task.clone();
                let (context, verbose) = (self.context.name().clone(), self.run.ways.verbose);
                Work::thread(move |cancel, live| {
                    let scene = Scene { context: context.as_str(), verbose };
                    let called = plugins.call(&task.name, &task.arguments, &scene, cancel);
                    live.show(called.said);
                    called.output
                })
            }
            Some(Handler::Server) => {
                let (servers, task) = (self.stage.servers.clone(), task.clone());
                Work::thread(move |cancel, _| servers.call(&task.name, &task.arguments, cancel))
            }
            _ => Work::Done(Output::failed(format!("there is no tool `{}`", task.name))),
        }
    }

    fn append(&mut self, record: &Record) -> Result<(), Failure> {
        match record {
            Record::Usage(usage) => {
                let name = self.context.name().clone();
                account(self.run, &name, &self.stage.reached.model, usage);
                Ok(())
            }
            Record::Compacted { summary, .. } => {
                let before = compaction::messages(self.context);
                let user = self.stage.config.username.clone();
                let kept = self.context.record(record, &user, &self.stage.reached.model);
                kept?;
                self.compacted(before, summary);
                Ok(())
            }
            record => self.own(record),
        }
    }

    fn say(&mut self, say: Say) {
        let out = &mut self.run.out;
        match say {
            Say::Text(words) if self.voice == Voice::Heard => out.speak(&words),
            Say::Calling { name, .. } => out.diagnostic(&format!("calling {name}")),
            Say::Replied { stop, usage } => {
                // A refusal is taken back next, with whatever was not seen of it.
                if stop.kind != StopKind::Refusal {
                    out.pause();
                }
                self.retried = 0;
                let usage = usage.map(|usage| json!(usage));
                let meta =
                    json!({"model": self.stage.reached.model, "finish_reason": stop.literal, "usage": usage});
                self.stage.log_response(self.run, self.context, &meta);
            }
            Say::Retract => {
                if out.retract() {
                    out.warn("what was said last does not count");
                }
            }
            // Once for each attempt, not every second.
            Say::Retrying { error, attempt, left } if attempt > self.retried => {
                self.retried = attempt;
                out.warn(&format!("{error}; trying again in {} s", left.as_secs_f64().ceil()));
            }
            Say::Live { text, .. } => out.aside(&text),
            Say::Note(note) => out.diagnostic(&note.to_string()),
            Say::Warning(warning) => out.warn(&warning.to_string()),
            Say::Text(_)
            | Say::Started { .. }
            | Say::Thinking(_)
            | Say::Arguments { .. }
            | Say::Retrying { .. } => {}
        }
    }

    fn words(&self) -> Words {
        match self.voice == Voice::Quiet || self.run.out.can_retract() {
            true => Words::Retractable,
            false => Words::Gone,
        }
    }

    fn now_ms(&self) -> i64 {
        self.context.home().clock().unix_ms()
    }

    fn before_prompt(&mut self, prompt: String, turn: &Turn) -> Entering {
        let name = self.context.name().as_str().to_owned();
        let summary = turn.history().summary();
        let fired = self.fire(&Event::PreMessage { prompt: &prompt, context_name: &name, summary });
        if let Some(blocked) = fired.forbidden() {
            return Entering::Refuse(blocked.message);
        }
        let prompt = fired.prompt().map_or(prompt, str::to_owned);
        match self.context.drain() {
            _ if self.voice == Voice::Quiet => {}
            Ok(letters) => self.take_letters(letters),
            Err(error) => self.run.out.warn(&failure::line("the inbox cannot be read", &error)),
        }
        // The model gets the letters behind the conversation, where they cost no one's cache; the log has them with the
        // prompt and whole, so that later turns still know them.
        self.parts.inbox = self.inbox(self.letters_at_once());
        self.prompt = match self.letters.is_empty() {
            true => prompt.clone(),
            false => format!("{}\n\n{prompt}", self.inbox(usize::MAX)),
        };
        Entering::Send(prompt)
    }

    fn before_request(&mut self, round: u32, turn: &Turn) -> Departure {
        match round {
            0 => self.make_room(turn),
            _ => Departure::Send,
        }
    }

    fn before_tool(&mut self, task: &Task, _turn: &Turn) -> Permit {
        match self.fire(&Event::PreTool { tool_name: &task.name, arguments: &task.arguments }).verdict() {
            Verdict::Run => Permit::Run,
            Verdict::RunWith(arguments) => Permit::RunWith(arguments),
            Verdict::Block(blocked) => Permit::Deny(blocked.message),
        }
    }

    fn after_tool(&mut self, task: &Task, output: Output, _turn: &Turn) -> Output {
        let (tool_name, arguments, result) = (task.name.as_str(), &task.arguments, output.content.as_str());
        self.fire(&Event::PostTool { tool_name, arguments, result });
        if task.name == RECURSE && output.outcome == Outcome::Done {
            let note = task.arguments.get("note").and_then(|note| note.as_str());
            self.again = Some(note.unwrap_or_default().to_owned());
        }
        output
    }

    fn before_stop(&mut self, response: &str, _stop: &Stop, _turn: &Turn) -> Finale {
        let name = self.context.name().as_str().to_owned();
        let prompt = self.prompt.clone();
        self.fire(&Event::PostMessage { prompt: &prompt, response, context_name: &name });
        Finale::End
    }
}
