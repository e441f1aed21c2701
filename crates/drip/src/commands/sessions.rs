//! `drip sessions`: who reads here.

use kit::page::Column;
use kit::{Exit, Failure, Page, text};
use serde::Serialize;

use super::{Call, signed, store_failure};
use crate::database::Roll;
use crate::read::age;
use crate::session::SessionId;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The same as without it, for those who are used to it
    #[arg(hide = true, value_parser = ["list", "ls"])]
    list: Option<String>,
}

#[derive(Serialize)]
struct Listed<'a> {
    session_id: &'a str,
    agent: Option<&'a str>,
    strategy: &'a str,
    context: &'a str,
    started_at: i64,
    last_active: i64,
    age_secs: i64,
    files: u64,
    total_reads: u64,
    tokens_full: u64,
    tokens_sent: u64,
    overhead_tokens: u64,
    tokens_saved: i64,
    cwd: &'a str,
    current: bool,
}

pub(crate) fn run(call: &mut Call, _: &Args) -> Result<Exit, Failure> {
    let own = call.here.caller().session.id;
    let rolls = match call.here.stored()? {
        Some(database) => database.sessions().map_err(|error| store_failure(&error))?,
        None => Vec::new(),
    };
    let now = call.here.now();
    let listed: Vec<Listed> = rolls.iter().map(|roll| listed(roll, &own, now)).collect();
    let places = call.here.places.clone();
    call.show(&listed, |page| to_text(page, &listed, &|cwd| places.tilde(cwd.as_ref())))
}

fn listed<'a>(roll: &'a Roll, own: &SessionId, now: i64) -> Listed<'a> {
    Listed {
        session_id: roll.id.as_str(),
        agent: roll.agent.as_deref(),
        strategy: &roll.strategy,
        context: &roll.context,
        started_at: roll.started_at,
        last_active: roll.last_active,
        age_secs: (now - roll.last_active).max(0),
        files: roll.files,
        total_reads: roll.sums.reads,
        tokens_full: roll.sums.full,
        tokens_sent: roll.sums.sent,
        overhead_tokens: roll.sums.overhead,
        tokens_saved: roll.sums.saved(),
        cwd: &roll.cwd,
        current: roll.id == *own,
    }
}

fn to_text(page: &Page, sessions: &[Listed], tilde: &dyn Fn(&str) -> String) -> String {
    let Some(newest) = sessions.first() else {
        return format!(
            "no session reads here\n{}",
            page.next(
                "init -g",
                "let your agent's reads go through drip; `--dry-run` shows the change first"
            )
        );
    };
    let head = ["", "SESSION", "AGENT", "STRATEGY", "CONTEXT", "AGE", "FILES", "SAVED", "CWD"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(sessions.iter().map(|session| {
        [
            if session.current { "*" } else { "" }.to_owned(),
            session.session_id.to_owned(),
            session.agent.unwrap_or("-").to_owned(),
            session.strategy.to_owned(),
            session.context.to_owned(),
            age(session.age_secs),
            text::thousands(session.files),
            signed(session.tokens_saved),
            tilde(session.cwd),
        ]
    }));
    let columns = [
        Column::Left,
        Column::Left,
        Column::Left,
        Column::Dim,
        Column::Dim,
        Column::Right,
        Column::Right,
        Column::Right,
        Column::Dim,
    ];
    let id = kit::places::shell_word(newest.session_id.as_ref());
    let next = page.next(&format!("replay --session {id}"), "what was sent in the newest");
    format!("{}{next}", page.aligned(columns, &rows))
}
