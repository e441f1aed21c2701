//! What stands in a template for something left out: `<path>`, and `<secret:github>` for what must never come back.
//! Both look like redirections, so the scanner has to know them.

/// What a slot of a template holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotKind {
    Path,
    Num,
    Sha,
    Url,
    Msg,
    Branch,
    Remote,
    Pkg,
    Script,
}

impl SlotKind {
    pub const ALL: [SlotKind; 9] = [
        SlotKind::Path,
        SlotKind::Num,
        SlotKind::Sha,
        SlotKind::Url,
        SlotKind::Msg,
        SlotKind::Branch,
        SlotKind::Remote,
        SlotKind::Pkg,
        SlotKind::Script,
    ];

    /// As it stands in a template.
    pub fn as_str(self) -> &'static str {
        match self {
            SlotKind::Path => "<path>",
            SlotKind::Num => "<num>",
            SlotKind::Sha => "<sha>",
            SlotKind::Url => "<url>",
            SlotKind::Msg => "<msg>",
            SlotKind::Branch => "<branch>",
            SlotKind::Remote => "<remote>",
            SlotKind::Pkg => "<pkg>",
            SlotKind::Script => "<script>",
        }
    }
}

/// The slot at the end of a word as typed, and where it begins: `-m<msg>`, `--depth=<num>`, `<path>`.
pub fn placeholder(raw: &str) -> Option<(usize, SlotKind)> {
    let start = raw.rfind('<')?;
    let kind = SlotKind::ALL.into_iter().find(|kind| raw[start..] == *kind.as_str())?;
    let bare = raw[..start].bytes().all(|byte| super::is_harmless(byte) || byte == b'=');
    bare.then_some((start, kind))
}

/// Whether a secret was taken out of the text.
pub(crate) fn marker_in(text: &str) -> bool {
    text.match_indices("<secret:").any(|(at, _)| marker_length(&text.as_bytes()[at..]).is_some())
}

/// The length of the slot or marker that begins here.
pub(super) fn length(bytes: &[u8]) -> Option<usize> {
    let slot =
        SlotKind::ALL.into_iter().map(SlotKind::as_str).find(|slot| bytes.starts_with(slot.as_bytes()));
    slot.map(str::len).or_else(|| marker_length(bytes))
}

fn marker_length(bytes: &[u8]) -> Option<usize> {
    const OPENING: &[u8] = b"<secret:";
    // Longer than the name of any kind, so that a long line is not searched from each opening.
    const LONGEST_NAME: usize = 24;
    let name = bytes.strip_prefix(OPENING)?;
    let length = name.iter().take(LONGEST_NAME).position(|byte| !byte.is_ascii_lowercase())?;
    (length > 0 && name[length] == b'>').then_some(OPENING.len() + length + 1)
}
