//! `clai config`: what is set, where each value comes from, and a file to change it in.

use kit::page::Column;
use kit::{Exit, Failure};
use serde_json::{Value, json};

use super::{Call, Page};
use crate::config::{self, Loaded, Setting};
use crate::daemon::{AskFailure, Reloaded, Request};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    wish: Option<Wish>,
}

#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum Wish {
    /// Show every setting
    Show {
        /// Also where the value comes from and what it means
        #[arg(long)]
        explain: bool,
    },
    /// Write a file with every setting, commented out at its default
    Init,
    /// Say where the file is
    Path,
    /// Let a running daemon read it again
    Reload,
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    match args.wish {
        None => show(call, Detail::Values),
        Some(Wish::Show { explain: false }) => show(call, Detail::Values),
        Some(Wish::Show { explain: true }) => show(call, Detail::Origins),
        Some(Wish::Init) => init(call),
        Some(Wish::Path) => path(call),
        Some(Wish::Reload) => reload(call),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Values,
    Origins,
}

fn show(call: &mut Call<'_>, detail: Detail) -> Result<Exit, Failure> {
    let Loaded { settings, warnings, .. } = config::load(&call.places, &call.invocation.env, &[])?;
    warnings.iter().for_each(|warning| call.say(&format!("note: {warning}")));
    let rows: Vec<Value> = settings
        .iter()
        .map(|it| {
            let value = serde_json::to_value(&it.value).expect("settings are plain values");
            json!({"key": it.key.name, "value": value, "origin": it.origin.word(), "variable": it.key.variable,
                "default": it.key.default, "meaning": it.key.meaning})
        })
        .collect();
    call.show(&rows, |page| to_text(page, &settings, detail))
}

fn to_text(page: &Page, settings: &[Setting], detail: Detail) -> String {
    let value = |it: &Setting| format!("{} = {}", it.key.name, config::shown(&it.value));
    if detail == Detail::Values {
        let lines: String = settings.iter().map(|it| kit::text::plain(&value(it)) + "\n").collect();
        return lines + &page.next("config show --explain", "where each value comes from, and what it means");
    }
    let rows: Vec<[String; 3]> = settings
        .iter()
        .map(|it| [value(it), it.origin.word().to_owned(), it.key.meaning.to_owned()])
        .collect();
    let next = page.next("config init", "write a file to change them in");
    format!("{}{next}", page.aligned([Column::Left, Column::Dim, Column::Dim], &rows))
}

fn init(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let path = config::init(&call.places)?;
    let shown = call.places.tilde(&path);
    call.show(&json!({"path": path}), |page| {
        format!("wrote {shown}: every key is in it, commented out at its default\n")
            + &page.next("config reload", "after a change: a running daemon reads it again")
    })
}

fn path(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let path = config::path(&call.places);
    call.show(&json!({"path": path, "exists": path.exists()}), |_| format!("{}\n", path.display()))
}

fn reload(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let reloaded = match call.ask::<Reloaded>(&Request::Reload) {
        Ok(reloaded) => reloaded,
        Err(AskFailure::Absent) => {
            return call.show(&json!({"warnings": []}), |_| {
                "the daemon is not running, and reads the configuration when it starts\n".to_owned()
            });
        }
        Err(other) => return Err(other.into()),
    };
    reloaded.warnings.iter().for_each(|warning| call.say(&format!("note: {warning}")));
    call.show(&reloaded, |_| {
        "the daemon has read the configuration; what a shell does changes in the next one you open\n"
            .to_owned()
    })
}
