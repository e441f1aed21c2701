//! `clai why`: what a suggestion's score is made of.

use kit::page::Column;
use kit::{Exit, Failure, text};

use super::{Call, Page, suggest};
use crate::daemon::{Explained, Why};
use crate::rank::source;

/// How far down a line is looked for: as far as anybody can be offered something.
const FURTHEST: usize = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The number of a suggestion, or a whole line; without it the first three
    #[arg(value_name = "N|LINE")]
    which: Option<String>,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let limit = if args.which.is_some() { FURTHEST } else { 3 };
    let question = suggest::here(call, limit);
    let mut why = suggest::explained(call, &question)?;
    let mut first = 1;
    if let Some(which) = &args.which {
        let index = find(&why, which).ok_or_else(|| absent(which, why.suggestions.len()))?;
        why.suggestions = vec![why.suggestions.swap_remove(index)];
        first = index + 1;
    }
    call.show(&why, |page| to_text(page, &why, first))
}

/// A suggestion by its number or its line.
pub(super) fn find(why: &Why, which: &str) -> Option<usize> {
    match which.parse::<usize>() {
        Ok(number) => (1..=why.suggestions.len()).contains(&number).then(|| number - 1),
        Err(_) => why.suggestions.iter().position(|it| it.cmd == which || it.cmd_norm == which),
    }
}

/// Where a suggestion comes from, in a few words.
pub(super) fn reason(name: &str) -> &str {
    match name {
        source::REPO_TRANSITION => "follows here",
        source::GLOBAL_TRANSITION | "after_line" | "after_template" => "follows",
        "after_lines" | "after_templates" => "follows these",
        "after_any_session" => "followed elsewhere",
        "after_program" => "follows such",
        "recovery" => "mended it before",
        source::FREQ_REPO => "often here",
        source::FREQ_GLOBAL => "often",
        "directory" => "run here",
        "session" => "run in this shell",
        "repeat" => "again",
        "failed_before" => "failed before",
        "composed" => "put together from others",
        source::PROJECT_TASK => "task",
        source::CONTEXT_DEFAULT => "usual here",
        source::DANGEROUS => "dangerous",
        other => other,
    }
}

fn absent(which: &str, offered: usize) -> Failure {
    let failure = match which.parse::<usize>() {
        Ok(_) => Failure::new(format!("there are {offered} suggestions now")),
        Err(_) => Failure::new(format!("`{which}` is not among the {offered} suggestions of now")),
    };
    failure.hint("`clai suggest -n 20`; `clai why-not` tells what is never kept")
}

fn to_text(page: &Page, why: &Why, first: usize) -> String {
    if why.suggestions.is_empty() {
        return format!(
            "nothing to suggest yet\n{}",
            page.next("import bash", "start with the history you have")
        );
    }
    let mut out = match &why.context.last_cmd_norm {
        Some(last) => format!("after  {}\n\n", page.bold(&text::plain(last))),
        None => String::new(),
    };
    for (index, it) in why.suggestions.iter().enumerate() {
        out.push_str(&one(page, first + index, it));
    }
    out + &page.next("why-not", "what was left out, and why")
}

fn one(page: &Page, number: usize, it: &Explained) -> String {
    let mut out = format!("{number}  {}\n", page.bold(&text::plain(&it.cmd)));
    let mut rows = vec![[
        format!("{:.2}", it.score),
        "score".to_owned(),
        format!("{:.2} sure that it is this line", it.confidence),
    ]];
    let words = |name: &str| match reason(name) {
        same if same == name => String::new(),
        words => words.to_owned(),
    };
    rows.extend(it.parts.iter().map(|(name, score)| [format!("{score:+.2}"), name.clone(), words(name)]));
    if it.cmd_norm != it.cmd {
        rows.push([String::new(), "template".to_owned(), it.cmd_norm.clone()]);
    }
    out.push_str(&page.aligned([Column::Right, Column::Left, Column::Dim], &rows));
    out
}
