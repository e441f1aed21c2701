//! Real code to check ourselves on: packages by name, version and hash, fetched with the registry's own client
//! into `target/corpus`. Nothing of them is kept in the project.

use std::fs;
use std::path::Path;

use crate::shell::{Done, capture, command, run, target};

/// A source distribution on PyPI.
struct Package {
    name: &'static str,
    version: &'static str,
    /// What the archive and its one folder are called, which is not always the name.
    stem: &'static str,
    sha256: &'static str,
}

const PACKAGES: &[Package] = &[Package {
    name: "django",
    version: "5.1.4",
    stem: "Django-5.1.4",
    sha256: "de450c09e91879fa5a307f696e57c851955c910a438a35e6b4c895e86bedc82a",
}];

pub(crate) fn fetch(name: Option<&str>) -> Done {
    let chosen: Vec<_> =
        PACKAGES.iter().filter(|package| name.is_none_or(|name| name == package.name)).collect();
    if chosen.is_empty() {
        let known: Vec<_> = PACKAGES.iter().map(|package| package.name).collect();
        return Err(format!("no such package; known are {}", known.join(", ")));
    }
    let folder = target().join("corpus");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for package in chosen {
        fetch_one(package, &folder)?;
    }
    Ok(())
}

fn fetch_one(package: &Package, folder: &Path) -> Done {
    let unpacked = folder.join(package.stem);
    if unpacked.is_dir() {
        println!("{}", unpacked.display());
        return Ok(());
    }
    let wanted = format!("{}=={}", package.name, package.version);
    let mut pip =
        command("python3", &["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]);
    pip.arg("--dest").arg(folder).arg(&wanted);
    run(&format!("fetch {wanted}"), pip)?;
    let archive = folder.join(format!("{}.tar.gz", package.stem));
    let mut sum = command("sha256sum", &[]);
    sum.arg(&archive);
    let found = capture(sum)?;
    let found = found.split_whitespace().next().unwrap_or_default();
    if found != package.sha256 {
        return Err(format!("{wanted} has the hash {found}, not {}", package.sha256));
    }
    let mut tar = command("tar", &["-xzf"]);
    tar.arg(&archive).arg("-C").arg(folder);
    run(&format!("unpack {wanted}"), tar)?;
    println!("{}", unpacked.display());
    Ok(())
}
