//! One honest meter: the rows of every tool, and their sum.

use kit::{Exit, Failure, Form, Invocation, savings};

use crate::tools::Tool;

pub(crate) fn run(invocation: &mut Invocation, tools: &[Tool], form: Form) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let mut rows = Vec::new();
    for tool in tools {
        rows.extend((tool.savings)(invocation, &places)?);
    }
    let text = match form {
        Form::Json => savings::to_json(&rows),
        Form::Text if rows.is_empty() => "nothing counted yet\n\nNext:  scrimp tour\n".to_owned(),
        Form::Text => savings::to_text(&rows),
    };
    invocation.print(&text).map(|()| Exit::Done)
}
