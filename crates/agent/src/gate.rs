//! Where hooks and people have a say: before a prompt, before and after a tool, before the end. Hooks speak first; what
//! a rule forbids neither a hook nor a person allows. The same gate stands before a subagent. Shows nothing itself.

mod key;
mod question;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conversation::tools::{Output, Task};
use conversation::turn::{Entry, Finale, Permit};
use kit::process::Cancel;
use kit::text;
use llm::CallId;
use serde_json::{Map, Value, json};

use crate::eyes::Eyes;
use crate::hooks::{self, Hooks, Moment, Tool, Verdict, known};
use crate::permission::{self, Access, Decision, Mode, Request};
use crate::tools::Workshop;
use question::Reply;
pub(crate) use question::{Answers, Person};

/// Of one conversation. Those of its subagents share what the person has allowed.
pub(crate) struct Gate {
    pub(crate) hooks: Hooks,
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) guard: Arc<Mutex<Guard>>,
    /// What is to be said about a call, until its result is there to carry it.
    said: BTreeMap<CallId, Vec<String>>,
}

/// What decides about calls, and whom it may ask.
pub(crate) struct Guard {
    pub(crate) settings: permission::Settings,
    /// Nobody, where there is no terminal.
    pub(crate) person: Option<Person>,
    pub(crate) answers: Answers,
}

/// What a gate wants to be said besides its decision.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    /// To the user.
    pub(crate) user: Vec<String>,
    /// To the model, when it is spoken to next.
    pub(crate) model: Vec<String>,
    /// The turn shall end, and why.
    pub(crate) halt: Option<String>,
}

impl Gate {
    pub(crate) fn new(hooks: Hooks, workshop: Arc<Workshop>, guard: Arc<Mutex<Guard>>) -> Gate {
        Gate { hooks, workshop, guard, said: BTreeMap::new() }
    }

    pub(crate) fn mode(&self) -> Mode {
        self.guard().settings.mode
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.guard().settings.mode = mode;
    }

    /// When a conversation begins or is taken up again.
    pub(crate) fn began(&self, source: &str, cancel: &Cancel) -> Remarks {
        self.fire(Moment::SessionStart, None, json!({"source": source}), cancel).1
    }

    pub(crate) fn prompt(&self, text: String, aside: Vec<String>, cancel: &Cancel) -> (Entry, Remarks) {
        let (verdict, mut remarks) =
            self.fire(Moment::UserPromptSubmit, None, json!({"prompt": text}), cancel);
        if let hooks::Decision::Block(why) = verdict.decision {
            return (Entry::Refuse(why), remarks);
        }
        let said = aside.into_iter().chain(std::mem::take(&mut remarks.model));
        let parts: Vec<String> = [text].into_iter().chain(said.map(|words| marked(&words))).collect();
        (Entry::Send(parts.join("\n\n")), remarks)
    }

    /// What hooks tell the model comes with the result of the call, or with the refusal.
    pub(crate) fn tool(&mut self, task: &Task, eyes: &Eyes, cancel: &Cancel) -> (Permit, Remarks) {
        let input = known::input(&task.name, &task.arguments, &self.hooks.project);
        let data = json!({"tool_input": input, "tool_use_id": task.id.0});
        let (verdict, mut remarks) = self.fire(Moment::PreToolUse, Some(task), data, cancel);
        let mut said: Vec<String> = remarks.model.drain(..).map(|words| marked(&words)).collect();
        let permit = match self.judged(task, &verdict, eyes, cancel) {
            Permit::Deny(why) => return (Permit::Deny(after(said, why)), remarks),
            permit => permit,
        };
        if let Permit::RunWith(arguments) = &permit {
            said.push(changed(arguments));
        }
        self.said.insert(task.id.clone(), said);
        (permit, remarks)
    }

    fn judged(&self, task: &Task, verdict: &Verdict, eyes: &Eyes, cancel: &Cancel) -> Permit {
        if let hooks::Decision::Block(why) = &verdict.decision {
            return Permit::Deny(why.clone());
        }
        let mut task = task.clone();
        let changed = verdict.input.as_ref().map(|input| known::arguments(&task.name, input));
        if let Some(arguments) = &changed {
            task.arguments.clone_from(arguments);
        }
        match (self.permitted(&task, eyes, &verdict.decision, cancel), changed) {
            (Permit::Run, Some(arguments)) => Permit::RunWith(arguments),
            (permit, _) => permit,
        }
    }

    pub(crate) fn output(&mut self, task: &Task, output: Output, cancel: &Cancel) -> (Output, Remarks) {
        let mut said = self.said.remove(&task.id).unwrap_or_default();
        let (mut output, mut remarks) = match self.hooks.has(Moment::PostToolUse) {
            true => self.heard(task, output, cancel),
            false => (output, Remarks::default()),
        };
        said.extend(remarks.model.drain(..).map(|words| marked(&words)));
        output.content = after(said, output.content);
        (output, remarks)
    }

    fn heard(&self, task: &Task, output: Output, cancel: &Cancel) -> (Output, Remarks) {
        let input = known::input(&task.name, &task.arguments, &self.hooks.project);
        let response = match task.name.as_str() {
            crate::tools::BASH => json!({"stdout": output.content, "stderr": "", "interrupted": false}),
            _ => json!({"content": output.content, "is_error": output.outcome == llm::Outcome::Failed}),
        };
        let data = json!({"tool_input": input, "tool_response": response, "tool_use_id": task.id.0});
        let (verdict, remarks) = self.fire(Moment::PostToolUse, Some(task), data, cancel);
        match verdict.output {
            Some(content) => (Output { content, rests_on: Vec::new(), ..output }, remarks),
            None => (output, remarks),
        }
    }

    /// `again`: a hook has already made this turn go on.
    pub(crate) fn stop(&self, text: &str, again: bool, cancel: &Cancel) -> (Finale, Remarks) {
        let data = json!({"stop_hook_active": again, "last_assistant_message": text});
        let (verdict, remarks) = self.fire(Moment::Stop, None, data, cancel);
        match verdict.decision {
            hooks::Decision::Block(why) => (Finale::GoOn(marked(&why)), remarks),
            _ => (Finale::End, remarks),
        }
    }

    fn permitted(&self, task: &Task, eyes: &Eyes, hook: &hooks::Decision, cancel: &Cancel) -> Permit {
        let access = self.workshop.access(task);
        let request = match Request::new(task, access, &self.workshop.project) {
            Ok(request) => request,
            Err(why) => return Permit::Deny(why),
        };
        let mut guard = self.guard();
        let question = match (permission::decide(&guard.settings, &request), hook) {
            (Decision::Deny(why), _) => return Permit::Deny(why),
            (Decision::Allow, hooks::Decision::Ask) => format!("{}?", task.name),
            (Decision::Allow, _) | (Decision::Ask(_), hooks::Decision::Allow) => return Permit::Run,
            (Decision::Ask(question), _) => question,
        };
        let Some(person) = &guard.person else {
            return Permit::Deny(format!(
                "Not done ({question}): it needs a yes, and nobody can be asked in this session."
            ));
        };
        // What cannot be done anyway is not worth a question.
        let change = match task.name == crate::tools::EDIT_FILE {
            true => match self.workshop.preview(task, eyes) {
                Ok(change) => Some(change),
                Err(output) => return Permit::Deny(output.content),
            },
            false => None,
        };
        match person.ask(task, &question, change.as_ref(), cancel) {
            Reply::Yes => Permit::Run,
            Reply::Always => {
                let answer = guard.settings.remember(&request);
                guard.answers.add(&answer);
                Permit::Run
            }
            Reply::Instead(arguments) => self.instead(task, arguments, &guard.settings),
            Reply::No => Permit::Deny(
                "The user said no. Do not try it again in another way; ask what they want.".to_owned(),
            ),
            Reply::Nothing => Permit::Deny("Interrupted before it was allowed.".to_owned()),
        }
    }

    /// What a person wrote in the call's place: theirs, but for what a rule forbids.
    fn instead(&self, task: &Task, arguments: Map<String, Value>, settings: &permission::Settings) -> Permit {
        let task = Task { arguments, ..task.clone() };
        let access = self.workshop.access(&task);
        match Request::new(&task, access, &self.workshop.project).map(|it| permission::decide(settings, &it))
        {
            Err(why) | Ok(Decision::Deny(why)) => Permit::Deny(why),
            Ok(_) => Permit::RunWith(task.arguments),
        }
    }

    fn fire(&self, moment: Moment, task: Option<&Task>, data: Value, cancel: &Cancel) -> (Verdict, Remarks) {
        if !self.hooks.has(moment) {
            return (Verdict::default(), Remarks::default());
        }
        let mut data = if let Value::Object(data) = data { data } else { Map::new() };
        // Of tools that are not ours hooks know which server they are of: `mcp__server__tool`.
        let foreign = task.filter(|task| self.workshop.access(task) == Access::Unknown);
        let foreign = foreign.map(|task| format!("mcp__{}", task.name));
        let tool = task.map(|task| Tool {
            name: &task.name,
            known_as: foreign.as_deref().unwrap_or_else(|| known::name(&task.name)),
        });
        if let Some(tool) = &tool {
            data.insert("tool_name".to_owned(), tool.known_as.into());
        }
        let mut verdict = self.hooks.fire(moment, tool.as_ref(), data, known_mode(self.mode()), cancel);
        let remarks = Remarks {
            user: std::mem::take(&mut verdict.remarks),
            model: std::mem::take(&mut verdict.context),
            halt: verdict.halt.take(),
        };
        (verdict, remarks)
    }

    fn guard(&self) -> MutexGuard<'_, Guard> {
        // Somebody who panicked while asking has allowed nothing.
        self.guard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As hooks of Claude Code know it.
fn known_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "default",
        Mode::Edits => "acceptEdits",
        Mode::All => "bypassPermissions",
        Mode::ReadOnly => "plan",
    }
}

/// Words of a hook, told apart from the user's and the tool's own.
fn marked(words: &str) -> String {
    format!("[hook] {words}")
}

/// The history keeps the model's own arguments; what really ran stands with the result.
fn changed(arguments: &Map<String, Value>) -> String {
    /// A word to the model and to whoever reads the transcript, not a copy of a file.
    const ENOUGH: usize = 2000;
    let arguments = Value::Object(arguments.clone()).to_string();
    format!("[not as you asked, but with these arguments: {}]", text::clip(&arguments, ENOUGH, ""))
}

/// Before it: what the model has seen of a file is read back from the last line of a result.
fn after(said: Vec<String>, result: String) -> String {
    said.into_iter().chain([result]).collect::<Vec<_>>().join("\n\n")
}
