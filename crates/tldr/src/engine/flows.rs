//! Control flow, data flow and slices: of one file, read and parsed when somebody asks.

use code::flow;
use code::language::Language;
use code::parse;
use serde_json::json;
use wire::tldr::Refusal;

use super::answers::Flow;
use super::telling::{Telling, Told};
use super::{Engine, Unable, View, refuse, refuse_with};

impl Engine {
    pub(super) fn flow(
        &self,
        path: &str,
        function: &str,
        what: &Flow,
        tell: &Telling,
        view: &View,
    ) -> Result<Told, Unable> {
        let language = Language::of_path(path).ok_or_else(|| self.nothing_at(path, &view.files))?;
        let file = view.files.get(path).ok_or_else(|| self.nothing_at(path, &view.files))?;
        let source = view.text(&self.root, path, file)?;
        let parsed = parse::parse(language, path, &source)
            .ok_or_else(|| refuse(format!("`{path}` is too long or no text")))?;
        Ok(match what {
            Flow::Control => {
                tell.about_file(path, flow::control_flow(&parsed, function).map_err(|why| said(&why))?)
            }
            Flow::Data => {
                tell.about_file(path, flow::data_flow(&parsed, function).map_err(|why| said(&why))?)
            }
            Flow::Slice(criterion) => {
                tell.about_file(path, flow::slice(&parsed, function, criterion).map_err(|why| said(&why))?)
            }
        })
    }
}

fn said(error: &flow::FlowError) -> Box<Refusal> {
    match error {
        flow::FlowError::NotFound { near, .. } | flow::FlowError::NoVariable { near, .. } => {
            refuse_with(error.to_string(), "near", json!(near))
        }
        flow::FlowError::Ambiguous { candidates, .. } => {
            refuse_with(error.to_string(), "candidates", json!(candidates))
        }
        _ => refuse(error.to_string()),
    }
}
