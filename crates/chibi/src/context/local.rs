//! `local.toml`: what one context sets differently. Our edits leave every other byte, comments included, as it was. Knows
//! no key.

use store::{Durability, replace};
use toml_edit::{DocumentMut, Item, Table, Value};

use super::home::read_text;
use super::{Context, ContextError};

impl Context {
    /// Sets a value, such as `["storage", "partition_max_entries"]`; tables on the way are made.
    pub fn set_local(&mut self, path: &[&str], value: impl Into<Value>) -> Result<(), ContextError> {
        let value = value.into();
        self.edit_local(path, |table, key| match table.get_mut(key) {
            Some(Item::Value(old)) => {
                let mut new = value;
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            _ => drop(table.insert(key, Item::Value(value))),
        })
    }

    pub fn unset_local(&mut self, path: &[&str]) -> Result<(), ContextError> {
        self.edit_local(path, |table, key| drop(table.remove(key)))
    }

    fn edit_local(&mut self, path: &[&str], edit: impl FnOnce(&mut Table, &str)) -> Result<(), ContextError> {
        let file = self.reader.local_file();
        let invalid = |reason: String| ContextError::Toml { path: file.clone(), reason };
        let text = read_text(&file)?.unwrap_or_default();
        let mut document: DocumentMut =
            text.parse().map_err(|error: toml_edit::TomlError| invalid(error.message().to_owned()))?;
        let Some((key, tables)) = path.split_last() else { return Ok(()) };
        let mut table = document.as_table_mut();
        for name in tables {
            let item = table.entry(name).or_insert_with(|| Item::Table(Table::new()));
            table = item.as_table_mut().ok_or_else(|| invalid(format!("`{name}` is not a table")))?;
        }
        edit(table, key);
        Ok(replace(&file, document.to_string().as_bytes(), Durability::Fsync)?)
    }
}
