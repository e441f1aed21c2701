//! What a hook said, by its exit status and its JSON. Pure. A hook that is broken says nothing to the model.

use kit::text;
use serde_json::{Map, Value};

use super::Moment;

/// A hook's words to the model are a remark, not a document.
const WORDS: usize = 10_000;

/// How a command ended, and what it wrote. Without a status: why there is none.
pub(super) struct Ran {
    pub(super) code: Result<i32, String>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Ran {
    pub(super) fn failed(why: String) -> Ran {
        Ran { code: Err(why), stdout: String::new(), stderr: String::new() }
    }
}

/// What all hooks of a moment say together.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) decision: Decision,
    /// Other arguments for the tool.
    pub(crate) input: Option<Map<String, Value>>,
    /// In the place of what the tool gave.
    pub(crate) output: Option<String>,
    /// What the model is told besides.
    pub(crate) context: Vec<String>,
    /// What the user is told.
    pub(crate) remarks: Vec<String>,
    /// The turn shall end, and why.
    pub(crate) halt: Option<String>,
}

/// Later ones are stricter.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decision {
    #[default]
    None,
    /// Without asking the user.
    Allow,
    Ask,
    /// With the reason.
    Block(String),
}

impl Verdict {
    pub(super) fn join(&mut self, other: Verdict) {
        self.decision = std::mem::take(&mut self.decision).max(other.decision);
        self.input = other.input.or(self.input.take());
        self.output = other.output.or(self.output.take());
        self.context.extend(other.context);
        self.remarks.extend(other.remarks);
        self.halt = self.halt.take().or(other.halt);
    }
}

pub(super) fn read(moment: Moment, command: &str, ran: &Ran) -> Verdict {
    let mut verdict = Verdict::default();
    let name = text::head(command, 60);
    match &ran.code {
        Ok(0) => spoken(moment, name, ran.stdout.trim(), &mut verdict),
        Ok(2) => refused(moment, name, &ran.stderr, &mut verdict),
        Ok(code) => {
            let said = text::plain(text::head(ran.stderr.trim(), 200));
            verdict.remarks.push(format!("the {} hook `{name}` ended with {code}: {said}", moment.name()));
        }
        Err(why) => verdict.remarks.push(format!("the {} hook `{name}` {why}", moment.name())),
    }
    verdict
}

/// Exit 2: what stands on standard error is for the model, or for the user where no model is listening.
fn refused(moment: Moment, name: &str, stderr: &str, verdict: &mut Verdict) {
    let said = text::head(stderr.trim(), WORDS);
    let said = if said.is_empty() {
        format!("the {} hook `{name}` says no", moment.name())
    } else {
        said.to_owned()
    };
    match moment {
        Moment::PreToolUse | Moment::UserPromptSubmit | Moment::Stop => {
            verdict.decision = Decision::Block(said);
        }
        // It has happened already.
        Moment::PostToolUse => verdict.context.push(said),
        Moment::SessionStart => verdict.remarks.push(said),
    }
}

fn spoken(moment: Moment, name: &str, stdout: &str, verdict: &mut Verdict) {
    if stdout.is_empty() {
        return;
    }
    let value: Value = match serde_json::from_str(stdout) {
        Ok(value @ Value::Object(_)) => value,
        // Words that are no JSON are for the model where it starts to listen, and for nobody elsewhere.
        _ => {
            if matches!(moment, Moment::UserPromptSubmit | Moment::SessionStart) {
                verdict.context.push(text::head(stdout, WORDS).to_owned());
            }
            return;
        }
    };
    let words = |value: &Value| value.as_str().map(|words| text::head(words, WORDS).to_owned());
    let specific = &value["hookSpecificOutput"];
    let no_reason = || format!("the {} hook `{name}` says no", moment.name());
    let reason = || words(&specific["permissionDecisionReason"]).or_else(|| words(&value["reason"]));
    verdict.context.extend(words(&specific["additionalContext"]));
    verdict.remarks.extend(words(&value["systemMessage"]));
    if value["continue"] == Value::Bool(false) {
        verdict.halt = Some(words(&value["stopReason"]).unwrap_or_else(no_reason));
    }
    let decision = specific["permissionDecision"].as_str().or_else(|| value["decision"].as_str());
    let blocked = || Decision::Block(reason().unwrap_or_else(no_reason));
    match (moment, decision) {
        (Moment::PreToolUse, Some("deny" | "block")) => verdict.decision = blocked(),
        (Moment::PreToolUse, Some("allow" | "approve")) => verdict.decision = Decision::Allow,
        (Moment::PreToolUse, Some("ask")) => verdict.decision = Decision::Ask,
        (Moment::UserPromptSubmit | Moment::Stop, Some("block")) => verdict.decision = blocked(),
        (Moment::PostToolUse, Some("block")) => verdict.context.extend(reason()),
        _ => {}
    }
    if moment == Moment::PreToolUse {
        verdict.input = specific["updatedInput"].as_object().cloned();
    }
    if moment == Moment::PostToolUse {
        verdict.output = specific["updatedToolOutput"].as_str().map(str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(moment: Moment, code: i32, stdout: &str, stderr: &str) -> Verdict {
        read(moment, "check.sh", &Ran { code: Ok(code), stdout: stdout.into(), stderr: stderr.into() })
    }

    #[test]
    fn exit_two_refuses_where_something_can_be_refused() {
        for moment in [Moment::PreToolUse, Moment::UserPromptSubmit, Moment::Stop] {
            assert_eq!(
                said(moment, 2, "", "not on Fridays\n").decision,
                Decision::Block("not on Fridays".into())
            );
        }
        let after = said(Moment::PostToolUse, 2, "", "format it");
        assert_eq!((after.decision, after.context), (Decision::None, vec!["format it".to_owned()]));
        assert_eq!(said(Moment::SessionStart, 2, "", "x").remarks, ["x"]);
        assert_eq!(
            said(Moment::Stop, 2, "", "").decision,
            Decision::Block("the Stop hook `check.sh` says no".into())
        );
    }

    #[test]
    fn a_broken_hook_is_told_to_the_user_and_changes_nothing() {
        let verdict = said(Moment::PreToolUse, 1, "{\"decision\":\"block\"}", "Traceback\u{1b}[2J");
        assert_eq!(verdict.decision, Decision::None);
        assert_eq!(verdict.remarks, ["the PreToolUse hook `check.sh` ended with 1: Traceback[2J"]);
        let verdict = read(Moment::Stop, "x", &Ran::failed("took too long".into()));
        assert_eq!(verdict.remarks, ["the Stop hook `x` took too long"]);
        assert_eq!(said(Moment::PreToolUse, 0, "all fine", ""), Verdict::default());
        assert_eq!(said(Moment::PostToolUse, 0, "[1]", ""), Verdict::default());
    }

    #[test]
    fn answers_in_json_mean_what_they_mean_elsewhere() {
        let deny =
            json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}});
        assert_eq!(said(Moment::PreToolUse, 0, &deny.to_string(), "").decision, Decision::Block("no".into()));
        let old = json!({"decision": "approve"});
        assert_eq!(said(Moment::PreToolUse, 0, &old.to_string(), "").decision, Decision::Allow);
        let other = json!({"hookSpecificOutput": {"updatedInput": {"command": "ls"}}});
        assert_eq!(said(Moment::PreToolUse, 0, &other.to_string(), "").input.unwrap()["command"], "ls");
        let stop = json!({"continue": false, "stopReason": "enough"});
        assert_eq!(said(Moment::PostToolUse, 0, &stop.to_string(), "").halt.as_deref(), Some("enough"));
        assert_eq!(said(Moment::UserPromptSubmit, 0, "branch: main", "").context, ["branch: main"]);
        let output = json!({"hookSpecificOutput": {"updatedToolOutput": "short"}});
        assert_eq!(said(Moment::PostToolUse, 0, &output.to_string(), "").output.as_deref(), Some("short"));
    }

    #[test]
    fn the_strictest_of_several_counts() {
        let mut verdict = said(Moment::PreToolUse, 2, "", "no");
        verdict.join(said(Moment::PreToolUse, 0, "{\"decision\":\"approve\"}", ""));
        assert_eq!(verdict.decision, Decision::Block("no".into()));
    }
}
