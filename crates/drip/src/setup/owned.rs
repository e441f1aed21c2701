//! What in a client's settings is ours: found by the commands that it runs, in whatever shape it stands there. It
//! changes nothing and never knows what is wanted.

use std::ops::Range;

use super::tree::{Node, Syntax, words};
use super::wanted::{own_hook, own_server};

/// One entry of ours.
pub(super) struct Own {
    pub(super) path: Vec<usize>,
    /// Whether the client sees it: of several members with one name only the last counts.
    pub(super) counts: bool,
    pub(super) program: String,
    pub(super) what: What,
}

pub(super) enum What {
    Hook { event: String, matcher: Option<String>, name: String, command: Written },
    Server { table: &'static str, command: Written, args: Written },
}

/// A value and where it is written.
pub(super) struct Written {
    pub(super) value: String,
    pub(super) range: Range<usize>,
}

impl Written {
    /// What to write instead, if another value is wanted.
    pub(super) fn differs(&self, syntax: Syntax, wanted: &str) -> Option<(Range<usize>, String)> {
        (self.value != wanted).then(|| (self.range.clone(), syntax.literal(wanted)))
    }
}

/// Everything of ours; within one list in its order.
pub(super) fn owned(root: &Node) -> Vec<Own> {
    let mut found = Vec::new();
    for (index, (key, node)) in root.members().iter().enumerate() {
        let counts = is_last(root.members(), index);
        match key.as_str() {
            "hooks" => owned_hooks(node, index, counts, &mut found),
            "mcpServers" => owned_servers(node, index, counts, "mcpServers", &mut found),
            "mcp_servers" => owned_servers(node, index, counts, "mcp_servers", &mut found),
            _ => {}
        }
    }
    found
}

fn owned_hooks(hooks: &Node, at: usize, counts: bool, found: &mut Vec<Own>) {
    for (event_at, (event, groups)) in hooks.members().iter().enumerate() {
        let counts = counts && is_last(hooks.members(), event_at);
        for (group_at, group) in groups.elements().iter().enumerate() {
            owned_in_group(group, event, &[at, event_at, group_at], counts, found);
        }
        // Once, a hook of ours was registered as a member of an object, where no client ever looked for it.
        for (hook_at, (_, hook)) in groups.members().iter().enumerate() {
            found.extend(own_entry(hook, event, None, vec![at, event_at, hook_at], false));
        }
    }
}

fn owned_in_group(group: &Node, event: &str, path: &[usize], counts: bool, found: &mut Vec<Own>) {
    let matcher = group.get("matcher").and_then(Node::text).filter(|matcher| !matcher.is_empty());
    let lists = || group.members().iter().enumerate().filter(|(_, (key, _))| key == "hooks");
    let hooks: usize = lists().map(|(_, (_, list))| list.elements().len()).sum();
    for (list_at, (_, list)) in lists() {
        for (hook_at, hook) in list.elements().iter().enumerate() {
            // A group with nothing but ours in it is ours.
            let rest: &[usize] = if hooks == 1 { &[] } else { &[list_at, hook_at] };
            found.extend(own_entry(hook, event, matcher, [path, rest].concat(), counts));
        }
    }
}

fn own_entry(hook: &Node, event: &str, matcher: Option<&str>, path: Vec<usize>, counts: bool) -> Option<Own> {
    let node = hook.get("command")?;
    let (program, name) = own_hook(node.text()?)?;
    let command = Written { value: node.text()?.to_owned(), range: node.range.clone() };
    let what = What::Hook { event: event.to_owned(), matcher: matcher.map(str::to_owned), name, command };
    Some(Own { path, counts, program, what })
}

fn owned_servers(servers: &Node, at: usize, counts: bool, table: &'static str, found: &mut Vec<Own>) {
    for (server_at, (_, server)) in servers.members().iter().enumerate().filter(|(_, (key, _))| key == "drip")
    {
        let counts = counts && is_last(servers.members(), server_at);
        let Some((program, command, args)) = own_server_entry(server) else { continue };
        let what = What::Server { table, command, args };
        found.push(Own { path: vec![at, server_at], counts, program, what });
    }
}

fn own_server_entry(server: &Node) -> Option<(String, Written, Written)> {
    let (command, args) = (server.get("command")?, server.get("args")?);
    let given: Option<Vec<&str>> = args.elements().iter().map(Node::text).collect();
    let given = given?;
    let program = own_server(command.text()?, &given)?.to_owned();
    let args = Written { value: words(&given), range: args.range.clone() };
    let command = Written { value: command.text()?.to_owned(), range: command.range.clone() };
    Some((program, command, args))
}

fn is_last(members: &[(String, Node)], index: usize) -> bool {
    members[index + 1..].iter().all(|(key, _)| *key != members[index].0)
}
