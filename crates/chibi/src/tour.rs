//! Our stop of the tour: a conversation that is played from a file, with a plugin that really runs. No key, no network.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use kit::invocation::{Clock, Environment, Program, Terminal};
use kit::tour::{Sight, Stage};
use kit::{Exit, Failure, Invocation};
use store::{Durability, replace};

use crate::context::{Entry, EntryKind};

/// What the model says: it calls the plugin, then answers.
const SCRIPT: &str = r#"data: {"call": "count_words", "input": {"text": "the quick brown fox jumps over the lazy dog"}}

data: [DONE]

data: {"say": "That sentence has 9 words; I had them counted."}

data: [DONE]

"#;

const PLUGIN: &str = r#"#!/bin/sh
if [ "$1" = --schema ]; then
  echo '{"name": "count_words", "description": "Counts words", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}'
  exit
fi
printf '%s' "$CHIBI_TOOL_ARGS" | sed 's/.*: *"//; s/"}$//' | wc -w | tr -d ' '
"#;

const QUESTION: &str = "How many words are in: the quick brown fox jumps over the lazy dog?";

pub fn stop(stage: &Stage<'_>) -> Result<Sight, Failure> {
    let home = stage.scratch.join("chibi");
    let script = home.join("conversation.txt");
    put(&home.join("plugins/count_words"), PLUGIN, 0o700)?;
    put(&script, SCRIPT, 0o600)?;
    let model = format!("script:{}", script.display());
    let started = Instant::now();
    let answer = play(stage, &home, &["--model", &model, QUESTION])?;
    let spent = started.elapsed();
    let log = play(stage, &home, &["--json-output", "-g", "0"])?;
    let entries: Vec<Entry> = log.lines().filter_map(|line| Entry::parse(line.as_bytes())).collect();
    let said = |kind| entries.iter().find(|entry| entry.kind == kind).map_or("", |entry| &entry.content);
    let call =
        format!("count_words({}) gave {}", said(EntryKind::ToolCall), said(EntryKind::ToolResult).trim());
    let started = Instant::now();
    let found = play(stage, &home, &["--search", "lazy dog"])?;
    let search = started.elapsed();
    Ok(Sight {
        title: "Talk".into(),
        lines: vec![
            format!("you      {QUESTION}"),
            format!("plugin   {call}"),
            format!("model    {}", answer.trim()),
            format!(
                "kept as {} entries in {} ms; {} of them have `lazy dog`, found in {:.1} ms",
                entries.len(),
                spent.as_millis(),
                found.lines().count() / 2,
                search.as_secs_f64() * 1000.0,
            ),
        ],
    })
}

/// Runs chibi in the scratch directory and gives what it printed.
fn play(stage: &Stage<'_>, home: &Path, args: &[&str]) -> Result<String, Failure> {
    let (stdout, stderr) = (Page::default(), Page::default());
    let names = ["PATH", "HOME", "LANG", "TMPDIR"];
    let known =
        names.into_iter().filter_map(|name| Some((OsString::from(name), stage.env.get(name)?.to_owned())));
    let env = Environment::of(known.chain([(OsString::from("CHIBI_HOME"), home.as_os_str().to_owned())]));
    let exit = crate::run(Invocation {
        program: Program::new("chibi", None),
        args: args.iter().map(OsString::from).collect(),
        env,
        cwd: stage.scratch.to_owned(),
        stdin: Box::new(io::empty()),
        stdout: Box::new(stdout.clone()),
        stderr: Box::new(stderr.clone()),
        terminal: Terminal::default(),
        clock: Clock::system(),
    });
    match exit {
        Exit::Done => Ok(stdout.text()),
        _ => Err(Failure::new(format!("the conversation did not play: {}", stderr.text().trim()))),
    }
}

fn put(path: &Path, text: &str, mode: u32) -> Result<(), Failure> {
    let failed = |error: &dyn std::error::Error| {
        Failure::new(format!("cannot write `{}`", path.display())).because(error)
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    }
    replace(path, text.as_bytes(), Durability::Cached).map_err(|error| failed(&error))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(|error| failed(&error))
}

/// Output that is looked at afterwards.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_stop_plays_a_conversation_with_a_plugin() {
        let home = testkit::Home::new();
        let env = Environment::of(home.environment());
        let here = home.path().to_owned();
        let scratch = home.path().join("scratch");
        let stage = Stage { here: &here, env: &env, scratch: &scratch, patience: Duration::from_secs(10) };
        let sight = stop(&stage).unwrap();
        assert_eq!(sight.lines.len(), 4);
        assert!(sight.lines[1].ends_with("gave 9"), "{:?}", sight.lines);
        assert_eq!(sight.lines[2], "model    That sentence has 9 words; I had them counted.");
        assert!(sight.lines[3].contains("; 2 of them have `lazy dog`, found in "), "{:?}", sight.lines);
        assert!(!home.path().join(".chibi").exists(), "nothing is written elsewhere");
    }
}
