//! The check that must be green: formatting, lints, every test. And its long form.

use std::path::Path;
use std::process::Command;

use crate::shell::{Done, capture, cargo, command, has, run};

/// Programs that tests run for real, with the package that brings them under its most common name.
const NEEDED: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("zsh", "zsh"),
    ("fish", "fish"),
    ("git", "git"),
    ("setsid", "util-linux"),
    ("prlimit", "util-linux"),
    ("pkill", "procps"),
    ("curl", "curl"),
    ("shellcheck", "shellcheck"),
    ("make", "make"),
    ("rg", "ripgrep"),
];

/// Plugins of zsh that share the line with ours: in one of these folders, by the package's name.
const PLUGINS: &[&str] = &["zsh-autosuggestions", "zsh-syntax-highlighting"];
const PLUGIN_FOLDERS: &[&str] = &["/usr/share", "/usr/share/zsh/plugins", "/opt/homebrew/share"];

/// Who installs packages on some system.
struct Manager {
    program: &'static str,
    install: &'static str,
    /// Packages that have a name of their own here.
    names: &'static [(&'static str, &'static str)],
}

const MANAGERS: &[Manager] = &[
    Manager { program: "apt-get", install: "sudo apt-get install -y", names: &[] },
    Manager {
        program: "dnf",
        install: "sudo dnf install -y",
        names: &[("procps", "procps-ng"), ("shellcheck", "ShellCheck")],
    },
    Manager { program: "pacman", install: "sudo pacman -S --needed", names: &[("procps", "procps-ng")] },
    Manager { program: "apk", install: "sudo apk add", names: &[("procps", "procps-ng")] },
    Manager { program: "zypper", install: "sudo zypper install", names: &[("shellcheck", "ShellCheck")] },
    Manager { program: "brew", install: "brew install", names: &[] },
];

pub(crate) fn test() -> Done {
    install_needed()?;
    run("format", cargo(&["fmt", "--all", "--check"]))?;
    run("lints", cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    if has("cargo-deny") {
        run("licences and sources", cargo(&["deny", "check", "bans", "licenses", "sources"]))?;
    } else {
        eprintln!("== licences and sources: not run, for want of `cargo install --locked cargo-deny`");
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
    if !is_root() {
        tests = as_root(tests);
    }
    // What is set already holds: a shorter soak, or a longer one.
    tests.envs(env.iter().copied().filter(|(name, _)| std::env::var_os(name).is_none()));
    run(if soak { "soak" } else { "tests" }, tests)
}

/// Tests that need a second user fail without one. A user namespace has as many as we like, and we are root in it;
/// whether there are any for us is the system's choice.
fn as_root(tests: Command) -> Command {
    let namespace = ["--map-root-user", "--map-auto"];
    if capture(command("unshare", &[&namespace[..], &["true"]].concat())).is_err() {
        eprintln!(
            "== tests: not as root, so those that need a second user will fail; `unshare --map-root-user \
             --map-auto` needs newuidmap (package uidmap or shadow) and a line for you in /etc/subuid and \
             /etc/subgid"
        );
        return tests;
    }
    let mut inside = command("unshare", &namespace);
    inside.arg(tests.get_program()).args(tests.get_args());
    inside
}

fn is_root() -> bool {
    capture(command("id", &["-u"])).is_ok_and(|uid| uid.trim() == "0")
}

/// Installs what is missing where that needs no question, else says what to type.
fn install_needed() -> Done {
    let plugins = PLUGINS.iter().filter(|name| !has_plugin(name)).map(|name| (*name, *name));
    let programs = NEEDED.iter().copied().filter(|(program, _)| !has(program));
    let missing: Vec<_> = programs.chain(plugins).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let manager = MANAGERS.iter().find(|manager| has(manager.program));
    match manager {
        Some(apt @ Manager { program: "apt-get", .. }) if is_root() => {
            run("package lists", command("apt-get", &["update", "-q"]))?;
            let mut install = command("apt-get", &["install", "-q", "-y", "--no-install-recommends"]);
            install.args(packages(&missing, apt)).env("DEBIAN_FRONTEND", "noninteractive");
            run("packages", install)
        }
        _ => {
            Err(format!("the tests run programs that are not installed\nhint: {}", advice(&missing, manager)))
        }
    }
}

fn has_plugin(name: &str) -> bool {
    PLUGIN_FOLDERS.iter().any(|folder| Path::new(&format!("{folder}/{name}/{name}.zsh")).is_file())
}

fn advice(missing: &[(&str, &str)], manager: Option<&Manager>) -> String {
    match manager {
        Some(manager) => format!("`{} {}`", manager.install, packages(missing, manager).join(" ")),
        None => {
            let programs: Vec<&str> = missing.iter().map(|(program, _)| *program).collect();
            format!("install {}", programs.join(", "))
        }
    }
}

fn packages<'a>(missing: &[(&str, &'a str)], manager: &Manager) -> Vec<&'a str> {
    let own = |usual: &'a str| -> &'a str {
        manager.names.iter().find(|(name, _)| *name == usual).map_or(usual, |(_, own)| *own)
    };
    let mut packages: Vec<&str> = missing.iter().map(|(_, usual)| own(usual)).collect();
    packages.dedup();
    packages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_is_told_its_own_command_and_names() {
        let missing = [("zsh", "zsh"), ("pkill", "procps"), ("shellcheck", "shellcheck")];
        let told: Vec<String> =
            MANAGERS.iter().map(Some).chain([None]).map(|manager| advice(&missing, manager)).collect();
        assert_eq!(
            told,
            [
                "`sudo apt-get install -y zsh procps shellcheck`",
                "`sudo dnf install -y zsh procps-ng ShellCheck`",
                "`sudo pacman -S --needed zsh procps-ng shellcheck`",
                "`sudo apk add zsh procps-ng shellcheck`",
                "`sudo zypper install zsh procps ShellCheck`",
                "`brew install zsh procps shellcheck`",
                "install zsh, pkill, shellcheck",
            ]
        );
    }

    #[test]
    fn a_package_is_named_once_and_only_known_packages_are_renamed() {
        let apt = &MANAGERS[0];
        assert_eq!(packages(&[("setsid", "util-linux"), ("prlimit", "util-linux")], apt), ["util-linux"]);
        for (usual, own) in MANAGERS.iter().flat_map(|manager| manager.names) {
            assert!(NEEDED.iter().any(|(_, name)| name == usual), "{own} is for nobody");
        }
    }
}
