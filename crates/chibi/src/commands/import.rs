//! `--import`
use crate::run::Run;
use kit::Failure;
pub(super) fn import(_run: &mut Run, _file: &str) -> Result<(), Failure> {
    Ok(())
}
