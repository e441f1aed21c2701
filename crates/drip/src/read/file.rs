//! The file behind a wish: where it is, what kind of thing it is, which of its lines are meant.

use std::path::{Path, PathBuf};

use super::{ReadError, Window, Wish};
use crate::elide::{self, Language};
use crate::ignored::{Ignored, Verdict};
use crate::lines::{Span, Text};
use crate::load::{self, Limits as LoadLimits, Loaded, Symlinks};
use crate::plan::Limits;
use crate::render::{self, Answer, Words};
use crate::settings::Settings;

/// A path and the name that the store knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    pub key: String,
}

pub(super) enum Material {
    Text(Text),
    /// There is no text to plan with, and this is said instead.
    Instead(Answer),
    Gone,
}

/// Finds the file that a path names. Links in its folders are followed; what the last part is a link to is another name.
pub fn locate(spelled: &str, cwd: &Path) -> Result<Located, ReadError> {
    let path = cwd.join(spelled);
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    let path = match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        // The root, or a path that ends in `..`.
        _ => path.canonicalize().unwrap_or(path),
    };
    match path.to_str() {
        Some(key) => Ok(Located { key: key.to_owned(), path }),
        None => Err(ReadError::NotUtf8(kit::text::plain(&path.to_string_lossy()))),
    }
}

/// The file itself, with no word of ours.
pub fn read_raw(cwd: &Path, wish: &Wish) -> Result<Answer, ReadError> {
    let located = locate(&wish.spelled, cwd)?;
    let path = wish.spelled.clone();
    let text = match load::load(&located.path, LoadLimits::new(Symlinks::Follow)) {
        Loaded::Text { text, .. } => Text::new(text),
        Loaded::Missing => return Err(ReadError::Missing(located.key)),
        Loaded::NotRegular(kind) => return Err(ReadError::NotRegular(path, kind.word())),
        Loaded::Changing => return Err(ReadError::Changing(path)),
        Loaded::Unreadable(cause) => return Err(ReadError::Unreadable(path, cause)),
        Loaded::TooBig { .. } => return Err(ReadError::Unreadable(path, "it is too large".to_owned())),
        Loaded::Binary { .. } | Loaded::NotUtf8 { .. } | Loaded::Symlink => {
            return Err(ReadError::Unreadable(path, "it is not text".to_owned()));
        }
    };
    let window = match &wish.window {
        Window::All | Window::Full => None,
        Window::Lines(span) => Some(*span),
        Window::Symbol(symbol) => Some(find_symbol(&text, &located, symbol)?),
    };
    let answer = render::bare(window.map_or(text.as_str(), |window| text.slice(window)));
    fits(wish, &answer)?;
    Ok(answer)
}

/// How many bytes a text takes in JSON.
pub(crate) fn escaped(text: &str) -> usize {
    serde_json::to_string(text).map_or(usize::MAX, |json| json.len())
}

pub(super) fn material(
    settings: &Settings,
    ignored: &Ignored,
    located: &Located,
    words: &Words,
) -> Result<Material, ReadError> {
    if let Verdict::Ignored { .. } = ignored.verdict_of_read(&located.path) {
        let body = format!("<ignored by .dripignore: {}>", located.key);
        return Ok(Material::Instead(render::placeholder("matched .dripignore", &body, words)));
    }
    let instead = |label: &str, body: &str| Ok(Material::Instead(render::placeholder(label, body, words)));
    let key = || located.key.clone();
    match load::load(&located.path, LoadLimits::new(settings.symlinks)) {
        Loaded::Text { text, .. } => Ok(Material::Text(Text::new(text))),
        Loaded::Missing => Ok(Material::Gone),
        Loaded::NotRegular(kind) => Err(ReadError::NotRegular(key(), kind.word())),
        Loaded::TooBig { bytes } => instead(
            "file exceeds DRIP hard cap, not loaded",
            &format!("<file exceeds 50 MB cap, {bytes} bytes>"),
        ),
        Loaded::Binary { bytes } => instead("binary file", &format!("<binary, {bytes} bytes>")),
        Loaded::NotUtf8 { bytes } => instead("non-UTF8 content", &format!("<non-utf8, {bytes} bytes>")),
        Loaded::Symlink => instead("symlink, DRIP_REJECT_SYMLINKS set", "<symlink, not followed>"),
        Loaded::Changing => Err(ReadError::Changing(key())),
        Loaded::Unreadable(cause) => Err(ReadError::Unreadable(key(), cause)),
    }
}

/// The lines that a wish means, and the limits that hold for it.
pub(super) fn sized(
    now: &Text,
    located: &Located,
    wish: &Wish,
    settings: &Settings,
) -> Result<(Option<Span>, Limits), ReadError> {
    let limits = settings.limits;
    match &wish.window {
        Window::All => Ok((None, limits)),
        Window::Full => Ok((None, Limits { elision: None, ..limits })),
        Window::Lines(span) => Ok((Some(*span), limits)),
        Window::Symbol(symbol) => Ok((Some(find_symbol(now, located, symbol)?), limits)),
    }
}

fn find_symbol(now: &Text, located: &Located, symbol: &str) -> Result<Span, ReadError> {
    let symbols =
        language_of(located).map(|language| elide::symbols(language, now.as_str())).unwrap_or_default();
    let places: Vec<Span> = symbols
        .iter()
        .filter(|known| known.name == symbol || known.name.rsplit(['.', ':']).next() == Some(symbol))
        .filter_map(|known| Span::new(known.first_line, known.last_line))
        .collect();
    let (path, symbol) = (located.key.clone(), symbol.to_owned());
    match places.as_slice() {
        [span] => Ok(*span),
        [] => {
            let names = symbols.into_iter().map(|known| known.name);
            Err(ReadError::NoSymbol { path, symbol, known: names.take(8).collect() })
        }
        _ => Err(ReadError::Ambiguous { path, symbol, places }),
    }
}

pub(super) fn fits(wish: &Wish, answer: &Answer) -> Result<(), ReadError> {
    let (room, bytes) = (wish.room, escaped(&answer.text));
    if bytes <= room { Ok(()) } else { Err(ReadError::NoRoom { path: wish.spelled.clone(), bytes, room }) }
}

pub(crate) fn language_of(located: &Located) -> Option<Language> {
    Language::from_extension(located.path.extension()?.to_str()?)
}

pub(crate) fn name_of(located: &Located) -> &str {
    located.path.file_name().and_then(|name| name.to_str()).unwrap_or(&located.key)
}
