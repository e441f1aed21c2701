//! `drip read` and the MCP tool: a path in, plain text out, and the delivery written down. The seed's order of questions
//! is kept: owed after an edit, ignored, gone, what kind of file, known under another name, and only then the plan.

use std::path::{Path, PathBuf};

use crate::database::{DatabaseError, Form, Known, Told, Touched};
use crate::desk::{self, Desk, Look};
use crate::diff::{self, Encoding};
use crate::elide::{self, Language};
use crate::ignored::{Ignored, Verdict};
use crate::ledger::View;
use crate::lines::{Span, Text};
use crate::load::{self, Limits as LoadLimits, Loaded, Symlinks};
use crate::plan::{self, Ask, Limits, Shape};
use crate::render::{self, Answer, Words};
use crate::settings::Settings;

/// A reader's wish.
#[derive(Debug, Clone)]
pub struct Wish {
    /// As it was typed.
    pub spelled: String,
    pub window: Window,
    /// An answer that takes more bytes than this in JSON is not given.
    pub room: usize,
}

impl Wish {
    /// All of a file, to somebody with any amount of room.
    pub fn all(spelled: &str) -> Wish {
        Wish { spelled: spelled.to_owned(), window: Window::All, room: usize::MAX }
    }
}

/// Which part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Window {
    /// All of it, as briefly as may be.
    All,
    /// All of it, word for word.
    Full,
    Lines(Span),
    /// The lines of a definition.
    Symbol(String),
}

/// What may be said in answer, besides the file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("file not found: {0}")]
    Missing(String),
    #[error("refusing to read non-regular file: {0} is a {1}")]
    NotRegular(String, &'static str),
    #[error("cannot read {0}: {1}")]
    Unreadable(String, String),
    #[error("{0} is being written to")]
    Changing(String),
    #[error("{path} takes {bytes} bytes and {room} are left: ask for some of its lines")]
    NoRoom { path: String, bytes: usize, room: usize },
    #[error("the path {0} is not valid UTF-8")]
    NotUtf8(String),
    #[error("no definition named `{symbol}` in {path}{}", similar_names(.known))]
    NoSymbol { path: String, symbol: String, known: Vec<String> },
    #[error("`{symbol}` is defined {} times in {path}: lines {}", .places.len(), line_list(.places))]
    Ambiguous { path: String, symbol: String, places: Vec<Span> },
}

/// A path and the name that the store knows it by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    pub key: String,
}

/// Longer trailers of the registry are left out.
const TRAILER_LINES: usize = 200;

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

/// Answers a wish without a store: everything is a first read, and nothing is written down.
pub fn read_blind(
    settings: &Settings,
    ignored: &Ignored,
    cwd: &Path,
    wish: &Wish,
) -> Result<Answer, ReadError> {
    let located = locate(&wish.spelled, cwd)?;
    let words = Words { path: &wish.spelled, ..Words::default() };
    let now = match material(settings, ignored, &located, &words)? {
        Material::Text(text) => text,
        Material::Instead(answer) => return Ok(answer),
        Material::Gone => return Err(ReadError::Missing(located.key)),
    };
    let (window, limits) = sized(&now, &located, wish, settings)?;
    let ask = ask(&now, window, None, &located);
    let answer = render::answer(&ask, &limits, &words).1;
    fits(wish, &answer)?;
    Ok(answer)
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

/// How a read ended: with an answer, with words for the caller, or without a store.
pub type Outcome = Result<Result<Answer, ReadError>, DatabaseError>;

impl Desk<'_> {
    /// Answers a wish and writes the answer down.
    pub fn read(&mut self, ignored: &Ignored, wish: &Wish) -> Outcome {
        self.answer(ignored, wish, Effect::Record)
    }

    /// The answer that a wish would get now.
    pub fn preview(&mut self, ignored: &Ignored, wish: &Wish) -> Outcome {
        self.answer(ignored, wish, Effect::Nothing)
    }

    fn answer(&mut self, ignored: &Ignored, wish: &Wish, effect: Effect) -> Outcome {
        let located = match locate(&wish.spelled, &self.caller.cwd) {
            Ok(located) => located,
            Err(error) => return Ok(Err(error)),
        };
        let words = Words { path: &wish.spelled, ..Words::default() };
        let now = match material(self.settings, ignored, &located, &words) {
            Ok(Material::Text(text)) => text,
            Ok(Material::Instead(answer)) => return Ok(Ok(answer)),
            Ok(Material::Gone) => return self.gone(&located, &words, effect),
            Err(error) => return Ok(Err(error)),
        };
        let (window, limits) = match sized(&now, &located, wish, self.settings) {
            Ok(sized) => sized,
            Err(error) => return Ok(Err(error)),
        };
        let look = self.look(&located.key, &now)?;
        let sized = (window, &limits);
        // Nothing is longer than this in JSON, so that most answers need not be made twice.
        if now.len().saturating_mul(7) > wish.room {
            let preview = self.known_file(&located, wish, &now, sized, &look, Effect::Nothing)?;
            if let Err(error) = fits(wish, &preview) {
                return Ok(Err(error));
            }
        }
        self.known_file(&located, wish, &now, sized, &look, effect).map(Ok)
    }

    fn known_file(
        &mut self,
        located: &Located,
        wish: &Wish,
        now: &Text,
        (window, limits): (Option<Span>, &Limits),
        look: &Look,
        effect: Effect,
    ) -> Result<Answer, DatabaseError> {
        let key = &located.key;
        if wish.window == Window::All {
            if let Some(answer) = self.owed(located, wish, now, look, effect)? {
                return Ok(answer);
            }
            if let Some(from) = self.renamed_from(look, now)? {
                let answer = render::renamed(now, &from, &Words { path: &wish.spelled, ..Words::default() });
                if answer.text.len() < now.len() {
                    if effect == Effect::Record {
                        let after = View::whole(now.clone());
                        self.deliver(key, look, &answer, Form::Renamed(&from), after, None)?;
                    }
                    return Ok(answer);
                }
            }
        }
        let words = self.words(located, wish, now, look)?;
        let view = look.view.as_ref().filter(|_| wish.window != Window::Full);
        let ask = Ask { foreseen: look.foreseen.as_deref(), ..ask(now, window, view, located) };
        let (plan, answer) = render::answer(&ask, limits, &words);
        if effect == Effect::Record {
            let after = plan.after(&ask);
            self.deliver(key, look, &answer, desk::form(&plan, now), after, Some(&plan))?;
        }
        Ok(answer)
    }

    /// The first read after an edit of the reader's own.
    fn owed(
        &mut self,
        located: &Located,
        wish: &Wish,
        now: &Text,
        look: &Look,
        effect: Effect,
    ) -> Result<Option<Answer>, DatabaseError> {
        let eyes = self.caller.eyes();
        if !self.database.owes_answer(&eyes, &located.key)? {
            return Ok(None);
        }
        let words = Words { path: &wish.spelled, ..Words::default() };
        let answer = match self.certificate(located, now, look, &words)? {
            Some(answer) => answer,
            None => render::passthrough(now, &words),
        };
        if effect == Effect::Record {
            let (form, after) = match (answer.kind, &look.view) {
                (render::Kind::Certificate, Some(view)) => (Form::Nothing, view.clone()),
                _ => (Form::Whole, View::whole(now.clone())),
            };
            self.deliver(&located.key, look, &answer, form, after, None)?;
            self.database.settle_edit(&eyes, &located.key)?;
        }
        Ok(Some(answer))
    }

    /// A certificate, if the file is as the edit left it, all of it was shown, and saying so is shorter.
    pub(crate) fn certificate(
        &self,
        located: &Located,
        now: &Text,
        look: &Look,
        words: &Words,
    ) -> Result<Option<Answer>, DatabaseError> {
        let touched = self.certified(located, now, look)?;
        let answer = touched.map(|touched| render::certificate(now, &touched, words));
        Ok(answer.filter(|answer| answer.text.len() < now.len()))
    }

    /// What the edit touched, if the file is as the edit left it and all of it was shown.
    pub(crate) fn certified(
        &self,
        located: &Located,
        now: &Text,
        look: &Look,
    ) -> Result<Option<Vec<Touched>>, DatabaseError> {
        let settings = &self.settings.certificates;
        let holds_all = look.view.as_ref().is_some_and(|view| view.text == *now && view.is_whole());
        if !settings.enabled || !holds_all {
            return Ok(None);
        }
        let since = self.database.now() - i64::try_from(settings.window.as_secs()).unwrap_or(i64::MAX);
        self.database.unused_edit(&self.caller.eyes(), &located.key, &look.hash, since)
    }

    fn gone(&mut self, located: &Located, words: &Words, effect: Effect) -> Outcome {
        let answer = render::deleted(words);
        let was_known = match effect {
            Effect::Record => self.deliver_deleted(&located.key, &answer)?,
            Effect::Nothing => {
                let meeting = self.database.meet(&self.caller.session.id)?;
                self.database.head(&self.caller.eyes(), &located.key, meeting.epoch)?.is_some()
            }
        };
        Ok(if was_known { Ok(answer) } else { Err(ReadError::Missing(located.key.clone())) })
    }

    /// What the session and the registry have to say on a first read.
    fn words<'w>(
        &self,
        located: &Located,
        wish: &'w Wish,
        now: &Text,
        look: &Look,
    ) -> Result<Words<'w>, DatabaseError> {
        let mut words = Words { path: &wish.spelled, ..Words::default() };
        if look.head().is_some() || wish.window != Window::All {
            return Ok(words);
        }
        if let Some(known) = self.database.known(&located.key, &self.caller.session.id)? {
            self.decorate(&mut words, &known, located, now, look)?;
        }
        words.remarks += &match look.meeting.told {
            Some(Told::Compacted { count }) => {
                format!(" | ↺ context was compacted (#{count}) — baseline reset")
            }
            Some(Told::Expired) => " | ℹ session expired — fresh baseline started".to_owned(),
            None => String::new(),
        };
        Ok(words)
    }

    fn decorate(
        &self,
        words: &mut Words,
        known: &Known,
        located: &Located,
        now: &Text,
        look: &Look,
    ) -> Result<(), DatabaseError> {
        let age = age(self.database.now() - known.seen_at);
        if known.hash == look.hash {
            let branch =
                known.branch.as_deref().map(|branch| format!(", branch: {branch}")).unwrap_or_default();
            words.remarks = format!(" | ↔ unchanged since last session ({age} ago{branch})");
            return Ok(());
        }
        let Some(old) = self.database.known_text(known)? else { return Ok(()) };
        let changes = diff::changes(&old, now);
        let added: usize = changes.iter().map(|change| change.new.len()).sum();
        let removed: usize = changes.iter().map(|change| change.old.len()).sum();
        let branch =
            known.branch.as_deref().map(|branch| format!(", branch was: {branch}")).unwrap_or_default();
        words.remarks =
            format!(" | ↕ changed since last session ({age} ago): +{added} lines, -{removed} lines{branch}");
        let hunks = diff::hunks(&changes, plan::CONTEXT, &old, &[]);
        let diff = diff::encode(Encoding::Unified(plan::CONTEXT), &hunks, &old, now, name_of(located));
        // The whole file is there already: a diff is worth its place only if it is small beside it.
        if diff.lines().count() <= TRAILER_LINES && diff.len() * 10 <= now.len() {
            let rule = "─".repeat(60);
            words.trailer = Some(format!(
                "\n\n── Changes since last session ──────────────────────────────\n{diff}{rule}\n"
            ));
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Record,
    Nothing,
}

enum Material {
    Text(Text),
    /// There is no text to plan with, and this is said instead.
    Instead(Answer),
    Gone,
}

fn material(
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
fn sized(
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

fn fits(wish: &Wish, answer: &Answer) -> Result<(), ReadError> {
    let (room, bytes) = (wish.room, escaped(&answer.text));
    if bytes <= room { Ok(()) } else { Err(ReadError::NoRoom { path: wish.spelled.clone(), bytes, room }) }
}

fn ask<'a>(now: &'a Text, window: Option<Span>, view: Option<&'a View>, located: &'a Located) -> Ask<'a> {
    Ask { now, window, view, language: language_of(located), name: name_of(located), shape: Shape::Diff, foreseen: None }
}

pub(crate) fn language_of(located: &Located) -> Option<Language> {
    Language::from_extension(located.path.extension()?.to_str()?)
}

pub(crate) fn name_of(located: &Located) -> &str {
    located.path.file_name().and_then(|name| name.to_str()).unwrap_or(&located.key)
}

/// The largest unit that fits, as the headers write ages.
pub(crate) fn age(seconds: i64) -> String {
    match seconds.max(0) {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3_600 => format!("{}m", seconds / 60),
        seconds @ 3_600..86_400 => format!("{}h", seconds / 3_600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

fn similar_names(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; it has {}", known.join(", ")) }
}

fn line_list(places: &[Span]) -> String {
    let each: Vec<String> = places.iter().map(|span| format!("{}-{}", span.first, span.last)).collect();
    each.join(", ")
}
