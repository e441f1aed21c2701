//! What `doctor` says about set-up: complete, in part, covered, elsewhere, gone, unreadable.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: writes the files that it sets up"
)]

#[allow(dead_code, reason = "shared with the other tests of set-up")]
#[path = "setup/ground.rs"]
mod ground;

use std::fs;

use drip::setup::{Action, Agent, Finding, Mode, Program, Scope, State, apply, findings, plan};
use ground::{Place, get, put};
use kit::doctor;

/// A place whose program is really there.
fn place() -> Place {
    let mut place = Place::new();
    place.ground.drip = place.home.path().join("bin/drip");
    put(&place.ground.drip, Some("a program"));
    place
}

fn found(place: &Place, agent: Agent, scope: Scope) -> Finding {
    findings(&place.ground).into_iter().find(|found| (found.agent, found.scope) == (agent, scope)).unwrap()
}

fn set_up(place: &Place, agent: Agent, scope: Scope, mode: Mode) {
    apply(&plan(agent, scope, Action::Init(mode), &place.ground).unwrap()).unwrap();
}

fn said(finding: &Finding) -> String {
    doctor::to_text(&finding.checks("drip"))
}

#[test]
fn nothing_is_set_up_at_first_and_everything_after_init() {
    let place = place();
    let all = findings(&place.ground);
    let scopes: Vec<_> = all.iter().map(|found| (found.agent, found.scope)).collect();
    assert_eq!(
        scopes,
        [
            (Agent::Claude, Scope::Project),
            (Agent::Claude, Scope::Global),
            (Agent::Codex, Scope::Global),
            (Agent::Gemini, Scope::Project),
            (Agent::Gemini, Scope::Global),
        ]
    );
    assert!(all.iter().all(|found| matches!(found.state, State::Absent) && found.strays.is_empty()));
    assert_eq!(
        said(&all[1]),
        " ok    claude global  not set up\n                      hint: `drip init --agent claude -g`\n"
    );
    for finding in all {
        for mode in [Mode::Deny, Mode::Rewrite] {
            set_up(&place, finding.agent, finding.scope, mode);
            let now = found(&place, finding.agent, finding.scope);
            assert!(matches!(now.state, State::Complete(found) if found == mode), "{now:?} in {mode:?}");
            assert!(now.strays.is_empty());
        }
    }
}

#[test]
fn a_clean_project_is_covered_by_the_global_set_up() {
    for agent in [Agent::Claude, Agent::Gemini] {
        let place = place();
        set_up(&place, agent, Scope::Global, Mode::Rewrite);
        let project = found(&place, agent, Scope::Project);
        assert!(matches!(project.state, State::CoveredByGlobal), "{project:?}");
        assert!(said(&project).contains("covered by the global set-up"));
    }
}

#[test]
fn two_set_ups_that_would_both_run_are_told() {
    let mut place = place();
    set_up(&place, Agent::Claude, Scope::Global, Mode::Rewrite);
    set_up(&place, Agent::Claude, Scope::Project, Mode::Rewrite);
    // A client runs one command once, however often it is registered.
    assert!(matches!(found(&place, Agent::Claude, Scope::Project).state, State::Complete(_)));
    place.ground.drip = place.home.path().join("other/drip");
    put(&place.ground.drip, Some("a program"));
    set_up(&place, Agent::Claude, Scope::Project, Mode::Rewrite);
    let project = found(&place, Agent::Claude, Scope::Project);
    assert!(matches!(project.state, State::Twice(Mode::Rewrite)), "{project:?}");
    assert!(said(&project).starts_with(" warn "), "{}", said(&project));
}

#[test]
fn what_is_missing_is_named_and_what_keeps_answers_true_is_an_error() {
    let place = place();
    set_up(&place, Agent::Claude, Scope::Project, Mode::Rewrite);
    let settings = place.settings(Agent::Claude);
    let whole = get(&settings).unwrap();
    fs::remove_file(place.ground.project.join("CLAUDE.md")).unwrap();
    put(&settings, Some(&whole.replace("hook claude-post-bash", "hook of-mine")));
    let finding = found(&place, Agent::Claude, Scope::Project);
    assert_eq!(
        said(&finding),
        " warn  claude project  set up in part; missing: `@drip.md` in `CLAUDE.md`, `hook claude-post-bash` on \
         PostToolUse\n                       hint: `drip init --agent claude`\n"
    );
    put(&settings, Some(&whole.replace("\"SessionStart\"", "\"Elsewhere\"")));
    let finding = found(&place, Agent::Claude, Scope::Project);
    assert!(matches!(finding.state, State::Partial { unsafe_without: true, .. }), "{finding:?}");
    assert!(said(&finding).starts_with(" fail "), "{}", said(&finding));
    put(&settings, None);
    assert!(matches!(found(&place, Agent::Claude, Scope::Project).state, State::Partial { .. }));
}

#[test]
fn a_program_that_is_gone_or_is_another_one_is_told() {
    let mut place = place();
    set_up(&place, Agent::Codex, Scope::Global, Mode::Rewrite);
    let old = place.ground.drip.clone();
    place.ground.drip = place.home.path().join("new/drip");
    put(&place.ground.drip, Some("a program"));
    let finding = found(&place, Agent::Codex, Scope::Global);
    assert_eq!(finding.strays, [Program::Other(old.clone())]);
    assert!(said(&finding).contains("not this program"), "{}", said(&finding));
    fs::remove_file(&old).unwrap();
    assert_eq!(found(&place, Agent::Codex, Scope::Global).strays, [Program::Gone(old.clone())]);
    // A link to this program is this program.
    std::os::unix::fs::symlink(&place.ground.drip, &old).unwrap();
    assert_eq!(found(&place, Agent::Codex, Scope::Global).strays, []);
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_fault() {
    let place = place();
    put(&place.settings(Agent::Gemini), Some("{"));
    let finding = found(&place, Agent::Gemini, Scope::Project);
    assert!(matches!(finding.state, State::Unreadable(_)), "{finding:?}");
    let said = said(&finding);
    assert!(
        said.starts_with(" fail  gemini project  cannot edit `") && said.contains("line 1, column 1"),
        "{said}"
    );
}
