//! `tldr` alone: what it has done for you so far, and where to go. Looks at no file of the project, so that it costs nothing.

use kit::page::Column;
use kit::text::thousands;
use kit::{Exit, Failure, Invocation, Page};

use crate::client;
use crate::root::Root;
use crate::usage::{self, signed};

pub(super) fn run(invocation: &mut Invocation) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let so_far = usage::totals(&places)?.map_or_else(
        || "no daemon was asked anything yet".to_owned(),
        |totals| {
            let (saved, asked) = (signed(totals.estimated_tokens_saved), thousands(totals.total_invocations));
            format!("{saved} tokens saved in {asked} questions")
        },
    );
    let is_warm = Root::find(&invocation.cwd).is_ok_and(|root| client::answers(&root, &places));
    let here = match is_warm {
        true => "a daemon keeps the index of this project",
        false => "no daemon runs for this project: answers are made on the spot",
    };
    let page = Page::of(invocation);
    let said = to_text(&page, &so_far, here);
    invocation.print(&said).map(|()| Exit::Done)
}

fn to_text(page: &Page, so_far: &str, here: &str) -> String {
    let rows = [
        ("structure -f text", "what is in the files here"),
        ("impact FUNCTION -f text", "who calls a function, and who calls those"),
        ("context FUNCTION -f text", "a function with what it calls, as a model needs it"),
        ("semantic WORDS -f text", "functions that fit words"),
        ("daemon start", "keep the index in memory"),
        ("--help", "everything else"),
    ]
    .map(|(command, about)| [format!("{} {command}", page.spoken), about.to_owned()]);
    format!(
        "tldr {} · code questions answered from an index instead of from whole files\n\n  {}\n  {here}\n\n{}",
        env!("CARGO_PKG_VERSION"),
        page.bold(so_far),
        page.aligned([Column::Left, Column::Dim], &rows)
    )
}
