//! Our hooks and our MCP server in a client's settings: brought up to date, added, taken out. It never touches
//! what is not ours, and never knows which files there are.

use std::ops::Range;

use super::lines;
use super::list::{List, splice};
use super::owned::{What, owned};
use super::tree::{Fault, Kind, Node, Shape, Syntax, remove, words};
use super::wanted::{Hook, Server, Wanted};
use super::{json, toml};

/// The settings with everything that is wanted in them, and nothing else of ours. None is a file that is missing.
pub(super) fn register(syntax: Syntax, text: Option<&str>, wanted: &Wanted) -> Result<String, Fault> {
    let mut text = text.map(str::to_owned);
    let missing = loop {
        let survey = survey(syntax, text.as_deref(), wanted)?;
        let Some(now) = &text else { break survey.missing };
        if let Some((range, literal)) = survey.stale {
            text = Some(splice(now, range, &literal));
        } else if let (Some(root), Some(path)) = (&survey.root, &survey.surplus) {
            text = remove(now, root, path);
        } else {
            break survey.missing;
        }
    };
    for missing in missing {
        text = Some(add(syntax, text.as_deref(), wanted, missing)?);
    }
    let text = text.expect("every client gets hooks or a server, so there is text now");
    // A client that cannot read its settings does not start: better no hooks than that.
    match survey(syntax, Some(&text), wanted) {
        Ok(survey) if survey.missing.is_empty() => Ok(text),
        _ => Err(Fault::Unfit("it is written in a way that drip cannot add to".to_owned())),
    }
}

/// The settings without anything of ours. None if the file was made for it.
pub(super) fn unregister(syntax: Syntax, text: &str) -> Result<Option<String>, Fault> {
    let mut text = text.to_owned();
    while let Some(root) = syntax.parse(&text)? {
        let Some(own) = owned(&root).pop() else { break };
        match remove(&text, &root, &own.path) {
            Some(left) => text = left,
            None => return Ok(None),
        }
    }
    Ok(Some(text))
}

/// What of ours is there, held against what is wanted.
pub(super) struct Survey {
    pub(super) missing: Vec<Missing>,
    /// The programs that our entries run.
    pub(super) programs: Vec<String>,
    root: Option<Node>,
    /// An entry that is wanted, with the value that it should have.
    stale: Option<(Range<usize>, String)>,
    /// The last entry that is not wanted.
    surplus: Option<Vec<usize>>,
}

/// What is wanted and not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Hook(&'static Hook),
    Server(Server),
}

pub(super) fn survey(syntax: Syntax, text: Option<&str>, wanted: &Wanted) -> Result<Survey, Fault> {
    let root = text.map_or(Ok(None), |text| syntax.parse(text))?;
    let owned = root.as_ref().map(owned).unwrap_or_default();
    let mut hooks: Vec<&'static Hook> = wanted.hooks.iter().collect();
    let mut server = wanted.server;
    let mut survey = Survey { missing: vec![], programs: vec![], root: None, stale: None, surplus: None };
    for own in owned {
        let fit = match &own.what {
            What::Hook { event, matcher, name, command } => {
                let same = |hook: &&Hook| {
                    (hook.event, hook.matcher, hook.name)
                        == (event.as_str(), matcher.as_deref(), name.as_str())
                };
                let found = hooks.iter().position(same).filter(|_| own.counts);
                found.map(|index| command.differs(syntax, &wanted.command(hooks.remove(index))))
            }
            What::Server { table, command, args } => {
                let found = server.filter(|server| server.table == *table && own.counts);
                server = server.filter(|_| found.is_none());
                found.map(|server| {
                    let wanted_args = words(&server.args);
                    let stale = (args.value != wanted_args).then(|| (args.range.clone(), wanted_args));
                    command.differs(syntax, &wanted.drip).or(stale)
                })
            }
        };
        match fit {
            Some(stale) => survey.stale = stale.or(survey.stale),
            None => survey.surplus = Some(own.path),
        }
        survey.programs.push(own.program);
    }
    survey.missing.extend(server.map(Missing::Server));
    survey.missing.extend(hooks.into_iter().map(Missing::Hook));
    survey.root = root;
    Ok(survey)
}

/// The settings with one more entry.
fn add(syntax: Syntax, text: Option<&str>, wanted: &Wanted, missing: Missing) -> Result<String, Fault> {
    let (path, last) = match missing {
        Missing::Hook(hook) => (vec!["hooks", hook.event], Entry::Element(group(syntax, wanted, hook))),
        Missing::Server(server) => {
            (vec![server.table], Entry::Member("drip", server_shape(syntax, wanted, server)))
        }
    };
    let root = text.map_or(Ok(None), |text| syntax.parse(text))?;
    let (Some(text), Some(root)) = (text, &root) else {
        return Ok(match syntax {
            Syntax::Json => {
                let Entry::Member(name, shape) = wrapped(&path, last) else {
                    unreachable!("a path has at least one name")
                };
                json::with_root(text, (name, &shape))
            }
            Syntax::Toml => lines::append(text, &section(wanted, missing)),
        });
    };
    let (list, rest) = deepest(root, &path, &last)?;
    let entry = wrapped(rest, last);
    Ok(match (syntax, list) {
        (_, None) => lines::append(Some(text), &section(wanted, missing)),
        (Syntax::Json, Some(list)) => {
            let style = json::style(text, root);
            list.append(text, &style, |spot| match &entry {
                Entry::Element(shape) => json::render(shape, &style, spot),
                Entry::Member(name, shape) => json::render_member((name, shape), &style, spot),
            })
        }
        (Syntax::Toml, Some(list)) => list.append(text, &toml::style(text), |_| match &entry {
            Entry::Element(shape) => toml::render(shape),
            Entry::Member(name, shape) => toml::render_member((name, shape)),
        }),
    })
}

/// What goes into a list: an element, or a member with its name.
enum Entry<'a> {
    Element(Shape),
    Member(&'a str, Shape),
}

/// The entry within the members that are missing on the way to it.
fn wrapped<'a>(path: &[&'a str], entry: Entry<'a>) -> Entry<'a> {
    path.iter().rev().fold(entry, |entry, name| {
        Entry::Member(
            name,
            match entry {
                Entry::Element(shape) => Shape::Seq(vec![shape]),
                Entry::Member(name, shape) => Shape::Map(vec![(name.to_owned(), shape)]),
            },
        )
    })
}

/// How far the path is there already: the brackets to write into, if there are any, and the rest of the path.
fn deepest<'a, 'p>(
    root: &'a Node,
    path: &'p [&'p str],
    entry: &Entry<'_>,
) -> Result<(Option<&'a List>, &'p [&'p str]), Fault> {
    let mut node = root;
    for (depth, name) in path.iter().enumerate() {
        expect_map(node, &path[..depth])?;
        match node.get(name) {
            Some(child) => node = child,
            None => return Ok((node.list.as_ref(), &path[depth..])),
        }
    }
    match entry {
        Entry::Member(name, _) => {
            expect_map(node, path)?;
            let taken = format!("`{}.{name}` is there and is not drip's", path.join("."));
            if node.get(name).is_some() { Err(Fault::Unfit(taken)) } else { Ok((node.list.as_ref(), &[])) }
        }
        Entry::Element(_) => match node.kind {
            Kind::Seq(_) => Ok((node.list.as_ref(), &[])),
            _ => Err(Fault::Unfit(format!("`{}` is not a list", path.join(".")))),
        },
    }
}

fn expect_map(node: &Node, path: &[&str]) -> Result<(), Fault> {
    match (&node.kind, path) {
        (Kind::Map(_), _) => Ok(()),
        (_, []) => Err(Fault::Unfit("it holds no object".to_owned())),
        (_, path) => Err(Fault::Unfit(format!("`{}` is not an object", path.join(".")))),
    }
}

/// A matcher group of our own.
fn group(syntax: Syntax, wanted: &Wanted, hook: &Hook) -> Shape {
    let text = |value: &str| Shape::Plain(syntax.literal(value));
    let mut fields = Vec::new();
    if wanted.named {
        fields.push(("name".to_owned(), text("drip")));
    }
    fields.push(("type".to_owned(), text("command")));
    fields.push(("command".to_owned(), text(&wanted.command(hook))));
    fields.push(("timeout".to_owned(), Shape::Plain(wanted.timeout.to_owned())));
    let mut group = Vec::new();
    group.extend(hook.matcher.map(|matcher| ("matcher".to_owned(), text(matcher))));
    group.push(("hooks".to_owned(), Shape::Seq(vec![Shape::Map(fields)])));
    Shape::Map(group)
}

fn server_shape(syntax: Syntax, wanted: &Wanted, server: Server) -> Shape {
    Shape::Map(vec![
        ("command".to_owned(), Shape::Plain(syntax.literal(&wanted.drip))),
        ("args".to_owned(), Shape::Plain(words(&server.args))),
    ])
}

/// The same as whole tables of TOML.
fn section(wanted: &Wanted, missing: Missing) -> String {
    let remark = toml::REMARK;
    match missing {
        Missing::Server(server) => {
            let (command, args) = (toml::literal(&wanted.drip), words(&server.args));
            format!("{remark}\n[{}.drip]\ncommand = {command}\nargs = {args}", server.table)
        }
        Missing::Hook(hook) => {
            let event = hook.event;
            let matcher = hook.matcher.map(|matcher| format!("\nmatcher = {}", toml::literal(matcher)));
            let command = toml::literal(&wanted.command(hook));
            format!(
                "{remark}\n[[hooks.{event}]]{}\n[[hooks.{event}.hooks]]\ntype = 'command'\ncommand = {command}\ntimeout = {}",
                matcher.unwrap_or_default(),
                wanted.timeout
            )
        }
    }
}
