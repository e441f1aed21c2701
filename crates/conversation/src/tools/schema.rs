//! Arguments against the part of JSON Schema that tools use: types, properties, required, items, enumerations, limits,
//! alternatives and local references. What it does not know it lets pass: the tool looks at its arguments anyway. Each
//! complaint says what to send instead.

use kit::text;
use serde_json::{Map, Value};

/// Complaints after which a model has enough to do.
const MOST: usize = 5;

/// References may lead in circles.
const DEEP: usize = 64;

/// What is wrong with the arguments. `null` for an argument that may be left out counts as left out.
pub(super) fn problems(schema: &Value, arguments: &mut Map<String, Value>) -> Vec<String> {
    let mut check = Check { root: schema, problems: Vec::new() };
    check.forget_nulls(schema, arguments);
    let value = Value::Object(std::mem::take(arguments));
    check.value(schema, &value, "", 0);
    if let Value::Object(object) = value {
        *arguments = object;
    }
    check.problems.truncate(MOST);
    check.problems
}

struct Check<'a> {
    root: &'a Value,
    problems: Vec<String>,
}

impl<'a> Check<'a> {
    fn forget_nulls(&self, schema: &Value, arguments: &mut Map<String, Value>) {
        let required = |name: &String| names(schema, "required").any(|needed| needed == name);
        arguments.retain(|name, value| {
            let wanted = || schema.pointer("/properties").and_then(|known| known.get(name));
            !value.is_null() || required(name) || wanted().is_none_or(|schema| self.fits(schema, value, 0))
        });
    }

    fn fits(&self, schema: &Value, value: &Value, depth: usize) -> bool {
        let mut check = Check { root: self.root, problems: Vec::new() };
        check.value(schema, value, "", depth);
        check.problems.is_empty()
    }

    fn say(&mut self, path: &str, what: &str) {
        let name = if path.is_empty() { "the whole".to_owned() } else { format!("`{path}`") };
        self.problems.push(format!("{name} {what}"));
    }

    fn value(&mut self, schema: &Value, value: &Value, path: &str, depth: usize) {
        if depth > DEEP || self.problems.len() >= MOST {
            return;
        }
        if let Some(schema) = self.referred(schema) {
            return self.value(schema, value, path, depth + 1);
        }
        let allowed = types(schema);
        if !allowed.is_empty() && !allowed.iter().any(|kind| is(value, kind)) {
            return self.say(path, &format!("must be {}, not {}", described(&allowed), shown(value)));
        }
        if let Some(Value::Array(allowed)) = schema.get("enum")
            && !allowed.contains(value)
        {
            let allowed: Vec<String> = allowed.iter().take(20).map(Value::to_string).collect();
            return self.say(path, &format!("must be one of {}, not {}", allowed.join(", "), shown(value)));
        }
        if let Some(only) = schema.get("const").filter(|only| *only != value) {
            return self.say(path, &format!("must be {only}, not {}", shown(value)));
        }
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(choices)) = schema.get(key) else { continue };
            if !choices.iter().any(|choice| self.fits(choice, value, depth + 1)) {
                let choices: Vec<&str> = choices.iter().flat_map(types).collect();
                let wanted =
                    if choices.is_empty() { "one of its forms".to_owned() } else { described(&choices) };
                return self.say(path, &format!("must be {wanted}, not {}", shown(value)));
            }
        }
        for part in list(schema, "allOf") {
            self.value(part, value, path, depth + 1);
        }
        match value {
            Value::Object(object) => self.object(schema, object, path, depth),
            Value::Array(items) => self.array(schema, items, path, depth),
            Value::String(text) => self.limits(
                schema,
                ["minLength", "maxLength"],
                text.chars().count() as f64,
                "characters",
                path,
            ),
            Value::Number(number) => {
                self.limits(schema, ["minimum", "maximum"], number.as_f64().unwrap_or(0.0), "", path);
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn object(&mut self, schema: &Value, object: &Map<String, Value>, path: &str, depth: usize) {
        let empty = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for name in names(schema, "required").filter(|name| !object.contains_key(*name)) {
            let types = known.get(name).map(types).unwrap_or_default();
            let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(" or ")) };
            self.problems.push(format!("`{}`{types} is missing", join(path, name)));
        }
        for (name, value) in object {
            let inner = join(path, name);
            match (known.get(name), schema.get("additionalProperties")) {
                (Some(schema), _) => self.value(schema, value, &inner, depth + 1),
                (None, Some(Value::Bool(false))) => {
                    let hint = match text::nearest(name, known.keys().map(String::as_str)) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => {
                            format!("known are: {}", known.keys().cloned().collect::<Vec<_>>().join(", "))
                        }
                    };
                    self.say(text::head(&inner, 100), &format!("is not known; {hint}"));
                }
                (None, Some(schema @ Value::Object(_))) => self.value(schema, value, &inner, depth + 1),
                (None, _) => {}
            }
        }
    }

    fn array(&mut self, schema: &Value, items: &[Value], path: &str, depth: usize) {
        self.limits(schema, ["minItems", "maxItems"], items.len() as f64, "items", path);
        let Some(inner @ Value::Object(_)) = schema.get("items") else { return };
        for (place, item) in items.iter().enumerate() {
            self.value(inner, item, &format!("{path}[{place}]"), depth + 1);
        }
    }

    fn limits(&mut self, schema: &Value, [least, most]: [&str; 2], size: f64, unit: &str, path: &str) {
        let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        if let Some(least) = limit(least).filter(|least| size < *least) {
            self.say(path, &format!("must be at least {least}{unit}, not {size}"));
        }
        if let Some(most) = limit(most).filter(|most| size > *most) {
            self.say(path, &format!("must be at most {most}{unit}, not {size}"));
        }
    }

    /// Where a reference leads; only within the schema itself.
    fn referred(&self, schema: &Value) -> Option<&'a Value> {
        self.root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
    }
}

fn list<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    schema.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn names<'a>(schema: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    list(schema, key).filter_map(Value::as_str)
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // 3.0 is an integer in JSON Schema.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

fn described(types: &[&str]) -> String {
    let article = |kind: &&str| match *kind {
        "null" => "null".to_owned(),
        kind if kind.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    };
    types.iter().map(article).collect::<Vec<_>>().join(" or ")
}

fn shown(value: &Value) -> String {
    text::clip(&value.to_string(), 60, "").replace('\n', " ")
}

fn join(path: &str, name: &str) -> String {
    let name = text::head(name, 100);
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(schema: &Value, arguments: Value) -> Vec<String> {
        let Value::Object(mut arguments) = arguments else { panic!("arguments are an object") };
        problems(schema, &mut arguments)
    }

    #[test]
    fn each_complaint_says_what_to_send_instead() {
        let schema = json!({
            "type": "object", "additionalProperties": false, "required": ["path"],
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 10},
                "mode": {"enum": ["fast", "slow"]},
                "list": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
                "inner": {"type": "object", "required": ["x"], "properties": {"x": {"type": ["number", "null"]}}},
                "either": {"anyOf": [{"type": "string"}, {"type": "array"}]},
            },
        });
        let cases = [
            (json!({"path": "a", "limit": 3.0, "inner": {"x": null}, "either": []}), vec![]),
            (json!({}), vec!["`path` (string) is missing"]),
            (json!({"path": 3}), vec!["`path` must be a string, not 3"]),
            (json!({"path": ""}), vec!["`path` must be at least 1 characters, not 0"]),
            (json!({"path": "a", "limit": "ten"}), vec!["`limit` must be an integer, not \"ten\""]),
            (json!({"path": "a", "limit": 1.5}), vec!["`limit` must be an integer, not 1.5"]),
            (json!({"path": "a", "limit": 0}), vec!["`limit` must be at least 1, not 0"]),
            (json!({"path": "a", "limit": 11}), vec!["`limit` must be at most 10, not 11"]),
            (json!({"path": "a", "mode": "x"}), vec!["`mode` must be one of \"fast\", \"slow\", not \"x\""]),
            (json!({"path": "a", "list": ["a", 1]}), vec!["`list[1]` must be a string, not 1"]),
            (json!({"path": "a", "list": ["a", "b", "c"]}), vec!["`list` must be at most 2 items, not 3"]),
            (json!({"path": "a", "inner": {}}), vec!["`inner.x` (number or null) is missing"]),
            (json!({"path": "a", "either": 1}), vec!["`either` must be a string or an array, not 1"]),
            (json!({"path": "a", "limt": 1}), vec!["`limt` is not known; did you mean `limit`?"]),
            (
                json!({"pth": "a"}),
                vec!["`path` (string) is missing", "`pth` is not known; did you mean `path`?"],
            ),
        ];
        for (arguments, expected) in cases {
            assert_eq!(told(&schema, arguments.clone()), expected, "{arguments}");
        }
    }

    #[test]
    fn null_for_an_argument_that_may_be_left_out_is_left_out() {
        let schema =
            json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]});
        let mut arguments = Map::from_iter([("a".to_owned(), Value::Null), ("b".to_owned(), json!("x"))]);
        assert_eq!(problems(&schema, &mut arguments), [] as [&str; 0]);
        assert_eq!(Value::Object(arguments), json!({"b": "x"}));
        assert_eq!(told(&schema, json!({"b": null})), ["`b` must be a string, not null"]);
    }

    #[test]
    fn references_are_followed_and_circles_end() {
        let schema = json!({
            "properties": {"tree": {"$ref": "#/$defs/tree"}, "odd": {"$ref": "#/properties/odd"}},
            "$defs": {"tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/tree"}}}},
        });
        assert_eq!(told(&schema, json!({"tree": {"next": {}}, "odd": 1})), [] as [&str; 0]);
        let wrong = told(&schema, json!({"tree": {"next": {"next": 1}}}));
        assert_eq!(wrong, ["`tree.next.next` must be an object, not 1"]);
    }

    #[test]
    fn a_model_is_told_a_few_things_at_a_time_and_nothing_at_length() {
        let schema = json!({"additionalProperties": {"type": "string"}});
        let arguments: Map<String, Value> =
            (0..1000).map(|i| (format!("{i}{}", "x".repeat(9999)), json!(1))).collect();
        let told = told(&schema, Value::Object(arguments));
        assert!(told.len() == MOST && told.iter().all(|line| line.len() < 200), "{told:?}");
    }
}
