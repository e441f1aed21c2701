//! What checkers say, read from their own formats. Nothing here runs one.

use serde::Serialize;
use serde_json::Value;

use super::Cut;
use super::budget::{self, counted, list_answer};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diagnostics {
    pub diagnostics: Vec<Diagnostic>,
    pub errors: usize,
    pub warnings: usize,
    /// Checkers that ran.
    pub tools_run: Vec<String>,
    #[serde(flatten)]
    pub cut: Cut,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Diagnostic {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub severity: Severity,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The checker that says it.
    pub source: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Error,
    Warning,
    Info,
}

/// The checkers whose output we can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    /// `ruff check --output-format json`
    Ruff,
    /// `pyright --outputjson`
    Pyright,
    /// `eslint --format json`
    Eslint,
    /// `cargo check --message-format json`
    Cargo,
    /// `file:line:column: message`, as mypy, go vet, gcc, clang and many others write it.
    Lines,
    /// `file(line,column): error CODE: message`
    Tsc,
}

/// What a checker's output says. What cannot be read in it is left out; the second part counts that.
pub fn parse(checker: Checker, source: &str, output: &str) -> (Vec<Diagnostic>, usize) {
    match checker {
        Checker::Ruff => from_json(output, |all| {
            all.as_array().map(|list| list.iter().filter_map(|one| ruff(one, source)).collect())
        }),
        Checker::Pyright => from_json(output, |all| {
            let list = all["generalDiagnostics"].as_array()?;
            Some(list.iter().filter_map(|one| pyright(one, source)).collect())
        }),
        Checker::Eslint => from_json(output, |all| {
            let files = all.as_array()?;
            Some(files.iter().flat_map(|file| eslint(file, source)).collect())
        }),
        Checker::Cargo => {
            let read: Vec<_> =
                output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).collect();
            let unread = output.lines().filter(|line| !line.trim().is_empty()).count() - read.len();
            (read.iter().filter_map(|one| cargo(one, source)).collect(), unread)
        }
        Checker::Lines => lines(output, |line| plain_line(line, source)),
        Checker::Tsc => lines(output, |line| tsc_line(line, source)),
    }
}

/// The answer made of what all checkers said.
pub fn answer(mut diagnostics: Vec<Diagnostic>, tools_run: Vec<String>) -> Diagnostics {
    diagnostics.sort();
    diagnostics.dedup();
    let count = |severity| diagnostics.iter().filter(|one| one.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let cut = Cut { total: diagnostics.len(), ..Cut::default() };
    Diagnostics { diagnostics, errors, warnings, tools_run, cut }
}

fn from_json(output: &str, read: impl FnOnce(&Value) -> Option<Vec<Diagnostic>>) -> (Vec<Diagnostic>, usize) {
    if output.trim().is_empty() {
        return (Vec::new(), 0);
    }
    match serde_json::from_str(output).ok().as_ref().and_then(read) {
        Some(found) => (found, 0),
        None => (Vec::new(), 1),
    }
}

fn ruff(one: &Value, source: &str) -> Option<Diagnostic> {
    let syntax = one["code"].is_null();
    Some(Diagnostic {
        file: one["filename"].as_str()?.to_owned(),
        line: number(&one["location"]["row"]),
        column: number(&one["location"]["column"]),
        severity: if syntax { Severity::Error } else { Severity::Warning },
        message: one["message"].as_str()?.to_owned(),
        code: one["code"].as_str().map(str::to_owned),
        source: source.to_owned(),
    })
}

fn pyright(one: &Value, source: &str) -> Option<Diagnostic> {
    let start = &one["range"]["start"];
    Some(Diagnostic {
        file: one["file"].as_str()?.to_owned(),
        // It counts from zero.
        line: number(&start["line"]) + 1,
        column: number(&start["character"]) + 1,
        severity: severity(one["severity"].as_str().unwrap_or_default()),
        message: one["message"].as_str()?.to_owned(),
        code: one["rule"].as_str().map(str::to_owned),
        source: source.to_owned(),
    })
}

fn eslint(file: &Value, source: &str) -> Vec<Diagnostic> {
    let path = file["filePath"].as_str().unwrap_or_default();
    let one = |message: &Value| {
        Some(Diagnostic {
            file: path.to_owned(),
            line: number(&message["line"]),
            column: number(&message["column"]),
            severity: if message["severity"].as_u64() == Some(2) {
                Severity::Error
            } else {
                Severity::Warning
            },
            message: message["message"].as_str()?.to_owned(),
            code: message["ruleId"].as_str().map(str::to_owned),
            source: source.to_owned(),
        })
    };
    file["messages"].as_array().into_iter().flatten().filter_map(one).collect()
}

fn cargo(one: &Value, source: &str) -> Option<Diagnostic> {
    let message = &one["message"];
    let spans = message["spans"].as_array()?;
    let span = spans.iter().find(|span| span["is_primary"].as_bool() == Some(true))?;
    Some(Diagnostic {
        file: span["file_name"].as_str()?.to_owned(),
        line: number(&span["line_start"]),
        column: number(&span["column_start"]),
        severity: severity(message["level"].as_str().unwrap_or_default()),
        message: message["message"].as_str()?.to_owned(),
        code: message["code"]["code"].as_str().map(str::to_owned),
        source: source.to_owned(),
    })
}

fn lines(output: &str, read: impl Fn(&str) -> Option<Diagnostic>) -> (Vec<Diagnostic>, usize) {
    let full: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let found: Vec<_> = full.iter().filter_map(|line| read(line)).collect();
    let unread = full.len() - found.len();
    (found, unread)
}

/// `file:line[:column]: [severity:] message [code]`
fn plain_line(line: &str, source: &str) -> Option<Diagnostic> {
    let mut parts = line.splitn(3, ':');
    let file = parts.next().filter(|file| !file.is_empty() && !file.starts_with([' ', '#']))?;
    let number = parts.next()?.trim().parse().ok()?;
    let rest = parts.next()?;
    let (column, rest) = match rest.split_once(':') {
        Some((column, rest)) if column.trim().parse::<u32>().is_ok() => {
            (column.trim().parse().unwrap_or(1), rest)
        }
        _ => (1, rest),
    };
    let rest = rest.trim();
    let (word, message) =
        rest.split_once(": ").filter(|(word, _)| is_severity(word)).unwrap_or(("error", rest));
    let (message, code) = match message.strip_suffix(']').and_then(|text| text.rsplit_once(" [")) {
        Some((message, code)) if !code.contains(' ') => (message.trim(), Some(code.to_owned())),
        _ => (message, None),
    };
    let message = message.to_owned();
    Some(Diagnostic {
        file: file.to_owned(),
        line: number,
        column,
        severity: severity(word),
        message,
        code,
        source: source.to_owned(),
    })
}

/// `file(line,column): error TS1234: message`
fn tsc_line(line: &str, source: &str) -> Option<Diagnostic> {
    let (place, rest) = line.split_once("): ")?;
    let (file, place) = place.rsplit_once('(')?;
    let (row, column) = place.split_once(',')?;
    let (word, rest) = rest.split_once(' ')?;
    let (code, message) = rest.split_once(": ")?;
    Some(Diagnostic {
        file: file.to_owned(),
        line: row.parse().ok()?,
        column: column.parse().ok()?,
        severity: severity(word),
        message: message.to_owned(),
        code: Some(code.to_owned()),
        source: source.to_owned(),
    })
}

fn is_severity(word: &str) -> bool {
    matches!(word, "error" | "warning" | "note" | "info" | "fatal error")
}

fn severity(word: &str) -> Severity {
    match word {
        "warning" => Severity::Warning,
        "information" | "info" | "note" | "hint" | "help" => Severity::Info,
        _ => Severity::Error,
    }
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
}

list_answer!(Diagnostics, diagnostics, |answer| {
    let mut out = String::new();
    for one in &answer.diagnostics {
        let word = format!("{:?}", one.severity).to_lowercase();
        let code = one.code.as_ref().map_or(String::new(), |code| format!(" [{code}]"));
        out.push_str(&format!(
            "{}:{}:{}: {word}: {}{code} ({})\n",
            one.file,
            one.line,
            one.column,
            kit::text::plain(&one.message),
            one.source
        ));
    }
    out.push_str(&format!(
        "{}, {}; ran {}\n",
        counted(answer.errors, "error"),
        counted(answer.warnings, "warning"),
        if answer.tools_run.is_empty() { "nothing".to_owned() } else { answer.tools_run.join(", ") }
    ));
    out + &budget::tail(&answer.cut)
});
