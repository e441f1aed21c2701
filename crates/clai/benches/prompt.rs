//! What a prompt costs, measured inside real shells by their own clocks: with our script and without it, in each of
//! the states in which a daemon can be.
#![allow(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::print_stdout,
    reason = "a benchmark starts bare children and prints"
)]

use std::io::{BufRead, BufReader, Read, Write};
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
use wire::clai::raw::{RawReader, write_suggestions};
use wire::clai::{Message, SessionId, SessionStarted, Shell as Kind, SuggestResponse, Suggestion};
use wire::frame::to_line;

/// Prompts in each state: the contract wants 200, and a few more do not hurt.
const PROMPTS: usize = 220;

fn main() {
    let args: Vec<String> = env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, socket] = args.as_slice()
        && flag == "--listen"
    {
        listen(Path::new(socket));
    }
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
            let figures =
                json!({"p50": added(0.5), "p95": added(0.95), "max": added(1.0), "prompts": numbers.len()});
            table.note(format!("{kind:?} {state:?}: added µs"), figures);
            if state == State::Up && kind != Kind::Zsh {
                table.note(
                    format!("{kind:?}: hints that came in time for their prompt"),
                    format!("{hints} of {PROMPTS}"),
                );
            }
        }
    }
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

/// Microseconds of each prompt, sorted, and how many hints were there when their prompt was drawn.
fn measure(kind: Kind, state: State) -> (Vec<f64>, usize) {
    let home = Home::new();
    let runtime = Memory::new();
    let directory = runtime.0.join("clai");
    let socket = directory.join("daemon.sock");
    let mut daemon = matches!(state, State::Up | State::Stopped).then(|| Daemon::start(&home, &socket));
    let _full = (state == State::Full).then(|| full(&socket));
    if state == State::Stale {
        drop(UnixListener::bind(&socket));
    }
    let shell = match kind {
        Kind::Bash => Shell::bash(&home),
        Kind::Zsh => Shell::zsh(&home),
        Kind::Fish => Shell::fish(&home),
    };
    let options = Options { hook: bin("clai-hook"), ..Options::beside(home.path()) };
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
function __bench_run --on-event fish_postexec
    string match -q ' *' -- $argv[1]; and return
    echo -n a >clock
    __bench_hook $argv[1]
    echo -n b >clock
    functions -q __clai_hint; and __clai_hint >hint; and test -s hint; and set __bench_hints (math $__bench_hints + 1)
end
function __bench_dump; echo $__bench_hints >hints; end
"#
        }
    }
}

/// Microseconds between each `a` and the `b` behind it, as they come through a pipe with a name.
fn clock(home: &Home) -> mpsc::Receiver<f64> {
    let path = home.path().join("clock");
    let made = home.command("mkfifo").arg(&path).status().expect("coreutils are there");
    assert!(made.success());
    let mut pipe = fs::File::options().read(true).write(true).open(path).expect("a pipe can be opened");
    let (figures, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut start = Instant::now();
        let mut byte = [0];
        while pipe.read_exact(&mut byte).is_ok() {
            match byte {
                [b'a'] => start = Instant::now(),
                _ if figures.send(start.elapsed().as_secs_f64() * 1e6).is_err() => return,
                _ => {}
            }
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

/// A process of its own, so that it can be stopped.
struct Daemon(Child);

impl Daemon {
    fn start(home: &Home, socket: &Path) -> Daemon {
        let me = env::current_exe().expect("the system tells which file is running");
        let child = home.command(me).arg("--listen").arg(socket).spawn().expect("we can start ourselves");
        assert!(until(PATIENCE, || UnixStream::connect(socket).is_ok()), "nobody listens");
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

fn listen(socket: &Path) -> ! {
    let listener = UnixListener::bind(socket).expect("the name is free");
    let directory = socket.parent().expect("a socket lies in a directory").to_owned();
    for caller in listener.incoming().map_while(Result::ok) {
        let directory = directory.clone();
        thread::spawn(move || serve(caller, &directory));
    }
    std::process::exit(0)
}

fn serve(caller: UnixStream, directory: &Path) {
    let mut answers = caller.try_clone().expect("a second handle");
    let mut input = BufReader::new(caller);
    match input.fill_buf().ok().and_then(|bytes| bytes.first().copied()) {
        Some(0) => {
            let mut reader = RawReader::buffered(input);
            while let Ok(Some(message)) = reader.next_message() {
                answer(message, directory, &mut answers);
            }
        }
        Some(_) => {
            let mut line = String::new();
            while input.read_line(&mut line).is_ok_and(|count| count > 0) {
                answer(serde_json::from_str(&line).expect("a message"), directory, &mut answers);
                line.clear();
            }
        }
        None => {}
    }
}

fn answer(message: Message, directory: &Path, answers: &mut UnixStream) {
    let suggestion = Suggestion {
        cmd: "git push origin main".into(),
        cmd_norm: String::new(),
        score: 1.0,
        reasons: vec!["repo_transition".into()],
        confidence: 0.9,
    };
    let response = SuggestResponse { suggestions: vec![suggestion; 3], ..SuggestResponse::default() };
    match message {
        Message::CommandEnd(event) => {
            let path: PathBuf = directory.join(format!("next.{}", event.session_id.0));
            if path.exists() {
                let mut fields = Vec::new();
                write_suggestions(&mut fields, &response).expect("memory takes all");
                let new = path.with_extension("new");
                let _ = fs::write(&new, fields).and_then(|()| fs::rename(&new, &path));
            }
        }
        Message::SessionStart(start) => {
            let session_id = SessionId(format!("bench-{}", start.pid));
            let line = to_line(&SessionStarted { session_id }).expect("it is small");
            let _ = answers.write_all(&line);
        }
        Message::Suggest(_) => drop(write_suggestions(answers, &response)),
        Message::Health => {}
    }
}
