//! MCP servers as they are met: Python programs on a pipe that answer, hang, die and talk nonsense.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "tests: they write scripts with plain files, are given fresh JSON, and fail by panicking"
)]

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use chibi::plugins::{Ground, Limits, Secrets};
use chibi::servers::{Servers, Setting, check};
use conversation::tools::Output;
use kit::invocation::Environment;
use kit::process::Cancel;
use llm::{Key, Outcome};
use serde_json::{Map, Value, json};
use testkit::{Home, PATIENCE, until};

/// A server that offers what its first argument lists, and does what a call of it says. Each start is logged.
const SERVER: &str = r#"
import json, os, sys, time

def log(line):
    with open(os.environ["LOG"], "a") as file:
        file.write(line + "\n")

def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()

names = sys.argv[1].split(",")
log("start")
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params", {})
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        reply["result"] = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                           "serverInfo": {"name": "test", "version": "1"}}
    elif method == "tools/list":
        tools = [{"name": name, "description": "does " + name, "inputSchema": {"type": "object"}} for name in names]
        reply["result"] = {"tools": tools}
    elif method == "tools/call":
        do, text = params["arguments"].get("do", "echo"), json.dumps(params["arguments"])
        if do == "die":
            sys.stderr.write("out of memory\n")
            sys.exit(3)
        if do == "hang":
            log("hangs")
            time.sleep(600)
        if do == "garbage":
            sys.stdout.write("npm WARN something\n\x00\xff{]\n")
        if do == "env":
            text = " ".join(sorted(os.environ))
        content = [{"type": "text", "text": params["name"] + " " + text}]
        if do == "image":
            content = [{"type": "image", "data": "AA==", "mimeType": "image/png"}]
        if do == "refuse":
            reply["error"] = {"code": -32602, "message": "no such thing"}
        elif do == "nonsense":
            reply["result"] = 3
        else:
            reply["result"] = {"content": content, "isError": do == "fail"}
    say(reply)
"#;

struct Bench {
    home: Home,
    ground: Ground,
    settings: BTreeMap<String, Setting>,
}

impl Bench {
    fn new() -> Bench {
        let home = Home::new();
        home.write("server.py", SERVER);
        let ground = Ground {
            home: home.path().join(".chibi"),
            cwd: home.path().to_owned(),
            env: Environment::of(home.environment()),
            secrets: Secrets::default(),
            // The machine may be busy.
            limits: Limits { schema: PATIENCE, hook: PATIENCE, ..Limits::default() },
            settings: [].into(),
        };
        Bench { home, ground, settings: BTreeMap::new() }
    }

    fn with(names: &[(&str, &str)]) -> Bench {
        let mut bench = Bench::new();
        for (name, tools) in names {
            bench.server(name, "python3", &["server.py", tools]);
        }
        bench
    }

    fn server(&mut self, name: &str, command: &str, args: &[&str]) -> &mut Setting {
        let setting = Setting {
            command: command.to_owned(),
            args: args.iter().map(ToString::to_string).collect(),
            set: [("LOG".to_owned(), self.home.path().join("log").display().to_string())].into(),
            ..Setting::default()
        };
        self.settings.entry(name.to_owned()).insert_entry(setting).into_mut()
    }

    fn load(&self) -> Servers {
        Servers::load(self.ground.clone(), self.settings.clone(), |name| name == "git__taken")
    }

    fn patience(&mut self, ms: u64) {
        self.ground.limits.schema = Duration::from_millis(ms);
    }

    /// What servers did since the last look.
    fn log(&self) -> Vec<String> {
        let path = self.home.path().join("log");
        let text = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        text.lines().map(str::to_owned).collect()
    }
}

fn call(servers: &Servers, name: &str, arguments: Value) -> Output {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    servers.call(name, &arguments, &Cancel::default())
}

#[track_caller]
fn done(servers: &Servers, name: &str, arguments: Value) -> String {
    let output = call(servers, name, arguments);
    assert_eq!(output.outcome, Outcome::Done, "{}", output.content);
    output.content
}

#[track_caller]
fn failed(servers: &Servers, name: &str, arguments: Value) -> String {
    let output = call(servers, name, arguments);
    assert_eq!(output.outcome, Outcome::Failed, "{}", output.content);
    output.content
}

#[test]
fn tools_of_servers_appear_under_their_servers_name_and_can_be_called() {
    let bench = Bench::with(&[("git", "log,taken"), ("web", "log,fetch")]);
    let servers = bench.load();
    assert_eq!(
        servers.to_string(),
        "git: server, tools git__log\n  note: there is another tool `git__taken`\n\
         web: server, tools web__log, web__fetch\n"
    );
    let specs = servers.specs();
    assert_eq!((specs[0].name.as_str(), specs[0].description.as_str()), ("git__log", "does log"));
    assert_eq!(done(&servers, "web__fetch", json!({"x": 1})), "fetch {\"x\": 1}");
    assert!(servers.has_tool("git__log") && !servers.has_tool("git__taken") && !servers.has_tool("log"));
    assert_eq!(failed(&servers, "log", json!({})), "no server has a tool `log`");
}

#[test]
fn a_usual_start_runs_no_server_and_the_first_call_one() {
    let bench = Bench::with(&[("a", "one"), ("b", "two")]);
    let first = bench.load().to_string();
    assert_eq!(bench.log(), ["start", "start"]);
    let servers = bench.load();
    assert_eq!(servers.to_string(), first);
    assert_eq!(bench.log(), [] as [&str; 0]);
    for _ in 0..3 {
        done(&servers, "b__two", json!({}));
    }
    assert_eq!(bench.log(), ["start"]);
}

#[test]
fn a_server_that_is_set_differently_is_asked_again_and_one_that_is_gone_forgotten() {
    let mut bench = Bench::with(&[("a", "one"), ("b", "two")]);
    bench.load();
    bench.log();
    bench.server("a", "python3", &["server.py", "uno"]);
    bench.settings.get_mut("b").unwrap().timeout = Some(Duration::from_secs(5));
    assert_eq!(bench.load().to_string(), "a: server, tools a__uno\nb: server, tools b__two\n");
    assert_eq!(bench.log(), ["start"], "a different patience makes no different server");
    bench.settings.remove("b");
    bench.load();
    let cache = fs::read_to_string(bench.ground.home.join("cache/servers.json")).unwrap();
    assert!(cache.contains("uno") && !cache.contains("two"), "{cache}");
    fs::write(bench.ground.home.join("cache/servers.json"), "{").unwrap();
    assert_eq!(bench.load().to_string(), "a: server, tools a__uno\n");
}

#[test]
fn what_a_server_offers_anew_is_there_at_the_next_start() {
    let mut bench = Bench::new();
    bench.home.write("names", "one");
    bench.server("a", "sh", &["-c", "exec python3 server.py $(cat names)"]);
    bench.load();
    bench.home.write("names", "one,two");
    let servers = bench.load();
    assert_eq!(servers.to_string(), "a: server, tools a__one\n");
    done(&servers, "a__one", json!({}));
    assert_eq!(servers.to_string(), "a: server, tools a__one\n", "a conversation's tools do not change");
    assert_eq!(bench.load().to_string(), "a: server, tools a__one, a__two\n");
}

#[test]
fn a_server_that_hangs_costs_its_time_once_and_a_check_asks_again() {
    let mut bench = Bench::with(&[("good", "one")]);
    bench.load();
    let body = "until [ -e ready ]; do sleep 0.01; done; exec python3 server.py late";
    bench.server("stuck", "sh", &["-c", body]);
    bench.patience(300);
    let expected = "good: server, tools good__one\n\
        stuck: skipped: it did not say in time what it offers; not tried again until its settings change\n";
    assert_eq!(bench.load().to_string(), expected);
    // Longer than any test may take.
    bench.patience(600_000);
    assert_eq!(bench.load().to_string(), expected);
    assert_eq!(bench.load().warnings().len(), 1);
    bench.home.write("ready", "");
    let checked = check(&bench.ground, "stuck", &bench.settings["stuck"]);
    assert_eq!((checked.report.as_str(), checked.fault), ("stuck: server, tools stuck__late\n", None));
    assert_eq!(
        bench.load().to_string(),
        "good: server, tools good__one\nstuck: server, tools stuck__late\n",
        "and the others are still known"
    );
}

#[test]
fn a_server_that_cannot_be_used_is_told_and_tried_again() {
    let mut bench = Bench::new();
    bench.server("absent", "no-such-program", &[]);
    bench.server("chatty", "sh", &["-c", "read line; echo 'bad config' >&2; echo hello; exit 1"]);
    bench.server("silent", "true", &[]);
    let report = bench.load().to_string();
    let about = |name: &str| report.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
    assert_eq!(
        about("absent: "),
        "skipped: `no-such-program` could not be started: No such file or directory (os error 2)"
    );
    assert_eq!(
        about("chatty: "),
        "skipped: the server closed the connection after it printed `hello`; it said: bad config"
    );
    assert_eq!(about("silent: "), "skipped: the server closed the connection");
    bench.server("absent", "python3", &["server.py", "one"]);
    assert!(bench.load().has_tool("absent__one"));
}

#[test]
fn a_server_that_dies_in_a_call_is_a_tool_error_and_the_next_call_starts_it_again() {
    let bench = Bench::with(&[("a", "one")]);
    let servers = bench.load();
    let told = failed(&servers, "a__one", json!({"do": "die"}));
    assert_eq!(told, "`a__one` failed: the server closed the connection; it said:\nout of memory");
    assert_eq!(done(&servers, "a__one", json!({})), "one {}");
    assert_eq!(bench.log(), ["start", "start"]);
}

#[test]
fn a_server_that_hangs_in_a_call_is_a_tool_error_and_is_killed() {
    let mut bench = Bench::with(&[("a", "one")]);
    bench.load();
    // A busy machine needs some of it to start the server.
    bench.settings.get_mut("a").unwrap().timeout = Some(Duration::from_secs(8));
    let servers = bench.load();
    let told = failed(&servers, "a__one", json!({"do": "hang"}));
    assert_eq!(told, "`a__one` failed: the server did not answer in time");
    assert_eq!(bench.log(), ["start", "start", "hangs"]);
    assert_eq!(done(&servers, "a__one", json!({})), "one {}");
    assert_eq!(bench.log(), ["start"]);
}

#[test]
fn garbage_between_messages_is_passed_over_and_nonsense_is_a_tool_error() {
    let bench = Bench::with(&[("a", "one")]);
    let servers = bench.load();
    assert_eq!(done(&servers, "a__one", json!({"do": "garbage"})), "one {\"do\": \"garbage\"}");
    assert_eq!(failed(&servers, "a__one", json!({"do": "fail"})), "one {\"do\": \"fail\"}");
    assert_eq!(
        failed(&servers, "a__one", json!({"do": "refuse"})),
        "`a__one` failed: the server refused: no such thing (-32602)"
    );
    assert_eq!(done(&servers, "a__one", json!({"do": "image"})), "[image that cannot be shown here]");
    assert_eq!(bench.log(), ["start"], "all of these are answers");
    let told = failed(&servers, "a__one", json!({"do": "nonsense"}));
    assert!(told.starts_with("`a__one` failed: the server's answer makes no sense: "), "{told}");
}

#[test]
fn a_server_that_floods_either_stream_does_no_harm() {
    let mut bench = Bench::new();
    bench.server("loud", "sh", &["-c", "head -c 10000000 /dev/zero >&2; exec python3 server.py one"]);
    assert_eq!(done(&bench.load(), "loud__one", json!({})), "one {}");
    bench.server("yes", "yes", &[]);
    bench.patience(300);
    let servers = bench.load();
    assert!(servers.to_string().contains("yes: skipped: it did not say in time what it offers"), "{servers}");
    assert_eq!(failed(&servers, "yes__one", json!({})), "no server has a tool `yes__one`");
}

#[test]
fn a_cancelled_call_ends_at_once() {
    let bench = Bench::with(&[("a", "one")]);
    let (servers, cancel) = (bench.load(), Cancel::default());
    let running = {
        let (servers, cancel) = (servers.clone(), cancel.clone());
        let arguments = Map::from_iter([("do".to_owned(), json!("hang"))]);
        thread::spawn(move || servers.call("a__one", &arguments, &cancel))
    };
    let log = bench.home.path().join("log");
    assert!(until(PATIENCE, || fs::read_to_string(&log).is_ok_and(|text| text.contains("hangs"))));
    cancel.cancel();
    assert_eq!(running.join().unwrap().content, "`a__one` was cancelled");
}

#[test]
fn calls_of_one_server_at_the_same_time_share_it() {
    let bench = Bench::with(&[("a", "one")]);
    bench.load();
    bench.log();
    let servers = Arc::new(bench.load());
    let calls: Vec<_> = (0..8)
        .map(|i| {
            let servers = servers.clone();
            thread::spawn(move || {
                assert_eq!(done(&servers, "a__one", json!({"i": i})), format!("one {{\"i\": {i}}}"));
            })
        })
        .collect();
    calls.into_iter().for_each(|call| call.join().unwrap());
    assert_eq!(bench.log(), ["start"]);
}

#[test]
fn a_server_sees_what_it_was_promised_and_never_the_key() {
    let mut bench = Bench::with(&[("a", "one")]);
    let more = [("API_KEY", "sk-1".into()), ("TOKEN", "t".into()), ("OTHER", "o".into())];
    bench.ground.env = Environment::of(bench.home.environment().into_iter().chain(more));
    bench.ground.secrets.keys = vec![Key::new("sk-1").unwrap()];
    bench.settings.get_mut("a").unwrap().env = vec!["API_KEY".to_owned(), "TOKEN".to_owned()];
    let told = done(&bench.load(), "a__one", json!({"do": "env"}));
    let seen: Vec<&str> = told.split(' ').collect();
    assert!(seen.contains(&"TOKEN") && seen.contains(&"LOG") && seen.contains(&"PATH"), "{told}");
    assert!(!seen.contains(&"API_KEY") && !seen.contains(&"OTHER"), "{told}");
    let cache = fs::read_to_string(bench.ground.home.join("cache/servers.json")).unwrap();
    assert!(!cache.contains("LOG"), "settings may hold secrets: {cache}");
}

#[test]
fn servers_die_with_us() {
    let bench = Bench::with(&[("a", "one")]);
    let servers = bench.load();
    done(&servers, "a__one", json!({}));
    let mark = bench.home.path().display().to_string();
    let lives = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let cwds = processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
        cwds.into_iter().any(|cwd| cwd.display().to_string() == mark)
    };
    assert!(lives());
    drop(servers);
    assert!(until(PATIENCE, || !lives()));
}
