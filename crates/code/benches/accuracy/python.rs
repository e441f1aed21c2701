//! Truth about Python packages: what jedi says of their names, and what their own tests execute. Both are found out by
//! the scripts beside this file in an environment that is made for it; an answer is kept until a script changes.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use serde_json::Value;

use crate::edges::{Edge, Function, Row, rows};

/// A source distribution, fetched before by its name, with its own tests.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    /// Where its code is, in the distribution.
    pub(crate) folder: &'static str,
    /// What pytest is told, or nothing where the tests need a network or a year.
    tests: &'static [&'static str],
    pub(crate) part: Part,
}

/// What a package's figures say about another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Rules were chosen while looking at what is missing in it.
    Tuned,
    /// Nobody looked at it before its figures were written down.
    HeldOut,
}

#[rustfmt::skip]
pub(crate) const PACKAGES: &[Package] = &[
    Package { name: "click-8.1.8", folder: "src/click", tests: &["tests"], part: Part::Tuned },
    Package { name: "flask-3.1.0", folder: "src/flask", tests: &["tests"], part: Part::Tuned },
    Package { name: "jinja2-3.1.5", folder: "src/jinja2", tests: &["tests"], part: Part::Tuned },
    Package { name: "marshmallow-3.26.1", folder: "src/marshmallow", tests: &["tests"], part: Part::Tuned },
    // Its server's tests start processes, which nobody watches.
    Package { name: "werkzeug-3.1.3", folder: "src/werkzeug", tests: &["tests", "--ignore=tests/test_serving.py"], part: Part::Tuned },
    Package { name: "httpx-0.28.1", folder: "httpx", tests: &["tests"], part: Part::Tuned },
    // Measured before a rule was chosen with them; what was missing in them was looked at since.
    Package { name: "anyio-4.8.0", folder: "src/anyio", tests: &["tests"], part: Part::Tuned },
    Package { name: "sqlparse-0.5.3", folder: "sqlparse", tests: &["tests"], part: Part::Tuned },
    Package { name: "tomlkit-0.13.2", folder: "tomlkit", tests: &["tests"], part: Part::Tuned },
    Package { name: "typer-0.15.1", folder: "typer", tests: &["tests"], part: Part::Tuned },
    Package { name: "wtforms-3.2.1", folder: "src/wtforms", tests: &["tests"], part: Part::Tuned },
    Package { name: "cookiecutter-2.6.0", folder: "cookiecutter", tests: &["tests", "--override-ini=addopts="], part: Part::HeldOut },
    Package { name: "markdown-3.7", folder: "markdown", tests: &["tests", "--continue-on-collection-errors"], part: Part::HeldOut },
    Package { name: "structlog-25.1.0", folder: "src/structlog", tests: &["tests"], part: Part::HeldOut },
];

/// jedi, pytest, what the packages stand on, and what their tests use.
const INSTALLED: &[&str] = &[
    "jedi==0.19.2",
    "pytest==8.3.4",
    "pytest-timeout==2.3.1",
    "anyio==4.8.0",
    "arrow==1.3.0",
    "attrs==24.3.0",
    "babel==2.16.0",
    "binaryornot==0.4.4",
    "blinker==1.9.0",
    "brotli==1.1.0",
    "chardet==5.2.0",
    "click==8.1.8",
    "coverage==7.6.10",
    "cryptography==44.0.0",
    "email-validator==2.2.0",
    "ephemeral-port-reserve==1.1.4",
    "exceptiongroup==1.2.2",
    "flask==3.1.0",
    "freezegun==1.5.1",
    "greenlet==3.1.1",
    "h2==4.1.0",
    "httpx==0.28.1",
    "hypothesis==6.124.7",
    "itsdangerous==2.2.0",
    "jinja2==3.1.5",
    "markupsafe==3.0.2",
    "marshmallow==3.26.1",
    "pretend==1.0.9",
    "psutil==6.1.1",
    "pygments==2.19.1",
    "pytest-asyncio==0.25.2",
    "pytest-mock==3.14.0",
    "pytest-xprocess==1.0.2",
    "python-slugify==8.0.4",
    "pyyaml==6.0.2",
    "requests==2.32.3",
    "rich==13.9.4",
    "shellingham==1.5.4",
    "simplejson==3.19.3",
    "socksio==1.0.0",
    "trio==0.28.0",
    "trustme==1.2.1",
    "truststore==0.10.0",
    "uvicorn==0.34.0",
    "watchdog==6.0.0",
    "werkzeug==3.1.3",
    "zstandard==0.23.0",
];

/// What is known about one package.
pub(crate) struct Truth {
    /// jedi's `goto` from the name of a call.
    pub(crate) calls: BTreeSet<Edge>,
    /// All that jedi finds, whether called or only named, and what was executed.
    pub(crate) anything: BTreeSet<Edge>,
    /// The functions that the witness looked at, where it did not look at all.
    pub(crate) compiled: Option<BTreeSet<Function>>,
    /// What the witness cannot see the uses of.
    pub(crate) unseen: Option<BTreeSet<Function>>,
    /// What ran under the package's own tests, if they were run.
    pub(crate) executed: Option<Executed>,
}

impl Truth {
    /// Every function that somebody else calls.
    pub(crate) fn called(&self) -> BTreeSet<Function> {
        let ran = self.executed.iter().flat_map(|ran| &ran.edges);
        let others =
            self.calls.iter().chain(ran).filter(|(file, from, to_file, to)| (file, from) != (to_file, to));
        others.map(|(_, _, file, name)| (file.clone(), name.clone())).collect()
    }
}

pub(crate) struct Executed {
    pub(crate) edges: BTreeSet<Edge>,
    /// Every function that ran.
    pub(crate) functions: BTreeSet<Function>,
    /// Those that other code of the package called.
    pub(crate) inside: BTreeSet<Function>,
}

/// Where the scripts are.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/accuracy")
}

pub(crate) fn truth(package: &Package, root: &Path, kept: &Path) -> Truth {
    let typed = keep(kept, package.name, "typed.py", |out| {
        let mut jedi = python(kept);
        jedi.arg(scripts().join("typed.py")).arg(root).arg(package.folder);
        jedi.stdout(fs::File::create(out).expect("a folder of ours"));
        jedi
    });
    let edges = rows(&typed["edges"]);
    let calls = edges.iter().filter(|row| row.how == "call").map(Row::edge).collect();
    let mut anything: BTreeSet<Edge> = edges.iter().map(Row::edge).collect();
    let executed = (!package.tests.is_empty()).then(|| executed(package, root, kept));
    anything.extend(executed.iter().flat_map(|ran| ran.edges.iter().cloned()));
    Truth { calls, anything, compiled: None, unseen: None, executed }
}

fn executed(package: &Package, root: &Path, kept: &Path) -> Executed {
    let ran = keep(kept, package.name, "executed.py", |out| {
        let mut pytest = python(kept);
        let own = [root.join(package.folder).parent().expect("in the distribution").to_owned(), scripts()];
        pytest.current_dir(root).args(["-m", "pytest", "-q", "-p", "executed", "-p", "no:cacheprovider"]);
        pytest.args(["--timeout", "60"]).args(package.tests);
        pytest.env("PYTHONPATH", env::join_paths(own).expect("no colon in a path"));
        pytest.env("TRUTH_ROOT", root).env("TRUTH_FOLDER", package.folder).env("TRUTH_OUT", out);
        pytest.stdout(Stdio::null());
        pytest
    });
    let edges = serde_json::from_value(ran["edges"].clone()).expect("rows of four");
    let functions = |key: &str| serde_json::from_value(ran[key].clone()).expect("rows of two");
    Executed { edges, functions: functions("functions"), inside: functions("inside") }
}

/// What a script says, from the last time if it is the same script. A test may fail here or there, so its exit says
/// nothing; no answer does.
pub(crate) fn keep(folder: &Path, name: &str, script: &str, run: impl FnOnce(&Path) -> Command) -> Value {
    let mut hash = DefaultHasher::new();
    fs::read(scripts().join(script)).expect("a script of ours").hash(&mut hash);
    fs::read(scripts().join("naming.py")).expect("a script of ours").hash(&mut hash);
    let file = folder.join(format!("{}-{script}-{:016x}.json", name.replace('/', "-"), hash.finish()));
    let read = || serde_json::from_slice(&fs::read(&file).ok()?).ok();
    read().unwrap_or_else(|| {
        eprintln!("   {script} {name}");
        let status = run(&file).status().unwrap_or_else(|error| panic!("{script}: {error}"));
        read().unwrap_or_else(|| panic!("{script} {name} gave no answer ({status})"))
    })
}

/// The interpreter of our own environment, which is made if it is not there.
fn python(kept: &Path) -> Command {
    let venv = kept.join("venv");
    let program = venv.join("bin/python");
    let wanted = INSTALLED.join("\n");
    if fs::read_to_string(venv.join("done")).ok().as_ref() != Some(&wanted) {
        eprintln!("   an environment with jedi and pytest");
        let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv).status();
        assert!(made.is_ok_and(|status| status.success()), "python3 -m venv failed");
        let mut pip = Command::new(&program);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(INSTALLED);
        assert!(pip.status().is_ok_and(|status| status.success()), "pip install failed");
        fs::write(venv.join("done"), wanted).expect("a folder of ours");
    }
    Command::new(program)
}
