//! Our stop of the tour: what the person's own shell history says, read where it is and learned in memory only.

use std::collections::HashMap;
use std::time::Instant;

use kit::invocation::place_failure;
use kit::tour::{Sight, Stage};
use kit::{Failure, Places};

use crate::command::{SessionId, Template};
use crate::commands::counted;
use crate::import::{self, Source};
use crate::normalise::normalise;
use crate::redact::{Policy, redact};

/// Below this nothing is a habit.
const HABIT: u64 = 3;

pub fn stop(stage: &Stage<'_>) -> Result<Sight, Failure> {
    let places =
        stage.env.places().map_err(|error| place_failure("the tour stopped at the histories", &error))?;
    let started = Instant::now();
    let mut habits = Habits::default();
    let mut read = Vec::new();
    for source in [Source::Bash, Source::Zsh, Source::Fish, Source::Atuin] {
        let file = source.candidates(&places, stage.env).into_iter().find(|file| file.is_file());
        let Some(history) = file.and_then(|file| import::open(source, &file).ok()) else { continue };
        let before = habits.commands;
        for entry in history.map_while(Result::ok).take_while(|_| started.elapsed() < stage.patience) {
            habits.learn(entry.session, &entry.line);
        }
        if habits.commands > before {
            read.push(source.name());
        }
    }
    Ok(Sight { title: "Shell".into(), lines: lines(&habits, &read, started, &places) })
}

fn lines(habits: &Habits, read: &[&str], started: Instant, places: &Places) -> Vec<String> {
    if habits.commands == 0 {
        let home = places.home.display();
        return vec![
            format!("no history of bash, zsh, fish or atuin was found below {home}"),
            "it learns as you work: `clai` says how to load it".to_owned(),
        ];
    }
    let commands = counted(habits.commands, "command");
    let mut lines = vec![format!(
        "{commands} in the history of {}, read in {:.0} ms, written nowhere",
        read.join(", "),
        started.elapsed().as_secs_f64() * 1000.0
    )];
    lines.push(match habits.strongest() {
        Some(Habit { before, after, count, of }) => {
            let word = if count * 2 > of { "usually" } else { "often" };
            format!("after `{before}` you {word} run   {after}   (seen {count} times, {count} of {of})")
        }
        None => "no command has followed another often enough to be called a habit".to_owned(),
    });
    if habits.secrets > 0 {
        let lines_with = counted(habits.secrets, "line");
        lines.push(format!("{lines_with} with a secret in them: clai would keep them without it"));
    }
    lines
}

/// What followed what, by template.
#[derive(Debug, Default)]
struct Habits {
    commands: u64,
    secrets: u64,
    last: HashMap<SessionId, Template>,
    follows: HashMap<Template, HashMap<Template, u64>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Habit {
    before: Template,
    after: Template,
    count: u64,
    of: u64,
}

impl Habits {
    fn learn(&mut self, session: SessionId, line: &str) {
        let redaction = redact(line, Policy::Redact);
        self.commands += 1;
        self.secrets += u64::from(!redaction.found.is_empty());
        let Some(line) = redaction.line else { return };
        let template = normalise(&line).template;
        if let Some(before) = self.last.insert(session, template.clone())
            && before != template
        {
            *self.follows.entry(before).or_default().entry(template).or_default() += 1;
        }
    }

    /// The one that was seen most often, and of equals the one that is surest; nothing that had a secret in it.
    fn strongest(&self) -> Option<Habit> {
        let shown = |template: &Template| !template.0.contains("<secret:") && template.0.len() < 60;
        let habits = self.follows.iter().filter(|(before, _)| shown(before)).flat_map(|(before, follows)| {
            let of = follows.values().sum();
            follows.iter().filter(|(after, _)| shown(after)).map(move |(after, count)| Habit {
                before: before.clone(),
                after: after.clone(),
                count: *count,
                of,
            })
        });
        let key = |habit: &Habit| {
            (habit.count, std::cmp::Reverse(habit.of), std::cmp::Reverse(habit.before.clone()))
        };
        habits.filter(|habit| habit.count >= HABIT && habit.count * 4 > habit.of).max_by_key(key)
    }
}
