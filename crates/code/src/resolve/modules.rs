//! Which file a module is, with a note of what was looked for: a file that comes or goes concerns those who looked for it.

use super::Resolver;
use crate::facts::Import;
use crate::language::Language;
use crate::project::{FileId, Lookup, Target, split};

impl<'f> Resolver<'f> {
    /// What an import of a file leads to.
    pub(super) fn target(&mut self, file: FileId, import: &Import) -> Option<Target> {
        let asked = (file, import.module, import.level);
        if let Some(known) = self.targets.get(&asked) {
            return known.clone();
        }
        let target = self.find_target(file, import);
        self.targets.insert(asked, target.clone());
        target
    }

    fn find_target(&self, file: FileId, import: &Import) -> Option<Target> {
        let facts = self.facts(file);
        let module = facts.text(import.module);
        match facts.language {
            Language::Python => {
                if import.level == 0 {
                    self.note_python(file);
                }
                match module.rsplit('.').next() {
                    Some("") | None => self.note_folder_above(file, import.level),
                    Some(last) => self.trail.lookup(Lookup::module(last)),
                }
            }
            Language::JavaScript | Language::TypeScript => self.note_script(file, module),
            Language::Lua | Language::Luau => {
                self.trail.lookup(Lookup::module(module.rsplit(['.', '/']).next().unwrap_or(module)));
            }
            Language::Go => {
                let folder = self.files.modules().go_folder(module);
                let folder = folder.as_deref().unwrap_or(module);
                self.trail.lookup(Lookup::module(split(folder).1));
            }
            Language::C | Language::Cpp | Language::Ruby | Language::Php => {
                self.trail.lookup(Lookup::module(stem(split(module).1)));
                self.trail.lookup(Lookup::module(split(module).1));
            }
            _ => self.trail.lookup(Lookup::package(module)),
        }
        self.files.modules().target(self.files, file, import)
    }

    /// A Python module by name, as seen from a file.
    pub(super) fn python_module(&mut self, file: FileId, name: &str) -> Option<Target> {
        self.note_python(file);
        self.trail.lookup(Lookup::module(name.rsplit('.').next().unwrap_or(name)));
        self.files.modules().python(self.files.path(file), name, 0)
    }

    pub(super) fn module_inside(&mut self, folder: &str, name: &str) -> Option<Target> {
        self.trail.lookup(Lookup::module(name));
        self.files.modules().inside(folder, name)
    }

    /// The files of a folder.
    pub(super) fn folder(&self, path: &str) -> &'f [FileId] {
        self.trail.lookup(Lookup::folder(path));
        self.files.modules().folder(path)
    }

    pub(super) fn rust_root(&mut self, file: FileId) -> Option<FileId> {
        self.note_starts();
        self.files.modules().rust_root(self.files.path(file))
    }

    pub(super) fn rust_parent(&mut self, file: FileId) -> Option<FileId> {
        self.note_starts();
        let (folder, name) = split(self.files.path(file));
        let inner = if name == "mod.rs" { split(folder).0 } else { folder };
        self.trail.lookup(Lookup::module("mod"));
        self.trail.lookup(Lookup::module(split(inner).1));
        self.files.modules().rust_parent(self.files.path(file))
    }

    pub(super) fn rust_child(&mut self, file: FileId, name: &str) -> Option<FileId> {
        self.trail.lookup(Lookup::module(name));
        self.files.modules().rust_child(self.files.path(file), name)
    }

    pub(super) fn rust_crate(&mut self, name: &str) -> Option<FileId> {
        self.note_starts();
        self.files.modules().rust_crate(name)
    }

    /// Where packages start, and whether the file is a script beside its modules or part of a package.
    fn note_python(&self, file: FileId) {
        self.trail.lookup(Lookup::ROOTS);
        self.trail.lookup(Lookup::package_of(split(self.files.path(file)).0));
    }

    /// `from . import name`: the package around.
    fn note_folder_above(&self, file: FileId, level: u32) {
        let mut folder = split(self.files.path(file)).0;
        for _ in 1..level {
            folder = split(folder).0;
        }
        self.trail.lookup(Lookup::module(split(folder).1));
    }

    /// Whatever an import may mean is a path, of which the last part tells who comes or goes.
    fn note_script(&self, file: FileId, module: &str) {
        for base in self.files.modules().script_bases(self.files.path(file), module) {
            let last = split(&base).1;
            self.trail.lookup(Lookup::module(last));
            self.trail.lookup(Lookup::module(stem(last)));
        }
    }

    fn note_starts(&self) {
        self.trail.lookup(Lookup::module("lib"));
        self.trail.lookup(Lookup::module("main"));
    }
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
