//! From a name to a folder of files, with the ordinary client of each registry. Nothing of a package is run, except by
//! pip, which asks a source distribution for its own name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::packages::{Package, Source};
use crate::shell::{Done, capture, command, run};

/// The folder with the package's files, fetched and compared with its hash unless it is there already.
pub(super) fn fetch(package: &Package, folder: &Path) -> Done<PathBuf> {
    let label = format!("{}-{}", package.name.replace('/', "-"), package.version);
    let (unpacked, half) = (folder.join(&label), folder.join(format!("{label}.part")));
    if unpacked.is_dir() {
        return Ok(unpacked);
    }
    // What an earlier run left of it is of no use.
    let _ = fs::remove_dir_all(&half);
    fs::create_dir_all(half.join("files")).map_err(|error| format!("{}: {error}", half.display()))?;
    let archive = download(package, &half).map_err(|error| format!("cannot fetch {label}: {error}"))?;
    check(package, &archive)?;
    run(&format!("unpack {label}"), unpack(package.source, &archive, &half.join("files")))?;
    let moved = fs::rename(half.join("files"), &unpacked).and_then(|()| fs::remove_dir_all(&half));
    moved.map_err(|error| format!("{}: {error}", unpacked.display()))?;
    Ok(unpacked)
}

/// Brings the archive into the folder, or the registry's own place in it.
fn download(package: &Package, folder: &Path) -> Done<PathBuf> {
    let Package { name, version, .. } = package;
    let archives = folder.join("archives");
    fs::create_dir(&archives).map_err(|error| error.to_string())?;
    let mut client = match package.source {
        Source::Sdist => pip(&["--no-binary", ":all:"], &format!("{name}=={version}"), &archives),
        Source::Wheel => {
            // The same one on every machine, whichever it is.
            let platforms = ["any", "manylinux_2_17_x86_64"].map(|platform| ["--platform", platform]);
            let only = [["--only-binary", ":all:"], platforms[0], platforms[1]].concat();
            pip(&only, &format!("{name}=={version}"), &archives)
        }
        Source::Npm => {
            let mut npm = command("npm", &["pack", "--silent", &format!("{name}@{version}")]);
            npm.arg("--pack-destination").arg(&archives);
            npm
        }
        Source::Crate => {
            // Telling about a crate needs its archive, and nothing else of what it stands on.
            let mut cargo = command("cargo", &["info", "--quiet", &format!("{name}@{version}")]);
            cargo.env("CARGO_HOME", folder.join("home"));
            cargo
        }
        Source::Debian { beside } => {
            let address = format!("{}/{name}_{version}.orig.tar.xz", pool(beside)?);
            let mut curl = command("curl", &["--silent", "--show-error", "--fail", "--location"]);
            curl.arg("--output-dir").arg(&archives).args(["--remote-name", &address]);
            curl
        }
    };
    client.current_dir(folder);
    capture(client)?;
    if let Source::Crate = package.source {
        return only_file(&only_file(&folder.join("home/registry/cache"))?);
    }
    only_file(&archives)
}

fn pip(kind: &[&str], wanted: &str, folder: &Path) -> Command {
    let mut pip = command("python3", &["-m", "pip", "download", "--quiet", "--no-deps"]);
    pip.args(kind).arg("--dest").arg(folder).arg(wanted);
    pip
}

/// Where Debian keeps a package, and what it is built from.
fn pool(package: &str) -> Done<String> {
    let told = capture(command("apt-get", &["download", "--print-uris", package]))
        .map_err(|error| format!("{error}\nhint: it is in Debian's archive; `apt-get update`"))?;
    let address = told.split('\'').nth(1).and_then(|address| address.rsplit_once('/'));
    address.map(|(folder, _)| folder.to_owned()).ok_or_else(|| format!("apt-get knows no {package}"))
}

fn only_file(folder: &Path) -> Done<PathBuf> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut entries = fs::read_dir(folder).map_err(failed)?;
    match (entries.next(), entries.next()) {
        (Some(one), None) => Ok(one.map_err(failed)?.path()),
        _ => Err(format!("{} does not hold one file", folder.display())),
    }
}

fn check(package: &Package, archive: &Path) -> Done {
    let mut sum = command("sha256sum", &[]);
    sum.arg(archive);
    let found = capture(sum)?;
    let found = found.split_whitespace().next().unwrap_or_default();
    if found == package.sha256 {
        return Ok(());
    }
    Err(format!("{} {} has the hash {found}, not {}", package.name, package.version, package.sha256))
}

/// All but wheels have one folder around everything.
fn unpack(source: Source, archive: &Path, folder: &Path) -> Command {
    let mut unpack = match source {
        Source::Wheel => command("python3", &["-m", "zipfile", "--extract"]),
        _ => command("tar", &["--extract", "--strip-components=1", "--file"]),
    };
    unpack.arg(archive);
    if !matches!(source, Source::Wheel) {
        unpack.arg("--directory");
    }
    unpack.arg(folder);
    unpack
}
