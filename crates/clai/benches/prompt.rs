//! What a prompt costs, measured inside real shells by their own clocks: with our script and without it, in each of
//! the states in which a daemon can be.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark starts bare children and prints"
)]

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc;
use std::time::Instant;
use std::{env, fs, thread};

use clai::shells::{Options, template};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::measure::Table;
use testkit::{Home, Key, PATIENCE, Shell, bin, until};
use wire::clai::Shell as Kind;

/// Prompts in each state: the contract wants 200, and a few more do not hurt.
const PROMPTS: usize = 220;

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let mut table = Table::default();
    let wanted = |kind: &Kind| args.is_empty() || args.contains(&format!("{kind:?}").to_lowercase());
    for kind in [Kind::Bash, Kind::Zsh, Kind::Fish].into_iter().filter(wanted) {
        let mut nothing = 0.0;
        for state in STATES {
            let (numbers, hints) = measure(kind, state);
            let at = |part: f64| numbers[((numbers.len() - 1) as f64 * part) as usize];
            if state == State::NoScript {
                nothing = at(0.5);
            }
            let added = |part: f64| (at(part) - nothing).round();
            let figures = json!({"p10": added(0.1), "p50": added(0.5), "p95": added(0.95), "max": added(1.0), "prompts": numbers.len()});
            table.note(format!("{kind:?} {state:?}: added µs"), figures);
            let shown = match kind {
                Kind::Bash => "hints that came before their prompt was drawn",
                // Each after the first is looked for when the next command has ended.
                Kind::Fish => "hints that came while their prompt was there",
                Kind::Zsh => continue,
            };
            if state == State::Up {
                table.note(format!("{kind:?}: {shown}"), format!("{hints} of {PROMPTS}"));
            }
        }
    }
    table.note("hook", hook().display().to_string());
    table.print();
}

/// How the daemon is, or that there is no script to care for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The baseline that is taken off the others: two clock readings with nothing in between.
    NoScript,
    /// `/bin/true` in place of our script: what any tool pays that starts a process at each prompt.
    OneProcess,
    Up,
    Down,
    Stale,
    Stopped,
    Full,
}

const STATES: [State; 7] =
    [State::NoScript, State::OneProcess, State::Up, State::Down, State::Stale, State::Stopped, State::Full];

/// Microseconds of each prompt, sorted, and how many hints came in time to be shown.
fn measure(kind: Kind, state: State) -> (Vec<f64>, usize) {
    let home = Home::new();
    let runtime = Memory::new();
    let directory = runtime.0.join("clai");
    let socket = directory.join("daemon.sock");
    let mut daemon = matches!(state, State::Up | State::Stopped).then(|| Daemon::start(&home, &runtime.0));
    let _full = (state == State::Full).then(|| full(&socket));
    if state == State::Stale {
        drop(UnixListener::bind(&socket));
    }
    let shell = match kind {
        Kind::Bash => Shell::bash(&home),
        Kind::Zsh => Shell::zsh(&home),
        Kind::Fish => Shell::fish(&home),
    };
    let options = Options { hook: hook(), ..Options::beside(home.path()) };
    let script = match (state, kind) {
        (State::NoScript, _) => String::new(),
        (State::OneProcess, Kind::Bash) => "PROMPT_COMMAND=(/bin/true)".to_owned(),
        (State::OneProcess, Kind::Zsh) => "t() { /bin/true }; precmd_functions=(t)".to_owned(),
        (State::OneProcess, Kind::Fish) => "function __clai_postexec; /bin/true; end".to_owned(),
        _ => template(kind, &options),
    };
    let clock = clock(&home);
    home.write("clai.sh", script);
    home.write("bench.sh", stopwatch(kind));
    let export = if kind == Kind::Fish { "set -x XDG_RUNTIME_DIR " } else { "export XDG_RUNTIME_DIR=" };
    shell.run_line(&format!(" {export}{}", runtime.0.display()));
    shell.run_line(" source ./clai.sh");
    shell.run_line(" source ./bench.sh");
    if let (State::Stopped, Some(daemon)) = (state, &mut daemon) {
        daemon.signal(Signal::STOP);
    }
    for number in 0..PROMPTS {
        shell.run_line(&format!(": {number}"));
    }
    shell.run_line(" __bench_dump");
    let mut numbers: Vec<f64> = match fs::read_to_string(home.path().join("figures")) {
        Ok(text) => text.lines().map(|line| line.parse().expect("a figure is a number")).collect(),
        Err(_) => clock.try_iter().collect(),
    };
    assert!(numbers.len() >= 200, "{} prompts were measured", numbers.len());
    numbers.sort_by(f64::total_cmp);
    let hints = fs::read_to_string(home.path().join("hints")).unwrap_or_default().trim().parse().unwrap_or(0);
    shell.key(Key::Ctrl('d'));
    (numbers, hints)
}

/// The hook as it is installed, if it was built so: what its start costs depends on how it is linked.
fn hook() -> PathBuf {
    let target = format!("{}-unknown-linux-musl/dist-small/clai-hook", env::consts::ARCH);
    let built = bin("clai-hook");
    let installed = built.parent().and_then(Path::parent).map(|folder| folder.join(target));
    installed.filter(|path| path.is_file()).unwrap_or(built)
}

/// A runtime directory in memory, as systems have it.
struct Memory(PathBuf);

impl Memory {
    fn new() -> Memory {
        let path = PathBuf::from(format!("/dev/shm/clai-bench-{}", std::process::id()));
        for directory in [path.clone(), path.join("clai")] {
            fs::create_dir(&directory).expect("memory has room");
            fs::set_permissions(&directory, PermissionsExt::from_mode(0o700))
                .expect("our own directory obeys us");
        }
        Memory(path)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Puts one clock reading in front of our hooks and one behind them.
fn stopwatch(kind: Kind) -> &'static str {
    match kind {
        Kind::Bash => {
            r#"
__bench=() __bench_hints=0 __bench_before=0
PS0='${__bench_nil:$((__bench_start=${EPOCHREALTIME/./},0)):0}'${PS0-}'${__bench_nil:$((__bench_ps0=${EPOCHREALTIME/./}-__bench_start,0)):0}'
__bench_open() { __bench_start=${EPOCHREALTIME/./}; }
__bench_close() {
  __bench+=($((${EPOCHREALTIME/./} - __bench_start + __bench_ps0)))
  [[ -n ${__clai_answer-} && -s $__clai_answer ]] && ((++__bench_hints))
}
__bench_dump() { printf '%s\n' "${__bench[@]:2}" > figures; echo $__bench_hints > hints; }
PROMPT_COMMAND=(__bench_open "${PROMPT_COMMAND[@]}" __bench_close)
"#
        }
        Kind::Zsh => {
            r#"
zmodload zsh/datetime
typeset -ga __bench; typeset -gF __bench_start=0 __bench_exec=0
__bench_open() { __bench_start=$EPOCHREALTIME }
__bench_close() { __bench+=( $(( (EPOCHREALTIME - __bench_start + __bench_exec) * 1e6 )) ) }
__bench_exec_close() { __bench_exec=$(( EPOCHREALTIME - __bench_start )) }
__bench_dump() { print -l $__bench[3,-1] > figures }
precmd_functions=( __bench_open $precmd_functions __bench_close )
preexec_functions=( __bench_open $preexec_functions __bench_exec_close )
"#
        }
        // It has no clock, so it says when to read ours.
        Kind::Fish => {
            r#"
set -g __bench_hints 0
functions -q __clai_postexec; and functions --copy __clai_postexec __bench_hook; or function __bench_hook; end
functions -e __clai_postexec
functions -q __clai_hint; or function __clai_hint; end
function __bench_run --on-event fish_postexec
    string match -q ' *' -- $argv[1]; and return
    functions -q __clai_take; and __clai_take; and set __bench_hints (math $__bench_hints + 1)
    echo -n a >clock; read -l go <go
    __bench_hook $argv[1]
    __clai_hint >/dev/null
    echo -n b >clock; read -l go <go
end
function __bench_dump; echo $__bench_hints >hints; end
"#
        }
    }
}

/// Microseconds between each `a` and the `b` behind it, as they come through a pipe with a name. Who has sent one waits
/// for us, so that a busy machine cannot put them together.
fn clock(home: &Home) -> mpsc::Receiver<f64> {
    let made = home.command("mkfifo").args(["clock", "go"]).status().expect("coreutils are there");
    assert!(made.success());
    let [mut pipe, mut go] = ["clock", "go"].map(|name| {
        let path = home.path().join(name);
        fs::File::options().read(true).write(true).open(path).expect("a pipe can be opened")
    });
    let (figures, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut start = Instant::now();
        let mut byte = [0];
        while pipe.read_exact(&mut byte).is_ok() {
            let elapsed = start.elapsed();
            if byte == *b"b" && figures.send(elapsed.as_secs_f64() * 1e6).is_err() {
                return;
            }
            start = Instant::now();
            go.write_all(b"\n").expect("a pipe takes a byte");
        }
    });
    receiver
}

/// A listener whose queue is full, with the caller that fills it.
fn full(socket: &Path) -> (UnixListener, UnixStream) {
    let listener = UnixListener::bind(socket).expect("the name is free");
    rustix::net::listen(&listener, 0).expect("a listener can listen");
    let waiting = UnixStream::connect(socket).expect("the first may wait");
    (listener, waiting)
}

/// The real one, with nothing learned yet.
struct Daemon(Child);

impl Daemon {
    fn start(home: &Home, runtime: &Path) -> Daemon {
        let mut daemon = home.command(bin("clai-daemon"));
        daemon.arg("--foreground").env("XDG_RUNTIME_DIR", runtime);
        let child = daemon.spawn().expect("the daemon was built");
        let socket = runtime.join("clai/daemon.sock");
        assert!(until(PATIENCE, || UnixStream::connect(&socket).is_ok()), "nobody listens");
        Daemon(child)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("our own child obeys us");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
