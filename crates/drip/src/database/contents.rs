//! Where a text is kept: in its row if it is small, in a file named by its content otherwise.

use store::blobs::{Blobs, Digest};

use super::{DatabaseError, Options, Result, Writing};
use crate::lines::{Hash, Text};
use crate::settings::Inline;

/// The two columns of a row that keep a text.
pub(super) struct Kept<'a> {
    pub(super) content: Option<&'a str>,
    pub(super) storage: &'static str,
}

impl Writing<'_> {
    /// Puts a large text into its file; the row then names it by its hash.
    pub(super) fn keep<'a>(&self, text: &'a Text) -> Result<Kept<'a>> {
        if fits(&self.options, text) {
            return Ok(Kept { content: Some(text.as_str()), storage: "inline" });
        }
        self.blobs()?.put(text.as_str().as_bytes())?;
        Ok(Kept { content: None, storage: "file" })
    }
}

/// The text of a row; none if its file is gone or damaged, which makes the row worthless but harms nobody.
pub(super) fn fetch(
    blobs: impl FnOnce() -> Result<Blobs>,
    content: Option<String>,
    hash: &Hash,
) -> Result<Option<Text>> {
    if let Some(content) = content {
        return Ok(Some(Text::new(content)));
    }
    let Ok(digest) = hash.as_str().parse::<Digest>() else { return Ok(None) };
    match blobs()?.get(&digest) {
        Ok(bytes) => Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()).map(Text::new)),
        Err(store::blobs::BlobError::Damaged { .. }) => Ok(None),
        Err(error) => Err(DatabaseError::Blob(error)),
    }
}

fn fits(options: &Options, text: &Text) -> bool {
    match options.inline {
        Inline::All => true,
        inline => inline.holds(text.len() as u64),
    }
}
