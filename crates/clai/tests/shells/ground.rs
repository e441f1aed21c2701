//! What each test stands on: a home with our script in it, and a listener in the daemon's place.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, thread};

use clai::shells::{Options, template};
use testkit::{Home, PATIENCE, Shell, bin, until};
use wire::clai::raw::{RawReader, write_suggestions};
use wire::clai::{CAP, Dialect, Event, Message, SessionId, SessionStarted, SuggestResponse, Suggestion};
use wire::frame::{Line, LineReader, to_line};

pub(crate) use wire::clai::Shell as Kind;

pub(crate) const KINDS: [Kind; 3] = [Kind::Bash, Kind::Zsh, Kind::Fish];

pub(crate) struct Ground {
    pub(crate) home: Home,
    pub(crate) daemon: Daemon,
    pub(crate) options: Options,
}

impl Ground {
    /// A home in which a daemon listens.
    pub(crate) fn new() -> Ground {
        let ground = Ground::without_daemon();
        ground.daemon.listen();
        ground
    }

    pub(crate) fn without_daemon() -> Ground {
        let home = Home::new();
        let directory = home.runtime().join("clai");
        Ground::at(directory, home)
    }

    /// A home in which a daemon listens where it does without a runtime directory.
    pub(crate) fn below_temp() -> Ground {
        let home = Home::new();
        let directory = home.temp().join(format!("clai-{}", rustix::process::geteuid().as_raw()));
        let ground = Ground::at(directory, home);
        ground.daemon.listen();
        ground
    }

    fn at(directory: PathBuf, home: Home) -> Ground {
        let options = Options {
            hook: bin("clai-hook"),
            clai: home.write("bin/clai", ""),
            daemon: home.write("bin/clai-daemon", ""),
            ..Options::beside(home.path())
        };
        Ground {
            daemon: Daemon { directory, heard: Arc::default(), willing: Arc::new(usize::MAX.into()) },
            options,
            home,
        }
    }

    /// The script of a shell, in a file.
    pub(crate) fn script(&self, kind: Kind) -> PathBuf {
        self.home.write("clai.sh", template(kind, &self.options))
    }

    /// A shell that has read our script and waits at its prompt.
    #[track_caller]
    pub(crate) fn shell(&self, kind: Kind) -> Shell {
        let shell = self.bare(kind);
        self.load(&shell, kind);
        shell
    }

    /// Lets a shell read our script, behind a space: fish tells even of this line.
    #[track_caller]
    pub(crate) fn load(&self, shell: &Shell, kind: Kind) {
        shell.run_line(&format!(" source {}", self.script(kind).display()));
    }

    #[track_caller]
    pub(crate) fn bare(&self, kind: Kind) -> Shell {
        match kind {
            Kind::Bash => Shell::bash(&self.home),
            Kind::Zsh => Shell::zsh(&self.home),
            Kind::Fish => Shell::fish(&self.home),
        }
    }

    /// Waits for the event of this line and gives all that came until then.
    #[track_caller]
    pub(crate) fn settled(&self, line: &str) -> Vec<Event> {
        let arrived = until(PATIENCE, || self.daemon.events().iter().any(|event| event.cmd_raw == line));
        let events = self.daemon.events();
        let lines: Vec<&str> = events.iter().map(|event| kit::text::head(&event.cmd_raw, 100)).collect();
        assert!(arrived, "no {line:?} in {lines:#?}");
        events
    }

    /// A program of ours, played by a script of `sh`.
    pub(crate) fn scripted(&self, name: &str, script: &str) {
        let path = self.home.write(format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub(crate) fn now(&self) -> i64 {
        i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
    }

    /// Waits for the events of exactly these command lines, which came in this order.
    #[track_caller]
    pub(crate) fn expect(&self, lines: &[&str]) -> Vec<Event> {
        let lines_now = || self.daemon.events().into_iter().map(|event| event.cmd_raw).collect::<Vec<_>>();
        let complete = until(PATIENCE, || lines_now().len() >= lines.len());
        assert!(complete, "came: {:#?}", lines_now());
        assert_eq!(lines_now(), lines);
        self.daemon.events()
    }
}

/// Hears what the shells say, and answers with what it was told to suggest.
#[derive(Clone)]
pub(crate) struct Daemon {
    directory: PathBuf,
    heard: Arc<Mutex<Heard>>,
    willing: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Heard {
    events: Vec<Event>,
    suggestions: Vec<Suggestion>,
    sessions: usize,
    connections: usize,
    asked: usize,
    open: Vec<UnixStream>,
}

impl Heard {
    fn response(&self) -> SuggestResponse {
        SuggestResponse { suggestions: self.suggestions.clone(), ..SuggestResponse::default() }
    }
}

impl Daemon {
    pub(crate) fn listen(&self) {
        let listener = self.bind();
        let daemon = self.clone();
        thread::spawn(move || {
            for caller in listener.incoming().map_while(Result::ok) {
                let mut heard = daemon.heard();
                heard.connections += 1;
                heard.open.push(caller.try_clone().unwrap());
                drop(heard);
                daemon.serve(caller);
            }
        });
    }

    /// Ends all connections, and waits for nobody's consent.
    pub(crate) fn hang_up(&self) {
        self.heard().open.drain(..).for_each(|caller| caller.shutdown(Shutdown::Both).unwrap_or_default());
    }

    /// Takes so many messages from shells of the raw dialect and then none until it is told again.
    pub(crate) fn take_only(&self, messages: usize) {
        self.willing.store(messages, Ordering::SeqCst);
    }

    pub(crate) fn wake(&self) {
        self.take_only(usize::MAX);
    }

    /// A listener whose queue is full, with the caller that fills it.
    pub(crate) fn deaf(&self) -> (UnixListener, UnixStream) {
        let listener = self.bind();
        rustix::net::listen(&listener, 0).unwrap();
        let waiting = UnixStream::connect(self.socket()).unwrap();
        (listener, waiting)
    }

    fn bind(&self) -> UnixListener {
        fs::create_dir_all(&self.directory).unwrap();
        fs::set_permissions(&self.directory, PermissionsExt::from_mode(0o700)).unwrap();
        UnixListener::bind(self.socket()).unwrap()
    }

    pub(crate) fn sessions(&self) -> usize {
        self.heard().sessions
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("daemon.sock")
    }

    pub(crate) fn directory(&self) -> &PathBuf {
        &self.directory
    }

    pub(crate) fn suggest(&self, commands: &[&str]) {
        let suggestion = |command: &&str| Suggestion {
            cmd: (*command).to_owned(),
            cmd_norm: String::new(),
            score: 1.0,
            reasons: vec![format!("freq_repo of {}", command.len())],
            confidence: 0.5,
        };
        self.heard().suggestions = commands.iter().map(suggestion).collect();
    }

    /// In the order in which they ended.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = self.heard().events.clone();
        events.sort_by_key(|event| event.ts);
        events
    }

    pub(crate) fn connections(&self) -> usize {
        self.heard().connections
    }

    pub(crate) fn asked(&self) -> usize {
        self.heard().asked
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hooks one after the other, since a shell waits for the end of one before its next: so what was said later is heard
    /// later. Who keeps the connection has a thread.
    fn serve(&self, caller: UnixStream) {
        let mut answers = caller.try_clone().unwrap();
        let mut input = BufReader::new(caller);
        let Some(first) = input.fill_buf().ok().and_then(|bytes| bytes.first().copied()) else {
            return;
        };
        match Dialect::of(first) {
            Some(Dialect::Raw) => {
                let daemon = self.clone();
                thread::spawn(move || {
                    let mut reader = RawReader::buffered(input);
                    while let Ok(Some(message)) = reader.next_message() {
                        assert!(until(PATIENCE, || daemon.is_willing()), "nobody woke it");
                        daemon.take(message, &mut answers);
                    }
                });
            }
            Some(Dialect::Ndjson) => {
                let mut reader = LineReader::buffered(input, CAP);
                while let Ok(Some(Line::Whole(line))) = reader.next_line() {
                    self.take(serde_json::from_str(&line).unwrap(), &mut answers);
                }
            }
            other => panic!("{other:?} from a shell"),
        }
    }

    fn is_willing(&self) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.willing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }

    fn take(&self, message: Message, answers: &mut UnixStream) {
        let mut heard = self.heard();
        match message {
            Message::CommandEnd(event) => {
                let answer = self.directory.join(format!("next.{}", event.session_id.0));
                heard.events.push(event);
                if answer.exists() {
                    let mut fields = Vec::new();
                    write_suggestions(&mut fields, &heard.response()).unwrap();
                    fs::write(&answer, fields).unwrap();
                }
            }
            Message::SessionStart(start) => {
                heard.sessions += 1;
                let id = SessionId(format!("given-{}-{}", start.pid, heard.sessions));
                let _ = answers.write_all(&to_line(&SessionStarted { session_id: id }).unwrap());
            }
            Message::Suggest(ask) => {
                heard.asked += 1;
                let mut response = heard.response();
                response.suggestions.retain(|suggestion| suggestion.cmd.starts_with(&ask.prefix));
                let _ = write_suggestions(answers, &response);
            }
            Message::Recent(_) | Message::Health => panic!("no shell asks for this"),
        }
    }
}
