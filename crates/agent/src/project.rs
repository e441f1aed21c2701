//! The directory that the agent works in, and where the paths that a model writes lead. Links are followed here, once,
//! so that whoever decides about a path decides about the file behind it. Reads no file's content.

use std::io;
use std::path::{Component, Path, PathBuf};

use kit::text;

/// As many links in a row as Linux itself follows.
const MOST_LINKS: usize = 40;

/// Of a path that leads nowhere, so much is said again.
const LONGEST: usize = 300;

/// A directory, as the file system knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
}

/// A path with all its links followed. Its last parts need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    pub path: PathBuf,
    /// As the model is told: relative to the project where it lies inside.
    pub shown: String,
    pub side: Side,
}

/// Which side of the project's border a path lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Inside,
    Outside,
}

impl Project {
    pub fn open(root: &Path) -> io::Result<Project> {
        Ok(Project { root: root.canonicalize()? })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a path leads that a model wrote; relative ones begin at the root. The error is for the model.
    pub fn locate(&self, spelled: &str) -> Result<Located, String> {
        let failed = |error: io::Error| {
            let name = text::clip(&name(Path::new(spelled)), LONGEST, "").replace('\n', " ");
            format!("{name}: {}", plainly(&error))
        };
        let path = real(&self.root.join(spelled), MOST_LINKS).map_err(failed)?;
        let below = path.strip_prefix(&self.root);
        let side = if below.is_ok() { Side::Inside } else { Side::Outside };
        let shown = match below {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => name(below),
            Err(_) => name(&path),
        };
        Ok(Located { shown, side, path })
    }
}

/// A path in one line that cannot drive a terminal; bytes that are no UTF-8 are escaped.
pub fn name(path: &Path) -> String {
    match path.to_str() {
        Some(name) => text::plain(name),
        None => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    }
}

/// The system's words, without its number.
pub(crate) fn plainly(error: &io::Error) -> String {
    let words = error.to_string();
    let end = words.find(" (os error").unwrap_or(words.len());
    words[..end].to_lowercase()
}

/// Follows all links, as far as the path exists; a link to nothing leads to where the file would be made.
fn real(path: &Path, links: usize) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        known => return known,
    }
    let (Some(parent), Some(Component::Normal(last))) = (path.parent(), path.components().next_back()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    match path.read_link() {
        Ok(_) if links == 0 => Err(io::Error::other("too many levels of symbolic links")),
        Ok(target) => real(&parent.join(target), links - 1),
        Err(_) => Ok(real(parent, links)?.join(last)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use testkit::Home;

    use super::*;

    #[test]
    fn a_path_is_judged_by_where_its_links_lead() {
        let home = Home::new();
        home.write("p/src/a.rs", "a");
        home.write("out/secret", "s");
        symlink("../out", home.path().join("p/door")).unwrap();
        symlink("../out/new", home.path().join("p/dangling")).unwrap();
        symlink("loop", home.path().join("p/loop")).unwrap();
        let project = Project::open(&home.path().join("p")).unwrap();
        let side = |spelled: &str| project.locate(spelled).map(|located| (located.shown, located.side));
        let root = home.path().canonicalize().unwrap();
        let outside = |name: &str| Ok((root.join(name).display().to_string(), Side::Outside));
        assert_eq!(side("src/a.rs"), Ok(("src/a.rs".into(), Side::Inside)));
        assert_eq!(side("./src/../src/a.rs"), Ok(("src/a.rs".into(), Side::Inside)));
        assert_eq!(side("new/deep/b.rs"), Ok(("new/deep/b.rs".into(), Side::Inside)));
        assert_eq!(side("."), Ok((".".into(), Side::Inside)));
        assert_eq!(side("door/secret"), outside("out/secret"));
        assert_eq!(side("door/absent"), outside("out/absent"));
        assert_eq!(side("dangling"), outside("out/new"));
        assert_eq!(side("../out/secret"), outside("out/secret"));
        assert_eq!(side("/etc/../etc"), Ok(("/etc".into(), Side::Outside)));
        assert!(side("loop").is_err());
        assert!(side("absent/../../out/secret").is_err(), "what is not there leads nowhere");
        assert!(side("a\0b").unwrap_err().starts_with("ab: "));
    }
}
