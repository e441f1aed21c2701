//! Where candidates come from. Every walk is bounded, so that a question costs the same after a million commands as
//! after ten thousand.

use super::pool::Pool;
use super::signals::Signal;
use crate::model::{LineId, Link, Step, StepId, TemplateId, hashed};
use crate::rank::defaults::{self, Kind};
use crate::rank::fill;

/// How many uses of a context are looked at, and how many steps back in a directory or in all.
const WALK: usize = 128;
/// The same for contexts with a gap, for other sessions and for this one.
const SHORT_WALK: usize = 64;
/// Rows of a table and lines with a prefix that become candidates, the heaviest first.
const MOST: usize = 64;

pub(super) fn add(pool: &mut Pool<'_>) {
    after_lines(pool);
    after_lines_with_a_gap(pool);
    after_templates(pool);
    after_other_sessions(pool);
    in_this_directory(pool);
    lately(pool);
    from_the_tables(pool);
    for id in pool.model.lines.hottest(pool.ask.prefix, MOST) {
        pool.nominate(id);
    }
    offers(pool);
}

/// What a vote still weighs after so many later ones.
fn fade(base: f32, later: usize) -> f32 {
    base.powi(later as i32)
}

/// What followed the last one, two and three lines.
fn after_lines(pool: &mut Pool<'_>) {
    let trail = &pool.model.trail;
    let has_failed = trail.get(pool.last).is_some_and(|step| step.failed);
    let mut uses = 0;
    for (_, step) in trail.walk(pool.last, Link::Line, WALK) {
        let Some((next, line)) = pool.after(step) else { continue };
        let weight = fade(0.98, uses);
        pool.vote(next.line, [(Signal::Line1, weight), (Signal::Line1Fast, fade(0.75, uses))]);
        pool.vote_template(line.template, Signal::LineToTemplate, weight);
        if has_failed && step.failed && !next.failed {
            pool.vote(next.line, [(Signal::Recovery, weight)]);
        }
        let line_before = |step: Option<&Step>| step.map(|step| step.line);
        let second = trail.get(step.before);
        if pool.before[1].is_some() && line_before(second) == pool.before[1] {
            pool.vote(next.line, [(Signal::Line2, weight)]);
            let third = second.and_then(|step| trail.get(step.before));
            if pool.before[2].is_some() && line_before(third) == pool.before[2] {
                pool.vote(next.line, [(Signal::Line3, weight)]);
            }
        }
        uses += 1;
    }
}

/// What came two after the line before the last, and three after the one before that: a habit with one step changed.
fn after_lines_with_a_gap(pool: &mut Pool<'_>) {
    let trail = &pool.model.trail;
    for (back, signal) in [(1, Signal::Skip2), (2, Signal::Skip3)] {
        let Some((_, start)) = trail.walk(pool.last, Link::Session, 3).nth(back) else { return };
        let mut uses = 0;
        for (_, step) in trail.walk(start.same_line, Link::Line, SHORT_WALK) {
            let skipped = (0..back).try_fold(step, |step, _| trail.get(step.after));
            let Some((next, _)) = skipped.and_then(|step| pool.after(step)) else { continue };
            pool.vote(next.line, [(signal, fade(0.95, uses))]);
            uses += 1;
        }
    }
}

/// What followed the last one, two and three templates, and that in this directory.
fn after_templates(pool: &mut Pool<'_>) {
    let (model, trail) = (pool.model, &pool.model.trail);
    let template_of = |line: LineId| model.lines.get(line).map(|line| line.template);
    let [Some(first), second, third] = pool.before.map(|line| line.and_then(template_of)) else { return };
    let directory = hashed(&pool.ask.place.cwd) as u32;
    let mut uses = 0;
    for (_, step) in trail.walk(model.aggregates.latest_of(first), Link::Template, WALK) {
        let Some((next, line)) = pool.after(step) else { continue };
        let weight = fade(0.97, uses);
        pool.vote(next.line, [(Signal::Template1, weight)]);
        pool.vote_template(line.template, Signal::Template1ToTemplate, weight);
        if next.directory == directory {
            pool.vote(next.line, [(Signal::DirectoryAfter, weight)]);
        }
        if second.is_some() && model.template_at(step.before) == second {
            pool.vote(next.line, [(Signal::Template2, weight)]);
            pool.vote_template(line.template, Signal::Template2ToTemplate, weight);
            let before = trail.get(step.before).map_or(StepId::NONE, |step| step.before);
            if third.is_some() && model.template_at(before) == third {
                pool.vote(next.line, [(Signal::Template3, weight)]);
            }
        }
        uses += 1;
    }
}

/// What came next anywhere after the line that another session has just run.
fn after_other_sessions(pool: &mut Pool<'_>) {
    let trail = &pool.model.trail;
    let Some(step) = trail.get(trail.last_id()).filter(|_| trail.last_id() != pool.last) else { return };
    for (uses, (id, _)) in trail.walk(step.same_line, Link::Line, SHORT_WALK).enumerate() {
        if let Some(next) = trail.get(StepId(id.0 + 1)) {
            pool.vote(next.line, [(Signal::AnySession, fade(0.9, uses))]);
        }
    }
}

fn in_this_directory(pool: &mut Pool<'_>) {
    let model = pool.model;
    let here = model.latest_in(hashed(&pool.ask.place.cwd));
    for (age, (_, step)) in model.trail.walk(here, Link::Directory, WALK).enumerate() {
        let Some(line) = model.lines.get(step.line) else { continue };
        pool.vote(step.line, [(Signal::Directory, fade(0.98, age)), (Signal::DirectoryFast, fade(0.8, age))]);
        pool.vote_template(line.template, Signal::DirectoryToTemplate, fade(0.95, age));
    }
}

/// What ran in this session, and a short while ago in any.
fn lately(pool: &mut Pool<'_>) {
    let (model, trail) = (pool.model, &pool.model.trail);
    for (age, (_, step)) in trail.walk(pool.last, Link::Session, SHORT_WALK).enumerate() {
        pool.vote(step.line, [(Signal::Session, fade(0.93, age))]);
    }
    let last = model.line_at(pool.last).map(|line| line.program);
    for (age, (_, step)) in trail.walk(trail.last_id(), Link::Stream, WALK).enumerate() {
        let Some(line) = model.lines.get(step.line) else { continue };
        pool.vote(step.line, [(Signal::Recent, fade(0.985, age)), (Signal::RecentFast, fade(0.85, age))]);
        pool.vote_template(line.template, Signal::RecentTemplate, fade(0.95, age));
        pool.vote_program(line.program, Signal::RecentProgram, fade(0.9, age));
        if last == Some(line.program)
            && let Some((_, next)) = pool.after(step)
        {
            pool.vote_program(next.program, Signal::Program1, fade(0.98, age));
        }
    }
}

/// What the tables of both scopes have after the last template, each as the line it was last seen as.
fn from_the_tables(pool: &mut Pool<'_>) {
    let (model, aggregates) = (pool.model, &pool.model.aggregates);
    let Some(previous) = model.template_at(pool.last) else { return };
    let local = aggregates.followers_in(pool.scope, previous).map(|row| (row.count, row.next)).collect();
    let global = aggregates.followers(previous).map(|row| (row.count, row.next)).collect();
    for (signal, rows) in [(Signal::RepoTransition, local), (Signal::GlobalTransition, global)] {
        for (count, template) in heaviest(rows) {
            pool.vote_template(template, signal, count as f32);
            if let Some((line, _)) = fill(model, pool.scope, template) {
                pool.nominate(line);
            }
        }
    }
}

fn heaviest(mut rows: Vec<(u32, TemplateId)>) -> Vec<(u32, TemplateId)> {
    let order = |a: &(u32, TemplateId), b: &(u32, TemplateId)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if rows.len() > MOST {
        rows.select_nth_unstable_by(MOST, order);
        rows.truncate(MOST);
    }
    rows.sort_unstable_by(order);
    rows
}

/// What the project has to run, and what people do anywhere.
fn offers(pool: &mut Pool<'_>) {
    for task in pool.ask.tasks {
        if let Some(candidate) = pool.nominate_text(&task.command) {
            candidate.set(Signal::Task, 1.0);
        }
    }
    let last = pool.model.line_at(pool.last).map(|line| &*line.text);
    for default in defaults::after(last) {
        // How fast the weight falls from the first of a kind to the next.
        let (signal, slope) = match default.kind {
            Kind::Carried => (Signal::Carried, 1.0),
            Kind::After => (Signal::After, 1.0),
            Kind::Always => (Signal::Always, 8.0),
        };
        let weight = slope / (slope + default.rank as f32);
        if let Some(candidate) = pool.nominate_text(&default.command) {
            candidate.set(signal, weight);
        }
    }
}
