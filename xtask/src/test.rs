//! The check that must be green: formatting, lints, every test. And its long form.

use crate::shell::{Done, capture, cargo, command, has, run};

/// Programs that tests run for real, with the Debian package that brings them.
const NEEDED: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("git", "git"),
    ("setsid", "util-linux"),
    ("pkill", "procps"),
    ("curl", "curl"),
    ("shellcheck", "shellcheck"),
];

pub(crate) fn test() -> Done {
    install_needed()?;
    run("format", cargo(&["fmt", "--all", "--check"]))?;
    run("lints", cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    if has("cargo-deny") {
        run("licences and sources", cargo(&["deny", "check", "bans", "licenses", "sources"]))?;
    }
    run_tests(&[])
}

/// The same tests with the contract's full numbers, one at a time so that they do not disturb each other.
pub(crate) fn soak() -> Done {
    install_needed()?;
    run_tests(&[("SCRIMP_SOAK_POINTS", "500"), ("SCRIMP_SOAK_SECONDS", "600"), ("PROPTEST_CASES", "10000")])
}

/// The generated pages are compared by a test, which writes them when it is told to.
pub(crate) fn docs() -> Done {
    let mut write = cargo(&["test", "--quiet", "--package", "scrimp", "--test", "docs"]);
    write.env("SCRIMP_WRITE_DOCS", "1");
    run("generated pages", write)
}

fn run_tests(env: &[(&str, &str)]) -> Done {
    // Tests find the binaries beside themselves.
    run("binaries", cargo(&["build", "--workspace", "--bins", "--locked"]))?;
    let soak = !env.is_empty();
    let mut tests = if has("cargo-nextest") {
        let mut args =
            vec!["nextest", "run", "--workspace", "--locked", "--no-fail-fast", "--status-level", "slow"];
        if soak {
            args.extend(["--profile", "soak"]);
        }
        cargo(&args)
    } else {
        cargo(&["test", "--workspace", "--locked", "--no-fail-fast", "--quiet"])
    };
    // What is set already holds: a shorter soak, or a longer one.
    tests.envs(env.iter().copied().filter(|(name, _)| std::env::var_os(name).is_none()));
    run(if soak { "soak" } else { "tests" }, tests)
}

/// Installs what is missing where that needs no question, else says what to type.
fn install_needed() -> Done {
    let missing: Vec<&str> =
        NEEDED.iter().filter(|(program, _)| !has(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    let root = capture(command("id", &["-u"])).is_ok_and(|uid| uid.trim() == "0");
    if !root || !has("apt-get") {
        return Err(format!(
            "the tests run programs that are not installed\nhint: `sudo apt-get install -y {packages}`"
        ));
    }
    run("package lists", command("apt-get", &["update", "-q"]))?;
    let mut install = command("apt-get", &["install", "-q", "-y", "--no-install-recommends"]);
    install.args(&missing).env("DEBIAN_FRONTEND", "noninteractive");
    run(&format!("install {packages}"), install)
}
