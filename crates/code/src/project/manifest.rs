//! What build files say about the names of modules: `go.mod`, `Cargo.toml`, `package.json` and `tsconfig.json`. Texts in,
//! names out; nothing is looked up, and whatever cannot be read says nothing.

use std::sync::Arc;

use serde_json::Value;

use super::path::{join, split, walk};

/// What one build file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub(crate) kind: Kind,
    /// The name that others import it by.
    pub(crate) name: Option<Box<str>>,
    /// For TypeScript: patterns of imports, and the path from the project's root that each stands for. A `*` in both is
    /// the same text.
    pub(crate) aliases: Vec<(Box<str>, Box<str>)>,
}

/// The path of a build file and what it says now; nothing if it is gone or says nothing.
pub type Said = (Arc<str>, Option<Arc<Manifest>>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Go,
    Cargo,
    Package,
    Scripts,
}

impl Manifest {
    /// Whether the file at a path is one that [`Manifest::read`] understands.
    pub fn is_at(path: &str) -> bool {
        kind(path).is_some()
    }

    /// What the file at `path` says. `None` if that is no build file, or nothing that we need.
    pub fn read(path: &str, text: &str) -> Option<Self> {
        let kind = kind(path)?;
        let (name, aliases) = match kind {
            Kind::Go => (go_module(text), Vec::new()),
            Kind::Cargo => (crate_name(text), Vec::new()),
            Kind::Package => (json(text)?.get("name").and_then(Value::as_str).map(Into::into), Vec::new()),
            Kind::Scripts => (None, aliases(split(path).0, &json(text)?)),
        };
        (name.is_some() || !aliases.is_empty()).then_some(Self { kind, name, aliases })
    }
}

fn kind(path: &str) -> Option<Kind> {
    match split(path).1 {
        "go.mod" => Some(Kind::Go),
        "Cargo.toml" => Some(Kind::Cargo),
        "package.json" => Some(Kind::Package),
        name if name.ends_with(".json") && name.starts_with("tsconfig") => Some(Kind::Scripts),
        "jsconfig.json" => Some(Kind::Scripts),
        _ => None,
    }
}

fn go_module(text: &str) -> Option<Box<str>> {
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("module"))?;
    let name = line.strip_prefix([' ', '\t'])?.split("//").next()?.trim();
    Some(name.trim_matches('"').into())
}

/// The library's own name, else the package's, as code spells it.
fn crate_name(text: &str) -> Option<Box<str>> {
    let mut section = "";
    let (mut package, mut library) = (None, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let name = line.strip_prefix("name").and_then(|rest| rest.trim_start().strip_prefix('='));
        let name = name.and_then(|rest| rest.split(['"', '\'']).nth(1));
        match section {
            "[package]" => package = package.or(name),
            "[lib]" => library = library.or(name),
            _ => {}
        }
    }
    library.or(package).map(|name| name.replace('-', "_").into())
}

fn aliases(folder: &str, config: &Value) -> Vec<(Box<str>, Box<str>)> {
    let options = &config["compilerOptions"];
    let base = options["baseUrl"].as_str();
    let Some(from) = walk(folder, base.unwrap_or(".")) else { return Vec::new() };
    let mut out: Vec<(Box<str>, Box<str>)> = Vec::new();
    for (pattern, targets) in options["paths"].as_object().into_iter().flatten() {
        for target in targets.as_array().into_iter().flatten().filter_map(Value::as_str) {
            if let Some(path) = walk(&from, target) {
                out.push((pattern.as_str().into(), path.into()));
            }
        }
    }
    // With a base, every import may be a path from there.
    if base.is_some() {
        out.push(("*".into(), join(&from, "*").into()));
    }
    out
}

/// JSON as these files are written: with comments, and commas that nothing follows.
fn json(text: &str) -> Option<Value> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' => text_length(rest),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '/' if rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
                continue;
            }
            ']' | '}' => {
                let kept = plain.trim_end();
                plain.truncate(kept.strip_suffix(',').unwrap_or(kept).len());
                1
            }
            other => other.len_utf8(),
        };
        plain.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    serde_json::from_str(plain.trim_start_matches('\u{feff}')).ok()
}

/// The bytes of the quoted text that `rest` begins with.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return at + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(path: &str, text: &str) -> Option<String> {
        Manifest::read(path, text)?.name.map(Into::into)
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(
            name("go.mod", "// a\nmodule example.com/a/b // c\n\ngo 1.22\n").as_deref(),
            Some("example.com/a/b")
        );
        let cargo =
            "[workspace]\nname = \"no\"\n[package]\nname = \"my-tool\" # x\n[dependencies]\nname = \"1\"\n";
        assert_eq!(name("x/Cargo.toml", cargo).as_deref(), Some("my_tool"));
        let library = format!("{cargo}[lib]\nname = 'tool'\n");
        assert_eq!(name("Cargo.toml", &library).as_deref(), Some("tool"));
        assert_eq!(name("p/package.json", "{\"name\": \"@a/b\"}").as_deref(), Some("@a/b"));
        for (path, text) in
            [("go.mod", "modules x"), ("Cargo.toml", "[package"), ("package.json", "{"), ("a.json", "{}")]
        {
            assert_eq!(Manifest::read(path, text), None, "{path}");
        }
    }

    #[test]
    fn aliases_are_paths_from_the_root_whatever_the_comments() {
        let text = r#"{ // why
            "compilerOptions": { /* "baseUrl": "no" */ "baseUrl": "./src", "paths": { "@a/*": ["lib/*", "../gen/*",], "url//x": ["u"], }, },
        }"#;
        let manifest = Manifest::read("web/tsconfig.base.json", text).expect("aliases");
        let aliases: Vec<(&str, &str)> =
            manifest.aliases.iter().map(|(one, other)| (&**one, &**other)).collect();
        assert_eq!(
            aliases,
            [("@a/*", "web/src/lib/*"), ("@a/*", "web/gen/*"), ("url//x", "web/src/u"), ("*", "web/src/*")]
        );
        assert_eq!(Manifest::read("tsconfig.json", "{\"compilerOptions\": {\"baseUrl\": \"../..\"}}"), None);
    }
}
