//! Names that nobody imported: of the same folder, package or project. A name that several unrelated places define
//! means none of them.

use super::{DEPTH, Resolver, Value};
use crate::facts::{DefId, DefKind, Flags, Import};
use crate::language::{Language, Reach};
use crate::project::{FileId, NameKey, Place, split};

impl Resolver<'_> {
    /// What a name means that no scope of its file binds. A type or module that nobody here defines comes from
    /// outside; of a variable that is bound where we cannot see it nothing is said.
    pub(super) fn ambient(&mut self, file: FileId, name: &str) -> Vec<Value> {
        let found = self.seen_from(file, name);
        let is_c = matches!(self.facts(file).language, Language::C | Language::Cpp);
        if found.is_empty() && is_c && !self.everywhere(&NameKey::namespace(name)).is_empty() {
            return found;
        }
        if found.is_empty()
            && (is_c || name.starts_with(char::is_uppercase))
            && self.everywhere(name).is_empty()
        {
            return vec![Value::Foreign];
        }
        found
    }

    fn seen_from(&mut self, file: FileId, name: &str) -> Vec<Value> {
        let facts = self.facts(file);
        match facts.language.table().reach {
            Reach::File => vec![Value::Foreign],
            Reach::Folder => {
                let folder = split(self.files.path(file)).0.to_owned();
                self.go_member(&folder, name)
            }
            Reach::Package => {
                let package = facts.package().unwrap_or_default().to_owned();
                let found = self.in_package(&package, name);
                if !found.is_empty() {
                    return found;
                }
                if facts.language == Language::CSharp {
                    return self.in_used_namespace(file, name);
                }
                if let Some((outer, last)) = name.rsplit_once('\\') {
                    let outer = outer.trim_start_matches('\\').replace('\\', ".");
                    return self.in_package(&outer, last);
                }
                self.only_class(name)
            }
            Reach::Project => self.project_wide(file, name),
        }
    }

    /// A class whose name nobody else has, for packages that only a build system knows.
    fn only_class(&mut self, name: &str) -> Vec<Value> {
        let places: Vec<_> = self.everywhere(name);
        let classes: Vec<_> = places.into_iter().filter(|place| self.is_top_class(*place)).collect();
        if classes.len() == 1 { self.as_values(&classes) } else { Vec::new() }
    }

    fn is_top_class(&mut self, place: Place) -> bool {
        let facts = self.facts(place.file);
        let def = facts.def(place.def);
        def.kind == DefKind::Class && def.parent == DefId::FILE
    }

    /// A top-level name of the files that declare a package.
    pub(super) fn in_package(&mut self, package: &str, name: &str) -> Vec<Value> {
        let places: Vec<_> = self.everywhere(name);
        let mut found = Vec::new();
        for place in places {
            let facts = self.facts(place.file);
            if facts.package().unwrap_or_default() == package && facts.def(place.def).parent == DefId::FILE {
                found.push(place);
            }
        }
        self.as_values(&found)
    }

    /// The same, or a member of the class that the last part of `path` is: `import static shop.Item.zero`.
    pub(super) fn in_package_or_type(&mut self, path: &str, name: &str) -> Vec<Value> {
        let found = self.in_package(path, name);
        if !found.is_empty() {
            return found;
        }
        let (package, class) = path.rsplit_once('.').unwrap_or(("", path));
        let classes = self.in_package(package, class);
        self.each(&classes, |resolver, class| resolver.member(class, name, DEPTH))
    }

    fn in_used_namespace(&mut self, file: FileId, name: &str) -> Vec<Value> {
        let facts = self.facts(file);
        for import in facts.imports() {
            let found = self.in_package(facts.text(import.module), name);
            if !found.is_empty() {
                return found;
            }
        }
        self.only_class(name)
    }

    /// A top-level name of the files in a folder.
    pub(super) fn go_member(&mut self, folder: &str, name: &str) -> Vec<Value> {
        let found = self.everywhere(&NameKey::near(folder, name));
        let defs: Vec<_> = found.iter().copied().filter(|place| place.def != DefId::FILE).collect();
        let mut values = self.as_values(&defs);
        if defs.is_empty() {
            // Variables of the package.
            for place in found {
                let facts = self.facts(place.file);
                values.extend(self.bound_values(place.file, facts.bound_text(DefId::FILE, name), 12));
            }
        }
        values
    }

    /// A name that is seen everywhere: of this file first, then of its folder, then the only one there is.
    fn project_wide(&mut self, file: FileId, name: &str) -> Vec<Value> {
        let members = self.facts(file).language == Language::Ruby;
        if members && name == "new" {
            return Vec::new();
        }
        let mut free = Vec::new();
        for place in self.everywhere(name) {
            let facts = self.facts(place.file);
            let def = facts.def(place.def);
            let in_class = facts.class_of(place.def).is_some();
            let hidden = match facts.language {
                Language::C | Language::Cpp => !def.flags.has(Flags::EXPORTED) && def.kind.runs(),
                Language::Swift => is_private(facts.text(def.signature)),
                _ => false,
            };
            let reachable = !hidden || place.file == file;
            if reachable && (!in_class || (members && def.kind == DefKind::Class)) {
                free.push(place);
            }
        }
        let folder = split(self.files.path(file)).0;
        let here: Vec<_> = free.iter().copied().filter(|place| place.file == file).collect();
        let near: Vec<_> =
            free.iter().copied().filter(|place| split(self.files.path(place.file)).0 == folder).collect();
        let chosen = if !here.is_empty() {
            here
        } else if !near.is_empty() && near.iter().all(|place| place.file == near[0].file) {
            near
        } else if free.iter().all(|place| place.file == free[0].file) || self.is_open(&free) {
            free
        } else {
            Vec::new()
        };
        self.as_values(&chosen)
    }

    /// Ruby and Swift let several files add to one class: they all are that class.
    fn is_open(&mut self, places: &[Place]) -> bool {
        places.iter().all(|place| {
            let facts = self.facts(place.file);
            facts.language == Language::Ruby && facts.def(place.def).kind == DefKind::Class
        })
    }

    /// `use path::name`, by walking the tree of modules.
    pub(super) fn rust_import(&mut self, file: FileId, import: &Import, depth: u32) -> Vec<Value> {
        let facts = self.facts(file);
        let path = facts.text(import.module);
        let Some(module) = self.rust_module(file, import.scope, path, depth) else {
            return vec![Value::Foreign];
        };
        match import.name {
            None => vec![module],
            Some(name) => {
                let found = self.rust_member(module, facts.text(name), depth.saturating_sub(1));
                if found.is_empty() { vec![Value::Foreign] } else { found }
            }
        }
    }

    pub(super) fn rust_all(&mut self, file: FileId, import: &Import, name: &str, depth: u32) -> Vec<Value> {
        let facts = self.facts(file);
        let path = facts.text(import.module);
        match self.rust_module(file, import.scope, path, depth.saturating_sub(1)) {
            Some(module) => self.rust_member(module, name, depth.saturating_sub(1)),
            None => Vec::new(),
        }
    }

    /// The module at a path, seen from a scope of a file.
    pub(super) fn rust_module(
        &mut self,
        file: FileId,
        scope: DefId,
        path: &str,
        depth: u32,
    ) -> Option<Value> {
        if depth == 0 {
            return None;
        }
        let facts = self.facts(file);
        // The innermost `mod` block around, else the file.
        let mut around = scope;
        while around != DefId::FILE && facts.def(around).kind != DefKind::Namespace {
            around = facts.def(around).parent;
        }
        let block = |def: DefId| {
            if def == DefId::FILE { Value::Module(file) } else { Value::Class(Place { file, def }) }
        };
        let mut parts = path.split("::");
        let first = parts.next()?;
        let mut at = match first {
            "crate" => Value::Module(self.rust_root(file)?),
            "self" => block(around),
            "super" if around != DefId::FILE => block(self.outer_block(file, around)),
            "super" => Value::Module(self.rust_parent(file)?),
            name => {
                let local = self
                    .rust_member(block(around), name, depth - 1)
                    .into_iter()
                    .find(|value| is_module(*value));
                local.or_else(|| self.rust_crate(name).map(Value::Module))?
            }
        };
        for part in parts {
            at = match (part, at) {
                ("super", Value::Module(id)) => Value::Module(self.rust_parent(id)?),
                (name, at) => {
                    self.rust_member(at, name, depth - 1).into_iter().find(|value| is_module(*value))?
                }
            };
        }
        Some(at)
    }

    fn outer_block(&mut self, file: FileId, block: DefId) -> DefId {
        let facts = self.facts(file);
        let mut outer = facts.def(block).parent;
        while outer != DefId::FILE && facts.def(outer).kind != DefKind::Namespace {
            outer = facts.def(outer).parent;
        }
        outer
    }

    /// A name of a Rust module or type.
    pub(super) fn rust_member(&mut self, module: Value, name: &str, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        match module {
            Value::Module(id) => {
                let found = self.module_member(module, name, depth - 1);
                if !found.is_empty() && found != [Value::Foreign] {
                    return found;
                }
                self.rust_child(id, name).map(Value::Module).into_iter().collect()
            }
            other => self.member(other, name, depth - 1),
        }
    }
}

fn is_module(value: Value) -> bool {
    matches!(value, Value::Module(_) | Value::Class(_))
}

/// Whether the words before a Swift declaration keep it to its file.
fn is_private(signature: &str) -> bool {
    signature.split_whitespace().take(3).any(|word| matches!(word, "private" | "fileprivate"))
}
