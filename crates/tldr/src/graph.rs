//! Pictures of who calls whom: the language of Graphviz, and a page that stands by itself, with nothing to load from anywhere.
//! Made from an answer as it is told to everybody; knows no file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A call as answers tell it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Edge {
    pub(crate) from_file: String,
    pub(crate) from_func: String,
    pub(crate) to_file: String,
    pub(crate) to_func: String,
    #[serde(default)]
    pub(crate) line: u64,
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) confidence: String,
}

/// The calls in an answer to `calls`.
pub(crate) fn edges(answer: &Map<String, Value>) -> Vec<Edge> {
    answer.get("edges").and_then(|edges| Vec::deserialize(edges).ok()).unwrap_or_default()
}

/// An answer to `calls`, `impact` or `arch` as a picture: one line for each pair, dashed where no call is certain.
pub(crate) fn dot(answer: &Map<String, Value>) -> String {
    let mut lines = Lines::default();
    if answer.contains_key("edges") {
        for edge in edges(answer) {
            let ends = [(&edge.from_file, &edge.from_func), (&edge.to_file, &edge.to_func)];
            let [from, to] = ends.map(|(file, function)| format!("{file}:{function}"));
            lines.add(&from, &to, edge.confidence == "high");
        }
    } else if let Some(callers) = answer.get("callers").and_then(Value::as_array) {
        lines.callers(&node(&Value::Object(answer.clone())), callers);
    } else {
        for directory in answer.get("directories").and_then(Value::as_array).into_iter().flatten() {
            for other in directory["depends_on"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                lines.add(directory["directory"].as_str().unwrap_or_default(), other, true);
            }
        }
    }
    lines.to_text()
}

/// What is drawn: pairs, and whether one of their calls is certain.
#[derive(Default)]
struct Lines(BTreeMap<(String, String), bool>);

impl Lines {
    fn add(&mut self, from: &str, to: &str, certain: bool) {
        *self.0.entry((quoted(from), quoted(to))).or_insert(false) |= certain;
    }

    /// As deep as the answer is, which was asked for.
    fn callers(&mut self, called: &str, callers: &[Value]) {
        for caller in callers {
            let name = node(caller);
            self.add(&name, called, caller["confidence"] != "low");
            self.callers(&name, caller["callers"].as_array().map_or(&[], Vec::as_slice));
        }
    }

    fn to_text(&self) -> String {
        let mut out =
            String::from("digraph calls {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
        for ((from, to), certain) in &self.0 {
            let style = if *certain { "" } else { " [style=dashed]" };
            out.push_str(&format!("  {from} -> {to}{style};\n"));
        }
        out.push_str("}\n");
        out
    }
}

fn node(function: &Value) -> String {
    let text = |key: &str| function[key].as_str().unwrap_or_default();
    format!("{}:{}", text("file"), text("function"))
}

/// As Graphviz wants it: other control characters than the end of a line have no place in a picture.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{}\"", text.replace(['\t', '\r'], " ").replace(|c: char| c.is_control(), ""))
}

/// A page on which a person can go from call to call, and see the layers of the directories. `lines` says where a function
/// stands.
pub(crate) fn page(
    project: &str,
    edges: &[Edge],
    arch: &Map<String, Value>,
    lines: &BTreeMap<(String, String), u64>,
) -> String {
    let mut files: Vec<&str> =
        edges.iter().flat_map(|edge| [edge.from_file.as_str(), edge.to_file.as_str()]).collect();
    files.sort_unstable();
    files.dedup();
    let mut functions: Vec<(&str, &str)> = edges
        .iter()
        .flat_map(|edge| [(&*edge.from_file, &*edge.from_func), (&*edge.to_file, &*edge.to_func)])
        .collect();
    functions.sort_unstable();
    functions.dedup();
    let number =
        |file: &str, function: &str| functions.binary_search(&(file, function)).expect("it is in the list");
    let rows = edges.iter().map(|edge| {
        let (from, to) = (number(&edge.from_file, &edge.from_func), number(&edge.to_file, &edge.to_func));
        json!([from, to, edge.line, edge.kind, edge.confidence])
    });
    let told = functions.iter().map(|(file, function)| {
        let line = lines.get(&((*file).to_owned(), (*function).to_owned())).copied().unwrap_or(1);
        json!([function, files.binary_search(file).expect("it is in the list"), line])
    });
    let data = json!({
        "project": project,
        "files": files,
        "functions": told.collect::<Vec<_>>(),
        "edges": rows.collect::<Vec<_>>(),
        "layers": arch.get("directories"),
        "cycles": arch.get("circular_dependencies"),
    });
    // No text in it can end the script that holds it, nor begin another.
    include_str!("graph/page.html").replacen("@DATA@", &data.to_string().replace('<', "\\u003c"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str, confidence: &str) -> Edge {
        Edge {
            from_file: "a.py".to_owned(),
            from_func: from.to_owned(),
            to_file: "b.py".to_owned(),
            to_func: to.to_owned(),
            line: 3,
            kind: "call".to_owned(),
            confidence: confidence.to_owned(),
        }
    }

    #[test]
    fn a_pair_is_one_line_and_solid_if_one_call_is_certain() {
        let edges = [edge("f", "g", "low"), edge("f", "g", "high"), edge("f", "say \"h\"", "low")];
        let answer = json!({"edges": edges.map(|edge| json!({
            "from_file": edge.from_file, "from_func": edge.from_func, "to_file": edge.to_file,
            "to_func": edge.to_func, "confidence": edge.confidence,
        }))});
        let drawn = dot(answer.as_object().unwrap());
        let lines: Vec<String> =
            drawn.lines().filter(|line| line.contains("->")).map(str::to_owned).collect();
        assert_eq!(
            lines,
            ["  \"a.py:f\" -> \"b.py:g\";", "  \"a.py:f\" -> \"b.py:say \\\"h\\\"\" [style=dashed];"]
        );
    }

    #[test]
    fn names_that_mean_something_to_graphviz_are_told_as_they_are() {
        let hostile = "a\\b\"c\nd\re\tf\0g -> h; }\\";
        let answer =
            json!({"edges": [{"from_file": "x", "from_func": hostile, "to_file": "y", "to_func": "g"}]});
        let drawn = dot(answer.as_object().unwrap());
        assert!(drawn.contains(r#"  "x:a\\b\"c\nd e fg -> h; }\\" -> "y:g" [style=dashed];"#), "{drawn}");
    }

    #[test]
    fn no_name_in_a_page_can_end_its_data_or_load_anything() {
        let arch = json!({"directories": [], "circular_dependencies": []});
        let hostile = "</script><!--<script>";
        let page = page(hostile, &[edge(hostile, "g", "high")], arch.as_object().unwrap(), &BTreeMap::new());
        assert_eq!((page.matches("</script>").count(), page.matches("<!--").count()), (2, 0));
        let start = page.find("application/json\">").unwrap() + "application/json\">".len();
        let data = &page[start..start + page[start..].find("</script>").unwrap()];
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["functions"][0], json!([hostile, 0, 1]));
        for word in ["src=", "href=", "url(", "@import", "fetch(", "XMLHttp", "innerHTML"] {
            assert!(!page.contains(word), "{word}");
        }
    }
}
