//! `clai doctor`: what keeps clai from working, each finding with the command that mends it. Looks, asks, and changes
//! nothing; shells are asked by opening each once, as a new terminal would.

mod ground;
mod met;
mod shells;

use kit::doctor::{self, Check};
use kit::{Exit, Failure, Form, Invocation, Places};

use super::Call;

pub(super) fn run(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let checks = checks(call.invocation, &call.places);
    let text = match call.form {
        Form::Json => doctor::to_json(&checks),
        Form::Text => doctor::to_text(&checks),
    };
    call.invocation.print(&text)?;
    Ok(doctor::exit(&checks))
}

pub(crate) fn checks(invocation: &Invocation, places: &Places) -> Vec<Check> {
    let mut checks = ground::checks(invocation, places);
    checks.extend(met::checks(invocation, places));
    checks.extend(shells::checks(invocation, places));
    checks
}

/// A check with a hint, if there is one.
fn hinted(check: Check, hint: Option<String>) -> Check {
    match hint {
        Some(hint) => check.hint(hint),
        None => check,
    }
}
