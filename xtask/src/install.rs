//! Every binary as it is shipped, put where the shell finds it.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};

use crate::binaries::{BINARIES, Binary, Linked};
use crate::shell::{Done, capture, cargo, command, run, target};

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
    let mut args = vec![
        "build",
        "--locked",
        "--package",
        binary.package,
        "--bin",
        binary.name,
        "--profile",
        binary.profile,
    ];
    let (musl, mut folder) = (format!("{ARCH}-unknown-linux-musl"), target());
    let mut how = binary.profile.to_owned();
    if binary.linked == Linked::AloneIfPossible {
        if has_target(&musl) {
            args.extend(["--target", &musl]);
            folder.push(&musl);
            how.push_str(", linked with nothing");
        } else {
            how.push_str(&format!(
                ", linked with the system's C library: `rustup target add {musl}` makes it start faster"
            ));
        }
    }
    run(&format!("{} ({how})", binary.name), cargo(&args))?;
    Ok(folder.join(binary.profile).join(binary.name))
}

/// Whether the compiler can build for `target`: its standard library is there. Not asked of rustup, by which not every
/// compiler was installed.
fn has_target(target: &str) -> bool {
    let sysroot = capture(command("rustc", &["--print", "sysroot"])).unwrap_or_default();
    Path::new(sysroot.trim()).join("lib/rustlib").join(target).join("lib").is_dir()
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
