//! What build files say about the names of modules: `go.mod`, `Cargo.toml`, `package.json` and `tsconfig.json`. Texts in,
//! names out; nothing is looked up, and whatever cannot be read says nothing.

use std::sync::Arc;

use serde_json::Value;

use super::path::{split, walk};

/// What one build file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub(crate) kind: Kind,
    /// The name that others import it by.
    pub(crate) name: Option<Box<str>>,
    pub(crate) scripts: Scripts,
}

/// A pattern of imports and what it stands for. A `*` in both is the same text.
pub(crate) type Alias = (Box<str>, Box<str>);

/// What a configuration of TypeScript says about imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scripts {
    /// Configurations that it takes over what it does not say itself from, the last before the first.
    pub(crate) extends: Vec<Box<str>>,
    /// The folder that imports may start in, from the project's root.
    pub(crate) base: Option<Box<str>>,
    /// With paths as written.
    pub(crate) paths: Option<Vec<Alias>>,
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
        let name = match kind {
            Kind::Go => go_module(text),
            Kind::Cargo => crate_name(text),
            Kind::Package => json(text)?.get("name").and_then(Value::as_str).map(Into::into),
            Kind::Scripts => None,
        };
        let scripts = match kind {
            Kind::Scripts => scripts(split(path).0, &json(text)?),
            _ => Scripts::default(),
        };
        (name.is_some() || scripts != Scripts::default()).then_some(Self { kind, name, scripts })
    }
}

fn kind(path: &str) -> Option<Kind> {
    match split(path).1 {
        "go.mod" => Some(Kind::Go),
        "Cargo.toml" => Some(Kind::Cargo),
        "package.json" => Some(Kind::Package),
        "jsconfig.json" => Some(Kind::Scripts),
        // A package of configurations has them under any name.
        name if name.ends_with(".json") => {
            let holds = |part: &str| part.contains("tsconfig");
            (holds(name) || holds(split(split(path).0).1)).then_some(Kind::Scripts)
        }
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

fn scripts(folder: &str, config: &Value) -> Scripts {
    let options = &config["compilerOptions"];
    let text = |value: &Value| value.as_str().map(Box::from);
    let extends = match &config["extends"] {
        Value::Array(all) => all.iter().filter_map(text).collect(),
        one => text(one).into_iter().collect(),
    };
    let targets = |(pattern, targets): (&String, &Value)| {
        let targets: Vec<Box<str>> = targets.as_array().into_iter().flatten().filter_map(text).collect();
        targets.into_iter().map(|target| (Box::from(pattern.as_str()), target)).collect::<Vec<_>>()
    };
    Scripts {
        extends,
        base: options["baseUrl"].as_str().and_then(|base| walk(folder, base)).map(Into::into),
        paths: options["paths"].as_object().map(|paths| paths.iter().flat_map(targets).collect()),
    }
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
    fn a_configuration_is_read_whatever_the_comments() {
        let text = r#"{ // why
            "extends": ["./base", "@a/b"],
            "compilerOptions": { /* "baseUrl": "no" */ "baseUrl": "./src", "paths": { "@a/*": ["lib/*", "../gen/*",], "url//x": ["u"], }, },
        }"#;
        let scripts = Manifest::read("web/tsconfig.base.json", text).expect("says something").scripts;
        let text = |one: &str| Box::<str>::from(one);
        assert_eq!(scripts.extends, [text("./base"), text("@a/b")]);
        assert_eq!(scripts.base, Some(text("web/src")));
        let paths = [("@a/*", "lib/*"), ("@a/*", "../gen/*"), ("url//x", "u")];
        assert_eq!(scripts.paths, Some(paths.map(|(one, other)| (text(one), text(other))).to_vec()));
        let out = "{\"compilerOptions\": {\"baseUrl\": \"../..\"}}";
        assert_eq!(Manifest::read("tsconfig.json", out), None);
        assert!(Manifest::is_at("packages/tsconfig/base.json") && !Manifest::is_at("data/base.json"));
    }
}
