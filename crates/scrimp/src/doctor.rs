//! What works on this machine: the ground every tool stands on, then each tool's own findings.

mod machine;

use kit::doctor::{self, Check};
use kit::{Exit, Failure, Form, Invocation};

use crate::tools::Tool;

pub(crate) fn run(invocation: &mut Invocation, tools: &[Tool], form: Form) -> Result<Exit, Failure> {
    let checks = checks(invocation, tools);
    let text = match form {
        Form::Text => doctor::to_text(&checks),
        Form::Json => doctor::to_json(&checks),
    };
    invocation.print(&text)?;
    Ok(doctor::exit(&checks))
}

/// A home that cannot be used is a finding, not the end of the examination.
fn checks(invocation: &Invocation, tools: &[Tool]) -> Vec<Check> {
    let places = match invocation.env.places() {
        Ok(places) => places,
        Err(error) => {
            return vec![machine::place("home", &error)];
        }
    };
    let mut checks = machine::checks(invocation, &places);
    for tool in tools {
        checks.extend((tool.doctor)(invocation, &places));
    }
    checks
}
