//! Where a value comes from: the command line, this context's `local.toml`, `config.toml`, `models.toml`, or nowhere. The
//! first that has one wins, for every key alike. Reads files; writes none.

use std::fmt;
use std::path::{Path, PathBuf};

use kit::text;
use llm::provider::{ConfigFile, ResolveError};
use thiserror::Error;
use toml::{Table, Value};

use super::settings::{self, Kind, OPEN, SETTINGS, Setting, UNSHOWN};

/// Why settings cannot be used. Never quotes a line of the file, which may hold a key.
#[derive(Debug, Error)]
pub(crate) enum SettingsError {
    #[error(transparent)]
    Read(#[from] ResolveError),
    #[error("`{}`: line {line}: {cause}", path.display())]
    Syntax { path: PathBuf, line: usize, cause: String },
    #[error("`{}`: `{key}` {cause}", path.display())]
    Value { path: PathBuf, key: String, cause: String },
}

/// Who says a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layer {
    Flag,
    Local(PathBuf),
    Config(PathBuf),
    Models(PathBuf),
    Default,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layer::Flag => f.write_str("command line"),
            Layer::Local(path) | Layer::Config(path) | Layer::Models(path) => {
                write!(f, "{}", path.display())
            }
            Layer::Default => f.write_str("default"),
        }
    }
}

/// A file as text, for whoever reads provider settings, and as values.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: ConfigFile,
    table: Table,
}

#[derive(Debug, Default)]
pub(crate) struct Layers {
    pub(crate) flags: Table,
    pub(crate) local: Option<Source>,
    pub(crate) config: Option<Source>,
    models: Option<Source>,
    /// The rows of `models.toml` that speak of the model: by the name that was asked for, then by its id.
    rows: Vec<Table>,
}

impl Layers {
    /// `flags` has the paths that were given on the command line.
    pub(crate) fn read(
        config: &Path,
        models: &Path,
        local: Option<&Path>,
        flags: &[(&str, String)],
    ) -> Result<Layers, SettingsError> {
        let mut layers = Layers {
            flags: flags.iter().map(|(key, text)| ((*key).to_owned(), Value::String(text.clone()))).collect(),
            local: local.map(source).transpose()?.flatten(),
            config: source(config)?,
            models: source(models)?,
            rows: Vec::new(),
        };
        layers.check()?;
        layers.rows = layers.rows_of_model();
        Ok(layers)
    }

    /// The value of a setting and who says it.
    pub(crate) fn get(&self, setting: &Setting) -> Option<(Value, Layer)> {
        let said = [
            (Some(&self.flags), Layer::Flag),
            (self.local.as_ref().map(|source| &source.table), Layer::Local(path(self.local.as_ref()))),
            (self.config.as_ref().map(|source| &source.table), Layer::Config(path(self.config.as_ref()))),
        ];
        let mut said = said.into_iter().filter_map(|(table, layer)| Some((at(table?, setting.path)?, layer)));
        if let Some((value, layer)) = said.next() {
            return Some((value.clone(), layer));
        }
        let key = if setting.path == "context_window_limit" { "context_window" } else { setting.path };
        if let Some(value) = self.rows.iter().find_map(|row| at(row, key)) {
            return Some((value.clone(), Layer::Models(path(self.models.as_ref()))));
        }
        setting.default_value().map(|value| (value, Layer::Default))
    }

    /// What the provider calls the model that was asked for: `id` of its row in `models.toml`, or the name itself.
    pub(crate) fn model_id(&self, name: &str) -> String {
        let id = self.row(name).and_then(|row| row.get("id")).and_then(Value::as_str);
        id.unwrap_or(name).to_owned()
    }

    /// Tables with names of their own: `plugins` and `servers`, from both files; the context's rows win.
    pub(crate) fn open_table(&self, name: &str) -> Table {
        let mut all = Table::new();
        for source in [&self.config, &self.local].into_iter().flatten() {
            if let Some(Value::Table(rows)) = source.table.get(name) {
                all.extend(rows.clone());
            }
        }
        all
    }

    /// What both files say under a key that is not shown.
    pub(crate) fn texts(&self, key: &str) -> Vec<String> {
        let tables = [&self.config, &self.local].into_iter().flatten().map(|source| &source.table);
        tables.filter_map(|table| table.get(key)?.as_str().map(str::to_owned)).collect()
    }

    /// Keys that nobody reads, each with what was probably meant.
    pub(crate) fn unknown(&self) -> Vec<String> {
        let mut found = Vec::new();
        for source in [&self.config, &self.local].into_iter().flatten() {
            let mut unknown = |key: &str, meant: Option<&str>| {
                let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
                found.push(format!("`{}`: unknown key `{key}`{meant}", source.file.path.display()));
            };
            let mut keys = Vec::new();
            leaves(&source.table, "", &mut keys);
            for key in keys.iter().filter(|key| !is_known(key)) {
                let names = SETTINGS.iter().map(|setting| setting.path).chain(UNSHOWN.iter().copied());
                unknown(key, text::nearest(key, names));
            }
            for cell in source.open_cells().filter(|cell| cell.kind.is_none()) {
                unknown(&cell.path, text::nearest(cell.key, cell.known.iter().map(|(key, _)| *key)));
            }
        }
        found
    }

    fn check(&self) -> Result<(), SettingsError> {
        for source in [&self.local, &self.config].into_iter().flatten() {
            for setting in SETTINGS {
                let Some(value) = at(&source.table, setting.path) else { continue };
                if let Some(cause) = setting.kind.complaint(value) {
                    let (path, key) = (source.file.path.clone(), setting.path.to_owned());
                    return Err(SettingsError::Value { path, key, cause });
                }
            }
            for cell in source.open_cells() {
                if let Some(cause) = cell.kind.and_then(|kind| kind.complaint(cell.value)) {
                    let path = source.file.path.clone();
                    return Err(SettingsError::Value { path, key: cell.path, cause });
                }
            }
        }
        let Some(models) = &self.models else { return Ok(()) };
        let rows = models.table.get("models").and_then(Value::as_table).into_iter().flatten();
        for (name, row) in rows {
            let Value::Table(row) = row else { continue };
            for setting in SETTINGS.iter().filter(|setting| setting.path.starts_with("api.")) {
                let Some(cause) = at(row, setting.path).and_then(|value| setting.kind.complaint(value))
                else {
                    continue;
                };
                let key = format!("models.{name}.{}", setting.path);
                return Err(SettingsError::Value { path: models.file.path.clone(), key, cause });
            }
        }
        Ok(())
    }

    fn rows_of_model(&self) -> Vec<Table> {
        let model = settings::by_path("model").and_then(|setting| self.get(setting));
        let Some((Value::String(name), _)) = model else { return Vec::new() };
        let id = self.model_id(&name);
        let names = if id == name { vec![name] } else { vec![name, id] };
        names.iter().filter_map(|name| self.row(name).cloned()).collect()
    }

    fn row(&self, name: &str) -> Option<&Table> {
        self.models.as_ref()?.table.get("models")?.get(name)?.as_table()
    }
}

/// One value in a row of an open table.
struct Cell<'t> {
    path: String,
    key: &'t str,
    value: &'t Value,
    /// None if nobody reads it.
    kind: Option<Kind>,
    /// What a row may say.
    known: &'static [(&'static str, Kind)],
}

impl Source {
    fn open_cells(&self) -> impl Iterator<Item = Cell<'_>> {
        let tables = OPEN.iter().filter_map(|(table, known)| Some((table, known, self.table.get(*table)?)));
        let rows = tables.flat_map(|(table, known, rows)| {
            let rows = rows.as_table().into_iter().flatten();
            rows.filter_map(move |(name, row)| Some((format!("{table}.{name}"), *known, row.as_table()?)))
        });
        rows.flat_map(|(row, known, cells)| {
            cells.iter().map(move |(key, value)| Cell {
                path: format!("{row}.{key}"),
                key,
                value,
                kind: known.iter().find(|(name, _)| name == key).map(|(_, kind)| *kind),
                known,
            })
        })
    }
}

fn source(path: &Path) -> Result<Option<Source>, SettingsError> {
    let Some(file) = ConfigFile::read(path)? else { return Ok(None) };
    match toml::from_str(&file.text) {
        Ok(table) => Ok(Some(Source { file, table })),
        Err(error) => {
            let before = error.span().and_then(|span| file.text.as_bytes().get(..span.start));
            let line = before.unwrap_or_default().iter().filter(|byte| **byte == b'\n').count() + 1;
            Err(SettingsError::Syntax { path: path.to_owned(), line, cause: error.message().to_owned() })
        }
    }
}

fn path(source: Option<&Source>) -> PathBuf {
    source.map(|source| source.file.path.clone()).unwrap_or_default()
}

fn at<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    match path.split_once('.') {
        None => table.get(path),
        Some((first, rest)) => at(table.get(first)?.as_table()?, rest),
    }
}

fn leaves(table: &Table, prefix: &str, keys: &mut Vec<String>) {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        match value {
            Value::Table(_) if is_known(&key) => {}
            Value::Table(below) => leaves(below, &format!("{key}."), keys),
            _ => keys.push(key),
        }
    }
}

fn is_known(key: &str) -> bool {
    let is_open = || OPEN.iter().any(|(table, _)| *table == key);
    settings::by_path(key).is_some() || UNSHOWN.contains(&key) || is_open()
}
