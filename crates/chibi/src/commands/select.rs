//! Which context a run is about: the current one, another for good or for once, a new one, or a copy of this one.

use kit::Failure;

use crate::context::{ContextName, EntryId, State};
use crate::hooks::Event;
use crate::input::Select;
use crate::moment::Moment;
use crate::run::Run;

pub(super) fn context(run: &mut Run, select: &Select, from: Option<&str>) -> Result<(), Failure> {
    let (chosen, transient) = match select {
        Select::Current if from.is_some() => {
            return Err(Failure::usage("a copy needs a name").hint("`-c new:NAME --from ID`"));
        }
        Select::Current => return Ok(()),
        Select::Switch(spec) => (named(run, spec)?, false),
        Select::Transient(spec) => (named(run, spec)?, true),
        Select::Latest => (latest(run)?, true),
    };
    if let Some(id) = from {
        fork(run, &chosen, id)?;
    }
    // It is not taken only to be looked at: somebody may be working with it, even if it was not there a moment ago.
    if !run.home.exists(&chosen) {
        run.home.ensure(&chosen)?;
    }
    if !transient {
        State::update(&run.home, |state| state.switch(&chosen))?;
    }
    run.chosen = true;
    let before = std::mem::replace(&mut run.current, chosen.clone());
    // What plugins may see and do can be set for a context alone.
    let plugins = |name| run.layers(name).map(|layers| layers.open_table("plugins"));
    if plugins(&before)? != plugins(&chosen)? {
        run.load_plugins()?;
    }
    let event = Event::OnContextSwitch {
        from_context: before.as_str(),
        to_context: chosen.as_str(),
        is_transient: transient,
    };
    run.fire(&event, &chosen);
    run.out.diagnostic(&format!("context {}", chosen.as_str()));
    Ok(())
}

fn named(run: &Run, spec: &str) -> Result<ContextName, Failure> {
    if spec == "-" {
        let (state, _) = State::load(&run.home)?;
        return state.previous_context.ok_or_else(|| {
            Failure::new("there is no context before this one").hint("`chibi -L` lists them")
        });
    }
    let stamp = match spec.starts_with("new") {
        true => Moment::new(run.now(), run.offset()).stamp(),
        false => String::new(),
    };
    ContextName::chosen(spec, &stamp, |name| run.home.exists(name)).map_err(Failure::from)
}

/// By the time of the last entry.
fn latest(run: &Run) -> Result<ContextName, Failure> {
    let listed = run.home.list()?;
    let mut best: Option<(u64, ContextName)> = None;
    for context in listed {
        let newest = run.reader(&context.name)?.latest().find_map(Result::ok);
        let time = newest.map_or(0, |entry| entry.timestamp);
        if best.as_ref().is_none_or(|(other, _)| time > *other) {
            best = Some((time, context.name));
        }
    }
    best.map(|(_, name)| name)
        .ok_or_else(|| Failure::new("nothing was said yet").hint("`chibi hello` begins"))
}

fn fork(run: &mut Run, new: &ContextName, id: &str) -> Result<(), Failure> {
    let current = run.current.clone();
    let reader = run.reader(&current)?;
    run.home.fork(&reader, &EntryId(id.to_owned()), new)?;
    run.out.diagnostic(&format!("{} is a copy of {} up to {id}", new.as_str(), current.as_str()));
    Ok(())
}
