//! Every binary as it is shipped, put where the shell finds it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::binaries::{BINARIES, Binary};
use crate::shell::{Done, cargo, run, target};

pub(crate) fn install(folder: Option<&str>) -> Done {
    let folder = match folder {
        Some(folder) => PathBuf::from(folder),
        None => cargo_home()?,
    };
    let folder = folder.join("bin");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    for binary in BINARIES {
        let built = build(binary)?;
        let place = folder.join(binary.name);
        put(&built, &place).map_err(|error| format!("cannot install {}: {error}", place.display()))?;
        eprintln!("   {}", place.display());
    }
    Ok(())
}

/// Builds one binary in its profile and tells where it is.
pub(crate) fn build(binary: &Binary) -> Done<PathBuf> {
    let args =
        ["build", "--locked", "--package", binary.package, "--bin", binary.name, "--profile", binary.profile];
    run(&format!("{} ({})", binary.name, binary.profile), cargo(&args))?;
    Ok(target().join(binary.profile).join(binary.name))
}

/// Beside first, then renamed: a running binary is never half overwritten.
fn put(built: &Path, place: &Path) -> std::io::Result<()> {
    let beside = place.with_extension("new");
    fs::copy(built, &beside)?;
    fs::rename(&beside, place)
}

fn cargo_home() -> Done<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    home.ok_or_else(|| "no home directory\nhint: `cargo xtask install --root DIR`".to_owned())
}
