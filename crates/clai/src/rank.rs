//! What to offer next. Pure: the model, a question and what the caller knows of the project go in, a ranked list that
//! can explain itself comes out. Knows no clock, no file and no shell.

mod blend;
mod defaults;
mod seed;

use crate::command::{Place, Ran, SessionId, Template};
use crate::danger::danger;
use crate::model::{Line, LineId, Model, Scope, TemplateId, Use, is_whole};

pub use blend::Weights;

/// How candidates are weighed against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scorer {
    /// The reference: fixed weights on logarithms of counts.
    Seed,
    /// Many contexts, mixed with weights that are learned while the person works.
    #[default]
    Blend,
}

impl Scorer {
    pub fn named(name: &str) -> Option<Scorer> {
        match name {
            "seed" => Some(Scorer::Seed),
            "blend" => Some(Scorer::Blend),
            _ => None,
        }
    }
}

/// What is known before the next command.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub session: &'a SessionId,
    pub place: &'a Place,
    /// Unix milliseconds.
    pub now: i64,
    /// What is typed so far: every suggestion begins with it and is longer.
    pub prefix: &'a str,
    pub limit: usize,
    pub tasks: &'a [Task],
    /// Lines that stood first for a shorter prefix of this very line and were typed past: they go behind all others.
    pub passed: &'a [String],
}

/// Something the project offers to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub command: String,
    pub template: Template,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    pub suggestions: Vec<Suggestion>,
    /// The template of the command that these follow.
    pub last: Option<Template>,
    /// Which of the six sources in [`source`] had a part in the suggestions.
    pub used_sources: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Suggestion {
    pub command: String,
    pub template: Template,
    pub score: f64,
    /// How likely it is that this very line is wanted, 0 to 1.
    pub confidence: f64,
    /// What speaks for it, the strongest first.
    pub reasons: Vec<&'static str>,
    /// The parts that the score is the sum of, the largest first.
    pub why: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    pub name: &'static str,
    pub score: f64,
}

/// The words for where a suggestion comes from.
pub mod source {
    pub const REPO_TRANSITION: &str = "repo_transition";
    pub const GLOBAL_TRANSITION: &str = "global_transition";
    pub const FREQ_REPO: &str = "freq_repo";
    pub const PROJECT_TASK: &str = "project_task";
    pub const FREQ_GLOBAL: &str = "freq_global";
    pub const CONTEXT_DEFAULT: &str = "context_default";

    pub(super) const ALL: [&str; 6] =
        [REPO_TRANSITION, GLOBAL_TRANSITION, FREQ_REPO, PROJECT_TASK, FREQ_GLOBAL, CONTEXT_DEFAULT];

    /// Not one of the six: a line that nobody has run, made of words of other lines.
    pub const COMPOSED: &str = "composed";
    /// Not a source: why something was moved down.
    pub const DANGEROUS: &str = "dangerous";
}

/// The model together with what was learned about weighing it.
#[derive(Debug)]
pub struct Engine {
    model: Model,
    weights: Weights,
    scorer: Scorer,
}

impl Engine {
    pub fn new(scorer: Scorer) -> Engine {
        Engine::with_weights(scorer, Weights::default())
    }

    /// Starts from weights that were learned elsewhere.
    pub fn with_weights(scorer: Scorer, weights: Weights) -> Engine {
        Engine { model: Model::new(), weights, scorer }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// `None` for a scorer that learns none.
    pub fn learned_weights(&self) -> Option<&Weights> {
        (self.scorer == Scorer::Blend).then_some(&self.weights)
    }

    /// Takes in a command that has ended: first how well it was foreseen, then the command itself.
    pub fn learn(&mut self, ran: &Ran) {
        if self.scorer == Scorer::Blend {
            self.weights.learn(&self.model, ran);
        }
        self.model.learn(ran);
    }

    /// Takes in a command and leaves the weights as they are: because they have seen it already, or because nothing of it
    /// may last.
    pub fn take_in(&mut self, ran: &Ran) {
        self.model.learn(ran);
    }

    /// See [`Model::dismiss`].
    pub fn dismiss(&mut self, line: &str) {
        self.model.dismiss(line);
    }

    /// See [`Model::forget`]. What was learned about weighing holds no text.
    pub fn forget(&mut self, matches: impl Fn(&str) -> bool) -> usize {
        self.model.forget(matches)
    }

    pub fn suggest(&self, ask: &Ask<'_>) -> Answer {
        match self.scorer {
            Scorer::Seed => seed::suggest(&self.model, ask),
            Scorer::Blend => blend::suggest(&self.model, &self.weights, ask),
        }
    }
}

/// Where the arguments of a suggestion were last used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filled {
    Here,
    Elsewhere,
}

/// The line that a template was last seen as: in this repository, else anywhere.
fn fill(model: &Model, scope: Scope, template: TemplateId) -> Option<(LineId, Filled)> {
    let line = |used: &Use| Some(used.line).filter(|line| model.lines.get(*line).is_some());
    if let Some(line) = model.aggregates.used_in(scope, template).and_then(line) {
        return Some((line, Filled::Here));
    }
    Some((line(model.aggregates.used(template)?)?, Filled::Elsewhere))
}

/// Neither blank nor typed already, not what was waved away, not what did not work, and nothing with a hole where a secret
/// was.
fn may_offer(model: &Model, ask: &Ask<'_>, command: &str) -> bool {
    match model.lines.find(command).and_then(|id| model.lines.get(id)) {
        Some(line) => may_offer_line(model, ask, line),
        None => goes_on(ask, command) && is_whole(command) && !model.is_dismissed(command),
    }
}

/// [`may_offer`] for a line at hand.
fn may_offer_line(model: &Model, ask: &Ask<'_>, line: &Line) -> bool {
    line.is_whole && line.is_worth_offering() && goes_on(ask, &line.text) && !model.is_dismissed(&line.text)
}

fn goes_on(ask: &Ask<'_>, command: &str) -> bool {
    command.len() > ask.prefix.len() && command.starts_with(ask.prefix)
}

fn name_of(model: &Model, template: Option<TemplateId>) -> Option<Template> {
    Some(Template(model.aggregates.name(template?)?.to_string()))
}
