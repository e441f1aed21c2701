//! Real code to check ourselves on: pinned packages in `target/corpus`, and the checks that read them. Nothing of the
//! packages is kept in the project.

mod fetch;
mod packages;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::shell::{Done, cargo, run, target};
use packages::{PACKAGES, Package};

/// Fetches one package or all of them, and says where they are.
pub(crate) fn fetch(name: Option<&str>) -> Done {
    let chosen: Vec<_> =
        PACKAGES.iter().filter(|package| name.is_none_or(|name| name == package.name)).collect();
    if chosen.is_empty() {
        let known: Vec<_> = PACKAGES.iter().map(|package| package.name).collect();
        return Err(format!("no such package; known are {}", known.join(", ")));
    }
    for package in chosen {
        println!("{}", fetch::fetch(package, &folder())?.display());
    }
    Ok(())
}

/// Where they are.
pub(crate) fn folder() -> PathBuf {
    target().join("corpus")
}

/// Elides every file of the packages that are there for it, with a parser as the witness. The check itself is a test of
/// the tool, since only there parsers are known.
pub(crate) fn elision() -> Done {
    let mut files = Files::default();
    for package in PACKAGES.iter().filter(|package| !package.elided.is_empty()) {
        files.collect(&fetch::fetch(package, &folder())?, package)?;
    }
    let list = folder().join("elision.txt");
    fs::write(&list, files.paths.join("\n")).map_err(|error| format!("{}: {error}", list.display()))?;
    let name = "real_code_keeps_every_signature";
    let mut check = cargo(&["test", "--release", "--locked", "--package", "drip", "--test", "elision"]);
    check.args([name, "--", "--exact", "--nocapture"]).env("DRIP_ELISION_FILES", &list);
    run("elision", check)
}

/// Files to check, none of them twice under another name.
#[derive(Default)]
struct Files {
    paths: Vec<String>,
    seen: HashSet<Vec<u8>>,
}

impl Files {
    /// Adds what the package is there for. Links lead out of it, and a path that is no text has no place in a list.
    fn collect(&mut self, folder: &Path, package: &Package) -> Done {
        let mut left = vec![folder.to_owned()];
        while let Some(path) = left.pop() {
            let failed = |error| format!("{}: {error}", path.display());
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                let entries = fs::read_dir(&path).map_err(failed)?;
                let inside: Result<Vec<_>, _> =
                    entries.map(|entry| entry.map(|entry| entry.path())).collect();
                let mut inside = inside.map_err(failed)?;
                // The same order everywhere, so that the same one of two copies is taken.
                inside.sort_by(|one, other| other.cmp(one));
                left.extend(inside);
            } else if is_wanted(&path, package.elided)
                && let Some(name) = path.to_str()
                && self.seen.insert(fs::read(&path).map_err(failed)?)
            {
                self.paths.push(name.to_owned());
            }
        }
        Ok(())
    }
}

/// By the end of its name. Files that only declare have no bodies and would only swell the count.
fn is_wanted(path: &Path, extensions: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    extensions.contains(&extension) && !name.ends_with(".d.ts") && !name.ends_with(".min.js")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_with_bodies_are_wanted() {
        let wanted = |name| is_wanted(Path::new(name), &["ts", "js"]);
        assert!(wanted("a/b.ts") && wanted("a/b.c.js"));
        assert!(!wanted("a/b.d.ts") && !wanted("a/b.min.js") && !wanted("a/b.py") && !wanted("ts"));
    }

    #[test]
    fn every_package_is_named_once_and_its_hash_is_one() {
        let names: HashSet<_> = PACKAGES.iter().map(|package| (package.name, package.version)).collect();
        assert_eq!(names.len(), PACKAGES.len());
        for package in PACKAGES {
            let hex = package.sha256.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            assert!(hex && package.sha256.len() == 64, "{}", package.name);
        }
    }
}
