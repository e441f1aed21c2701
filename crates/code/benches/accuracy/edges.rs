//! Edges as all witnesses tell them: file and name of both ends. A constructor is its class.

use serde_json::Value;

/// File and name.
pub(crate) type Function = (String, String);

/// File and name of the caller, file and name of what is called.
pub(crate) type Edge = (String, String, String, String);

/// An edge with the place it was seen at, and how.
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) from: String,
    pub(crate) to_file: String,
    pub(crate) to: String,
    pub(crate) how: String,
}

impl Row {
    pub(crate) fn edge(&self) -> Edge {
        (self.file.clone(), self.from.clone(), self.to_file.clone(), self.to.clone())
    }
}

pub(crate) fn rows(value: &Value) -> Vec<Row> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let row = |row: &Value| Row {
        file: text(&row[0]),
        from: text(&row[2]),
        to_file: text(&row[3]),
        to: text(&row[4]),
        how: text(&row[5]),
    };
    value.as_array().expect("rows").iter().map(row).collect()
}

/// A share for people, or that there was nothing to share.
pub(crate) fn share(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.3}", part as f64 / whole as f64) }
}
