//! `clai` without a word: what to do first.

use kit::page::Column;
use kit::{Exit, Failure};
use serde_json::json;

use super::{Call, init};
use crate::cli::Shell;
use crate::daemon::{Request, Status};

pub(super) fn run(call: &mut Call<'_>) -> Result<Exit, Failure> {
    let shell = call.invocation.env.text("SHELL").and_then(Shell::of_path);
    let loaded = call.invocation.env.text("CLAI_SESSION_ID").is_some();
    let known = call.ask::<Status>(&Request::Health).ok().map(|status| status.learned);
    let spoken = call.invocation.program.spoken();
    let (line, file) = init::loading(shell.unwrap_or(Shell::Bash), &spoken);
    let name = shell.unwrap_or(Shell::Bash).name();
    let answer = json!({"shell": shell.map(Shell::name), "load": line, "in": file, "loaded": loaded, "learned": known});
    call.show(&answer, |page| {
        let first = match loaded {
            true => [
                "Alt-J  Alt-K  Alt-I".to_owned(),
                "take what is offered, see the next one, ask why".to_owned(),
            ],
            false => {
                [format!("echo '{line}' >> {file}"), "load it in every shell you open from now on".to_owned()]
            }
        };
        let rows = [
            first,
            [format!("{spoken} import {name}"), "start with the history you have".to_owned()],
            [format!("{spoken} suggest"), "what you will probably run next, also without a key".to_owned()],
            [format!("{spoken} doctor"), "what works on this machine and what does not".to_owned()],
        ];
        let knows = match known {
            Some(learned) => format!(" · {} commands learned", kit::text::thousands(learned)),
            None => String::new(),
        };
        let headline = format!(
            "clai {} · your next command, learned from what you do{knows}\n",
            env!("CARGO_PKG_VERSION")
        );
        headline + &page.aligned([Column::Left, Column::Dim], &rows)
    })
}
