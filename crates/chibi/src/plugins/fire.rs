//! One event, told to everybody who listens. Decides nothing: see [`Fired`] for what follows.

use kit::process::{Cancel, Keep, Outcome};

use crate::hooks::{Answer, Blocked, Event, Fired, Role, Warning};

use super::{Ground, Plugin, Scene, Streams, handover, run};

/// The most that an answer may be: no prompt is longer.
const ANSWER: usize = 1 << 20;

/// Where an event happens.
pub(super) struct Stage<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) streams: Streams,
}

pub(super) fn fire<'a>(
    ground: &Ground,
    listeners: impl Iterator<Item = &'a Plugin>,
    event: &Event<'_>,
    stage: &Stage<'_>,
    cancel: &Cancel,
) -> Fired {
    let mut fired = Fired::silent(event.hook());
    let mut json = None;
    for plugin in listeners {
        let json = json.get_or_insert_with(|| event.json());
        let answered = ask(ground, plugin, event, json.clone(), stage, cancel)
            .map_err(|error| format!("could not be started: {error}"))
            .and_then(|outcome| {
                fired.said.push_str(&outcome.stderr.text());
                answer(plugin, &outcome)
            });
        match answered {
            Ok(answer) => fired.answers.push(answer),
            Err(what) => fail(&mut fired, plugin, &what, cancel),
        }
    }
    fired
}

fn ask(
    ground: &Ground,
    plugin: &Plugin,
    event: &Event<'_>,
    json: String,
    stage: &Stage<'_>,
    cancel: &Cancel,
) -> std::io::Result<Outcome> {
    let timeout = ground.setting(&plugin.name).and_then(|setting| setting.timeout);
    let job = run::job_in(ground, plugin, stage.scene)
        .env("CHIBI_HOOK", event.hook().name())
        .deadline(timeout.unwrap_or(ground.limits.hook))
        .keep(Keep { head: ANSWER, tail: 0, spill: None })
        .cancel(cancel);
    // A hook may ask at the terminal; standard input is not for it.
    let job = if stage.streams == Streams::Shared { job.attached().stdin(Vec::new()) } else { job };
    let (job, _file) = handover::give(job, plugin.protocol, handover::HOOK, json, &ground.cache())?;
    job.run()
}

fn answer(plugin: &Plugin, outcome: &Outcome) -> Result<Answer, String> {
    if let Some(trouble) = run::trouble(outcome) {
        return Err(trouble);
    }
    if outcome.stdout.missing() > 0 {
        return Err(format!("printed more than {ANSWER} bytes"));
    }
    Answer::read(&plugin.name, plugin.role, &outcome.stdout.text())
}

/// A guard that cannot answer keeps things from happening. Who was interrupted by the person is not to blame.
fn fail(fired: &mut Fired, plugin: &Plugin, what: &str, cancel: &Cancel) {
    let hook = fired.hook;
    if plugin.role == Role::Guard && hook.can_be_blocked() && fired.blocked.is_none() {
        let message =
            format!("the guard `{}` could not be asked, so this was not done: it {what}", plugin.name);
        fired.blocked = Some(Blocked { plugin: plugin.name.clone(), message });
    }
    if !cancel.is_cancelled() {
        fired.warnings.push(Warning { plugin: plugin.name.clone(), what: format!("{hook}: it {what}") });
    }
}
