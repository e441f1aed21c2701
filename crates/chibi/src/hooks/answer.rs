//! What plugins answered, and what follows from it. Pure: the order of the answers is the order of the plugins.

use std::fmt;

use serde_json::{Map, Value};

use super::Hook;

/// What came of an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Fired {
    pub hook: Hook,
    pub answers: Vec<Answer>,
    /// To be shown, whatever the verbosity: somebody relies on these plugins.
    pub warnings: Vec<Warning>,
    /// A guard could not answer, so what is about to happen must not.
    pub blocked: Option<Blocked>,
    /// What plugins wrote to their error stream, for the person.
    pub said: String,
}

/// One plugin's answer; null if it had nothing to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub plugin: String,
    pub role: Role,
    pub value: Value,
}

/// Whether a plugin protects something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Without its answer nothing happens.
    Guard,
    Helper,
}

/// Something went wrong that did not stop us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub plugin: String,
    pub what: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plugin `{}`: {}", self.plugin, self.what)
    }
}

/// Who stopped it, and what the model or the person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    pub plugin: String,
    pub message: String,
}

/// What becomes of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Run,
    RunWith(Map<String, Value>),
    Block(Blocked),
}

/// A plugin took a message on itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub plugin: String,
    pub via: String,
}

impl Fired {
    /// Nobody was asked.
    pub fn silent(hook: Hook) -> Fired {
        Fired { hook, answers: Vec::new(), warnings: Vec::new(), blocked: None, said: String::new() }
    }

    /// What takes the prompt's place: the last plugin's word. A blank one is no prompt.
    pub fn prompt(&self) -> Option<&str> {
        self.texts("prompt").last()
    }

    /// What is put before the system prompt, or after it. Each plugin's words go to the outside, so that those before
    /// it stand in reverse.
    pub fn inject(&self) -> Option<String> {
        let mut texts: Vec<&str> = self.texts("inject").collect();
        if self.hook == Hook::PreSystemPrompt {
            texts.reverse();
        }
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// What a guard keeps from happening, because it says so or could not answer. Of tool calls anybody may say so: see
    /// [`Fired::verdict`].
    pub fn forbidden(&self) -> Option<Blocked> {
        let guards = || self.answers.iter().filter(|answer| answer.role == Role::Guard);
        let said = || guards().find_map(Answer::block).filter(|_| self.hook.can_be_blocked());
        self.blocked.clone().or_else(said)
    }

    /// A guard that could not answer blocks; else the first who says so; else the last arguments count.
    pub fn verdict(&self) -> Verdict {
        if let Some(blocked) = self.blocked.clone().or_else(|| self.answers.iter().find_map(Answer::block)) {
            return Verdict::Block(blocked);
        }
        let mut arguments = self.answers.iter().filter_map(|answer| answer.value["arguments"].as_object());
        arguments.next_back().cloned().map_or(Verdict::Run, Verdict::RunWith)
    }

    /// The first plugin that says it has delivered the message.
    pub fn claim(&self) -> Option<Claim> {
        let answer = self.answers.iter().find(|answer| answer.value["delivered"] == true)?;
        let via = answer.value["via"].as_str().filter(|via| !via.trim().is_empty()).unwrap_or(&answer.plugin);
        Some(Claim { plugin: answer.plugin.clone(), via: via.to_owned() })
    }

    fn texts<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let texts = self.answers.iter().filter_map(move |answer| answer.value[key].as_str());
        texts.filter(|text| !text.trim().is_empty())
    }
}

impl Answer {
    /// Reads what a plugin printed. Anything may be printed by a helper, and what is no JSON has no keys; a guard that
    /// cannot be understood has not answered.
    pub(crate) fn read(plugin: &str, role: Role, printed: &str) -> Result<Answer, String> {
        let printed = printed.trim();
        let value = match serde_json::from_str(printed) {
            _ if printed.is_empty() => Value::Null,
            Ok(value @ (Value::Object(_) | Value::Null)) => value,
            _ if role == Role::Guard => return Err("its answer is no JSON object".to_owned()),
            Ok(value) => value,
            Err(_) => Value::String(printed.to_owned()),
        };
        Ok(Answer { plugin: plugin.to_owned(), role, value })
    }

    /// `true` blocks. From a guard, so does anything else but `false`: it was meant as something.
    fn block(&self) -> Option<Blocked> {
        let blocks = match &self.value["block"] {
            Value::Bool(block) => *block,
            Value::Null => false,
            _ => self.role == Role::Guard,
        };
        let message = self.value["message"].as_str().filter(|message| !message.trim().is_empty());
        blocks.then(|| Blocked {
            plugin: self.plugin.clone(),
            message: message
                .map_or_else(|| format!("plugin `{}` does not allow this", self.plugin), str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::hooks::POINTS;

    fn fired(hook: Hook, answers: &[Value]) -> Fired {
        let answers = answers.iter().zip(["a", "b", "c"]).map(|(value, plugin)| Answer {
            plugin: plugin.to_owned(),
            role: Role::Helper,
            value: value.clone(),
        });
        Fired { answers: answers.collect(), ..Fired::silent(hook) }
    }

    #[test]
    fn the_last_prompt_wins_and_a_blank_one_is_none() {
        let answers = [json!({"prompt": "one"}), json!({"prompt": "two"}), json!({"prompt": " "})];
        assert_eq!(fired(Hook::PreMessage, &answers).prompt(), Some("two"));
        let none = [json!({"prompt": 3}), json!("prompt"), Value::Null];
        assert_eq!(fired(Hook::PreMessage, &none).prompt(), None);
    }

    #[test]
    fn what_is_injected_goes_to_the_outside() {
        let answers = [json!({"inject": "one"}), json!({}), json!({"inject": "two"})];
        assert_eq!(fired(Hook::PreSystemPrompt, &answers).inject().as_deref(), Some("two\n\none"));
        assert_eq!(fired(Hook::PostSystemPrompt, &answers).inject().as_deref(), Some("one\n\ntwo"));
        assert_eq!(fired(Hook::PostSystemPrompt, &[]).inject(), None);
    }

    #[test]
    fn the_first_block_wins_over_all_arguments_and_the_last_arguments_over_the_others() {
        let arguments = |x: u8| json!({"arguments": {"x": x}});
        let verdict = |answers: &[Value]| fired(Hook::PreTool, answers).verdict();
        assert_eq!(verdict(&[json!({}), json!({"block": false}), json!({"arguments": 3})]), Verdict::Run);
        let Verdict::RunWith(last) = verdict(&[arguments(1), arguments(2)]) else { panic!("arguments") };
        assert_eq!(last["x"], 2);
        let blocks = [arguments(1), json!({"block": true, "message": "no"}), json!({"block": true})];
        let no = Blocked { plugin: "b".to_owned(), message: "no".to_owned() };
        assert_eq!(verdict(&blocks), Verdict::Block(no));
        let Verdict::Block(unnamed) = verdict(&blocks[2..]) else { panic!("blocked") };
        assert_eq!(unnamed.message, "plugin `a` does not allow this");
        assert_eq!(verdict(&[json!({"block": "yes"})]), Verdict::Run, "a helper's slip is no block");
    }

    #[test]
    fn a_guard_that_cannot_be_understood_blocks() {
        for printed in ["yes", "[]", "3", "{\"block\":"] {
            assert!(Answer::read("g", Role::Guard, printed).is_err(), "{printed}");
            assert!(Answer::read("g", Role::Helper, printed).is_ok(), "{printed}");
        }
        for (printed, blocks) in [
            ("", false),
            ("null", false),
            ("{}", false),
            ("{\"block\":false}", false),
            ("{\"block\":true}\n", true),
            ("{\"block\":\"true\"}", true),
            ("{\"block\":1}", true),
        ] {
            let answer = Answer::read("g", Role::Guard, printed).unwrap();
            assert_eq!(answer.block().is_some(), blocks, "{printed}");
        }
    }

    #[test]
    fn a_guard_may_forbid_whatever_is_about_to_happen_and_nobody_else_may() {
        let says = |hook, role| {
            let answer =
                Answer { plugin: "p".to_owned(), role, value: json!({"block": true, "message": "no"}) };
            Fired { answers: vec![answer], ..Fired::silent(hook) }.forbidden().map(|blocked| blocked.message)
        };
        for point in &POINTS {
            let before = point.name.starts_with("pre_");
            assert_eq!(says(point.hook, Role::Guard).as_deref(), before.then_some("no"), "{}", point.name);
            assert_eq!(says(point.hook, Role::Helper), None, "{}", point.name);
        }
    }

    #[test]
    fn the_first_claim_wins_and_is_named_after_its_plugin_if_it_says_no_more() {
        let answers = [json!({"delivered": "yes"}), json!({"delivered": true, "via": "xmpp"})];
        let claim = Claim { plugin: "b".to_owned(), via: "xmpp".to_owned() };
        assert_eq!(fired(Hook::PreSendMessage, &answers).claim(), Some(claim));
        let bare = fired(Hook::PreSendMessage, &[json!({"delivered": true})]).claim().unwrap();
        assert_eq!(bare.via, "a");
    }

    #[test]
    fn whatever_is_printed_only_a_clear_answer_changes_anything() {
        testkit::fuzz("chibi-answer", "tests/corpus/answer", 10_000, |bytes| {
            let printed = String::from_utf8_lossy(bytes);
            let read = |role| Answer::read("p", role, &printed);
            let helper = read(Role::Helper).unwrap();
            let object = helper.value.is_object() || helper.value.is_null();
            assert_eq!(read(Role::Guard).is_ok(), object);
            let fired = Fired { answers: vec![helper], ..Fired::silent(Hook::PreTool) };
            let changes = fired.prompt().is_some() || fired.inject().is_some() || fired.claim().is_some();
            assert!(object || !changes && fired.verdict() == Verdict::Run);
        });
    }
}
