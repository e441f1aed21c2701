//! Events for programs, one JSON object each. What stands here is an interface: keys are only added.

use conversation::turn::End;
use llm::{Outcome, Usage};
use serde_json::{Value, json};

use super::Shown;

/// None for what is only talk.
pub(super) fn event(shown: &Shown<'_>) -> Option<Value> {
    Some(match shown {
        Shown::Opened { context, model } => json!({"type": "session", "context": context, "model": model}),
        Shown::Asked => return None,
        Shown::Text(text) => json!({"type": "text", "text": text}),
        Shown::Thinking(text) => json!({"type": "thinking", "text": text}),
        Shown::Replied { stop, usage } => {
            json!({"type": "reply", "stop_reason": stop.literal, "usage": usage.map(counted)})
        }
        Shown::Retract => json!({"type": "retract"}),
        Shown::Retrying { error, attempt, left } => {
            json!({"type": "retry", "error": error, "attempt": attempt, "in_ms": left.as_millis() as u64})
        }
        Shown::Started { task } => {
            json!({"type": "tool_call", "id": task.id.0, "name": task.name, "input": task.arguments})
        }
        Shown::Live(text) => json!({"type": "tool_output", "text": text}),
        Shown::Returned { task, result } => json!({
            "type": "tool_result", "id": task.id.0, "name": task.name,
            "is_error": result.outcome == Outcome::Failed, "content": result.content,
        }),
        Shown::Warning(message) => json!({"type": "warning", "message": message}),
        Shown::Note(message) => json!({"type": "note", "message": message}),
        Shown::Ended { end, spent } => json!({
            "type": "end", "reason": reason(end), "exit": end.exit().code(),
            "requests": spent.requests, "rounds": spent.rounds, "usage": counted(&spent.usage),
        }),
    })
}

fn reason(end: &End) -> String {
    match end {
        End::Done => "done".to_owned(),
        End::Truncated(stop) | End::Refused(stop) => stop.literal.clone(),
        End::Budget(limit) => limit.to_string(),
        End::Blocked(why) => why.clone(),
        End::Interrupted => "interrupted".to_owned(),
        End::Failed(error) => error.to_string(),
        End::Invalid(fault) => fault.to_string(),
    }
}

fn counted(usage: &Usage) -> Value {
    json!({
        "input": usage.input, "cache_read": usage.cache_read, "cache_write": usage.cache_write,
        "output": usage.output, "dollars": usage.cost.map(|cost| cost.nanodollars as f64 / 1e9),
    })
}
