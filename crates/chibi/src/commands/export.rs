//! `--export`: everything that was ever said in a context, as a document or as data.

use kit::Failure;

use crate::run::Run;

pub(super) fn export(run: &mut Run, format: &str) -> Result<(), Failure> {
    let reader = run.reader(&run.current.clone())?;
    let exported = match format {
        "markdown" | "md" if run.out.is_json() => {
            let mut text = Vec::new();
            reader.export_markdown(&mut text).map(|()| run.out.result(&String::from_utf8_lossy(&text)))
        }
        "markdown" | "md" => reader.export_markdown(&mut run.out.stdout()),
        "json" if run.out.is_json() => {
            reader.entries()?.try_for_each(|entry| entry.map(|entry| run.out.entry_line(&entry)))
        }
        "json" => reader.export_json(&mut run.out.stdout()),
        other => {
            return Err(Failure::usage(format!("`{other}` is no format of an export"))
                .hint("`--export markdown` or `--export json`"));
        }
    };
    match exported {
        // Whether that is a failure is said at the end.
        Err(_) if run.out.is_lost() => Ok(()),
        exported => exported.map_err(Failure::from),
    }
}
