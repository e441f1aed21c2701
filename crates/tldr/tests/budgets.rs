//! Budgets: whatever is asked with whatever budget, the answer costs no more, says what it leaves out, and going on from
//! `next` gives all of it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and reads our own sources"
)]

use std::fs;
use std::path::Path;

use kit::invocation::Environment;
use proptest::prelude::*;
use serde_json::{Value, json};
use testkit::Home;
use tldr::engine::Engine;
use tldr::index::Lifetime;
use tldr::root::Root;
use tldr::settings::Settings;
use wire::tldr::Request;

/// Answers with a list, and the key of the list whose items `total` counts; none where they are counted deeper.
const QUESTIONS: &[(&str, Option<&str>)] = &[
    (r#"{"cmd":"tree"}"#, None),
    (r#"{"cmd":"structure","path":""}"#, Some("files")),
    (r#"{"cmd":"search","pattern":"fn "}"#, Some("results")),
    (r#"{"cmd":"search","pattern":"fn ","max_results":7}"#, None),
    (r#"{"cmd":"extract","file":"src/text.rs"}"#, None),
    (r#"{"cmd":"context","entry":"clip"}"#, Some("functions")),
    (r#"{"cmd":"cfg","file":"src/text.rs","function":"thousands"}"#, Some("blocks")),
    (r#"{"cmd":"dfg","file":"src/text.rs","function":"clip"}"#, Some("variables")),
    (r#"{"cmd":"slice","file":"src/text.rs","function":"clip","line":25}"#, Some("slice_lines")),
    (r#"{"cmd":"calls"}"#, Some("edges")),
    (r#"{"cmd":"impact","func":"tokens","depth":5}"#, None),
    (r#"{"cmd":"dead"}"#, None),
    (r#"{"cmd":"arch"}"#, None),
    (r#"{"cmd":"imports","file":"src/log.rs"}"#, Some("imports")),
    (r#"{"cmd":"importers","module":"std::path"}"#, Some("importers")),
    (r#"{"cmd":"semantic","query":"cut a text on a character","top_k":10}"#, Some("results")),
    (r#"{"cmd":"change_impact","files":["src/text.rs"]}"#, None),
    (r#"{"cmd":"change_impact"}"#, None),
    (r#"{"cmd":"diagnostics","path":"src/text.rs"}"#, None),
    (r#"{"cmd":"warm"}"#, None),
    // Refusals have a size as well.
    (r#"{"cmd":"impact","func":"tokenz"}"#, None),
    (r#"{"cmd":"impact","func":"fmt"}"#, None),
    (r#"{"cmd":"extract","file":"Cargo.toml"}"#, None),
    (r#"{"cmd":"cfg","file":"src/text.rs","function":"nobody"}"#, None),
    (r#"{"cmd":"structure","path":"../elsewhere"}"#, None),
    (r#"{"cmd":"calls","lang":"klingon"}"#, None),
];

/// Our own `kit`, under a home of its own.
fn project() -> (Home, Engine) {
    let home = Home::new();
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kit");
    home.write("p/Cargo.toml", "");
    for entry in fs::read_dir(kit.join("src")).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_file() {
            let name = entry.file_name().unwrap().to_str().unwrap().to_owned();
            home.write(format!("p/src/{name}"), fs::read_to_string(&entry).unwrap());
        }
    }
    let root = Root::find(&home.path().join("p")).unwrap();
    let settings = Settings::read(&root);
    // No program can be found, so that no checker of this machine is run.
    let engine = Engine::open(root, &settings, Environment::default(), Lifetime::OneLook);
    (home, engine)
}

fn ask(engine: &Engine, question: &str, more: &Value) -> String {
    let mut fields: Value = serde_json::from_str(question).unwrap();
    fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    engine.answer(&Request::parse(&fields.to_string()).unwrap()).line.into()
}

#[test]
fn no_answer_costs_more_than_it_may() {
    let (_home, engine) = project();
    // The least that anything can be said in is the frame of a refusal.
    let strategy = (8_u64..1_500, 0_usize..30, prop::sample::select(vec!["json", "text"]));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 25,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let outcome = runner.run(&strategy, |(most, offset, format)| {
        for (question, _) in QUESTIONS {
            let more = json!({"max_tokens": most, "offset": offset, "format": format});
            let line = ask(&engine, question, &more);
            let cost = kit::text::tokens(line.len() as u64);
            prop_assert!(cost <= most, "{question} {more} costs {cost}: {line}");
            prop_assert!(serde_json::from_str::<Value>(&line).is_ok(), "{line}");
        }
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn pages_give_everything_once() {
    let (_home, engine) = project();
    for (question, list) in QUESTIONS {
        let Some(list) = list else { continue };
        let whole: Value = serde_json::from_str(&ask(&engine, question, &json!({}))).unwrap();
        assert_eq!((&whole["truncated"], &whole["next"]), (&json!(false), &Value::Null), "{question}");
        let (mut given, mut offset) = (Vec::new(), 0);
        loop {
            let line = ask(&engine, question, &json!({"max_tokens": 2_000, "offset": offset}));
            let page: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(page["total"], whole["total"], "{question} {page}");
            given.extend(page[list].as_array().unwrap_or_else(|| panic!("{question} {page}")).clone());
            match page["next"].as_u64() {
                Some(next) if next > offset => offset = next,
                Some(_) => panic!("{question} does not go on: {page}"),
                None => break,
            }
        }
        assert_eq!(&json!(given), &whole[list], "{question}");
    }
}

#[test]
fn whoever_has_little_room_gets_on_or_is_told_how_much_is_needed() {
    let (_home, engine) = project();
    for (question, _) in QUESTIONS {
        for most in [60, 150, 400] {
            let line = ask(&engine, question, &json!({"max_tokens": most}));
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert_ne!(answer["next"], json!(0), "{question} in {most} does not go on: {line}");
            if let Some(needed) = answer["needed_tokens"].as_u64() {
                let enough = ask(&engine, question, &json!({"max_tokens": needed + 2}));
                assert!(enough.contains("\"status\":\"ok\""), "{question} in {needed}: {enough}");
            }
        }
    }
}

#[test]
fn a_part_of_a_flow_is_whole_in_itself() {
    let (_home, engine) = project();
    let page = |cmd: &str, most: u64| -> Value {
        let question = json!({"cmd": cmd, "file": "src/text.rs", "function": "thousands"});
        serde_json::from_str(&ask(&engine, &question.to_string(), &json!({"max_tokens": most}))).unwrap()
    };
    let (whole, part) = (page("cfg", 10_000), page("cfg", 130));
    let ids = |flow: &Value| -> Vec<Value> {
        flow["blocks"].as_array().unwrap().iter().map(|block| block["id"].clone()).collect()
    };
    assert!(part["truncated"] == true && ids(&part).len() < ids(&whole).len(), "{part}");
    // Every way that leaves a block is there with it.
    let leaving = |flow: &Value, kept: &[Value]| -> Vec<Value> {
        let edges = flow["edges"].as_array().unwrap().iter();
        edges.filter(|edge| kept.contains(&edge["from"])).cloned().collect()
    };
    assert_eq!(leaving(&part, &ids(&part)), leaving(&whole, &ids(&part)));
    assert_eq!(part["edges"].as_array().unwrap().len(), leaving(&part, &ids(&part)).len());
}

#[test]
fn a_search_that_was_asked_for_few_says_how_many_there_are() {
    let (_home, engine) = project();
    let answer: Value = serde_json::from_str(&ask(
        &engine,
        r#"{"cmd":"search","pattern":"fn ","max_results":3}"#,
        &json!({}),
    ))
    .unwrap();
    assert_eq!(answer["results"].as_array().unwrap().len(), 3);
    assert!(answer["total"].as_u64().unwrap() > 3, "{answer}");
    assert_eq!((&answer["truncated"], &answer["next"]), (&json!(true), &json!(3)));
}
