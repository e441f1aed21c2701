//! A model's blocks, made fit to be sent back to any provider. Knows what providers refuse, and no history.

use std::collections::{BTreeMap, BTreeSet};

use llm::{Block, Call, CallId, Input, View, Wire};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::exchange::is_blank;

/// What stands for a reply without words: an empty one is refused everywhere.
const NOTHING: &str = "[nothing was said]";

/// The longest name of a tool that all providers take.
const NAME: usize = 64;

/// A reply that can be sent back: no empty text, no call without a name, no name of a call twice in a history.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    blocks: Vec<Block>,
    calls: Vec<Call>,
}

impl Reply {
    /// `taken` are the names of calls that are in use.
    pub(super) fn admit(blocks: Vec<Block>, taken: &BTreeSet<String>) -> Reply {
        let mut own = BTreeSet::new();
        let mut reply = Reply { blocks: Vec::with_capacity(blocks.len()), calls: Vec::new() };
        for block in blocks {
            match block.view() {
                View::Text(text) if is_blank(text) => {}
                View::Call(call) => {
                    let sound = is_sound(&block, call);
                    let wire = if sound { block.wire() } else { Wire::Anthropic };
                    let id =
                        unused(&call.id, wire, |name| !taken.contains(name) && own.insert(name.to_owned()));
                    let call = Call { id, ..call.clone() };
                    reply.blocks.push(if sound { renamed(&block, &call) } else { rebuilt(&call) });
                    reply.calls.push(call);
                }
                _ => reply.blocks.push(block),
            }
        }
        reply
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// What the model wants to be done, with its own words for it; only ids may have changed.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// All that was said aloud.
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(Block::as_text).collect()
    }

    /// The same without its calls.
    #[must_use]
    pub fn without_calls(mut self) -> Reply {
        self.blocks.retain(|block| block.as_call().is_none());
        self.calls.clear();
        self
    }

    pub(super) fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }
}

/// As Anthropic wants names of calls; elsewhere one may be `functions.read:0`.
pub(super) fn spelled(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// Blocks as they may stand at the end of an exchange or before results: something is said or called in every provider's
/// eyes, and Anthropic's rule that a thought is never the last word is kept.
pub(super) fn sound(mut blocks: Vec<Block>) -> Vec<Block> {
    let heard = |block: &Block| matches!(block.view(), View::Text(_) | View::Call(_));
    let theirs = |block: &Block| block.wire() == Wire::Anthropic || heard(block);
    while let Some(last) = blocks.iter().rposition(theirs)
        && matches!(blocks[last].view(), View::Thinking(_))
    {
        blocks.remove(last);
    }
    if !blocks.iter().any(heard) {
        blocks.push(Block::text(NOTHING));
    }
    blocks
}

/// An id that no other call has, the given one if possible. `take` says whether a name was free, and takes it.
fn unused(id: &CallId, wire: Wire, mut take: impl FnMut(&str) -> bool) -> CallId {
    let spelling = spelled(&id.0);
    let fits = !id.0.is_empty() && (wire != Wire::Anthropic || spelling == id.0);
    if fits && take(&spelling) {
        return id.clone();
    }
    let base = if id.0.is_empty() { "call".to_owned() } else { spelling };
    let mut names = std::iter::once(base.clone()).chain((2_u64..).map(|number| format!("{base}_{number}")));
    CallId(names.find(|name| take(name)).expect("there are more numbers than calls"))
}

/// Whether the provider's own block can be sent back but for its id.
fn is_sound(block: &Block, call: &Call) -> bool {
    (1..=NAME).contains(&call.name.len()) && spelled(&call.name) == call.name && !lacks_arguments(block)
}

/// The call in words of ours, where its own cannot be used.
fn rebuilt(call: &Call) -> Block {
    let name: String = spelled(&call.name).chars().take(NAME).collect();
    let name = if name.is_empty() { "unnamed" } else { &name };
    Block::call(call.id.clone(), name, &call.input.object().unwrap_or_default())
}

/// The provider's block with this id, and with arguments that are an object.
fn renamed(block: &Block, call: &Call) -> Block {
    let same = block.as_call().is_some_and(|own| own.id == call.id);
    if same && matches!(call.input, Input::Object(_)) {
        return block.clone();
    }
    let mut fields: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(block.raw().get()).expect("a call was read from an object");
    fields.insert("id".to_owned(), to_raw_value(&call.id).expect("a string is JSON"));
    Block::from_raw(block.wire(), to_raw_value(&fields).expect("a map of JSON is JSON"))
}

/// Chat completions have arguments as a text; none at all is read as an empty object, but not taken back as one.
fn lacks_arguments(block: &Block) -> bool {
    let raw: Value = serde_json::from_str(block.raw().get()).unwrap_or_default();
    block.wire() == Wire::OpenAi
        && raw.pointer("/function/arguments").and_then(Value::as_str).is_none_or(|text| !text.contains('{'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn block(wire: Wire, json: &Value) -> Block {
        Block::from_raw(wire, to_raw_value(json).unwrap())
    }

    fn ids(reply: &Reply) -> Vec<&str> {
        reply.calls().iter().map(|call| call.id.0.as_str()).collect()
    }

    #[test]
    fn no_two_calls_have_the_same_name_whatever_the_provider_calls_them() {
        let call = |id: &str| block(Wire::Anthropic, &json!({"type": "tool_use", "id": id, "name": "x"}));
        let taken = BTreeSet::from(["a".to_owned()]);
        let reply = Reply::admit(["a", "a", "b", "", "", "x.y", "x_y"].map(call).into(), &taken);
        assert_eq!(ids(&reply), ["a_2", "a_3", "b", "call", "call_2", "x_y", "x_y_2"]);
        let stored: Vec<_> =
            reply.blocks().iter().map(|block| block.as_call().unwrap().id.0.clone()).collect();
        assert_eq!(stored, ids(&reply), "the blocks say the same");
    }

    #[test]
    fn a_renamed_call_keeps_what_only_its_provider_understands() {
        let raw = json!({"id": "a", "type": "function", "extra": {"sign": "x"},
            "function": {"name": "read", "arguments": "{\"b\": 1.0, \"a\": 2}"}});
        let reply = Reply::admit(vec![block(Wire::OpenAi, &raw)], &BTreeSet::from(["a".to_owned()]));
        let kept = reply.blocks()[0].raw().get();
        assert!(kept.contains(r#""extra":{"sign":"x"}"#) && kept.contains(r#""id":"a_2""#), "{kept}");
        assert_eq!(reply.calls()[0].input.json(), "{\"b\": 1.0, \"a\": 2}");
        let dotted = json!({"id": "functions.read:0", "function": {"name": "read", "arguments": "{}"}});
        let reply = Reply::admit(vec![block(Wire::OpenAi, &dotted)], &BTreeSet::new());
        assert_eq!(ids(&reply), ["functions.read:0"], "its own provider wants it back as it was");
    }

    #[test]
    fn a_name_that_no_provider_takes_back_is_spelled_for_them_and_kept_for_the_answer() {
        let names = ["", "functions.read", "rm -rf /"];
        let calls =
            names.map(|name| block(Wire::Anthropic, &json!({"type": "tool_use", "id": "", "name": name})));
        let reply = Reply::admit(calls.into(), &BTreeSet::new());
        let stored: Vec<_> =
            reply.blocks().iter().map(|block| block.as_call().unwrap().name.clone()).collect();
        assert_eq!(stored, ["unnamed", "functions_read", "rm_-rf__"]);
        assert_eq!(reply.calls().iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), names);
    }

    #[test]
    fn something_is_always_said() {
        let thought =
            block(Wire::Anthropic, &json!({"type": "thinking", "thinking": "hm", "signature": "s"}));
        let text = |blocks| {
            sound(blocks).iter().filter_map(|block| block.as_text().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(text(vec![]), [NOTHING]);
        assert_eq!(text(vec![thought.clone()]), [NOTHING]);
        let reply = Reply::admit(vec![Block::text(" \n"), Block::text("a"), thought], &BTreeSet::new());
        let blocks = sound(reply.into_blocks());
        assert_eq!(blocks, [Block::text("a")], "the last word is no thought");
    }
}
