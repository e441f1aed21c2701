//! `clai history`: the commands that were kept, the newest last.

use kit::page::Column;
use kit::{Exit, Failure};

use super::times::{self, Since};
use super::{Call, Page, database_failure};
use crate::database::{Found, Outcome, Query, TypedBy};
use crate::repo;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    filter: Filter,
}

/// Which commands; shared with `clai search`.
#[derive(Debug, clap::Args)]
pub(super) struct Filter {
    /// Only what was run in this directory
    #[arg(long)]
    cwd: bool,
    /// Only what was run in this repository
    #[arg(long)]
    repo: bool,
    /// Only what this shell has run
    #[arg(long)]
    session: bool,
    /// Only what failed
    #[arg(long, conflicts_with = "worked")]
    failed: bool,
    /// Only what worked
    #[arg(long)]
    worked: bool,
    /// Only what was run since then: 2h, 3d, or @ and seconds since 1970
    #[arg(long, value_name = "TIME", value_parser = Since::parse)]
    since: Option<Since>,
    /// What programs typed, in place of what you did
    #[arg(long)]
    agents: bool,
    /// The newest so many
    #[arg(short = 'n', long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
}

impl Filter {
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// The question to the database, with no limit in it.
    pub(super) fn query(&self, call: &Call<'_>) -> Result<Query, Failure> {
        let repo = match self.repo {
            false => None,
            true => Some(repo::find(&call.invocation.cwd).ok_or_else(|| {
                Failure::new("there is no repository around here").hint("`clai history --cwd`")
            })?),
        };
        Ok(Query {
            text: None,
            cwd: self.cwd.then(|| call.cwd()),
            repo: repo.map(|repo| repo.key.0),
            session: self.session.then(|| call.session().0),
            since: self.since.map(|since| since.unix_ms(call.now())),
            until: None,
            outcome: match (self.failed, self.worked) {
                (true, _) => Outcome::Failed,
                (_, true) => Outcome::Worked,
                _ => Outcome::Any,
            },
            typed_by: if self.agents { TypedBy::Agents } else { TypedBy::Person },
            limit: None,
        })
    }
}

pub(super) fn run(call: &mut Call<'_>, args: &Args) -> Result<Exit, Failure> {
    let query = Query { limit: Some(args.filter.limit()), ..args.filter.query(call)? };
    let mut found = find(call, &query)?;
    found.reverse();
    let home = call.places.clone();
    call.show(&found, |page| to_text(page, &found, &|cwd| home.tilde(cwd.as_ref())))
}

/// Newest first; nothing where nothing was ever kept.
pub(super) fn find(call: &Call<'_>, query: &Query) -> Result<Vec<Found>, Failure> {
    match call.reader()? {
        None => Ok(Vec::new()),
        Some(reader) => {
            reader.find(query).map_err(|error| database_failure("cannot read the history", &error))
        }
    }
}

fn to_text(page: &Page, found: &[Found], tilde: &dyn Fn(&str) -> String) -> String {
    if found.is_empty() {
        return format!(
            "no such commands were kept\n{}",
            page.next("status", "whether commands are kept at all")
        );
    }
    let rows: Vec<[String; 5]> = found
        .iter()
        .map(|it| {
            let took = it.duration_ms.map_or(String::new(), |ms| times::said(ms.max(0).cast_unsigned()));
            [times::age(it.ts, page.now), exit(it.exit_code), took, tilde(&it.cwd), it.cmd.clone()]
        })
        .collect();
    let columns = [Column::DimRight, Column::Right, Column::DimRight, Column::Dim, Column::Left];
    let next = page.next("search TEXT", "find one among all of them");
    format!("{}{next}", page.aligned(columns, &rows))
}

/// Nothing for what worked or was not told.
fn exit(code: Option<i32>) -> String {
    match code {
        None | Some(0) => String::new(),
        Some(code) => format!("exit {code}"),
    }
}
