//! Which project is meant, and where its daemon is met. Knows no command and no file inside but by name.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use kit::places::shell_word;
use kit::{Failure, Places};
use wire::endpoint::{ProjectHash, SocketPath};

/// What we keep inside a project.
pub const FOLDER: &str = ".tldr";

/// The directory that is asked about, without links and dots in its name: two names of it are one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root(PathBuf);

impl Root {
    pub fn find(path: &Path) -> Result<Root, Failure> {
        let failed = |error: &io::Error| {
            let failure =
                Failure::new(format!("cannot use `{}` as a project", path.display())).because(error);
            match error.kind() {
                io::ErrorKind::NotFound => failure.hint("name its directory with `--project`"),
                _ => failure,
            }
        };
        let real = fs::canonicalize(path).map_err(|error| failed(&error))?;
        match real.is_dir() {
            true => Ok(Root(real)),
            false => {
                Err(Failure::new(format!("cannot use `{}` as a project: it is no directory", path.display()))
                    .hint(format!("`--project {}`", shell_word(real.parent().unwrap_or(&real).as_os_str()))))
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn folder(&self) -> PathBuf {
        self.0.join(FOLDER)
    }

    pub fn cache(&self) -> PathBuf {
        self.folder().join("cache")
    }

    pub fn socket(&self, places: &Places) -> Result<SocketPath, Failure> {
        let socket = ProjectHash::of(&self.0).socket(&places.temp);
        socket.map_err(|error| Failure::new("cannot name the socket").because(&error).hint(error.hint()))
    }

    /// Locked by the daemon as long as it lives; holds its process id.
    pub fn pid_file(&self, places: &Places) -> PathBuf {
        ProjectHash::of(&self.0).pid_file(&places.temp)
    }

    /// `path` as it is written in answers: below the project, with slashes. Nothing for what is outside of it or is no
    /// UTF-8.
    pub fn relative(&self, cwd: &Path, path: &Path) -> Option<String> {
        let absolute = cwd.join(path);
        // What is not there has a place all the same, if its directory has one.
        let in_folder = || Some(fs::canonicalize(absolute.parent()?).ok()?.join(absolute.file_name()?));
        let real = fs::canonicalize(&absolute).ok().or_else(in_folder).unwrap_or_else(|| absolute.clone());
        let below = real.strip_prefix(&self.0).ok()?;
        let climbs = below.components().any(|part| part == Component::ParentDir);
        below.to_str().filter(|_| !climbs).map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use testkit::Home;

    use super::*;

    #[test]
    fn two_names_of_a_directory_are_one_project() {
        let home = Home::new();
        home.write("p/a.py", "");
        std::os::unix::fs::symlink("p", home.path().join("q")).unwrap();
        let [p, q] = ["p/../p/.", "q"].map(|name| Root::find(&home.path().join(name)).unwrap());
        assert_eq!(p, q);
        assert_eq!(p.relative(home.path(), Path::new("q/a.py")).as_deref(), Some("a.py"));
        assert_eq!(p.relative(p.path(), Path::new("gone/b.py")).as_deref(), Some("gone/b.py"));
        for outside in ["other.py", "p/../other.py", "p/gone/../../other.py", "/etc/passwd"] {
            assert_eq!(p.relative(home.path(), Path::new(outside)), None, "{outside}");
        }
        assert_eq!(p.relative(home.path(), Path::new("q/../p/new.py")).as_deref(), Some("new.py"));
    }

    #[test]
    fn what_is_no_directory_is_no_project() {
        let home = Home::new();
        home.write("a.py", "");
        let said = |name: &str| Root::find(&home.path().join(name)).unwrap_err().to_string();
        assert!(said("a.py").contains("it is no directory"));
        assert!(said("gone").contains("hint: "));
    }
}
