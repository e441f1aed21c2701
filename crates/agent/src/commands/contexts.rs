//! `agent contexts`: the conversations that can be gone on with, the latest first.

use kit::page::Column;
use kit::{Exit, Failure, Form, Invocation, Page};
use serde_json::json;

use crate::keep::{self, Listed};

pub(super) fn run(invocation: &mut Invocation, form: Form) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let listed = keep::list(&keep::home(&invocation.env, &places, &invocation.clock))?;
    let page = Page::of(invocation);
    let text = match form {
        Form::Json => {
            let rows: Vec<_> = listed
                .iter()
                .map(|one| json!({"context": one.name, "project": one.project, "last": one.last_ms}))
                .collect();
            format!("{}\n", json!({"contexts": rows}))
        }
        Form::Text if listed.is_empty() => format!("no conversations yet\n{}", page.next("", "opens one")),
        Form::Text => {
            let table = table(&listed, &page, invocation.clock.unix_ms());
            format!("{table}{}", page.next("--resume NAME", "goes on with one"))
        }
    };
    invocation.print(&text).map(|()| Exit::Done)
}

/// Name, how long ago, where, and what it began with.
pub(crate) fn table(listed: &[Listed], page: &Page, now_ms: i64) -> String {
    let rows: Vec<[String; 3]> =
        listed.iter().map(|one| [one.name.clone(), ago(now_ms - one.last_ms), one.project.clone()]).collect();
    page.aligned([Column::Left, Column::DimRight, Column::Dim], &rows)
}

fn ago(ms: i64) -> String {
    let minutes = ms.max(0) / 60_000;
    match minutes {
        0 => "now".to_owned(),
        1..60 => format!("{minutes} min"),
        60..2880 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1440),
    }
}
