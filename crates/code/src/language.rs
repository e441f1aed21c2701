//! The languages we understand, each a table: extensions, grammar, and what the kinds of its syntax nodes are to us.
//! A reader of these tables asks for roles ([`Role`]) and never for the kinds of one grammar; nothing here reads a
//! tree, and nothing here knows what will be asked about a program.

mod c;
mod c_sharp;
mod cpp;
mod elixir;
mod go;
mod java;
mod javascript;
mod kinds;
mod kotlin;
mod lua;
mod php;
mod python;
mod ruby;
mod rule;
mod rust;
mod scala;
mod swift;
mod typescript;

use serde::{Deserialize, Serialize};

pub use kinds::{Kinds, Shape, Slot, named};
pub use rule::{Part, Role, Rule};

/// One of the languages in [`Language::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Python,
    TypeScript,
    JavaScript,
    Go,
    Rust,
    Java,
    C,
    Cpp,
    CSharp,
    Ruby,
    Php,
    Kotlin,
    Swift,
    Scala,
    Lua,
    Luau,
    Elixir,
}

/// What one language is: data, read by everything else.
pub struct Table {
    /// As people type it after `--lang`.
    pub name: &'static str,
    /// As people write it in a sentence.
    pub title: &'static str,
    /// File name endings without the dot, each with its grammar.
    pub dialects: &'static [(&'static str, Grammar)],
    /// What a node kind is. A kind that is not named here is only passed through.
    pub rules: &'static [(&'static str, Rule)],
    /// Names of the object a method runs on, where the grammar has no node for it.
    pub self_names: &'static [&'static str],
    /// Names of the parent's view of that object.
    pub super_names: &'static [&'static str],
    /// What a method must be called to run when an object is made. The class's own name counts too.
    pub constructors: &'static [&'static str],
    /// Who sees a name that nobody imported.
    pub reach: Reach,
    /// Whether a bare name inside a method may be a member of its class.
    pub members_are_bare: bool,
    /// Functions that the language or its runtime calls by name.
    pub entry_points: &'static [&'static str],
    /// How tests are recognised.
    pub tests: Tests,
}

/// A grammar, by what makes it.
pub type Grammar = fn() -> tree_sitter::Language;

/// How far a top-level name is seen without an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Its file only: everything else is imported.
    File,
    /// All files of its folder: a package is a folder.
    Folder,
    /// All files that say they are in the same package or namespace.
    Package,
    /// The whole project: names are global, or made so by a build system we do not read.
    Project,
}

/// What makes a file or a function a test.
pub struct Tests {
    /// Beginnings of file names.
    pub file_starts: &'static [&'static str],
    /// Endings of file names without their extension.
    pub file_ends: &'static [&'static str],
    /// Beginnings of function names, in a file that is a test.
    pub function_starts: &'static [&'static str],
    /// Decorators, attributes or annotations that make a function a test.
    pub marks: &'static [&'static str],
    /// What runs the tests of some files; the files are added at the end.
    pub runner: &'static [&'static str],
}

impl Language {
    pub const ALL: [Language; 17] = [
        Language::Python,
        Language::TypeScript,
        Language::JavaScript,
        Language::Go,
        Language::Rust,
        Language::Java,
        Language::C,
        Language::Cpp,
        Language::CSharp,
        Language::Ruby,
        Language::Php,
        Language::Kotlin,
        Language::Swift,
        Language::Scala,
        Language::Lua,
        Language::Luau,
        Language::Elixir,
    ];

    /// The language of a file, by the ending of its name.
    pub fn of_path(path: &str) -> Option<Self> {
        let extension = extension(path)?;
        Self::ALL.into_iter().find(|language| language.table().dialects.iter().any(|(e, _)| *e == extension))
    }

    /// The language of that name, in any case; a common short name will do.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let full = match name.as_str() {
            "c++" | "cxx" => "cpp",
            "c#" | "cs" => "csharp",
            "golang" => "go",
            "jsx" => "javascript",
            "tsx" => "typescript",
            other => other,
        };
        let known = |language: &Self| {
            let table = language.table();
            table.name == full || table.dialects.iter().any(|(extension, _)| *extension == full)
        };
        Self::ALL.into_iter().find(known)
    }

    pub fn name(self) -> &'static str {
        self.table().name
    }

    pub fn table(self) -> &'static Table {
        match self {
            Self::Python => &python::TABLE,
            Self::TypeScript => &typescript::TABLE,
            Self::JavaScript => &javascript::TABLE,
            Self::Go => &go::TABLE,
            Self::Rust => &rust::TABLE,
            Self::Java => &java::TABLE,
            Self::C => &c::TABLE,
            Self::Cpp => &cpp::TABLE,
            Self::CSharp => &c_sharp::TABLE,
            Self::Ruby => &ruby::TABLE,
            Self::Php => &php::TABLE,
            Self::Kotlin => &kotlin::TABLE,
            Self::Swift => &swift::TABLE,
            Self::Scala => &scala::TABLE,
            Self::Lua => &lua::LUA,
            Self::Luau => &lua::LUAU,
            Self::Elixir => &elixir::TABLE,
        }
    }

    /// Whether a type's methods can be elsewhere than in its own declaration.
    pub(crate) fn has_extensions(self) -> bool {
        matches!(
            self,
            Self::Go
                | Self::Rust
                | Self::Cpp
                | Self::Swift
                | Self::Ruby
                | Self::Lua
                | Self::Luau
                | Self::CSharp
                | Self::JavaScript
        )
    }

    /// Which of the language's grammars reads this file: TypeScript with or without tags in it.
    pub(crate) fn dialect(self, path: &str) -> usize {
        let ending = extension(path).unwrap_or_default();
        self.table().dialects.iter().position(|(extension, _)| *extension == ending).unwrap_or(0)
    }
}

/// What follows the last dot of the file's name.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_and_field_of_a_table_exists_in_its_grammars() {
        for language in Language::ALL {
            let dialects = language.table().dialects;
            for (kind, _) in language.table().rules {
                let known = |grammar: &tree_sitter::Language| {
                    [true, false].iter().any(|named| grammar.id_for_node_kind(kind, *named) != 0)
                };
                assert!(
                    dialects.iter().any(|(_, grammar)| known(&grammar())),
                    "{}: no kind {kind}",
                    language.name()
                );
            }
            for (extension, grammar) in dialects {
                let grammar = grammar();
                let missing = |kind: &str| {
                    [true, false].iter().all(|named| grammar.id_for_node_kind(kind, *named) == 0)
                };
                for (kind, rule) in language.table().rules {
                    for part in rule.parts() {
                        match part {
                            Part::Field(name) => {
                                assert!(
                                    grammar.field_id_for_name(name).is_some(),
                                    "{extension}: {kind} has no {name}"
                                );
                            }
                            Part::Child(name) => {
                                assert!(!missing(name), "{extension}: {kind} has no child {name}");
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_language_is_found_by_ending_and_by_name() {
        assert_eq!(Language::of_path("a/b.test.tsx"), Some(Language::TypeScript));
        assert_eq!(Language::of_path("a.d/README"), None);
        assert_eq!(Language::named("C#"), Some(Language::CSharp));
        assert_eq!(Language::named("py"), Some(Language::Python));
        assert_eq!(Language::named("cobol"), None);
    }
}
