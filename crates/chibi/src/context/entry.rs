//! One line of a transcript or a window. Field names are the seed's; whatever else a line carries is kept as it was
//! written, so that a reader who does not know it loses nothing.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::ContextName;

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub id: EntryId,
    /// Seconds since 1970.
    pub timestamp: u64,
    pub from: String,
    pub to: String,
    pub content: String,
    pub kind: EntryKind,
    pub metadata: Metadata,
    /// Fields of another version of chibi.
    other: Metadata,
}

/// A UUID where we made it; others may call an entry as they like.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(pub String);

/// `entry_type`. The first eight are the seed's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EntryKind {
    Message,
    ToolCall,
    ToolResult,
    Compaction,
    Archival,
    ContextCreated,
    SystemPrompt,
    SystemPromptChanged,
    /// A compaction was undone.
    Restored,
    Pinned,
    Unpinned,
    /// The prompt before it failed without any effect.
    Dropped,
    /// An earlier entry and all that followed it were taken out of the window.
    Rewound,
    /// What a model must know before the first prompt.
    Opening,
    Other(String),
}

/// Who a message is by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    User,
    Assistant,
}

/// JSON fields in their order, each value byte for byte as it came.
#[derive(Clone, Default)]
pub struct Metadata(Vec<(String, Box<RawValue>)>);

impl Entry {
    pub fn new(id: EntryId, timestamp: u64, kind: EntryKind, from: &str, to: &str, content: &str) -> Entry {
        let (from, to, content) = (from.to_owned(), to.to_owned(), content.to_owned());
        let (metadata, other) = (Metadata::default(), Metadata::default());
        Entry { id, timestamp, from, to, content, kind, metadata, other }
    }

    /// From the system to a context: the seed's form of everything that nobody said.
    pub fn of_system(id: EntryId, timestamp: u64, kind: EntryKind, to: &ContextName, content: &str) -> Entry {
        Entry::new(id, timestamp, kind, "system", to.as_str(), content)
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: &impl Serialize) -> Entry {
        self.metadata.set(key, value);
        self
    }

    /// For the log alone: no model is ever shown it.
    #[must_use]
    pub fn aside(self) -> Entry {
        self.with("aside", &true)
    }

    pub(super) fn is_aside(&self) -> bool {
        self.metadata.get("aside") == Some(true)
    }

    /// The seed tells a reply by its receiver, `user`. A prompt to a context of that name says otherwise in `role`.
    pub fn speaker(&self) -> Speaker {
        let role = self.metadata.get::<String>("role").or_else(|| self.other.get("role"));
        match role.as_deref() {
            Some("user") => Speaker::User,
            Some("assistant") => Speaker::Assistant,
            _ if self.to == "user" => Speaker::Assistant,
            _ => Speaker::User,
        }
    }

    /// Whether an exchange begins here: words of the user that are no note of ours.
    pub fn is_prompt(&self) -> bool {
        self.kind == EntryKind::Message && self.speaker() == Speaker::User && !self.metadata.has("note")
    }

    /// It was said only because of a compaction, and makes no sense without its summary.
    pub(crate) fn mark_about_a_summary(&mut self) {
        self.metadata.set("about_summary", &true);
    }

    pub(super) fn is_about_a_summary(&self) -> bool {
        self.metadata.get("about_summary") == Some(true)
    }

    /// Whether the window begins anew here.
    pub fn is_anchor(&self) -> bool {
        matches!(
            self.kind,
            EntryKind::ContextCreated | EntryKind::Compaction | EntryKind::Archival | EntryKind::Restored
        )
    }

    /// One line without its newline.
    pub fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("text and numbers can always be written as JSON");
        // Only raw values can hold a line break, as space between their parts: another space means the same.
        for byte in &mut line {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        line
    }

    /// None if the line is no entry.
    pub fn parse(line: &[u8]) -> Option<Entry> {
        serde_json::from_slice(line).ok()
    }
}

impl EntryId {
    /// A version 4 UUID of these bits.
    pub fn from_bits(bits: u128) -> EntryId {
        let bits = bits & !(0xf << 76) & !(0b11 << 62) | (4 << 76) | (0b10 << 62);
        let hex = format!("{bits:032x}");
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        EntryId(format!("{a}-{b}-{c}-{d}-{e}"))
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The kinds that have a name of their own.
const KINDS: [(EntryKind, &str); 14] = [
    (EntryKind::Message, "message"),
    (EntryKind::ToolCall, "tool_call"),
    (EntryKind::ToolResult, "tool_result"),
    (EntryKind::Compaction, "compaction"),
    (EntryKind::Archival, "archival"),
    (EntryKind::ContextCreated, "context_created"),
    (EntryKind::SystemPrompt, "system_prompt"),
    (EntryKind::SystemPromptChanged, "system_prompt_changed"),
    (EntryKind::Restored, "restored"),
    (EntryKind::Pinned, "pinned"),
    (EntryKind::Unpinned, "unpinned"),
    (EntryKind::Dropped, "dropped"),
    (EntryKind::Rewound, "rewound"),
    (EntryKind::Opening, "opening"),
];

impl EntryKind {
    pub fn as_str(&self) -> &str {
        match self {
            EntryKind::Other(name) => name,
            kind => KINDS.iter().find(|(known, _)| known == kind).map_or("", |(_, name)| name),
        }
    }
}

impl From<&str> for EntryKind {
    fn from(name: &str) -> Self {
        let known = KINDS.iter().find(|(_, known)| *known == name);
        known.map_or_else(|| EntryKind::Other(name.to_owned()), |(kind, _)| kind.clone())
    }
}

impl Metadata {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    pub fn raw(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// None if it is not there or is something else.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    pub fn set(&mut self, key: &str, value: &impl Serialize) {
        let value = to_raw_value(value).expect("what we note can be written as JSON");
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    pub fn summary(&self) -> Option<String> {
        self.get("summary")
    }
}

impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        let parts = |fields: &Metadata| -> Vec<(String, String)> {
            fields.0.iter().map(|(name, value)| (name.clone(), value.get().to_owned())).collect()
        };
        parts(self) == parts(other)
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, value)| (name, value.get()))).finish()
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Metadata;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_unit<E>(self) -> Result<Metadata, E> {
                Ok(Metadata::default())
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Metadata, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Metadata(fields))
            }
        }
        deserializer.deserialize_any(Fields)
    }
}

impl Serialize for EntryKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EntryKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(EntryKind::from(String::deserialize(deserializer)?.as_str()))
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("timestamp", &self.timestamp)?;
        map.serialize_entry("from", &self.from)?;
        map.serialize_entry("to", &self.to)?;
        map.serialize_entry("content", &self.content)?;
        map.serialize_entry("entry_type", &self.kind)?;
        if !self.metadata.is_empty() {
            map.serialize_entry("metadata", &self.metadata)?;
        }
        for (name, value) in &self.other.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Line;
        impl<'de> Visitor<'de> for Line {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an entry")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
                let missing = |name| move || serde::de::Error::missing_field(name);
                let (mut id, mut timestamp, mut from, mut to, mut content, mut kind) =
                    (None, None, None, None, None, None);
                let (mut metadata, mut other) = (Metadata::default(), Metadata::default());
                while let Some(name) = map.next_key::<String>()? {
                    match name.as_str() {
                        "id" => id = Some(map.next_value()?),
                        "timestamp" => timestamp = Some(map.next_value()?),
                        "from" => from = Some(map.next_value()?),
                        "to" => to = Some(map.next_value()?),
                        "content" => content = Some(map.next_value()?),
                        "entry_type" => kind = Some(map.next_value()?),
                        "metadata" => metadata = map.next_value()?,
                        _ => other.0.push((name, map.next_value()?)),
                    }
                }
                Ok(Entry {
                    id: id.ok_or_else(missing("id"))?,
                    timestamp: timestamp.ok_or_else(missing("timestamp"))?,
                    from: from.ok_or_else(missing("from"))?,
                    to: to.ok_or_else(missing("to"))?,
                    content: content.ok_or_else(missing("content"))?,
                    kind: kind.ok_or_else(missing("entry_type"))?,
                    metadata,
                    other,
                })
            }
        }
        deserializer.deserialize_map(Line)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_of_the_seed_is_read_and_written_unchanged() {
        let line = r#"{"id":"uuid","timestamp":1234567890,"from":"alice","to":"default","content":"Hello","entry_type":"message"}"#;
        let entry = Entry::parse(line.as_bytes()).unwrap();
        assert_eq!((entry.speaker(), &entry.kind), (Speaker::User, &EntryKind::Message));
        assert_eq!(entry.line(), line.as_bytes());
    }

    #[test]
    fn what_we_do_not_know_survives_byte_for_byte() {
        let line = r#"{"id":"a","timestamp":1,"from":"x","to":"user","content":"é\n","entry_type":"odd","metadata":{"blocks":[{"b":1.50,  "a":"\u00e9"}],"hash":null},"role":"assistant","flow_control":{"z":1}}"#;
        let entry = Entry::parse(line.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(entry.line()).unwrap(), line);
    }

    #[test]
    fn a_provider_s_line_breaks_never_break_a_line() {
        let raw: Box<RawValue> = serde_json::from_str("[1,\n 2,\r\n\"a\\nb\"]").unwrap();
        let id = EntryId::from_bits(7);
        let entry = Entry::new(id, 1, EntryKind::Message, "a", "b", "c\nd").with("blocks", &raw);
        let line = entry.line();
        assert!(!line.contains(&b'\n') && !line.contains(&b'\r'));
        assert_eq!(
            Entry::parse(&line).unwrap().metadata.get::<serde_json::Value>("blocks").unwrap()[2],
            "a\nb"
        );
    }

    #[test]
    fn a_context_called_user_keeps_prompts_and_replies_apart() {
        let prompt = Entry::new(EntryId::from_bits(1), 1, EntryKind::Message, "user", "user", "hi");
        assert_eq!(prompt.clone().speaker(), Speaker::Assistant);
        assert_eq!(prompt.with("role", &"user").speaker(), Speaker::User);
    }

    #[test]
    fn ids_are_version_four_uuids() {
        assert_eq!(EntryId::from_bits(u128::MAX).0, "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(EntryId::from_bits(0).0, "00000000-0000-4000-8000-000000000000");
    }

    #[test]
    fn half_an_entry_is_none() {
        for line in ["", "{}", "[]", "null", "{\"id\":\"a\"}", "\u{0}", "{\"id\":1,\"timestamp\":\"x\"}"] {
            assert_eq!(Entry::parse(line.as_bytes()), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn an_entry_survives_its_line(from in any::<String>(), content in any::<String>(), kind in "[a-z_]{0,20}", note in any::<String>(), timestamp in any::<u64>()) {
            let kind = EntryKind::from(kind.as_str());
            let entry = Entry::new(EntryId("x".into()), timestamp, kind, &from, "to", &content).with("note", &note);
            let line = entry.line();
            prop_assert!(!line.contains(&b'\n'));
            prop_assert_eq!(Entry::parse(&line), Some(entry));
        }

        #[test]
        fn any_bytes_are_an_entry_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Entry::parse(&bytes);
        }
    }
}
