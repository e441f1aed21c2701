//! Settings in TOML as a person might keep them: dotted keys, inline tables, tables, arrays of tables, comments.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    /// Texts that occur once, and what a person makes of them.
    pub(crate) edits: Vec<(String, String)>,
    /// What a person writes at the end.
    pub(crate) suffix: &'static str,
}

/// Ways to have hooks before any table begins. `@` stands for a number of its own.
const ROOT_HOOKS: &[&str] = &[
    "",
    "",
    "hooks = {}",
    "hooks = { }",
    "hooks = {Stop=[]}",
    "hooks = { Stop = [ { hooks = [] } ], state.x = 1 } # why @",
    "hooks = { PostToolUse = [] }",
    "hooks.Stop = []",
    "hooks.PostToolUse = []",
    "hooks.PostToolUse = [ # first @\n]",
    "hooks.PostToolUse = [\n\t{ matcher = 'Bash', hooks = [{ type = 'command', command = 'mine @' }] }, # note @\n\n]",
    "hooks.PostToolUse = [{ matcher = 'x @' }\n  # note, ] @\n  ,{}] # end @\nhooks.SessionStart = [\n]",
];

const ROOT_SERVERS: &[&str] = &[
    "",
    "",
    "mcp_servers = {}",
    "mcp_servers = { a = { command = 'x @', args = [\"mcp\"] } } # @",
    "mcp_servers.a.command = 'x @'",
    "mcp_servers.a = { command = \"@\" }\nmcp_servers.\"b c\".command = 'y @'",
];

const TABLE_HOOKS: &[&str] = &[
    "",
    "",
    "[hooks]\n",
    "[hooks]\nstate = { a = 'b @' }\nPostToolUse = [ ]\n",
    "[hooks] # @\nSessionStart = [{ hooks = [] }]\n\n[hooks.state]\n\"x y\" = 1\n",
    "[[hooks.PostToolUse]]\nmatcher = 'Bash' # @\n\n  [[hooks.PostToolUse.hooks]]\n  type = 'command'\n  command = 'mine @'\n",
    "[[hooks.Stop]]\nhooks = [ { type = 'command', command = 'stop @' } ]\n# between @\n[[hooks.SessionStart]]\n",
];

const TABLE_SERVERS: &[&str] = &[
    "",
    "",
    "[mcp_servers]\n",
    "[mcp_servers.a]\ncommand = 'x @'\nargs = [\n  'one', # @\n  'two'\n]\n",
    "[mcp_servers.a]\ncommand = 'x @'\n[mcp_servers.a.env]\nKEY = '@'\n",
];

const ROOT: &[&str] = &[
    "",
    "model = 'x @'",
    "# remark @",
    "a.b.c = 1\na.b.d = 'y @' # @",
    "'q u' = [1,\n  2, # @\n]",
    "t = '''\n[no @]\n'''",
];

const TABLES: &[&str] = &[
    "",
    "# remark @\n",
    "[one]\nx = 'y @'\n",
    "[two.three] # @\n\n\n",
    "[[list]]\nx = { y = 'z @' }\n[[list]]\n",
    "\n\n",
    "[profiles.\"a.b\"]\nhooks.x = 1 # not ours @\n",
];

pub(crate) fn document() -> impl Strategy<Value = Document> {
    let start = (vec(select(ROOT), 0..3), select(ROOT_HOOKS), select(ROOT_SERVERS));
    let tables = (vec(select(TABLES), 0..4), select(TABLE_HOOKS), select(TABLE_SERVERS), any::<u16>());
    let style = (any::<[bool; 3]>(), vec(any::<u8>(), 1..60));
    (start, tables, style).prop_map(|((root, root_hooks, root_servers), tables, style)| {
        let (mut tables, table_hooks, table_servers, at) = tables;
        let mut lines = unique(root);
        // A table can be begun in one way only.
        lines.extend([root_hooks, root_servers]);
        let table_hooks = if root_hooks.is_empty() { table_hooks } else { "" };
        let table_servers = if root_servers.is_empty() { table_servers } else { "" };
        tables = unique(tables);
        for table in [table_hooks, table_servers] {
            tables.insert(usize::from(at) % (tables.len() + 1), table);
        }
        let root: String =
            lines.iter().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
        finish(&(root + &tables.concat()), style.0, &style.1)
    })
}

/// No key twice; remarks and blank lines may repeat.
fn unique(mut chunks: Vec<&'static str>) -> Vec<&'static str> {
    let all = chunks.clone();
    let mut index = 0;
    chunks.retain(|chunk| {
        index += 1;
        chunk.trim().is_empty() || chunk.starts_with('#') || !all[..index - 1].contains(chunk)
    });
    chunks
}

fn finish(text: &str, [crlf, marked, ends]: [bool; 3], dice: &[u8]) -> Document {
    let mut out = String::from(if marked { "\u{feff}" } else { "" });
    let mut edits = Vec::new();
    for (index, chunk) in text.split_inclusive('@').enumerate() {
        out.push_str(chunk.trim_end_matches('@'));
        if chunk.ends_with('@') {
            let words = format!("u{index}u");
            out.push_str(&words);
            if dice[index % dice.len()].is_multiple_of(3) {
                edits.push((words.clone(), format!("{words} and more, ]")));
            }
        }
    }
    if !ends {
        out.truncate(out.trim_end_matches('\n').len());
    }
    if crlf {
        out = out.replace('\n', "\r\n");
    }
    let suffixes = ["", "\n# later", "\n[later]\nx = 1\n", "\r\n\r\n[[later]]", "\n\n"];
    Document { text: out, edits, suffix: suffixes[usize::from(dice[0]) % suffixes.len()] }
}
