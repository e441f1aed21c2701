//! `--import`: a session of Claude Code or Codex becomes a context, which is then the current one.

use kit::{Failure, text};

use crate::context::{ContextName, State, import};
use crate::moment::Moment;
use crate::run::Run;

pub(super) fn import(run: &mut Run, file: &str) -> Result<(), Failure> {
    let session = import::read(&run.cwd.join(file))?;
    let source = match session.source {
        import::Source::ClaudeCode => "claude",
        import::Source::Codex => "codex",
    };
    let stamp = Moment::new(run.now(), run.offset()).stamp();
    let name = ContextName::chosen(&format!("new:{source}"), &stamp, |name| run.home.exists(name));
    let name = name?;
    run.home.import(&session, &name)?;
    State::update(&run.home, |state| state.switch(&name))?;
    run.current = name.clone();
    let skipped = match session.skipped {
        0 => String::new(),
        lines => format!("; {} lines could not be read", text::thousands(lines as u64)),
    };
    let count = text::thousands(session.records.len() as u64);
    run.out.result(&format!("Imported {count} records into context `{}`{skipped}.", name.as_str()));
    Ok(())
}
