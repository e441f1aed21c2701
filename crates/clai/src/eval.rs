//! An engine for prequential evaluators: JSON Lines in, one line of suggestions out for each question. State lives
//! from one `reset` to the next; nothing here reads ahead.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::{Place, Ran, RepoKey, SessionId, Template};
use crate::normalise::normalise;
use crate::rank::{Ask, Engine, Scorer};

/// Where nobody tells the time, commands are half a minute apart.
const PACE_MS: i64 = 30_000;

/// What a run of the evaluator came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub observed: u64,
    pub answered: u64,
    /// Lines that could not be read and were passed over.
    pub malformed: u64,
}

/// Serves until the end of `input`. Lines that are no event of ours are passed over; a question that cannot be
/// understood is answered with an empty list, so that the other side never waits.
pub fn run_eval(input: impl BufRead, mut output: impl Write, scorer: Scorer) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let mut bench = Bench::new(scorer);
    for line in input.split(b'\n') {
        let line = line?;
        let answer = match serde_json::from_slice(&line) {
            _ if line.trim_ascii().is_empty() => continue,
            Ok(Event::Reset) => {
                bench = Bench::new(scorer);
                continue;
            }
            Ok(Event::Observe(event)) => {
                tally.observed += 1;
                bench.observe(event);
                continue;
            }
            Ok(Event::Suggest(question)) => bench.answer(&question),
            Ok(Event::Other) => continue,
            Err(_) => {
                tally.malformed += 1;
                if !line.windows(ASKING.len()).any(|part| part == ASKING) {
                    continue;
                }
                json!({"suggestions": []})
            }
        };
        tally.answered += 1;
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(tally)
}

/// What a question has in it, however broken the rest is.
const ASKING: &[u8] = b"\"suggest\"";

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    Reset,
    Suggest(Question),
    Observe(Observed),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Question {
    limit: Option<usize>,
    #[serde(default)]
    session: Value,
    cwd: Option<String>,
    ts: Option<f64>,
    prefix: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Observed {
    cmd: String,
    #[serde(default)]
    session: Value,
    cwd: Option<String>,
    ts: Option<f64>,
    exit: Option<i32>,
}

struct Bench {
    engine: Engine,
    /// What stood first for the shorter prefixes of the line that is being typed.
    passed: Vec<String>,
}

impl Bench {
    fn new(scorer: Scorer) -> Bench {
        Bench { engine: Engine::new(scorer), passed: Vec::new() }
    }

    fn observe(&mut self, event: Observed) {
        self.passed.clear();
        let ts = self.time(event.ts);
        let ran = Ran {
            session: session(&event.session),
            ts,
            duration_ms: None,
            exit_code: event.exit,
            place: place(event.cwd),
            template: template_of(&event.cmd),
            line: event.cmd,
        };
        self.engine.learn(&ran);
    }

    fn answer(&mut self, question: &Question) -> Value {
        let prefix = question.prefix.as_deref().unwrap_or("");
        let answer = self.engine.suggest(&Ask {
            session: &session(&question.session),
            place: &place(question.cwd.clone()),
            now: self.time(question.ts),
            prefix,
            limit: question.limit.unwrap_or(5),
            tasks: &[],
            passed: &self.passed,
        });
        if let Some(first) = answer.suggestions.first()
            && !self.passed.contains(&first.command)
        {
            self.passed.push(first.command.clone());
        }
        let suggestions: Vec<Value> = answer
            .suggestions
            .iter()
            .map(|it| {
                json!({"cmd": it.command, "cmd_norm": it.template.0, "score": it.score,
                    "confidence": it.confidence, "reasons": it.reasons})
            })
            .collect();
        json!({"suggestions": suggestions})
    }

    fn time(&self, seconds: Option<f64>) -> i64 {
        match seconds {
            Some(seconds) if seconds.is_finite() => (seconds * 1000.0) as i64,
            _ => self.engine.model().commands() as i64 * PACE_MS,
        }
    }
}

/// Evaluators number their sessions or name them.
fn session(value: &Value) -> SessionId {
    SessionId(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// The protocol knows no repositories: the first two directories of a path stand for one, as they do in the
/// evaluator's own baselines, and one for commands that ran nowhere.
fn place(cwd: Option<String>) -> Place {
    let repo =
        cwd.as_deref().map_or("-".to_owned(), |cwd| cwd.split('/').take(3).collect::<Vec<_>>().join("/"));
    Place { cwd: cwd.unwrap_or_default(), repo: Some(RepoKey(repo)), branch: None }
}

pub(crate) fn template_of(line: &str) -> Template {
    normalise(line).template
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(input: &str) -> (Vec<Value>, Tally) {
        let mut output = Vec::new();
        let tally = run_eval(input.as_bytes(), &mut output, Scorer::Blend).unwrap();
        let lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        (lines.map(|line| serde_json::from_slice(line).unwrap()).collect(), tally)
    }

    fn first(answer: &Value) -> Option<&str> {
        answer["suggestions"][0]["cmd"].as_str()
    }

    #[test]
    fn a_question_is_answered_from_what_was_observed() {
        let (answers, tally) = served(
            r#"{"type":"reset","user":"u"}
{"type":"observe","session":"1","ts":1.0,"cmd":"make check","cwd":"~/p","exit":null}
{"type":"observe","session":"1","ts":2.0,"cmd":"git push","cwd":"~/p","exit":0}
{"type":"observe","session":"1","ts":3.5,"cmd":"make check","cwd":"~/p","exit":null}
{"type":"suggest","limit":5,"session":"1","cwd":"~/p","ts":4.0,"prefix":""}
{"type":"suggest","limit":1,"session":"1","cwd":"~/p","ts":4.0,"prefix":"make"}
"#,
        );
        assert_eq!(tally, Tally { observed: 3, answered: 2, malformed: 0 });
        assert_eq!(first(&answers[0]), Some("git push"));
        assert_eq!(answers[0]["suggestions"].as_array().unwrap().len(), 5);
        assert_eq!(first(&answers[1]), Some("make check"));
        assert_eq!(answers[1]["suggestions"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_reset_leaves_nothing_of_the_user_before() {
        let (answers, _) = served(
            r#"{"type":"observe","session":"1","cmd":"only mine"}
{"type":"reset","user":"v"}
{"type":"suggest","limit":9,"session":"1","prefix":"only"}
"#,
        );
        assert_eq!(answers[0]["suggestions"], json!([]));
    }

    #[test]
    fn unknown_and_missing_fields_and_unknown_events_are_tolerated() {
        let (answers, tally) = served(
            r#"{"type":"hello","future":[1]}
{"type":"observe","session":12,"cmd":"x y","shell":"zsh","exit":null,"cwd":null,"ts":null}

{"type":"suggest","session":12,"colour":"red","prefix":"x"}
"#,
        );
        assert_eq!(first(&answers[0]), Some("x y"));
        assert_eq!(tally.malformed, 0);
    }

    #[test]
    fn a_malformed_line_is_passed_over_but_a_question_never_waits() {
        let (answers, tally) = served(
            "nonsense\n{\"type\":\"observe\"}\n\u{0}\n{\"type\":\"suggest\",\"limit\":\"many\"}\n{\"type\":\"suggest\",\"prefix\":\"\\ud800\"}\n[1]\n",
        );
        assert_eq!(answers, [json!({"suggestions": []}), json!({"suggestions": []})]);
        assert_eq!(tally, Tally { observed: 0, answered: 2, malformed: 6 });
    }

    #[test]
    fn what_was_typed_past_is_not_offered_first_again() {
        let mut input = String::new();
        for _ in 0..9 {
            input.push_str("{\"type\":\"observe\",\"session\":\"1\",\"cmd\":\"tail -f log\"}\n");
        }
        input.push_str("{\"type\":\"observe\",\"session\":\"1\",\"cmd\":\"tail notes\"}\n");
        for prefix in ["t", "ta"] {
            input.push_str(&format!("{{\"type\":\"suggest\",\"session\":\"1\",\"prefix\":\"{prefix}\"}}\n"));
        }
        let (answers, _) = served(&input);
        assert_eq!(first(&answers[0]), Some("tail -f log"));
        assert_eq!(first(&answers[1]), Some("tail notes"));
        assert!(answers[1].to_string().contains("tail -f log"), "it is only moved back");
    }
}
