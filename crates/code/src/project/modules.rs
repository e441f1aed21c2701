//! Which file an import means, language by language. Only paths, declared packages and build files are looked at.

use std::collections::{BTreeSet, HashMap};

use super::manifest::Kind;
use super::path::{ancestors, join, split, walk, within};
use super::{FileId, Files};
use crate::facts::{Facts, Import};
use crate::language::Language;

/// What an import leads to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    File(FileId),
    /// A folder of modules, or a package of several files.
    Folder(Box<str>),
}

/// Where modules are.
#[derive(Default)]
pub(crate) struct Modules {
    /// Files by path without extension.
    stems: HashMap<Box<str>, Vec<FileId>>,
    /// Files by folder; a folder of folders only has none.
    folders: HashMap<Box<str>, Vec<FileId>>,
    /// Folders that Python packages start in, the longest path first.
    roots: Vec<Box<str>>,
    /// Folders of Rust crates by the crate's name.
    crates: HashMap<Box<str>, Box<str>>,
    /// Files by declared package.
    packages: HashMap<Box<str>, Vec<FileId>>,
    /// Folders of Go modules by name, the longest name first.
    go: Vec<(Box<str>, Box<str>)>,
    /// Folders of script packages by name.
    scripts: HashMap<Box<str>, Box<str>>,
    /// What imports stand for below a folder, the longest path of a folder and then the longest pattern first.
    aliases: Vec<(Box<str>, Box<str>, Box<str>)>,
}

impl Modules {
    pub(super) fn build(files: &Files) -> Self {
        let mut modules = Self::default();
        for (id, entry) in files.each() {
            let path: &str = &entry.path;
            let (folder, name) = split(path);
            let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
            let base = name.rsplit_once('.').map_or(name, |(base, _)| base);
            modules.stems.entry(join(folder, base).into()).or_default().push(id);
            if name.ends_with(".d.ts") {
                modules.stems.entry(join(folder, stem).into()).or_default().push(id);
            }
            modules.folders.entry(folder.into()).or_default().push(id);
            for above in ancestors(split(folder).0) {
                if modules.folders.contains_key(above) {
                    break;
                }
                modules.folders.insert(above.into(), Vec::new());
            }
            if let Some(package) = entry.facts.package {
                let package = entry.facts.text(package);
                modules.packages.entry(package.into()).or_default().push(id);
            }
            if entry.facts.language == Language::Rust && matches!(name, "lib.rs" | "main.rs") {
                let root = folder.strip_suffix("src").map_or(folder, |root| root.trim_end_matches('/'));
                let krate = root.rsplit('/').next().unwrap_or(root).replace('-', "_");
                modules.crates.entry(krate.into()).or_insert_with(|| folder.into());
            }
        }
        modules.find_roots();
        modules.read(files);
        modules
    }

    /// Takes in what build files say.
    fn read(&mut self, files: &Files) {
        for (path, manifest) in files.manifests() {
            let folder: Box<str> = split(path).0.into();
            let Some(name) = manifest.name.clone() else { continue };
            match manifest.kind {
                Kind::Go => self.go.push((name, folder)),
                Kind::Cargo => {
                    self.crates.insert(name, join(&folder, "src").into());
                }
                Kind::Package => {
                    self.scripts.insert(name, folder);
                }
                Kind::Scripts => {}
            }
        }
        let configurations = files.configurations(&self.scripts);
        for (path, manifest) in files.manifests().filter(|(_, manifest)| manifest.kind == Kind::Scripts) {
            let below = |(pattern, target)| (split(path).0.into(), pattern, target);
            self.aliases.extend(configurations.aliases(path, &manifest.scripts).into_iter().map(below));
        }
        self.go.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        // As written where they are as long: the first of several targets is the one that is meant.
        self.aliases.sort_by_key(|(folder, pattern, _)| std::cmp::Reverse((folder.len(), pattern.len())));
    }

    /// A folder is a root if it holds a package and is none itself.
    fn find_roots(&mut self) {
        let mut roots = BTreeSet::new();
        for folder in self.folders.keys().filter(|folder| self.is_package(folder)) {
            let mut top: &str = folder;
            while !top.is_empty() && self.is_package(split(top).0) {
                top = split(top).0;
            }
            roots.insert(split(top).0.into());
        }
        roots.extend(["", "src", "lib", "python"].map(Into::into));
        self.roots = roots.into_iter().collect();
        self.roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
    }

    fn is_package(&self, folder: &str) -> bool {
        self.stems.contains_key(join(folder, "__init__").as_str())
    }

    /// What an import's module is, seen from a file.
    pub(crate) fn target(&self, files: &Files, from: FileId, import: &Import) -> Option<Target> {
        let facts = files.facts(from);
        let path = files.path(from);
        let module = facts.text(import.module);
        match facts.language {
            Language::Python => self.python(path, module, import.level),
            Language::JavaScript | Language::TypeScript => self.script(path, module),
            Language::Go => self.go(module),
            Language::Lua | Language::Luau => self.lua(path, module),
            Language::C | Language::Cpp => self.header(files, path, module),
            Language::Ruby | Language::Php => self.relative(path, module),
            _ => self.packages.contains_key(module).then(|| Target::Folder(module.into())),
        }
    }

    /// A module by dotted name, seen from a file.
    pub(crate) fn python(&self, path: &str, module: &str, level: u32) -> Option<Target> {
        let inner = module.replace('.', "/");
        let folder = split(path).0;
        if level > 0 {
            let mut base = folder;
            for _ in 1..level {
                base = split(base).0;
            }
            return self.python_at(base, &inner);
        }
        // The importing file's own folder counts for scripts, and the roots above it before all others.
        let own = (!self.is_package(folder)).then_some(folder);
        let near = self.roots.iter().filter(|root| within(path, root));
        let far = self.roots.iter().filter(|root| !within(path, root));
        let mut bases = own.into_iter().chain(near.chain(far).map(AsRef::as_ref));
        bases.find_map(|root| self.python_at(root, &inner))
    }

    fn python_at(&self, base: &str, inner: &str) -> Option<Target> {
        let path = if inner.is_empty() { base.to_owned() } else { join(base, inner) };
        let file = |stem: &str| self.stems.get(stem).and_then(|files| files.first().copied());
        let package = file(&join(&path, "__init__"));
        let module = if inner.is_empty() { None } else { file(&path) };
        let folder = self.folders.contains_key(path.as_str());
        package
            .or(module)
            .map(Target::File)
            .or_else(|| (folder && !path.is_empty()).then(|| Target::Folder(path.into())))
    }

    fn script(&self, path: &str, module: &str) -> Option<Target> {
        self.script_bases(path, module).iter().find_map(|base| self.script_file(base)).map(Target::File)
    }

    /// Paths without an ending that an import may mean, the likeliest first.
    pub(crate) fn script_bases(&self, path: &str, module: &str) -> Vec<String> {
        let folder = split(path).0;
        if module.starts_with('.') {
            return walk(folder, module).into_iter().collect();
        }
        let aliases = self.aliases.iter().filter(|(above, _, _)| within(path, above));
        let mut bases: Vec<String> =
            aliases.filter_map(|(_, pattern, target)| stands_for(module, pattern, target)).collect();
        for name in ancestors(module).filter(|name| !name.is_empty()) {
            if let Some(package) = self.scripts.get(name) {
                let inner = module[name.len()..].trim_start_matches('/');
                bases.extend([join(&join(package, "src"), inner), join(package, inner)]);
            }
        }
        // The usual alias for a source folder above us, where nobody wrote down what it means.
        if let Some(inner) = module.strip_prefix("@/").or_else(|| module.strip_prefix("~/")) {
            bases.extend(ancestors(folder).map(|root| join(&join(root, "src"), inner)));
            bases.extend(ancestors(folder).map(|root| join(root, inner)));
        }
        bases.iter_mut().for_each(|base| base.truncate(base.trim_end_matches('/').len()));
        bases
    }

    fn script_file(&self, base: &str) -> Option<FileId> {
        let bare = [".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx"]
            .iter()
            .find_map(|ending| base.strip_suffix(ending));
        let file = |stem: &str| self.stems.get(stem).and_then(|files| files.first().copied());
        file(base).or_else(|| bare.and_then(file)).or_else(|| file(&join(base, "index")))
    }

    fn go(&self, module: &str) -> Option<Target> {
        let folder = self.go_folder(module)?;
        self.folders.contains_key(folder.as_str()).then(|| Target::Folder(folder.into()))
    }

    /// The folder of a Go package: by the module that its path begins with, or a copy of another's. Where no module says
    /// its name, the folder with the longest ending of the path.
    pub(crate) fn go_folder(&self, module: &str) -> Option<String> {
        if self.go.is_empty() {
            let mut endings = std::iter::successors(Some(module), |rest| Some(rest.split_once('/')?.1));
            return endings.find(|rest| self.folders.contains_key(*rest)).map(str::to_owned);
        }
        let own = self.go.iter().find_map(|(name, folder)| {
            // The packages of Go itself go by their folders alone.
            if &**name == "std" {
                let whole = join(folder, module);
                return self.folders.contains_key(whole.as_str()).then_some(whole);
            }
            let inner = module.strip_prefix(&**name)?;
            (inner.is_empty() || inner.starts_with('/'))
                .then(|| join(folder, inner.trim_start_matches('/')).trim_end_matches('/').to_owned())
        });
        let copied = join("vendor", module);
        own.or_else(|| self.folders.contains_key(copied.as_str()).then_some(copied))
    }

    fn lua(&self, path: &str, module: &str) -> Option<Target> {
        let inner = module.trim_start_matches("./").replace('.', "/");
        let own = split(path).0;
        let bases = [own, "", "src", "lua", "lib"];
        let found = bases.iter().chain(&ancestors(own).collect::<Vec<_>>()).find_map(|base| {
            let stem = join(base, &inner);
            let files =
                self.stems.get(stem.as_str()).or_else(|| self.stems.get(join(&stem, "init").as_str()));
            files.and_then(|files| files.first().copied())
        });
        found.map(Target::File)
    }

    fn header(&self, files: &Files, path: &str, module: &str) -> Option<Target> {
        let stem = module.rsplit_once('.').map_or(module, |(stem, _)| stem);
        let own = walk(split(path).0, stem).unwrap_or_default();
        let above =
            ancestors(split(path).0).flat_map(|base| [join(base, stem), join(&join(base, "include"), stem)]);
        let mut bases = std::iter::once(own).chain(above);
        let name = split(module).1;
        let is_it = |id: &&FileId| split(files.path(**id)).1 == name;
        bases.find_map(|base| self.stems.get(base.as_str())?.iter().find(is_it).copied()).map(Target::File)
    }

    fn relative(&self, path: &str, module: &str) -> Option<Target> {
        let stem = module.strip_suffix(".php").or_else(|| module.strip_suffix(".rb")).unwrap_or(module);
        let bases = [walk(split(path).0, stem)?, join("lib", stem), stem.to_owned()];
        bases
            .iter()
            .find_map(|base| self.stems.get(base.as_str()).and_then(|files| files.first().copied()))
            .map(Target::File)
    }

    /// Folders that Python packages start in.
    pub(super) fn roots(&self) -> &[Box<str>] {
        &self.roots
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.folders.contains_key(path)
    }

    /// Files that say they are in a package.
    pub(crate) fn package(&self, name: &str) -> &[FileId] {
        self.packages.get(name).map_or(&[], Vec::as_slice)
    }

    /// Files of a Swift module, where it lies as its package manager has it.
    pub(crate) fn swift_module(&self, name: &str) -> impl Iterator<Item = FileId> {
        let is_part = move |folder: &str| {
            let mut parts = folder.split('/');
            parts.any(|part| matches!(part, "Sources" | "Source" | "src" | "srcs"))
                && parts.next() == Some(name)
        };
        self.folders.iter().filter(move |(folder, _)| is_part(folder)).flat_map(|(_, files)| files).copied()
    }

    /// Files of a folder.
    pub(crate) fn folder(&self, path: &str) -> &[FileId] {
        self.folders.get(path).map_or(&[], Vec::as_slice)
    }

    /// A module inside a folder of modules, or inside the package that a file starts.
    pub(crate) fn inside(&self, folder: &str, name: &str) -> Option<Target> {
        self.python_at(folder, name)
    }

    /// The file a Rust module's inner module is in.
    pub(crate) fn rust_child(&self, path: &str, name: &str) -> Option<FileId> {
        let (folder, file) = split(path);
        let base = match file {
            "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
            other => join(folder, other.strip_suffix(".rs").unwrap_or(other)),
        };
        let file = |stem: &str| self.stems.get(stem).and_then(|files| files.first().copied());
        file(&join(&base, name)).or_else(|| file(&join(&join(&base, name), "mod")))
    }

    /// The file a Rust crate starts in, seen from one of its files.
    pub(crate) fn rust_root(&self, path: &str) -> Option<FileId> {
        let mut folder = split(path).0;
        loop {
            for start in ["lib", "main"] {
                if let Some(files) = self.stems.get(join(folder, start).as_str()) {
                    return files.first().copied();
                }
            }
            if folder.is_empty() {
                return None;
            }
            folder = split(folder).0;
        }
    }

    pub(crate) fn rust_crate(&self, name: &str) -> Option<FileId> {
        let folder = self.crates.get(name)?;
        ["lib", "main"]
            .iter()
            .find_map(|start| self.stems.get(join(folder, start).as_str())?.first().copied())
    }

    /// The parent module's file of a Rust file.
    pub(crate) fn rust_parent(&self, path: &str) -> Option<FileId> {
        let (folder, file) = split(path);
        let inner = if file == "mod.rs" { split(folder).0 } else { folder };
        let (outer, name) = split(inner);
        let own = |stem: String| self.stems.get(stem.as_str()).and_then(|files| files.first().copied());
        let roots = ["lib", "main", "mod"].iter().find_map(|start| own(join(inner, start)));
        roots.or_else(|| own(join(outer, name)))
    }

    /// The folder a package file stands for.
    pub(crate) fn package_folder<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (folder, file) = split(path);
        file.starts_with("__init__.").then_some(folder)
    }
}

/// The dotted name of a Python file, from the root of its packages.
pub(crate) fn python_name(modules: &Modules, path: &str) -> String {
    let (mut root, _) = split(path);
    while !root.is_empty() && modules.is_package(root) {
        root = split(root).0;
    }
    let inner = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
    let inner = inner.rsplit_once('.').map_or(inner, |(stem, _)| stem);
    inner.strip_suffix("/__init__").unwrap_or(inner).replace('/', ".")
}

/// Whether a Rust file is the module of a path that starts with `crate` or the name of one.
pub(crate) fn is_rust_module(modules: &Modules, files: &Files, path: &str, module: &str) -> bool {
    let (first, rest) = module.split_once("::").unwrap_or((module, ""));
    let Some(root) = modules.rust_root(path).map(|root| split(files.path(root)).0) else { return false };
    let ours = first == "crate" || modules.crates.get(first).is_some_and(|folder| **folder == *root);
    let inner = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').trim_end_matches(".rs");
    let inner = match inner {
        "lib" | "main" => "",
        inner => inner.strip_suffix("/mod").unwrap_or(inner),
    };
    ours && inner.replace('/', "::") == rest
}

/// The package a file says it is in.
pub(crate) fn declared_package(facts: &Facts) -> Option<&str> {
    facts.package.map(|package| facts.text(package))
}

/// What an import is by a pattern, if it is one of those.
fn stands_for(module: &str, pattern: &str, target: &str) -> Option<String> {
    let Some((before, after)) = pattern.split_once('*') else {
        return (module == pattern).then(|| target.to_owned());
    };
    let inner = module.strip_prefix(before)?.strip_suffix(after)?;
    Some(target.replacen('*', inner, 1))
}
