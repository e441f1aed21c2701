//! Control flow, data flow and slices: of one file, read and parsed when somebody asks.

use std::collections::BTreeSet;
use std::fs;

use code::flow;
use code::language::Language;
use code::parse;
use serde::Serialize;
use serde_json::json;
use wire::tldr::{Format, Refusal};

use super::answers::{Flow, Telling, Told};
use super::{Engine, refuse};

impl Engine {
    pub(super) fn flow(
        &self,
        path: &str,
        function: &str,
        what: &Flow,
        tell: &Telling,
    ) -> Result<Told, Box<Refusal>> {
        let language = Language::of_path(path).ok_or_else(|| self.nothing_at(path))?;
        let source = fs::read(self.root.path().join(path))
            .map_err(|error| refuse(format!("cannot read `{path}`: {error}")))?;
        let parsed = parse::parse(language, path, &source)
            .ok_or_else(|| refuse(format!("`{path}` is too long or no text")))?;
        match what {
            Flow::Control => written(path, tell, &flow::control_flow(&parsed, function).map_err(said)?),
            Flow::Data => written(path, tell, &flow::data_flow(&parsed, function).map_err(said)?),
            Flow::Slice(criterion) => {
                written(path, tell, &flow::slice(&parsed, function, criterion).map_err(said)?)
            }
        }
    }
}

fn written<A: Serialize + std::fmt::Display>(
    path: &str,
    tell: &Telling,
    answer: &A,
) -> Result<Told, Box<Refusal>> {
    let json = match tell.format() {
        Format::Json => serde_json::to_string(answer).expect("answers have text for keys"),
        Format::Text => json!({"text": answer.to_string()}).to_string(),
    };
    tell.whole(json, BTreeSet::from([path.to_owned()]))
}

fn said(error: flow::FlowError) -> Box<Refusal> {
    let mut refusal = refuse(error.to_string());
    if let flow::FlowError::NotFound { near, .. } = error {
        refusal.data.insert("near".to_owned(), json!(near));
    }
    refusal
}
