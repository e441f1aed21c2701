//! Surroundings that mean us harm: other users, full disks, limits, and text that drives terminals.

use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Command};
use std::thread;

use rustix::process::getuid;

use crate::{Home, output};

/// Whoever is nobody on this machine.
pub const OTHER_UID: u32 = 65534;

/// Lets a command run as another user. Our home is open to that user for reading and its programs can be started,
/// see [`Home::install`]; what it shall own, [`give_away`] gives it.
#[track_caller]
pub fn as_other_uid(command: &mut Command) -> &mut Command {
    require_root("run a command as another user");
    let program = Path::new(command.get_program());
    let closed = program.ancestors().skip(1).find(|directory| {
        fs::metadata(directory).is_ok_and(|metadata| program.is_absolute() && metadata.mode() & 0o001 == 0)
    });
    if let Some(closed) = closed {
        let (program, closed) = (program.display(), closed.display());
        panic!("`{program}` cannot be reached by another user because of `{closed}`: use `Home::install`");
    }
    command.uid(OTHER_UID).gid(OTHER_UID)
}

/// Makes a file, or a directory with all that is in it, the property of another user.
#[track_caller]
pub fn give_away(path: impl AsRef<Path>) {
    require_root("give a file to another user");
    let path = path.as_ref();
    lchown(path, Some(OTHER_UID), Some(OTHER_UID))
        .unwrap_or_else(|error| panic!("cannot give away `{}`: {error}", path.display()));
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        fs::read_dir(path).into_iter().flatten().flatten().for_each(|entry| give_away(entry.path()));
    }
}

/// For a test that needs a second user: it never passes without one. Panics with what to do when we are not root.
#[track_caller]
pub fn require_root(to: &str) {
    assert!(
        getuid().is_root(),
        "only root can {to}: run `cargo xtask test`, which becomes root in a user namespace where the system lets \
         it, or run the tests as root, for instance in a container"
    );
}

/// A command that cannot make any file longer than `bytes`: the write fails with EFBIG, as on a full disk, instead
/// of the signal that would end the process. Arguments are added as usual.
pub fn file_size_limit(home: &Home, bytes: u64, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = home.command("sh");
    command.args(["-c", "trap '' XFSZ; size=$1; shift; exec prlimit --fsize=\"$size\" -- \"$@\"", "sh"]);
    command.arg(bytes.to_string()).arg(program);
    command
}

/// Runs `test` where its argument is a disk of `bytes`, in a mount namespace of its own: nobody else sees it,
/// and nothing is left of it. For that the running test is started once more inside the namespace, so call this
/// first thing in a test and do everything in the closure; children and SQLite see the same small disk.
#[track_caller]
pub fn small_disk(bytes: u64, test: impl FnOnce(&Path)) {
    const VARIABLE: &str = "TESTKIT_SMALL_DISK";
    const DONE: &str = "the small disk has seen it all";
    if let Some(disk) = env::var_os(VARIABLE) {
        test(Path::new(&disk));
        fs::write(Path::new(&disk).with_extension("done"), DONE)
            .expect("beside the small disk there is room");
        leave();
    }
    let thread = thread::current();
    let name = thread.name().expect("a test runs in a thread that bears its name");
    let home = Home::new();
    let disk = home.path().join("disk");
    fs::create_dir(&disk).expect("a home can be furnished");
    let mut command = Command::new("unshare");
    if !getuid().is_root() {
        command.arg("--map-root-user");
    }
    let mount = "mount -t tmpfs -o \"size=$1\" small \"$2\" || exit 99; shift 2; exec \"$@\"";
    command.args(["--mount", "sh", "-c", mount, "sh", &bytes.to_string()]).arg(&disk);
    command.arg(env::current_exe().expect("the system tells which file is running"));
    command.args([name, "--exact", "--nocapture"]).env(VARIABLE, &disk);
    let output = output::run(&mut command, b"");
    let done = fs::read_to_string(disk.with_extension("done")).is_ok_and(|text| text == DONE);
    if output.code == 99 || output.code == 1 && !done {
        panic!(
            "no small disk: it needs root or user namespaces (`sysctl user.max_user_namespaces`)\n{}",
            output.transcript()
        );
    }
    assert!(output.code == 0 && done, "on a disk of {bytes} bytes:\n{}", output.transcript());
}

/// Text that breaks programs which trust text: what drives terminals, hides, reverses, quotes, or never ends.
pub fn nasty_strings() -> Vec<String> {
    let mut strings: Vec<String> = [
        "",
        " ",
        "\0",
        "a\0b",
        "\n",
        "\r\n",
        "a\rb",
        "\t",
        "\u{8}\u{8}\u{7f}",
        "\u{1b}[2J\u{1b}[H",
        "\u{1b}]0;title\u{7}",
        "\u{1b}]52;c;ZXZpbA==\u{7}",
        "\u{9b}31m",
        "\u{202e}gpj.exe\u{202c}",
        "\u{2066}a\u{2069}",
        "\u{200b}\u{200d}\u{feff}",
        "e\u{301}\u{327}",
        "👩‍👩‍👧‍👦🇦🇶",
        "ﷺ",
        "\u{2028}\u{2029}\u{85}",
        "\u{fffd}\u{fffe}\u{10ffff}",
        "../../etc/passwd",
        "/",
        "-rf",
        "--help",
        "$(touch /tmp/x)`id`${HOME}",
        "'\"\\",
        "%s%n%x",
        "{{}}",
        "null",
        "'; DROP TABLE events; --",
        "<script>",
        "data: [DONE]",
        "\"}\n{\"",
    ]
    .map(str::to_owned)
    .into();
    strings.extend(["x".repeat(100_000), "日".repeat(30_000), "[".repeat(10_000), "\n".repeat(10_000)]);
    strings
}

/// The same as bytes, and bytes that are no text at all.
pub fn nasty_bytes() -> Vec<Vec<u8>> {
    let broken: [&[u8]; 9] = [
        b"\xff",
        b"\x80",
        b"a\xc3",
        b"\xe6\x97",
        b"\xf0\x9f\xa6",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xef\xbb\xbfafter a mark",
    ];
    let strings = nasty_strings().into_iter().map(String::into_bytes);
    strings.chain(broken.map(<[u8]>::to_vec)).chain([(0..=255).collect()]).collect()
}

/// The rest of the test is the business of the process that started us.
#[allow(clippy::exit, reason = "the closure was all this process had to do")]
fn leave() -> ! {
    process::exit(0)
}
