//! Which paths drip keeps its hands off: the rules of `.dripignore`, which mean what they mean in `.gitignore`. Says
//! why; what follows from it is the caller's business.
//!
//! A rule that starts at the root starts at the project: the nearest directory above the path that holds `.git`, else
//! the working directory if the path is below it, else `/`. So a path is judged alike from wherever it is asked for.
//! Secrets are known by all of their path: those in `~/.aws` are no others for somebody who works there.
//! Rules of a `.dripignore` start at its own directory, and all of them between the project and the path count; where no
//! `.git` tells the project, all of them above the path.
//! Of all rules for a path or a directory above it the last wins, in the order built in, `DRIP_IGNORE_FILE`,
//! `.dripignore`, `~/.dripignore`: the person's own have the last word over what a clone brought along. What lies in an
//! ignored directory is ignored, whatever is said about it.

mod builtin;
mod rules;

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::Match;

use rules::Rules;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Free,
    Ignored { pattern: String, source: Source, kind: Kind },
}

/// Who wrote the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    BuiltIn,
    File(PathBuf),
}

/// What kind of thing is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A key or a password by its name: must not be kept, whatever else holds.
    Secret,
    Other,
}

/// What a path leads to: rules that end in `/` are for directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    File,
    Folder,
}

/// Where rules come from besides those built in.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    pub cwd: &'a Path,
    pub home: Option<&'a Path>,
    /// `DRIP_IGNORE_FILE`.
    pub extra: Option<&'a Path>,
}

/// All rules. Files of projects are read when a path in them is first judged, and once: what runs for long makes a new
/// one for each request.
#[derive(Debug)]
pub struct Ignored {
    cwd: PathBuf,
    /// Where the working directory's project begins.
    project: PathBuf,
    others: Rules,
    secrets: Rules,
    extra: Option<Rules>,
    home: Option<Rules>,
    known: Mutex<Known>,
}

/// What was found out about directories so far.
#[derive(Debug, Default)]
struct Known {
    /// The nearest directory from one upwards that holds `.git`.
    repositories: HashMap<PathBuf, Option<PathBuf>>,
    files: HashMap<PathBuf, Option<Arc<Rules>>>,
    /// What holds in a directory.
    local: HashMap<PathBuf, Local>,
    warnings: Vec<String>,
}

/// Files of rules with the directories that they start at, the outermost first.
type Local = Arc<[(PathBuf, Arc<Rules>)]>;

impl Verdict {
    pub fn is_free(&self) -> bool {
        *self == Verdict::Free
    }
}

impl Ignored {
    pub fn load(places: Places) -> Ignored {
        let mut warnings = Vec::new();
        let mut read = |path: PathBuf| Rules::read(path, &mut warnings);
        let extra = places.extra.and_then(|path| read(places.cwd.join(path)));
        let home = places.home.and_then(|home| read(home.join(FILE)));
        let mut ignored = Ignored {
            // A client's word for it may hold anything.
            cwd: lexical(places.cwd),
            project: PathBuf::new(),
            others: Rules::others(),
            secrets: Rules::secrets(),
            extra,
            home,
            known: Mutex::new(Known { warnings, ..Known::default() }),
        };
        ignored.project = ignored.project_of(&ignored.cwd);
        // Read at once, so that `doctor` hears of their faults.
        ignored.local_in(&ignored.cwd);
        ignored
    }

    /// Judges a path by its name alone; a relative one is below the working directory.
    pub fn verdict(&self, path: &Path, entry: Entry) -> Verdict {
        let path = self.absolute(path);
        let mut above: Vec<&Path> = path.ancestors().collect();
        above.reverse();
        let last = above.len() - 1;
        let layers = self.layers(&path, entry);
        for (index, part) in above.into_iter().enumerate() {
            let verdict = self.judge(part, if index == last { entry } else { Entry::Folder }, &layers);
            if !verdict.is_free() {
                return verdict;
            }
        }
        Verdict::Free
    }

    /// Judges a file that is about to be read: by its name, and by the name of what it leads to.
    pub fn verdict_of_read(&self, path: &Path) -> Verdict {
        let named = self.verdict(path, Entry::File);
        match fs::canonicalize(self.cwd.join(path)) {
            Ok(real) if named.is_free() => self.verdict(&real, Entry::File),
            _ => named,
        }
    }

    /// Rule files and lines that could not be taken.
    pub fn warnings(&self) -> Vec<String> {
        self.known().warnings.clone()
    }

    /// Like [`Ignored::verdict`], for an absolute path whose directory was found free: what a walk asks.
    pub(crate) fn verdict_in_free_folder(&self, path: &Path, entry: Entry) -> Verdict {
        self.judge(path, entry, &self.layers(path, entry))
    }

    /// The path below the working directory, without `.` and `..` as far as names tell.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        lexical(&self.cwd.join(path))
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn judge(&self, path: &Path, entry: Entry, layers: &Layers) -> Verdict {
        let matched =
            layers.in_order(path).rev().find_map(|(base, rules)| match rules.matched(base, path, entry) {
                Match::None => None,
                Match::Whitelist(_) => Some(Verdict::Free),
                // Whoever works in a project is not shut out by its own name, unless nothing but secrets has such a one.
                Match::Ignore(glob)
                    if layers.project.starts_with(path)
                        && rules.source == Source::BuiltIn
                        && !glob.is_only_dir() =>
                {
                    None
                }
                Match::Ignore(glob) => Some(Verdict::Ignored {
                    pattern: glob.original().to_owned(),
                    source: rules.source.clone(),
                    kind: Kind::Other,
                }),
            });
        match matched {
            Some(Verdict::Ignored { pattern, source, .. }) if self.is_secret(path, entry) => {
                Verdict::Ignored { pattern, source, kind: Kind::Secret }
            }
            other => other.unwrap_or(Verdict::Free),
        }
    }

    fn is_secret(&self, path: &Path, entry: Entry) -> bool {
        self.secrets.matched(root_of(path), path, entry).is_ignore()
    }

    /// Everything that may have a say about a path.
    fn layers(&self, path: &Path, entry: Entry) -> Layers<'_> {
        // A directory that holds `.git` is in its own project, so that nobody who works there is shut out by the name
        // that it has in another one.
        let folder = match entry {
            Entry::File => path.parent().unwrap_or(path),
            Entry::Folder => path,
        };
        Layers { all: self, project: self.project_of(folder), local: self.local_in(folder) }
    }

    /// Where rules that start at the root start for what is in a directory.
    fn project_of(&self, folder: &Path) -> PathBuf {
        let fallback = || if folder.starts_with(&self.cwd) { &*self.cwd } else { Path::new("/") };
        self.repository_of(folder).unwrap_or_else(|| fallback().to_owned())
    }

    fn repository_of(&self, folder: &Path) -> Option<PathBuf> {
        let mut known = self.known();
        let mut found = None;
        let mut passed = Vec::new();
        for above in folder.ancestors() {
            if let Some(repository) = known.repositories.get(above) {
                found = repository.clone();
                break;
            }
            passed.push(above);
            if fs::symlink_metadata(above.join(".git")).is_ok() {
                found = Some(above.to_owned());
                break;
            }
        }
        for above in passed {
            known.repositories.insert(above.to_owned(), found.clone());
        }
        found
    }

    /// The files of rules from a directory up to its project, or to the one that we work in where that is around it.
    fn local_in(&self, folder: &Path) -> Local {
        if let Some(local) = self.known().local.get(folder) {
            return local.clone();
        }
        let top = self.repository_of(folder).map(|repository| {
            let around =
                [&*self.project, &*self.cwd].into_iter().filter(|around| repository.starts_with(around));
            around.map(Path::to_owned).min_by_key(|around| around.as_os_str().len()).unwrap_or(repository)
        });
        let mut local = Vec::new();
        for above in folder.ancestors() {
            local.extend(self.file_in(above).map(|rules| (above.to_owned(), rules)));
            if top.as_deref() == Some(above) {
                break;
            }
        }
        local.reverse();
        let local = Local::from(local);
        self.known().local.insert(folder.to_owned(), local.clone());
        local
    }

    fn file_in(&self, folder: &Path) -> Option<Arc<Rules>> {
        let mut known = self.known();
        if let Some(rules) = known.files.get(folder) {
            return rules.clone();
        }
        // At home it is the person's own, and comes last.
        let path = folder.join(FILE);
        let taken = self.home.as_ref().is_some_and(|home| home.source == Source::File(path.clone()));
        let rules = if taken { None } else { Rules::read(path, &mut known.warnings).map(Arc::new) };
        known.files.insert(folder.to_owned(), rules.clone());
        rules
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a file of rules.
const FILE: &str = ".dripignore";

/// The rules for one path, each with the directory that it starts at.
struct Layers<'a> {
    all: &'a Ignored,
    project: PathBuf,
    local: Local,
}

impl Layers<'_> {
    fn in_order<'b>(&'b self, path: &'b Path) -> impl DoubleEndedIterator<Item = (&'b Path, &'b Rules)> {
        let before = [
            Some((&*self.project, &self.all.others)),
            Some((root_of(path), &self.all.secrets)),
            self.all.extra.as_ref().map(|rules| (&*self.project, rules)),
        ];
        let before = before.into_iter().flatten();
        let local = self.local.iter().map(|(base, rules)| (&**base, &**rules));
        let after = self.all.home.iter().map(|rules| (&*self.project, rules));
        before.chain(local).chain(after)
    }
}

/// Nothing above it has a name.
fn root_of(path: &Path) -> &Path {
    path.ancestors().last().unwrap_or(path)
}

fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use testkit::Home;

    use super::*;

    fn places(cwd: &Path) -> Places<'_> {
        Places { cwd, home: None, extra: None }
    }

    fn in_project(home: &Home) -> (PathBuf, Ignored) {
        let project = home.git_repo("project");
        let ignored = Ignored::load(places(&project));
        (project, ignored)
    }

    fn pattern(verdict: &Verdict) -> &str {
        match verdict {
            Verdict::Free => "",
            Verdict::Ignored { pattern, .. } => pattern,
        }
    }

    #[test]
    fn an_absolute_path_is_judged_like_a_relative_one_from_anywhere() {
        let home = Home::new();
        let (project, inside) = in_project(&home);
        let outside = Ignored::load(places(home.path()));
        let elsewhere = Ignored::load(places(Path::new("/")));
        for (path, by) in [
            ("target/x", "/target/"),
            ("target/debug/deps/y.rs", "/target/"),
            ("node_modules/a/index.js", "node_modules/"),
            ("packages/b/node_modules/a/index.js", "node_modules/"),
            ("src/main.rs", ""),
            ("src/build/mod.rs", ""),
            ("src/vendor.rs", ""),
            ("Cargo.lock", "Cargo.lock"),
            ("assets/logo.png", "*.png"),
        ] {
            let absolute = project.join(path);
            assert_eq!(pattern(&inside.verdict(Path::new(path), Entry::File)), by, "{path}");
            for ignored in [&inside, &outside, &elsewhere] {
                assert_eq!(pattern(&ignored.verdict(&absolute, Entry::File)), by, "{path}");
            }
        }
    }

    #[test]
    fn secrets_are_told_from_the_rest() {
        let home = Home::new();
        home.write("project/.dripignore", "*.env\n*.md\n");
        let (project, ignored) = in_project(&home);
        let kind = |path: &str| match ignored.verdict(Path::new(path), Entry::File) {
            Verdict::Free => None,
            Verdict::Ignored { kind, source, .. } => Some((kind, source == Source::BuiltIn)),
        };
        assert_eq!(kind(".env.local"), Some((Kind::Secret, true)));
        assert_eq!(kind("deploy/server.pem"), Some((Kind::Secret, true)));
        assert_eq!(kind(".ssh/config"), Some((Kind::Secret, true)));
        assert_eq!(kind("/root/.aws/credentials"), Some((Kind::Secret, true)));
        // Named by the project as well: it stays a secret.
        assert_eq!(kind(".env"), Some((Kind::Secret, false)));
        assert_eq!(kind("README.md"), Some((Kind::Other, false)));
        assert_eq!(kind("yarn.lock"), Some((Kind::Other, true)));
        for free in [".env.example", "id_rsa.pub", "id_map.rs", "src/environment.rs"] {
            assert_eq!(kind(free), None, "{free}");
        }
        let other = Ignored::load(places(Path::new("/elsewhere")));
        let kind = |path: &str| match other.verdict(Path::new(path), Entry::File) {
            Verdict::Ignored { kind, .. } => Some(kind),
            Verdict::Free => None,
        };
        for secret in [
            ".ENV",
            "deploy/server.PEM",
            "prod.env",
            ".envrc",
            ".env~",
            ".env.local",
            "id_rsa_old",
            "id_ed25519.bak",
            "ID_RSA",
            "id_ecdsa_sk",
            "id_dsa",
            "credentials.json",
            "service-account-prod.json",
            "secrets.yml",
            "secrets.yaml",
            "Secrets.json",
            "secrets.toml",
            ".vault-token",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "prod.tfvars",
            "home/.config/gh/hosts.yml",
            ".my.cnf",
            ".pgpass",
            ".dockercfg",
            "home/.docker/config.json",
            ".bash_history",
            ".zsh_history",
            ".python_history",
            ".node_repl_history",
            ".psql_history",
            ".mysql_history",
            "a.kdbx",
            "a.p12",
            "a.pfx",
            "a.jks",
            "a.keystore",
            ".env-production",
            "google-credentials.json",
            "client_secret_1.json",
            "home/.cargo/credentials.toml",
            "home/.claude/.credentials.json",
            "home/.codex/auth.json",
            "home/.gemini/oauth_creds.json",
            "home/.terraform.d/credentials.tfrc.json",
            ".s3cfg",
        ] {
            assert_eq!(kind(secret), Some(Kind::Secret), "{secret}");
        }
        for free in [
            ".env.example",
            ".ENV.Sample",
            "prod.env.template",
            "prod.env.dist",
            "id_rsa.pub",
            "id_ed25519_old.pub",
            "id_rsa_parser.rs",
            "id_dsa_test.go",
            "config.json",
            "hosts.yml",
            "secrets.rs",
            "environment.ts",
            "locales/en/auth.json",
            "settings.xml",
        ] {
            assert_eq!(kind(free), None, "{free}");
        }
        // Only secrets are known by any spelling.
        assert_eq!([kind("yarn.lock"), kind("Yarn.Lock")], [Some(Kind::Other), None]);
        let named = ignored.verdict(Path::new("a/b.md"), Entry::File);
        let source = Source::File(project.join(".dripignore"));
        assert_eq!(named, Verdict::Ignored { pattern: "*.md".into(), source, kind: Kind::Other });
    }

    #[test]
    fn the_last_match_wins_and_what_is_built_in_can_be_taken_back() {
        let home = Home::new();
        home.write(
            "project/.dripignore",
            "!/vendor/\n*.log\n!keep.log\n/only/here.txt\n!last.txt\nlast.txt\n",
        );
        let (_, ignored) = in_project(&home);
        for (path, by) in [
            ("vendor/lib.c", ""),
            ("a.log", "*.log"),
            ("deep/keep.log", ""),
            ("only/here.txt", "/only/here.txt"),
            ("a/only/here.txt", ""),
            ("last.txt", "last.txt"),
            // Nothing in an ignored directory comes back.
            ("target/keep.log", "/target/"),
        ] {
            assert_eq!(pattern(&ignored.verdict(Path::new(path), Entry::File)), by, "{path}");
        }
    }

    #[test]
    fn rules_of_files_come_in_order_and_the_persons_own_come_last() {
        let home = Home::new();
        let project = home.git_repo("project");
        home.write("extra", "*.a\n*.b\n*.c\n");
        home.write("project/.dripignore", "!*.b\n!*.c\n/top.txt\n");
        home.write("project/sub/.dripignore", "/here.txt\n*.d\n");
        home.write(".dripignore", "*.c\n!*.d\n");
        let sub = project.join("sub");
        let ignored = Ignored::load(Places {
            cwd: &sub,
            home: Some(home.path()),
            extra: Some(Path::new("../../extra")),
        });
        assert_eq!(ignored.warnings(), [""; 0]);
        for (path, free) in [
            ("x.a", false),
            ("x.b", true),
            ("x.c", false),
            ("x.d", true),
            ("here.txt", false),
            ("../here.txt", true),
            ("../top.txt", false),
            ("top.txt", true),
        ] {
            assert_eq!(ignored.verdict(Path::new(path), Entry::File).is_free(), free, "{path}");
        }
    }

    #[test]
    fn secrets_are_secrets_for_whoever_works_in_their_directory() {
        let home = Home::new();
        for (folder, file) in [
            (".aws", "credentials"),
            (".ssh", "config"),
            (".kube/cache", "config"),
            (".docker", "config.json"),
            (".config/gh", "hosts.yml"),
        ] {
            let folder = home.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            let ignored = Ignored::load(places(&folder));
            let verdict = ignored.verdict_of_read(Path::new(file));
            assert!(matches!(verdict, Verdict::Ignored { kind: Kind::Secret, .. }), "{folder:?} {verdict:?}");
        }
        // What is the name of a secret file is no reason to leave a whole project alone.
        for name in ["tools.env", "id_rsa_tools", "my.key"] {
            let project = home.git_repo(name);
            let ignored = Ignored::load(places(&project));
            assert!(ignored.verdict(Path::new("src/main.rs"), Entry::File).is_free(), "{name}");
            assert!(!ignored.verdict(Path::new("src/a.env"), Entry::File).is_free(), "{name}");
        }
    }

    #[test]
    fn a_link_to_a_secret_is_a_secret() {
        let home = Home::new();
        let (project, ignored) = in_project(&home);
        home.write("project/.env", "KEY=1");
        std::os::unix::fs::symlink(".env", project.join("settings")).unwrap();
        let link = Path::new("settings");
        assert!(ignored.verdict(link, Entry::File).is_free());
        assert!(matches!(ignored.verdict_of_read(link), Verdict::Ignored { kind: Kind::Secret, .. }));
        assert!(ignored.verdict_of_read(Path::new("gone.rs")).is_free());
        assert_eq!(pattern(&ignored.verdict_of_read(Path::new("src/../.env"))), ".env");
    }

    #[test]
    fn odd_working_directories_and_paths_are_judged_without_harm() {
        let home = Home::new();
        let (project, _) = in_project(&home);
        let odd = Ignored::load(places(&project.join("./src/..")));
        assert_eq!(pattern(&odd.verdict(Path::new("target/x"), Entry::File)), "/target/");
        for cwd in ["", ".", "nowhere", "/", "/../.."] {
            let ignored = Ignored::load(places(Path::new(cwd)));
            for path in testkit::hostile::nasty_bytes() {
                let path = Path::new(std::ffi::OsStr::from_bytes(&path));
                let _ = (ignored.verdict_of_read(path), ignored.verdict(path, Entry::Folder));
            }
            assert!(!ignored.verdict(Path::new("a/.env"), Entry::File).is_free(), "{cwd:?}");
        }
    }

    #[test]
    fn rules_for_directories_do_not_catch_files() {
        let home = Home::new();
        let (_, ignored) = in_project(&home);
        assert!(ignored.verdict(Path::new("target"), Entry::File).is_free());
        assert!(!ignored.verdict(Path::new("target"), Entry::Folder).is_free());
    }

    #[test]
    fn a_file_of_rules_that_cannot_be_used_is_a_warning() {
        let home = Home::new();
        let project = home.git_repo("project");
        home.write("project/.dripignore", format!("{{unclosed\n*.rs\n{}\n", "x".repeat(5_000)));
        home.write("extra", "x\n".repeat(200_000));
        fs::create_dir(home.path().join(".dripignore")).unwrap();
        let extra = home.path().join("extra");
        let ignored = Ignored::load(Places { cwd: &project, home: Some(home.path()), extra: Some(&extra) });
        let warnings = ignored.warnings();
        assert_eq!(warnings.len(), 4, "{warnings:?}");
        assert!(warnings[0].ends_with("extra: only the rules in its first 256 KiB are used"));
        assert!(warnings[1].ends_with(".dripignore is not used: it is a directory"));
        assert!(warnings[2].contains(".dripignore:1: "));
        assert!(warnings[3].ends_with(".dripignore:3: a rule has at most 4096 bytes"));
        // The other lines still count.
        for path in ["a.rs", "x"] {
            assert!(!ignored.verdict(Path::new(path), Entry::File).is_free(), "{path}");
        }
    }

    #[test]
    fn lines_that_are_no_text_and_what_is_too_much_cost_no_other_rule() {
        let home = Home::new();
        let mut rules = b"first\nb\xe9ta\n\x00\nlast\nhalf\n".to_vec();
        // The last of the bytes that count is the first of a name.
        let fill = (256 << 10) - rules.len() - 1;
        rules.extend(b"\n".repeat(fill).iter().chain(b"half-a-name\nbehind\n"));
        home.write("project/.dripignore", rules);
        let (_, ignored) = in_project(&home);
        let free = |path: &str| ignored.verdict(Path::new(path), Entry::File).is_free();
        assert_eq!([free("first"), free("last"), free("half")], [false; 3]);
        assert_eq!([free("h"), free("half-a-name"), free("behind")], [true; 3]);
        let warnings = ignored.warnings();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].ends_with(": only the rules in its first 256 KiB are used"), "{warnings:?}");
        assert!(warnings[1].ends_with(":2: it is not UTF-8 text (nor is 1 more line)"), "{warnings:?}");
    }

    #[test]
    fn rules_in_folders_count_for_what_is_below_them_from_wherever_it_is_asked_for() {
        let home = Home::new();
        home.write("plain/.dripignore", "/top.txt\n*.any\n");
        home.write("plain/one/two/.dripignore", "/deep.txt\n!*.any\n");
        home.write("project/one/.dripignore", "*.any\n/two/x.txt\n");
        home.git_repo("project");
        for cwd in ["", "plain", "plain/one/two", "project", "project/one", "project/one/two"] {
            let ignored = Ignored::load(places(&home.path().join(cwd)));
            for (path, free) in [
                ("plain/top.txt", false),
                ("plain/one/top.txt", true),
                ("plain/one/x.any", false),
                ("plain/one/two/x.any", true),
                ("plain/one/two/deep.txt", false),
                ("plain/one/deep.txt", true),
                ("project/x.any", true),
                ("project/one/three/x.any", false),
                ("project/one/two/x.txt", false),
                ("project/two/x.txt", true),
            ] {
                let verdict = ignored.verdict(&home.path().join(path), Entry::File);
                assert_eq!(verdict.is_free(), free, "{path} from {cwd:?}");
            }
        }
    }

    #[test]
    fn comments_blank_lines_marks_and_line_ends_are_no_rules() {
        let home = Home::new();
        home.write("project/.dripignore", "\u{feff}one\r\n\r\n# two\r\n\\#three\r\n");
        let (_, ignored) = in_project(&home);
        let free = |path: &str| ignored.verdict(Path::new(path), Entry::File).is_free();
        assert_eq!([free("one"), free("# two"), free("#three"), free("two")], [false, true, false, true]);
    }

    #[test]
    fn a_repository_in_a_repository_is_a_project_of_its_own() {
        let home = Home::new();
        home.write("project/.dripignore", "/sub/private.txt\n");
        let (project, ignored) = in_project(&home);
        let sub = home.git_repo("project/sub");
        home.write("project/sub/.dripignore", "/inner.txt\n");
        let by = |path: &str| pattern(&ignored.verdict(&sub.join(path), Entry::File)).to_owned();
        assert_eq!(by("target/x"), "/target/");
        assert_eq!(by("inner.txt"), "/inner.txt");
        assert_eq!(by("private.txt"), "/sub/private.txt");
        assert!(ignored.verdict(&project.join("inner.txt"), Entry::File).is_free());
        let vendored = home.git_repo("project/vendor/lib");
        let working_there = Ignored::load(places(&vendored));
        assert!(working_there.verdict(&vendored, Entry::Folder).is_free());
        assert!(working_there.verdict(Path::new("a.c"), Entry::File).is_free());
    }
}
