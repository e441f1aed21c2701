//! `state.json`: which contexts there are and which one is meant when nobody says. Knows nothing of what is in them.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Durability, replace};

use super::fault::{At, found, read};
use super::{ChibiHome, ContextError, ContextName};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct State {
    #[serde(default, deserialize_with = "names")]
    pub contexts: Vec<ContextName>,
    #[serde(default)]
    pub current_context: ContextName,
    #[serde(default)]
    pub previous_context: Option<ContextName>,
    /// From what to what, while a folder is on its way from one name to another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    renaming: Option<(ContextName, ContextName)>,
    /// What another version keeps here.
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl State {
    /// Without a file, or with one that is no state, the state of a new home; a note says so then.
    pub fn load(home: &ChibiHome) -> Result<(State, Option<String>), ContextError> {
        let path = home.root().join("state.json");
        let Some(bytes) = found(read(&path)).at("read", &path)? else {
            return Ok((State::default(), None));
        };
        match serde_json::from_slice::<State>(&bytes) {
            Ok(state) => Ok((state.settled(home), None)),
            Err(error) => {
                let note =
                    format!("`{}` cannot be read ({error}): starting with the defaults", path.display());
                Ok((State::default(), Some(note)))
            }
        }
    }

    /// Reads, changes and writes the state with nobody in between. A file that is no state is kept as
    /// `state.json.corrupt`.
    pub fn update<T>(home: &ChibiHome, change: impl FnOnce(&mut State) -> T) -> Result<T, ContextError> {
        let _lock = home.lock("changes state.json")?;
        State::update_locked(home, change)
    }

    pub(super) fn update_locked<T>(
        home: &ChibiHome,
        change: impl FnOnce(&mut State) -> T,
    ) -> Result<T, ContextError> {
        let path = home.root().join("state.json");
        let (mut state, corrupt) = State::load(home)?;
        if corrupt.is_some() {
            set_aside(&path)?;
        }
        let result = change(&mut state);
        let mut text = serde_json::to_vec_pretty(&state).expect("names can always be written as JSON");
        text.push(b'\n');
        if found(read(&path)).at("read", &path)?.as_ref() != Some(&text) {
            replace(&path, &text, Durability::Fsync)?;
        }
        Ok(result)
    }

    /// Makes `name` the current context; the one before becomes the previous.
    pub fn switch(&mut self, name: &ContextName) {
        if self.current_context != *name {
            self.previous_context = Some(std::mem::replace(&mut self.current_context, name.clone()));
        }
        self.register(name);
    }

    pub fn register(&mut self, name: &ContextName) {
        if !self.contexts.contains(name) {
            self.contexts.push(name.clone());
        }
    }

    /// To be written before the folder is renamed: if we die in between, whoever reads next sees which name is true.
    pub(super) fn will_rename(&mut self, old: &ContextName, new: &ContextName) {
        self.renaming = Some((old.clone(), new.clone()));
    }

    fn settled(mut self, home: &ChibiHome) -> State {
        if let Some((old, new)) = self.renaming.take()
            && home.exists(&new)
            && !home.exists(&old)
        {
            self.renamed(&old, &new);
        }
        self
    }

    fn renamed(&mut self, old: &ContextName, new: &ContextName) {
        self.contexts.retain(|name| name != new);
        let places = self.contexts.iter_mut().chain([&mut self.current_context]);
        for place in places.chain(self.previous_context.as_mut()).filter(|place| *place == old) {
            *place = new.clone();
        }
        self.register(new);
    }

    /// If it was the current one, the previous takes its place if `exists` says that it can, else `default`.
    pub(super) fn destroyed(&mut self, gone: &ContextName, exists: impl Fn(&ContextName) -> bool) {
        self.contexts.retain(|name| name != gone);
        self.previous_context.take_if(|name| name == gone);
        if self.current_context == *gone {
            self.current_context = self.previous_context.take().filter(exists).unwrap_or_default();
        }
    }
}

/// Never over an earlier one.
fn set_aside(path: &Path) -> Result<(), ContextError> {
    let kept = (1..)
        .map(|number| {
            path.with_extension(if number == 1 {
                "json.corrupt".to_owned()
            } else {
                format!("json.corrupt-{number}")
            })
        })
        .find(|kept| !kept.exists())
        .expect("numbers do not end");
    fs::rename(path, &kept).at("set aside", path)
}

/// Names as such or, as later versions write them, objects that have one. What is no name is left out.
fn names<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<ContextName>, D::Error> {
    let listed = Vec::<Value>::deserialize(deserializer)?;
    let name = |value: &Value| ContextName::new(value.as_str().or_else(|| value.get("name")?.as_str())?).ok();
    Ok(listed.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::super::home::tests::chibi_home;
    use super::*;

    fn name(text: &str) -> ContextName {
        ContextName::new(text).unwrap()
    }

    #[test]
    fn the_file_has_the_seed_s_form() {
        let (home, chibi) = chibi_home();
        State::update(&chibi, |state| state.switch(&name("work"))).unwrap();
        let written: Value = serde_json::from_str(&home.read(".chibi/state.json")).unwrap();
        let expected = serde_json::json!({"contexts": ["work"], "current_context": "work", "previous_context": "default"});
        assert_eq!(written, expected);
    }

    #[test]
    fn a_corrupt_state_is_set_aside_and_told() {
        let (home, chibi) = chibi_home();
        for text in ["{\"contexts\":", "", "[]", "{\"current_context\":\"../x\"}"] {
            home.write(".chibi/state.json", text);
            let (state, note) = State::load(&chibi).unwrap();
            assert_eq!(state, State::default());
            assert!(note.unwrap().contains("state.json"));
        }
        State::update(&chibi, |state| state.register(&name("a"))).unwrap();
        assert_eq!(home.read(".chibi/state.json.corrupt"), "{\"current_context\":\"../x\"}");
        assert_eq!(State::load(&chibi).unwrap().0.contexts, [name("a")]);
    }

    #[test]
    fn what_other_versions_keep_there_stays() {
        let (home, chibi) = chibi_home();
        home.write(
            ".chibi/state.json",
            r#"{"contexts":["a",{"name":"b","x":1},"../c",7],"current_context":"a","z":{"y":1}}"#,
        );
        State::update(&chibi, |state| state.switch(&name("b"))).unwrap();
        let written: Value = serde_json::from_str(&home.read(".chibi/state.json")).unwrap();
        assert_eq!(written["z"]["y"], 1);
        assert_eq!(written["contexts"], serde_json::json!(["a", "b"]));
        assert_eq!(written["previous_context"], "a");
    }

    #[test]
    fn a_destroyed_context_leaves_the_previous_one_or_default() {
        let mut state = State::default();
        state.switch(&name("a"));
        state.switch(&name("b"));
        let mut gone = state.clone();
        gone.destroyed(&name("b"), |_| true);
        assert_eq!(gone.current_context, name("a"));
        state.destroyed(&name("b"), |_| false);
        assert_eq!(state.current_context, name("default"));
    }

    #[test]
    fn a_rename_that_was_interrupted_is_told_by_the_folders() {
        let (_home, chibi) = chibi_home();
        State::update(&chibi, |state| state.switch(&name("old"))).unwrap();
        State::update(&chibi, |state| state.will_rename(&name("old"), &name("new"))).unwrap();
        let current = || State::load(&chibi).unwrap().0.current_context;
        fs::create_dir_all(chibi.context(&name("old"))).unwrap();
        assert_eq!(current(), name("old"));
        fs::rename(chibi.context(&name("old")), chibi.context(&name("new"))).unwrap();
        assert_eq!(current(), name("new"));
        State::update(&chibi, |_| ()).unwrap();
        assert_eq!(State::load(&chibi).unwrap().0.contexts, [name("new")]);
    }

    #[test]
    fn writers_at_the_same_time_lose_no_name() {
        let (_home, chibi) = chibi_home();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let chibi = &chibi;
                scope.spawn(move || {
                    for number in 0..10 {
                        State::update(chibi, |state| state.register(&name(&format!("c{thread}-{number}"))))
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(State::load(&chibi).unwrap().0.contexts.len(), 40);
    }
}
