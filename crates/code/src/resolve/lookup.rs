//! What a name means where it stands: scopes from the inside out, then what is seen without an import.

use super::{DEPTH, Resolver, Value};
use crate::facts::{Binding, Bound, DefId, DefKind, ExprId, Flags, Import, ImportForm, Sym};
use crate::language::Language;
use crate::project::{FileId, Place, Target};

impl Resolver<'_> {
    /// All that a name may stand for, read in a scope of a file.
    pub(super) fn lookup(&mut self, file: FileId, scope: DefId, name: Sym, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        let facts = self.facts(file);
        let python = facts.language == Language::Python;
        let bare = facts.language.table().members_are_bare;
        let mut at = scope;
        loop {
            let kind = facts.def(at).kind;
            // Members are not seen without what they are of, where a language wants that; a Python class's own body is code.
            let seen = !kind.has_members() || bare || (python && at == scope);
            if seen {
                let bound = facts.bound(at, name);
                if bound.iter().any(|binding| binding.to == Bound::Global) {
                    let outer = facts.bound(DefId::FILE, name);
                    return self.bound_values(file, outer, depth);
                }
                if !bound.is_empty() {
                    let values = self.bound_values(file, bound, depth);
                    let is_ours = python && file == self.home && values.is_empty();
                    return if is_ours { self.shaped(at, name) } else { values };
                }
            }
            if facts.language == Language::Rust && kind == DefKind::Extension {
                let bound = facts.bound(at, name);
                let open = bound.iter().filter(|binding| matches!(binding.to, Bound::Value(_)));
                if bound.len() == 1 && open.count() == 1 {
                    return self.bound_values(file, bound, depth);
                }
            }
            if let Some(found) = self.member_in_scope(file, at, name, depth) {
                return found;
            }
            let all = self.all_imported(file, at, facts.text(name), depth);
            if !all.is_empty() {
                return all;
            }
            if at == DefId::FILE {
                break;
            }
            at = facts.def(at).parent;
        }
        if let Some(known) = self.unbound.get(&(file, name)) {
            return known.to_vec();
        }
        let found = self.ambient(file, facts.text(name));
        self.unbound.insert((file, name), found.as_slice().into());
        found
    }

    /// A bare name that is a member of the class around, where a language allows that.
    fn member_in_scope(&mut self, file: FileId, at: DefId, name: Sym, depth: u32) -> Option<Vec<Value>> {
        let facts = self.facts(file);
        let def = facts.def(at);
        let bare = facts.language.table().members_are_bare;
        if !bare || !(def.kind.has_members() || def.owner.is_some()) {
            return None;
        }
        let class = if def.kind.has_members() {
            self.class_at(file, at, depth)
        } else {
            self.owner_class(file, at, depth)
        }?;
        let found = self.class_member(class, facts.text(name), depth - 1);
        (!found.is_empty()).then(|| self.member_values(&found, depth - 1))
    }

    /// The values of all bindings of one name.
    pub(super) fn bound_values(&mut self, file: FileId, bound: &[Binding], depth: u32) -> Vec<Value> {
        let mut out = Vec::new();
        for binding in bound {
            for value in self.binding_values(file, *binding, depth.saturating_sub(1)) {
                if !out.contains(&value) {
                    out.push(value);
                }
            }
        }
        out
    }

    pub(super) fn binding_values(&mut self, file: FileId, binding: Binding, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        match binding.to {
            Bound::Def(def) => {
                let place = Place { file, def };
                match self.facts(file).def(def).kind {
                    DefKind::Class | DefKind::Namespace | DefKind::Object => vec![Value::Class(place)],
                    DefKind::Extension | DefKind::File => Vec::new(),
                    _ => vec![Value::Function(place)],
                }
            }
            Bound::Import(place) => self.imported(file, place, depth),
            Bound::Value(expr) => self.infer(file, expr, binding.within, depth).to_vec(),
            // A type that we cannot read is none of ours.
            Bound::Typed(ExprId::UNKNOWN) => vec![Value::Foreign],
            Bound::Typed(expr) => self.of_type(file, expr, binding.within, depth),
            Bound::Param(place) => self.parameter(file, binding.scope, place, depth),
            Bound::Global => Vec::new(),
        }
    }

    /// The first parameter of a method is the object, or the class.
    fn parameter(&mut self, file: FileId, scope: DefId, place: u32, depth: u32) -> Vec<Value> {
        let facts = self.facts(file);
        let def = facts.def(scope);
        let is_method = matches!(def.kind, DefKind::Method | DefKind::Property);
        if place != 0 || facts.language != Language::Python || !is_method || def.flags.has(Flags::STATIC) {
            return Vec::new();
        }
        let Some(class) = self.class_at(file, def.parent, depth) else { return Vec::new() };
        let takes_class = def.flags.has(Flags::CLASS_LEVEL)
            || matches!(facts.text(def.name), "__new__" | "__init_subclass__" | "__class_getitem__")
            || def
                .params
                .first()
                .is_some_and(|param| matches!(facts.text(param.name), "cls" | "klass" | "mcs"));
        vec![if takes_class { Value::Class(class) } else { Value::Instance(class) }]
    }

    /// The class that a scope with members stands for: itself, or the one it extends.
    pub(super) fn class_at(&mut self, file: FileId, at: DefId, depth: u32) -> Option<Place> {
        let facts = self.facts(file);
        let def = facts.def(at);
        match def.kind {
            DefKind::Class | DefKind::Object => Some(Place { file, def: at }),
            DefKind::Extension => self.class_named(file, def.parent, def.name, depth),
            _ => None,
        }
    }

    /// The class of a method that is written outside it.
    pub(super) fn owner_class(&mut self, file: FileId, at: DefId, depth: u32) -> Option<Place> {
        let def = self.facts(file).def(at);
        self.class_named(file, DefId::FILE, def.owner?, depth)
    }

    fn class_named(&mut self, file: FileId, scope: DefId, name: Sym, depth: u32) -> Option<Place> {
        let values = self.lookup(file, scope, name, depth.saturating_sub(1));
        values.into_iter().find_map(|value| match value {
            Value::Class(place) => Some(place),
            _ => None,
        })
    }

    /// What an import brings.
    pub(super) fn imported(&mut self, file: FileId, place: u32, depth: u32) -> Vec<Value> {
        let facts = self.facts(file);
        let import = facts.import(place);
        if facts.language == Language::Rust {
            return self.rust_import(file, import, depth);
        }
        let Some(target) = self.target(file, import) else {
            return self.imported_type(file, import);
        };
        match import.name {
            None => {
                if facts.language == Language::Python && import.alias.is_none() {
                    return self.first_part(file, import);
                }
                vec![self.module_value(file, place, &target)]
            }
            Some(name) => {
                let name = facts.text(name);
                let module = self.module_value(file, place, &target);
                let found = self.module_member(module, name, depth);
                if found.is_empty() { self.imported_type(file, import) } else { found }
            }
        }
    }

    /// A class named by package and name, or by a name alone that only one class has.
    fn imported_type(&mut self, file: FileId, import: &Import) -> Vec<Value> {
        let facts = self.facts(file);
        match facts.language {
            Language::Java | Language::Kotlin | Language::Scala | Language::Php | Language::CSharp => {
                let name = import.name.unwrap_or(import.module);
                self.in_package_or_type(facts.text(import.module), facts.text(name))
            }
            Language::Elixir => {
                let found = self.everywhere(facts.text(import.module));
                self.as_values(&found)
            }
            _ => vec![Value::Foreign],
        }
    }

    /// `import a.b` makes `a` known.
    fn first_part(&mut self, file: FileId, import: &Import) -> Vec<Value> {
        let facts = self.facts(file);
        let first = facts.text(import.module).split('.').next().unwrap_or_default();
        let target = self.python_module(file, first);
        match target {
            Some(Target::File(id)) => vec![Value::Module(id)],
            Some(Target::Folder(folder)) => {
                self.any_file_in(&folder).map(Value::Inside).into_iter().collect()
            }
            None => vec![Value::Foreign],
        }
    }

    pub(super) fn module_value(&mut self, file: FileId, place: u32, target: &Target) -> Value {
        match target {
            Target::File(id) => Value::Module(*id),
            Target::Folder(_) => Value::Folder(file, place),
        }
    }

    /// All names that `import *` and its like bring into a scope.
    fn all_imported(&mut self, file: FileId, scope: DefId, name: &str, depth: u32) -> Vec<Value> {
        let facts = self.facts(file);
        let mut out = Vec::new();
        for (place, import) in (0..).zip(facts.imports()) {
            if !matches!(import.form, ImportForm::All | ImportForm::ReexportAll) || import.scope != scope {
                continue;
            }
            out = self.given_by_all(file, place, import, name, depth);
            // What a module only imports itself it seldom gives on: another one may be meant.
            if out.iter().any(|value| *value != Value::Foreign) {
                break;
            }
        }
        out
    }

    fn given_by_all(
        &mut self,
        file: FileId,
        place: u32,
        import: &Import,
        name: &str,
        depth: u32,
    ) -> Vec<Value> {
        let facts = self.facts(file);
        match facts.language {
            Language::Rust => self.rust_all(file, import, name, depth),
            // Headers and loaded files are looked at through what is seen everywhere.
            Language::C | Language::Cpp | Language::Ruby | Language::Php | Language::Swift => Vec::new(),
            Language::Elixir => {
                let module = self.everywhere(facts.text(import.module));
                let classes = self.as_values(&module);
                let mut out = Vec::new();
                for value in classes {
                    if let Value::Class(class) = value {
                        let found = self.class_member(class, name, depth.saturating_sub(1));
                        out.extend(self.member_values(&found, depth.saturating_sub(1)));
                    }
                }
                out
            }
            _ => match self.target(file, import) {
                Some(target) => {
                    let module = self.module_value(file, place, &target);
                    self.module_member(module, name, depth.saturating_sub(1))
                }
                None if facts.language == Language::Java => {
                    self.in_package_or_type(facts.text(import.module), name)
                }
                None => Vec::new(),
            },
        }
    }

    /// A name of a module.
    pub(super) fn module_member(&mut self, module: Value, name: &str, depth: u32) -> Vec<Value> {
        if depth == 0 {
            return Vec::new();
        }
        match module {
            Value::Module(id) => self.file_member(id, name, depth),
            Value::Folder(file, place) => {
                let facts = self.facts(file);
                let import = facts.import(place);
                match self.target(file, import) {
                    Some(Target::Folder(folder)) => self.folder_member(&folder, facts.language, name),
                    _ => Vec::new(),
                }
            }
            Value::Inside(file) => {
                let folder = crate::project::split(self.files.path(file)).0.to_owned();
                self.folder_member(&folder, Language::Python, name)
            }
            _ => Vec::new(),
        }
    }

    fn folder_member(&mut self, folder: &str, language: Language, name: &str) -> Vec<Value> {
        match language {
            Language::Python => match self.module_inside(folder, name) {
                Some(Target::File(id)) => vec![Value::Module(id)],
                Some(Target::Folder(inner)) => {
                    self.any_file_in(&inner).map(Value::Inside).into_iter().collect()
                }
                None => Vec::new(),
            },
            Language::Go => self.go_member(folder, name),
            _ => self.in_package(folder, name),
        }
    }

    fn any_file_in(&self, folder: &str) -> Option<FileId> {
        self.folder(folder).first().copied()
    }

    /// A name of a file seen as a module. While it is being asked for it is nothing, so that modules that give on
    /// each other's names come to an end.
    fn file_member(&mut self, id: FileId, name: &str, depth: u32) -> Vec<Value> {
        let key = (id, Box::from(name));
        if let Some(known) = self.given.get(&key) {
            return known.to_vec();
        }
        self.given.insert(key.clone(), std::rc::Rc::clone(&self.none));
        let found = self.own_or_given(id, name, depth);
        self.given.insert(key, found.as_slice().into());
        found
    }

    /// Bound there, given on from elsewhere, or a module inside its package.
    fn own_or_given(&mut self, id: FileId, name: &str, depth: u32) -> Vec<Value> {
        let facts = self.facts(id);
        let mut out = Vec::new();
        out.extend(self.bound_values(id, facts.bound_text(DefId::FILE, name), depth));
        out.retain(|value| *value != Value::Module(id));
        if out.is_empty() || out == [Value::Foreign] {
            let given = self.all_imported(id, DefId::FILE, name, depth - 1);
            if !given.is_empty() {
                return given;
            }
            // Also for a package that takes a module out of itself: `from shop import prices` in shop's own file.
            if facts.language == Language::Python
                && let Some(folder) = self.files.modules().package_folder(self.files.path(id))
            {
                let folder = folder.to_owned();
                let inside = self.folder_member(&folder, Language::Python, name);
                if !inside.is_empty() {
                    return inside;
                }
            }
        }
        if out.is_empty()
            && matches!(
                facts.language,
                Language::JavaScript | Language::TypeScript | Language::Lua | Language::Luau
            )
        {
            return self.given_object(id, name, depth);
        }
        out
    }

    /// A member of what a module as a whole gives: `module.exports`, or what a Lua file returns.
    fn given_object(&mut self, id: FileId, name: &str, depth: u32) -> Vec<Value> {
        let facts = self.facts(id);
        let mut given = Vec::new();
        if name != "default" {
            given = self.bound_values(id, facts.bound_text(DefId::FILE, "default"), depth - 1);
        }
        for expr in &facts.def(DefId::FILE).returns {
            given.extend(self.infer(id, *expr, DefId::FILE, depth - 1).iter());
        }
        let mut out = Vec::new();
        for value in given {
            out.extend(self.member(value, name, depth - 1));
        }
        out
    }

    pub(super) fn as_values(&mut self, places: &[Place]) -> Vec<Value> {
        let mut out = Vec::new();
        for place in places {
            let binding = Binding {
                scope: DefId::FILE,
                name: Sym(0),
                to: Bound::Def(place.def),
                within: DefId::FILE,
                line: 0,
            };
            out.extend(self.binding_values(place.file, binding, DEPTH));
        }
        out
    }
}
