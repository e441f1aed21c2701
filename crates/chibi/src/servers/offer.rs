//! A server's tools under names that no other tool has. Pure.

use std::collections::BTreeSet;

use conversation::tools::Spec;
use kit::text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The longest name that all providers take.
const NAME: usize = 64;

/// Of a digest: enough to tell the tools of one server apart.
const MARK: usize = 8;

/// Tools of one server: more than any window has room for.
const MOST: usize = 500;

/// A tool as its server describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) schema: Value,
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Offer {
    pub(super) name: String,
    pub(super) tool: Tool,
}

impl Offer {
    pub(super) fn spec(&self) -> Spec {
        Spec::new(&self.name, &self.tool.description, self.tool.schema.clone())
    }
}

impl From<mcp::client::ToolInfo> for Tool {
    fn from(info: mcp::client::ToolInfo) -> Self {
        let description = info.description.or(info.title).unwrap_or_default();
        Tool { name: info.name, description, schema: info.schema }
    }
}

/// `server__tool`, in letters that all providers take. The same server with the same tools has the same names.
pub(super) fn offers(
    server: &str,
    mut tools: Vec<Tool>,
    taken: impl Fn(&str) -> bool,
) -> (Vec<Offer>, Vec<String>) {
    let (mut offers, mut notes, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    if tools.len() > MOST {
        notes.push(format!("of {} tools only the first {MOST} are taken", tools.len()));
        tools.truncate(MOST);
    }
    for tool in tools {
        let full = format!("{server}__{}", tool.name);
        let plain: String = full.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let name = if plain.len() <= NAME && !names.contains(&plain) { plain } else { marked(&plain, &full) };
        if taken(&name) {
            notes.push(format!("there is another tool `{name}`"));
        } else if names.insert(name.clone()) {
            offers.push(Offer { name, tool });
        } else {
            let shown = text::head(&text::plain(&tool.name), NAME).to_owned();
            notes.push(format!("it offers `{shown}` twice; the first one counts"));
        }
    }
    (offers, notes)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// A name that is too long, or that another tool has when both are written in plain letters.
fn marked(plain: &str, full: &str) -> String {
    let digest = Sha256::digest(full.as_bytes());
    let mark: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}_{}", text::head(plain, NAME - MARK - 1), &mark[..MARK])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn named(server: &str, tools: &[&str]) -> (Vec<String>, Vec<String>) {
        let tool =
            |name: &&str| Tool { name: (*name).to_owned(), description: String::new(), schema: json!({}) };
        let (offers, notes) = offers(server, tools.iter().map(tool).collect(), |name| name == "s__taken");
        (offers.into_iter().map(|offer| offer.name).collect(), notes)
    }

    #[test]
    fn tools_carry_the_name_of_their_server_in_plain_letters() {
        let (names, notes) = named("my server", &["log", "a.b/c", "größe"]);
        assert_eq!(names, ["my_server__log", "my_server__a_b_c", "my_server__gr__e"]);
        assert_eq!(notes, [] as [&str; 0]);
    }

    #[test]
    fn names_that_fall_together_are_told_apart_and_repetitions_left_out() {
        let (names, notes) = named("s", &["a.b", "a_b", "a_b", "taken", &"x".repeat(100), &"x".repeat(101)]);
        assert_eq!(names[0], "s__a_b");
        assert!(names[1].starts_with("s__a_b_") && names[1].len() == 6 + 1 + MARK, "{names:?}");
        assert!(names[2] != names[3] && names[2].len() == NAME, "{names:?}");
        assert_eq!(
            notes,
            ["it offers `a_b` twice; the first one counts", "there is another tool `s__taken`"]
        );
    }

    proptest! {
        #[test]
        fn whatever_a_server_calls_its_tools_the_names_are_fit_and_differ(
            server in ".{0,80}", tools in prop::collection::vec(".{0,80}", 0..20),
        ) {
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            let (names, _) = named(&server, &tools);
            let different: BTreeSet<&String> = names.iter().collect();
            prop_assert_eq!(different.len(), names.len());
            prop_assert!(names.iter().all(|name| !name.is_empty() && name.len() <= NAME && name.chars().all(is_plain)));
        }
    }
}
