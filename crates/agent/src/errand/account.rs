//! What a helper does, in the transcript of the conversation that sent it: each call before it is judged and run, and how
//! it ended. Its window is nobody's to go on with, so its words are not kept, and of results only the beginning.

use std::collections::BTreeMap;

use chibi::context::{Entry, EntryKind};
use conversation::Record;
use kit::text;
use llm::{Block, Call, CallId, ToolResult};

use crate::keep::{Keep, NotKept};

/// Enough to see what came of a call, in bytes.
const ENOUGH: usize = 1000;

pub(super) struct Account {
    keep: Keep,
    /// The call that sent the helper.
    sender: CallId,
    /// Which tool was called, until it has answered.
    names: BTreeMap<CallId, String>,
}

impl Account {
    pub(super) fn new(keep: Keep, sender: &CallId) -> Account {
        Account { keep, sender: sender.clone(), names: BTreeMap::new() }
    }

    /// What it costs is the conversation's, too.
    pub(super) fn enter(&mut self, record: &Record) -> Result<(), NotKept> {
        match record {
            Record::Usage(_) => self.keep.append(record),
            Record::Reply { blocks, .. } => {
                let calls: Vec<&Call> = blocks.iter().filter_map(Block::as_call).collect();
                self.names = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
                self.keep.note(calls.into_iter().map(|call| self.called(call)).collect())
            }
            Record::Result(returned) => self.keep.note(vec![self.returned(&returned.result)]),
            _ => Ok(()),
        }
    }

    fn called(&self, call: &Call) -> Entry {
        self.entry(EntryKind::ToolCall, self.keep.name(), &call.name, call.input.json(), &call.id)
    }

    fn returned(&self, result: &ToolResult) -> Entry {
        let tool = self.names.get(&result.id).map_or("tool", String::as_str);
        let content = text::clip(&result.content, ENOUGH, "");
        let entry = self.entry(EntryKind::ToolResult, tool, self.keep.name(), &content, &result.id);
        entry.with("outcome", &result.outcome)
    }

    fn entry(&self, kind: EntryKind, from: &str, to: &str, content: &str, call: &CallId) -> Entry {
        let home = self.keep.home();
        let entry = Entry::new(home.fresh_id(), home.now(), kind, from, to, content);
        entry.with("call_id", call).with("helper_of", &self.sender).aside()
    }
}
