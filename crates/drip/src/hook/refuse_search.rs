//! The seed's way with Claude Code's searches: they are done here, without what is ignored, and the result is the reason
//! for which the client's own search is refused. It says how much was kept away.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kit::text::plain;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::guard::deny;
use super::payload::Event;
use super::world::{Reply, Trouble, World};
use crate::search::{self, Answer, Cut, Found, Grepped, Mode, Request};
use crate::settings::Agent;

/// The client gives up on us after two seconds, and searches itself.
const DEADLINE: Duration = Duration::from_millis(1_500);

#[derive(Debug, Deserialize)]
struct GlobInput {
    pattern: Option<String>,
    path: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct GrepInput {
    pattern: Option<String>,
    path: Option<PathBuf>,
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    #[serde(rename = "-A")]
    after: Option<usize>,
    #[serde(rename = "-B")]
    before: Option<usize>,
    #[serde(rename = "-C", alias = "context")]
    context: Option<usize>,
    multiline: Option<bool>,
    output_mode: Option<String>,
    glob: Option<String>,
    r#type: Option<String>,
    head_limit: Option<usize>,
    offset: Option<usize>,
}

/// `claude-glob`.
pub(super) fn glob(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let Some(event) = Event::<GlobInput, IgnoredAny>::of(input, &["Glob"])? else {
        return Ok(Reply::Nothing);
    };
    let caller = world.caller_or_derived(&event.who(), Agent::Claude);
    let asked = event.tool_input.filter(|_| !world.settings.disabled);
    let Some((pattern, path)) = asked.and_then(|asked| Some((asked.pattern?, asked.path))) else {
        return Ok(Reply::Nothing);
    };
    let root = path.unwrap_or_else(|| caller.cwd.clone());
    let found = search::glob(&root, &pattern, &world.ignored(&caller.cwd), DEADLINE);
    Ok(match found {
        Ok(found) if found.cut || nothing(&found) => Reply::Nothing,
        Ok(found) => Reply::Json(deny(&listed(&found, &pattern, &root))),
        Err(_) => Reply::Nothing,
    })
}

/// Nothing was found and nothing was kept away: the client says that better.
fn nothing(found: &Found) -> bool {
    found.total == 0 && found.hidden == search::HiddenFiles::default()
}

fn listed(found: &Found, pattern: &str, root: &Path) -> String {
    let mut said = format!(
        "[DRIP: glob filtered via .dripignore | {} matches | pattern={} | root={}]",
        found.total,
        plain(pattern),
        plain(&root.to_string_lossy())
    );
    for path in &found.paths {
        said.push('\n');
        said.push_str(&plain(&path.to_string_lossy()));
    }
    if found.total == 0 {
        said.push_str("\n(no matches)");
    }
    if found.total > found.paths.len() {
        said.push_str(&format!("\n(the newest {} of {})", found.paths.len(), found.total));
    }
    if found.hidden != search::HiddenFiles::default() {
        let search::HiddenFiles { files, folders } = found.hidden;
        said.push_str(&format!("\n(ignored: {files} matching files, {folders} directories not searched)"));
    }
    said
}

/// `claude-grep`.
pub(super) fn grep(world: &World, input: &[u8]) -> Result<Reply, Trouble> {
    let Some(event) = Event::<GrepInput, IgnoredAny>::of(input, &["Grep"])? else {
        return Ok(Reply::Nothing);
    };
    let caller = world.caller_or_derived(&event.who(), Agent::Claude);
    let asked = event.tool_input.filter(|_| !world.settings.disabled);
    let Some((request, mode)) = asked.and_then(request) else { return Ok(Reply::Nothing) };
    let grepped = match search::grep(&request, &world.ignored(&caller.cwd), &world.env, DEADLINE) {
        Answer::Done(grepped) if grepped.cut != Some(Cut::Deadline) => grepped,
        _ => return Ok(Reply::Nothing),
    };
    let is_nothing = grepped.lines == 0 && grepped.hidden == search::HiddenHits::default();
    if is_nothing && !world.settings.grep_always {
        return Ok(Reply::Nothing);
    }
    Ok(Reply::Json(deny(&hits(&grepped, &request, mode))))
}

fn request(asked: GrepInput) -> Option<(Request, &'static str)> {
    let (mode, word) = match asked.output_mode.as_deref() {
        None | Some("files_with_matches") => (Mode::FilesWithMatches, "files_with_matches"),
        Some("content") => (Mode::Content, "content"),
        Some("count") => (Mode::Count, "count"),
        Some(_) => return None,
    };
    let request = Request {
        pattern: asked.pattern?,
        path: asked.path,
        mode,
        case_insensitive: asked.ignore_case.unwrap_or(false),
        line_numbers: asked.numbers.unwrap_or(true),
        before: asked.before.unwrap_or(0),
        after: asked.after.unwrap_or(0),
        context: asked.context,
        multiline: asked.multiline.unwrap_or(false),
        glob: asked.glob,
        file_type: asked.r#type,
        head_limit: asked.head_limit,
        offset: asked.offset.unwrap_or(0),
    };
    Some((request, word))
}

fn hits(grepped: &Grepped, request: &Request, mode: &str) -> String {
    let mut said = format!(
        "[DRIP: grep filtered via .dripignore | mode={mode} | pattern={}]\n",
        plain(&request.pattern)
    );
    match grepped.lines {
        0 => said.push_str("(no matches)"),
        _ => said.push_str(grepped.text.trim_end_matches('\n')),
    }
    let search::HiddenHits { files, lines } = grepped.hidden;
    match (files, lines) {
        (0, _) => {}
        (files, 0) => said.push_str(&format!("\n(ignored: {files} files with hits)")),
        (files, lines) => said.push_str(&format!("\n(ignored: {lines} hits in {files} files)")),
    }
    match grepped.cut {
        Some(Cut::Ceiling) => said.push_str("\n(there is more than fits)"),
        Some(Cut::Limit) => said.push_str("\n(there is more; `offset` goes on)"),
        Some(Cut::Deadline) | None => {}
    }
    if let Some(complaint) = &grepped.complaint {
        said.push_str(&format!("\n(ripgrep said: {complaint})"));
    }
    said
}
