//! `--search`: entries with all these words, newest first, wherever they were said.

use kit::{Failure, text};

use crate::context::{ContextName, Entry, Query};
use crate::failure;
use crate::moment::Moment;
use crate::run::Run;

/// As many as one looks through.
const MOST: usize = 20;

/// Of each entry, around the first word that was looked for.
const EXCERPT: usize = 160;

pub(super) fn search(run: &mut Run, words: &str) -> Result<(), Failure> {
    let query = Query::new(words);
    if query.words().is_empty() {
        return Err(Failure::usage("there is no word to look for").hint("`chibi --search 'two words'`"));
    }
    let mut found: Vec<(ContextName, Entry)> = Vec::new();
    for name in contexts(run)? {
        match found_in(run, &name, &query) {
            Ok(hits) => found.extend(hits.into_iter().map(|entry| (name.clone(), entry))),
            Err(failure) if run.chosen => return Err(failure),
            // One that cannot be read hides no other.
            Err(failure) => {
                let (why, _) = failure::words(&failure);
                run.out.warn(&format!("`{}` was not searched: {why}", name.as_str()));
            }
        }
    }
    // Each context gave its newest; of entries of the same second, the order within a context stays.
    found.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.timestamp));
    found.truncate(MOST);
    if run.out.is_json() {
        found.iter().for_each(|(_, entry)| run.out.entry_line(entry));
        return Ok(());
    }
    let offset = run.offset();
    let lines: Vec<String> = found.iter().map(|(name, entry)| shown(name, entry, words, offset)).collect();
    run.out.result(&if lines.is_empty() { "Nothing found.".to_owned() } else { lines.join("\n") });
    Ok(())
}

fn found_in(run: &Run, name: &ContextName, query: &Query) -> Result<Vec<Entry>, Failure> {
    let filters = crate::config::policy(&run.layers(name)?).filters;
    Ok(run.reader(name)?.search(query, MOST, filters)?)
}

/// All of them, or the one that was named.
fn contexts(run: &Run) -> Result<Vec<ContextName>, Failure> {
    if run.chosen {
        return Ok(vec![run.current.clone()]);
    }
    let listed = run.home.list()?;
    Ok(listed.into_iter().map(|context| context.name).collect())
}

fn shown(name: &ContextName, entry: &Entry, words: &str, offset: i64) -> String {
    let when = Moment::new(i64::try_from(entry.timestamp).unwrap_or(i64::MAX), offset).minute();
    let who = text::plain(&entry.from);
    let said = excerpt(&text::plain(&entry.content), words);
    format!("{when}  {}  {who}  {}\n    {said}", name.as_str(), entry.id)
}

/// The part around the first word.
fn excerpt(content: &str, words: &str) -> String {
    let folded = content.to_lowercase();
    let first = words.split_whitespace().filter_map(|word| folded.find(&word.to_lowercase())).min();
    // Folding may move bytes by a few; the cut is only for the eye.
    let start =
        content.floor_char_boundary(first.unwrap_or(0).saturating_sub(EXCERPT / 3).min(content.len()));
    let piece = text::head(&content[start..], EXCERPT);
    let before = if start > 0 { "…" } else { "" };
    let after = if start + piece.len() < content.len() { "…" } else { "" };
    format!("{before}{piece}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_around_the_word_and_never_cuts_a_character() {
        let long = format!("{} needle {}", "é".repeat(300), "日".repeat(300));
        let shown = excerpt(&long, "NEEDLE");
        assert!(shown.contains("needle") && shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert_eq!(excerpt("short", "x"), "short");
        assert_eq!(excerpt("", "x"), "");
    }
}
