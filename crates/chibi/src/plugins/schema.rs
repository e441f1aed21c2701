//! What a plugin says about itself, read with patience: a tool that makes no sense is left out and noted, the others
//! stay. Pure.

use kit::text;
use serde_json::{Value, json};

use crate::hooks::{Hook, Role};

/// Names as all providers take them.
const NAME: usize = 64;

/// Tools that one plugin may bring: more than any window has room for.
const MOST: usize = 500;

/// How a plugin is given its data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// In a variable; standard input is left to the person.
    #[default]
    Environment,
    Stdin,
}

/// What a plugin brings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Declared {
    pub(super) tools: Vec<Tool>,
    pub(super) hooks: Vec<Hook>,
    pub(super) role: Role,
    pub(super) protocol: Protocol,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: Value,
}

/// Reads one schema or a list of them. Hooks, role and protocol are the plugin's, whichever of its tools says so: it is
/// one program, run once per event.
pub(super) fn read(schema: &Value) -> Result<Declared, String> {
    let parts = match schema {
        Value::Object(_) => std::slice::from_ref(schema),
        Value::Array(parts) if !parts.is_empty() => parts,
        _ => return Err("neither an object nor a list of objects".to_owned()),
    };
    let mut declared = Declared {
        tools: Vec::new(),
        hooks: Vec::new(),
        role: Role::Helper,
        protocol: Protocol::Environment,
        notes: Vec::new(),
    };
    for part in parts.iter().take(MOST) {
        declared.listen(part)?;
        match tool(part) {
            Ok(tool) if declared.tools.iter().any(|other| other.name == tool.name) => {
                declared.notes.push(format!("it brings `{}` twice; the first one counts", tool.name));
            }
            Ok(tool) => declared.tools.push(tool),
            Err(note) => declared.notes.push(note),
        }
    }
    if parts.len() > MOST {
        declared.notes.push(format!("of {} tools only the first {MOST} are taken", parts.len()));
    }
    match declared.tools.is_empty() {
        true => Err(declared.notes.join("; ")),
        false => Ok(declared),
    }
}

impl Declared {
    fn listen(&mut self, part: &Value) -> Result<(), String> {
        match &part["protocol"] {
            Value::Null => {}
            Value::String(protocol) if protocol == "env" => {}
            Value::String(protocol) if protocol == "stdin" => self.protocol = Protocol::Stdin,
            other => {
                return Err(format!(
                    "its `protocol` is {}: `\"env\"` and `\"stdin\"` are known",
                    shown(other)
                ));
            }
        }
        match &part["guard"] {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => self.role = Role::Guard,
            // Whoever wrote this meant to protect something.
            other => {
                self.role = Role::Guard;
                self.notes.push(format!("its `guard` is {}, taken for true", shown(other)));
            }
        }
        for name in part["hooks"].as_array().into_iter().flatten() {
            match name.as_str().and_then(Hook::named) {
                Some(hook) if self.hooks.contains(&hook) => {}
                Some(hook) => self.hooks.push(hook),
                None => self.notes.push(format!("there is no hook {}", shown(name))),
            }
        }
        Ok(())
    }
}

fn tool(part: &Value) -> Result<Tool, String> {
    let name = part["name"].as_str().ok_or("a tool without a `name`")?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > NAME || !name.chars().all(plain) {
        return Err(format!("{} is no name for a tool", shown(&part["name"])));
    }
    let Some(description) = part["description"].as_str() else {
        return Err(format!("the tool `{name}` has no `description`"));
    };
    let parameters = match &part["parameters"] {
        Value::Null => json!({"type": "object", "properties": {}}),
        Value::Object(_) => part["parameters"].clone(),
        _ => return Err(format!("the `parameters` of `{name}` are no object")),
    };
    Ok(Tool { name: name.to_owned(), description: description.to_owned(), parameters })
}

fn shown(value: &Value) -> String {
    format!("`{}`", text::head(&text::plain(&value.to_string()), NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str) -> Value {
        json!({"name": name, "description": "d"})
    }

    #[test]
    fn one_tool_or_several_are_read_and_the_plugin_is_what_any_of_them_says() {
        let one = read(&part("a")).unwrap();
        assert_eq!(one.tools[0].parameters, json!({"type": "object", "properties": {}}));
        assert_eq!((one.role, one.protocol), (Role::Helper, Protocol::Environment));
        let mut guard = part("b");
        guard["hooks"] = json!(["pre_tool", "on_start", "pre_file_write", 3]);
        guard["guard"] = json!(true);
        guard["protocol"] = json!("stdin");
        let mut other = part("c");
        other["hooks"] = json!(["pre_tool"]);
        let both = read(&json!([guard, other])).unwrap();
        assert_eq!(both.hooks, [Hook::PreTool, Hook::OnStart]);
        assert_eq!((both.role, both.protocol), (Role::Guard, Protocol::Stdin));
        assert_eq!(both.notes, ["there is no hook `\"pre_file_write\"`", "there is no hook `3`"]);
    }

    #[test]
    fn a_tool_that_makes_no_sense_is_noted_and_the_others_stay() {
        let schema = json!([{"description": "d"}, part("a b"), {"name": "x"}, part("ok"), part("ok"),
            {"name": "p", "description": "d", "parameters": []}, 3]);
        let declared = read(&schema).unwrap();
        assert_eq!(declared.tools.len(), 1);
        assert_eq!(
            declared.notes,
            [
                "a tool without a `name`",
                "`\"a b\"` is no name for a tool",
                "the tool `x` has no `description`",
                "it brings `ok` twice; the first one counts",
                "the `parameters` of `p` are no object",
                "a tool without a `name`",
            ]
        );
        assert_eq!(read(&json!({})).unwrap_err(), "a tool without a `name`");
        for nothing in [json!(null), json!([]), json!("schema"), json!(3)] {
            assert_eq!(read(&nothing).unwrap_err(), "neither an object nor a list of objects");
        }
    }

    #[test]
    fn a_guard_by_a_slip_is_still_a_guard_and_an_unknown_protocol_is_refused() {
        let mut schema = part("a");
        schema["guard"] = json!("true");
        assert_eq!(read(&schema).unwrap().role, Role::Guard);
        schema["protocol"] = json!("grpc");
        assert!(read(&schema).unwrap_err().contains("`\"grpc\"`"));
    }

    #[test]
    fn too_many_tools_are_cut_and_told() {
        let many: Vec<Value> = (0..MOST + 1).map(|i| part(&format!("t{i}"))).collect();
        let declared = read(&Value::Array(many)).unwrap();
        assert_eq!((declared.tools.len(), declared.notes.len()), (MOST, 1));
    }

    #[test]
    fn whatever_is_printed_names_fit_and_no_tool_is_there_twice() {
        testkit::fuzz("chibi-schema", "tests/corpus/schema", 10_000, |bytes| {
            let Ok(value) = serde_json::from_slice(bytes) else { return };
            let Ok(declared) = read(&value) else { return };
            let mut names: Vec<&str> = declared.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert!(!names.is_empty() && names.iter().all(|name| (1..=NAME).contains(&name.len())));
            assert!(declared.tools.iter().all(|tool| tool.parameters.is_object()));
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), declared.tools.len());
        });
    }
}
