//! What imports stand for by a configuration of TypeScript, with all that it takes over from others. Looks at build files
//! only; which file an alias leads to is not its business.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::manifest::{Alias, Manifest, Scripts};
use super::path::{ancestors, join, split, walk};

/// What a configuration may take over from: build files by path, and folders of script packages by name.
pub(super) struct Configurations<'m> {
    pub(super) manifests: &'m BTreeMap<Arc<str>, Arc<Manifest>>,
    pub(super) packages: &'m HashMap<Box<str>, Box<str>>,
}

/// One that takes over from more than this many others, each from the next, goes in a circle or may as well. Several at
/// once are looked at no more often than that in all.
const MOST: usize = 32;

/// What holds once all is taken over.
#[derive(Default)]
struct Options<'m> {
    base: Option<&'m str>,
    /// With the folder of the file that says it.
    paths: Option<(&'m [Alias], &'m str)>,
}

impl<'m> Configurations<'m> {
    /// Patterns of imports, and the path from the project's root that each stands for.
    pub(super) fn aliases(&self, path: &'m str, scripts: &'m Scripts) -> Vec<Alias> {
        let (mut options, mut left) = (Options::default(), MOST);
        self.take_over(&mut options, path, scripts, &mut left);
        let folder = split(path).0;
        let (paths, said_in) = options.paths.unwrap_or_default();
        let from = options.base.unwrap_or(said_in);
        let mut out: Vec<Alias> = Vec::new();
        for (pattern, target) in paths {
            let path = match target.strip_prefix("${configDir}") {
                Some(inner) => walk(folder, inner),
                None => walk(from, target),
            };
            out.extend(path.map(|path| (pattern.clone(), path.into())));
        }
        // With a base, every import may be a path from there.
        out.extend(options.base.map(|base| ("*".into(), join(base, "*").into())));
        out
    }

    /// Fills in what a configuration says, and then what is still missing from those that it extends, the last first.
    fn take_over(&self, options: &mut Options<'m>, path: &'m str, scripts: &'m Scripts, left: &mut usize) {
        let folder = split(path).0;
        options.base = options.base.or(scripts.base.as_deref());
        options.paths = options.paths.or(scripts.paths.as_deref().map(|paths| (paths, folder)));
        for name in scripts.extends.iter().rev() {
            if *left == 0 {
                return;
            }
            *left -= 1;
            if let Some((path, manifest)) = self.named(folder, name) {
                self.take_over(options, path, &manifest.scripts, left);
            }
        }
    }

    /// The configuration of a name: a path, or one in a package that is installed or part of the project.
    fn named(&self, folder: &str, name: &str) -> Option<(&'m str, &'m Manifest)> {
        if name.starts_with('.') {
            return self.at(&walk(folder, name)?);
        }
        let installed = ancestors(folder).map(|above| join(&join(above, "node_modules"), name));
        let ours = ancestors(name).filter_map(|package| {
            let inner = name[package.len()..].trim_start_matches('/');
            Some(join(self.packages.get(package)?, inner).trim_end_matches('/').to_owned())
        });
        installed.chain(ours).find_map(|path| self.at(&path))
    }

    /// The file at a path, which may lack its ending or be the folder of it.
    fn at(&self, path: &str) -> Option<(&'m str, &'m Manifest)> {
        let candidates = [path.to_owned(), format!("{path}.json"), join(path, "tsconfig.json")];
        let found = candidates.iter().find_map(|path| self.manifests.get_key_value(path.as_str()));
        found.map(|(path, manifest)| (&**path, &**manifest))
    }
}
