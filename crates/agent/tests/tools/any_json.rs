//! Arguments of any shape: a tool answers, and never panics.

use std::cell::RefCell;

use agent::eyes::Eyes;
use agent::page::Page;
use conversation::tools::Registry;
use drip::lines::Span;
use llm::{Call, CallId, Input, Outcome, ToolResult};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use testkit::{fuzz, hostile};

use super::shop::Shop;

const NAMES: [&str; 11] = [
    "path",
    "offset",
    "limit",
    "recursive",
    "ignored",
    "command",
    "cwd",
    "old_str",
    "new_str",
    "replace_all",
    "pattern",
];
const TOOLS: [&str; 7] = ["read_file", "list_files", "edit_file", "code_search", "bash", "task", "nothing"];

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z/.*\\[({\\\\]{0,8}".prop_map(Value::from),
        prop::sample::select(hostile::nasty_strings()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,4}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Anything may be written but a command that could run: what a shell does with noise is not ours.
fn harmless(tool: &str, arguments: &mut Map<String, Value>) {
    if tool == "bash" && arguments.get("command").is_some_and(Value::is_string) {
        arguments.insert("command".to_owned(), json!("true"));
    }
    // Nor is a file outside of the throw-away project.
    for name in ["path", "cwd"] {
        if let Some(Value::String(path)) = arguments.get_mut(name)
            && (path.starts_with('/') || path.contains(".."))
        {
            *path = "inside".to_owned();
        }
    }
}

thread_local! {
    static SHOP: RefCell<Shop> = RefCell::new(furnished());
}

fn furnished() -> Shop {
    let mut shop = Shop::new();
    shop.write("inside", "one\ntwo\n");
    shop.workshop.undo = None;
    shop
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_arguments_are_answered(
        tool in prop::sample::select(&TOOLS[..]),
        fields in prop::collection::vec((prop::sample::select(&NAMES[..]), values()), 0..5),
    ) {
        let mut arguments: Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        harmless(tool, &mut arguments);
        let told = SHOP.with_borrow_mut(|shop| {
            shop.seen.clear();
            shop.call(tool, Value::Object(arguments)).content
        });
        prop_assert!(told.len() < 300_000);
    }
}

fn registry(shop: &Shop) -> Registry<()> {
    Registry::new(shop.workshop.tools().into_iter().map(|tool| (tool.spec(), ()))).unwrap()
}

/// Bytes as a provider would send them, through the same check as in a turn.
#[test]
fn any_bytes_as_arguments_are_answered() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/inputs");
    let shop = RefCell::new(furnished());
    let registry = registry(&shop.borrow());
    fuzz("inputs", corpus, 10_000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let (tool, arguments) = text.split_once(' ').unwrap_or(("read_file", &text));
        let call = Call { id: CallId("c".to_owned()), name: tool.to_owned(), input: Input::read(arguments) };
        if let Ok(mut task) = registry.specs().check(&call) {
            harmless(tool, &mut task.arguments);
            let mut shop = shop.borrow_mut();
            shop.seen.clear();
            shop.call(tool, Value::Object(task.arguments));
        }
    });
}

/// A transcript is a file, and a hook may change what a tool said: whatever stands in a window is folded.
#[test]
fn any_words_in_a_window_are_folded() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/windows");
    let now = Page::of("one\ntwo\nthree\nfour\n");
    fuzz("windows", corpus, 10_000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let results: Vec<(Call, ToolResult)> = text
            .split("=====\n")
            .enumerate()
            .map(|(place, content)| {
                let (name, content) = content.split_once('\n').unwrap_or(("read_file", content));
                let (name, arguments) = name.split_once(' ').unwrap_or((name, "{}"));
                let id = CallId(place.to_string());
                let call = Call { id: id.clone(), name: name.to_owned(), input: Input::read(arguments) };
                let content = content.strip_suffix('\n').unwrap_or(content).to_owned();
                (call, ToolResult { id, content, outcome: Outcome::Done })
            })
            .collect();
        let eyes = Eyes::fold(results.iter().map(|(call, result)| (call, result)));
        eyes.is_stale("a", &now);
        for window in [None, Span::new(1, 2), Span::new(3, 99), Span::new(9, 9)] {
            let told = eyes.answer("a", &now, window).output.content;
            assert!(told.len() < 500, "{told}");
        }
    });
}

#[test]
fn what_is_wrong_with_arguments_is_said() {
    let mut shop = Shop::new();
    assert_eq!(
        shop.failed("read_file", json!({})),
        "`read_file` was not run, its arguments are wrong: missing field `path`"
    );
    assert!(
        shop.failed("edit_file", json!({"path": 3})).contains("invalid type: integer `3`, expected a string")
    );
    assert_eq!(shop.failed("fly", json!({})), "there is no tool `fly`");
    assert_eq!(shop.failed("task", json!({"prompt": "x"})), "there is no tool `task`", "nobody would do it");
}

/// What every request begins with stays small.
#[test]
fn the_tools_are_told_in_few_words() {
    let shop = Shop::new();
    let registry = registry(&shop);
    let tools = registry.specs().tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["bash", "code_search", "edit_file", "list_files", "read_file"]);
    let bytes: usize = tools
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len() + 50)
        .sum();
    assert!(bytes < 3_200, "{bytes}");
    assert!(tools.iter().all(|tool| tool.schema["required"].is_array()));
}
