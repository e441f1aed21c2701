//! `--export`: everything that was ever said in a context, as a document or as data.

use kit::Failure;

use crate::context::Entry;
use crate::failure::of_context;
use crate::log;
use crate::run::Run;

pub(super) fn export(run: &mut Run, format: &str) -> Result<(), Failure> {
    let name = run.current.clone();
    let entries = run.reader(&name)?.entries().and_then(Iterator::collect::<Result<Vec<Entry>, _>>);
    let entries = entries.map_err(|error| of_context(&error))?;
    match format {
        "markdown" | "md" => run.out.raw(&log::markdown(name.as_str(), &entries)),
        "json" => {
            let text = serde_json::to_string_pretty(&entries).expect("entries are written as JSON every day");
            run.out.raw(&format!("{text}\n"));
        }
        other => {
            return Err(Failure::usage(format!("`{other}` is no format of an export"))
                .hint("`--export markdown` or `--export json`"));
        }
    }
    Ok(())
}
