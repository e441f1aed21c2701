//! Import statements, language by language: what is taken from where, and what it is called here.

use tree_sitter::Node;

use super::lower::Lower;
use super::{Bound, ImportForm};
use crate::language::{Language, Role, Shape, named};

/// Takes an import statement.
pub(super) fn read(lower: &mut Lower<'_>, node: Node<'_>) {
    match lower.language {
        Language::Python => python(lower, node),
        Language::JavaScript | Language::TypeScript => script(lower, node),
        Language::Go => go(lower, node),
        Language::Rust => rust(lower, node),
        Language::C | Language::Cpp => include(lower, node),
        Language::Php => php(lower, node),
        Language::Scala => scala(lower, node),
        Language::Java | Language::CSharp | Language::Kotlin | Language::Swift => dotted(lower, node),
        Language::Ruby | Language::Lua | Language::Luau | Language::Elixir => {}
    }
}

/// Adds an import and binds it under the name it has here.
fn add(
    lower: &mut Lower<'_>,
    node: Node<'_>,
    module: &str,
    name: Option<&str>,
    here: &str,
    form: ImportForm,
) {
    let original = name.map(|name| lower.names.add(name));
    let here = lower.names.add(here);
    let alias = (original != Some(here)).then_some(here);
    let import = lower.import(node, module, original, alias, form);
    lower.bind_here(here, Bound::Import(import), node);
}

fn python(lower: &mut Lower<'_>, node: Node<'_>) {
    let module = node
        .child_by_field_name("module_name")
        .map(|module| lower.text_of(module).replace(char::is_whitespace, ""));
    let mut cursor = node.walk();
    let names: Vec<_> = node.children_by_field_name("name", &mut cursor).collect();
    for item in names {
        let path = item.child_by_field_name("name").unwrap_or(item);
        let alias = item.child_by_field_name("alias").map(|alias| lower.text_of(alias));
        let path = lower.text_of(path).replace(char::is_whitespace, "");
        match &module {
            Some(module) => {
                lower.mention(&path);
                add(lower, node, module, Some(&path), alias.unwrap_or(&path), ImportForm::Name);
            }
            None => match alias {
                Some(alias) => add(lower, node, &path, None, alias, ImportForm::Module),
                // `import a.b` binds `a`, and makes `a.b` reachable through it.
                None => {
                    let first = path.split('.').next().unwrap_or(&path).to_owned();
                    let first = lower.names.add(&first);
                    let import = lower.import(node, &path, None, None, ImportForm::Module);
                    lower.bind_here(first, Bound::Import(import), node);
                }
            },
        }
    }
    if let Some(module) = module
        && named(node).any(|child| child.kind() == "wildcard_import")
    {
        lower.import(node, &module, None, None, ImportForm::All);
    }
}

fn script(lower: &mut Lower<'_>, node: Node<'_>) {
    let Some(source) = node.child_by_field_name("source") else { return };
    let module = lower.unquoted(source);
    let Some(clause) = named(node).find(|child| child.kind() == "import_clause") else {
        lower.import(node, module, None, None, ImportForm::Module);
        return;
    };
    for part in named(clause) {
        match part.kind() {
            "namespace_import" => {
                if let Some(name) = named(part).next() {
                    add(lower, node, module, None, lower.text_of(name), ImportForm::Module);
                }
            }
            "named_imports" => {
                for item in named(part) {
                    let Some(name) = item.child_by_field_name("name") else { continue };
                    let here = item.child_by_field_name("alias").unwrap_or(name);
                    let (name, here) = (lower.text_of(name), lower.text_of(here));
                    lower.mention(name);
                    add(lower, node, module, Some(name), here, ImportForm::Name);
                }
            }
            _ => add(lower, node, module, Some("default"), lower.text_of(part), ImportForm::Name),
        }
    }
}

/// `export … from "module"`.
pub(super) fn reexport(lower: &mut Lower<'_>, node: Node<'_>, source: Node<'_>) {
    let module = lower.unquoted(source);
    let mut any = false;
    for part in named(node) {
        match part.kind() {
            "export_clause" => {
                for item in named(part) {
                    let Some(name) = item.child_by_field_name("name") else { continue };
                    let here = item.child_by_field_name("alias").unwrap_or(name);
                    let (name, here) = (lower.text_of(name), lower.text_of(here));
                    lower.mention(name);
                    add(lower, node, module, Some(name), here, ImportForm::Reexport);
                    any = true;
                }
            }
            "namespace_export" => {
                if let Some(name) = named(part).next() {
                    add(lower, node, module, None, lower.text_of(name), ImportForm::Reexport);
                    any = true;
                }
            }
            _ => {}
        }
    }
    if !any {
        lower.import(node, module, None, None, ImportForm::ReexportAll);
    }
}

fn go(lower: &mut Lower<'_>, node: Node<'_>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    let module = lower.unquoted(path);
    let name = node.child_by_field_name("name").map(|name| lower.text_of(name));
    match name {
        Some("_") => {
            lower.import(node, module, None, None, ImportForm::Module);
        }
        Some(".") => {
            lower.import(node, module, None, None, ImportForm::All);
        }
        Some(alias) => add(lower, node, module, None, alias, ImportForm::Module),
        None => {
            let parts: Vec<&str> = module.rsplit('/').collect();
            // A version at the end of a path is not the package's name.
            let is_version = parts[0].starts_with('v')
                && parts[0][1..].bytes().all(|byte| byte.is_ascii_digit())
                && parts.len() > 1;
            let here = if is_version { parts[1] } else { parts[0] };
            let here = lower.names.add(here);
            let import = lower.import(node, module, None, None, ImportForm::Module);
            lower.bind_here(here, Bound::Import(import), node);
        }
    }
}

fn rust(lower: &mut Lower<'_>, node: Node<'_>) {
    let public = named(node).any(|child| child.kind() == "visibility_modifier");
    let Some(argument) = node.child_by_field_name("argument") else { return };
    // Nested lists are followed with a list of our own, so that depth costs no stack.
    let mut left = vec![(String::new(), argument)];
    let put = |left: &mut Vec<_>, path: &str, list| {
        let first = left.len();
        left.extend(named(list).map(|item| (path.to_owned(), item)));
        // The last is taken first.
        left[first..].reverse();
    };
    while let Some((prefix, tree)) = left.pop() {
        let join = |text: &str| if prefix.is_empty() { text.to_owned() } else { format!("{prefix}::{text}") };
        match tree.kind() {
            "scoped_use_list" => {
                let path =
                    tree.child_by_field_name("path").map_or(prefix.clone(), |path| join(lower.text_of(path)));
                if let Some(list) = tree.child_by_field_name("list") {
                    put(&mut left, &path, list);
                }
            }
            "use_list" => put(&mut left, &prefix, tree),
            "use_wildcard" => {
                let path = named(tree).next().map_or(prefix.clone(), |path| join(lower.text_of(path)));
                let form = if public { ImportForm::ReexportAll } else { ImportForm::All };
                lower.import(tree, &path, None, None, form);
            }
            "use_as_clause" => {
                let path = tree.child_by_field_name("path").map(|path| join(lower.text_of(path)));
                let alias = tree.child_by_field_name("alias").map(|alias| lower.text_of(alias));
                if let (Some(path), Some(alias)) = (path, alias) {
                    rust_leaf(lower, tree, &path, Some(alias), public);
                }
            }
            _ => rust_leaf(lower, tree, &join(lower.text_of(tree)), None, public),
        }
    }
}

fn rust_leaf(lower: &mut Lower<'_>, node: Node<'_>, path: &str, alias: Option<&str>, public: bool) {
    let path = path.replace(char::is_whitespace, "");
    let path = path.strip_suffix("::self").unwrap_or(&path);
    let form = if public { ImportForm::Reexport } else { ImportForm::Name };
    match path.rsplit_once("::") {
        Some((module, name)) => {
            lower.mention(name);
            add(lower, node, module, Some(name), alias.unwrap_or(name), form);
        }
        None => add(lower, node, path, None, alias.unwrap_or(path), ImportForm::Module),
    }
}

fn include(lower: &mut Lower<'_>, node: Node<'_>) {
    if let Some(path) = node.child_by_field_name("path") {
        let module = lower.unquoted(path);
        lower.import(node, module, None, None, ImportForm::All);
    }
}

fn php(lower: &mut Lower<'_>, node: Node<'_>) {
    if node.kind() != "namespace_use_declaration" {
        // `__DIR__ . '/name.php'` is the file beside this one.
        let mut path = named(node).next();
        while let Some(inner) = path.filter(|path| lower.role(*path) == Some(Role::Through)) {
            path = named(inner).next();
        }
        let path = path.map(|path| path.child_by_field_name("right").unwrap_or(path));
        if let Some(text) = path.filter(|path| lower.role(*path) == Some(Role::Text)) {
            let module = lower.unquoted(text);
            lower.import(node, module, None, None, ImportForm::All);
        }
        return;
    }
    let prefix =
        named(node).find(|child| child.kind() == "namespace_name").map(|prefix| lower.text_of(prefix));
    let group = node.child_by_field_name("body").unwrap_or(node);
    for clause in named(group).filter(|child| child.kind() == "namespace_use_clause") {
        let alias = clause.child_by_field_name("alias").map(|alias| lower.text_of(alias));
        let Some(path) = named(clause).find(|child| matches!(child.kind(), "qualified_name" | "name")) else {
            continue;
        };
        let path = match prefix {
            Some(prefix) => format!("{prefix}\\{}", lower.text_of(path)),
            None => lower.text_of(path).to_owned(),
        };
        dotted_leaf(lower, clause, &path.replace('\\', "."), alias);
    }
}

/// `require "module"`, which is a call.
pub(super) fn ruby(lower: &mut Lower<'_>, node: Node<'_>, shape: &Shape) {
    let argument = shape.params.child(node).and_then(|arguments| named(arguments).next());
    if let Some(text) = argument.filter(|argument| lower.role(*argument) == Some(Role::Text)) {
        lower.import(node, lower.unquoted(text), None, None, ImportForm::All);
    }
}

/// `import a.b.C`, `using A.B`, `import Module`.
fn dotted(lower: &mut Lower<'_>, node: Node<'_>) {
    let text = lower.text_of(node).trim_end_matches(';').trim().to_owned();
    let words: Vec<&str> = text.split_whitespace().collect();
    let path: String =
        words.iter().filter(|word| !is_import_word(word)).copied().collect::<Vec<_>>().join(" ");
    if let Some((alias, path)) = path.split_once('=') {
        return dotted_leaf(lower, node, path.trim(), Some(alias.trim()));
    }
    let (path, alias) =
        path.split_once(" as ").map_or((path.as_str(), None), |(path, alias)| (path, Some(alias.trim())));
    match path.strip_suffix(".*") {
        Some(module) => {
            lower.import(node, module, None, None, ImportForm::All);
        }
        None if matches!(lower.language, Language::CSharp | Language::Swift) => {
            lower.import(node, path, None, None, ImportForm::All);
        }
        None => dotted_leaf(lower, node, path, alias),
    }
}

/// What an import says beside the path: what it is, of what kind, and for whom.
fn is_import_word(word: &str) -> bool {
    let kinds = ["struct", "class", "func", "enum", "protocol", "typealias", "let", "var"];
    let words = ["import", "using", "static", "global", "unsafe", "public", "internal", "package"];
    word.starts_with('@') || kinds.contains(&word) || words.contains(&word)
}

fn dotted_leaf(lower: &mut Lower<'_>, node: Node<'_>, path: &str, alias: Option<&str>) {
    let path = path.trim_start_matches('.');
    match path.rsplit_once('.') {
        Some((module, name)) => {
            lower.mention(name);
            add(lower, node, module, Some(name), alias.unwrap_or(name), ImportForm::Name);
        }
        None => add(lower, node, path, None, alias.unwrap_or(path), ImportForm::Module),
    }
}

fn scala(lower: &mut Lower<'_>, node: Node<'_>) {
    let text = lower.text_of(node);
    let path = text.strip_prefix("import").unwrap_or(text).trim();
    let (module, rest) = match path.split_once('{') {
        Some((module, rest)) => (module.trim().trim_end_matches('.'), rest.trim_end_matches('}')),
        None => path.rsplit_once('.').unwrap_or(("", path)),
    };
    let (module, rest) = (module.to_owned(), rest.to_owned());
    for item in rest.split(',') {
        let (name, alias) = item
            .split_once("=>")
            .or_else(|| item.split_once(" as "))
            .map_or((item, None), |(name, alias)| (name, Some(alias.trim())));
        let name = name.trim();
        if matches!(name, "_" | "*" | "given") {
            lower.import(node, &module, None, None, ImportForm::All);
        } else if !name.is_empty() {
            lower.mention(name);
            add(lower, node, &module, Some(name), alias.unwrap_or(name), ImportForm::Name);
        }
    }
}
