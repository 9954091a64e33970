//! Reads a baseline.

use super::{Entry, FindingKey, Subject};
use crdx_engine::report::KnownFinding;
use crdx_files::open::read_small;
use crdx_text::yaml;
use crdx_value::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the format.
pub(super) const VERSION: i64 = 1;

/// The maximum length of a file in bytes.
const LIMIT: u64 = 16 << 20;

/// The reason why a baseline is not used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error("the baseline {} cannot be read: {error}", .path.display())]
    NotRead { path: PathBuf, error: io::Error },
    #[error("the baseline {} is not valid: {message}", .path.display())]
    Invalid { path: PathBuf, message: String },
    #[error("the baseline {} cannot be written: {error}", .path.display())]
    NotWritten { path: PathBuf, error: io::Error },
}

impl BaselineError {
    /// Says what to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotRead { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                "write it with --write-baseline, or correct the path"
            }
            Self::NotRead { .. } => "name a regular file that may be read",
            Self::Invalid { .. } => {
                "correct the file, or delete it and run with --write-baseline; docs/validate-in-ci.md has the format"
            }
            Self::NotWritten { .. } => "check the permissions of the directory",
        }
    }
}

/// Reads the entries of a file.
pub(super) fn read(path: &Path) -> Result<BTreeMap<FindingKey, Entry>, BaselineError> {
    let not_read = |error| BaselineError::NotRead { path: path.to_owned(), error };
    let text = read_small(path, LIMIT).map_err(not_read)?;
    entries(&text).map_err(|message| BaselineError::Invalid { path: path.to_owned(), message: message.to_string() })
}

/// The reason why a text is no baseline.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
enum NoBaseline {
    #[error("{0}")]
    Yaml(String),
    #[error("it is not version {VERSION} of the format")]
    Version,
    #[error("findings[{0}] has no {1}")]
    Missing(usize, &'static str),
    #[error("findings[{index}] has the date {date:?}, which is not YYYY-MM-DD in quotes")]
    Date { index: usize, date: String },
}

fn entries(text: &[u8]) -> Result<BTreeMap<FindingKey, Entry>, NoBaseline> {
    let value = yaml::read(text).map_err(|error| NoBaseline::Yaml(error.to_string()))?;
    if value.get("version").and_then(Value::as_int) != Some(VERSION) {
        return Err(NoBaseline::Version);
    }
    let findings = value.get("findings").and_then(Value::as_array).unwrap_or_default();
    findings.iter().enumerate().map(|(index, finding)| entry(index, finding)).collect()
}

fn entry(index: usize, finding: &Value) -> Result<(FindingKey, Entry), NoBaseline> {
    let optional = |name: &str| finding.str_at(&[name]).unwrap_or_default().trim().to_owned();
    let text = |name: &'static str| match optional(name) {
        text if text.is_empty() => Err(NoBaseline::Missing(index, name)),
        text => Ok(text),
    };
    let subject = Subject { object: text("object")?, target: optional("target") };
    let key = FindingKey { subject, kind: text("type")?, message: text("message")? };
    let date = text("date")?;
    if !is_date(&date) {
        return Err(NoBaseline::Date { index, date });
    }
    Ok((key, Entry { known: Arc::new(KnownFinding { reason: text("reason")?, date }), is_found: false }))
}

/// Returns true for `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let is_right =
        |(index, byte): (usize, u8)| if matches!(index, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == "YYYY-MM-DD".len() && text.bytes().enumerate().all(is_right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_needs_a_reason_and_a_date() {
        let with = |member: &str| {
            let text = format!("version: 1\nfindings:\n- {{object: A b, type: t, message: m, {member}}}\n");
            entries(text.as_bytes()).map(|found| found.len())
        };
        assert_eq!(with("reason: r, date: '2026-01-02'"), Ok(1));
        assert_eq!(with("date: '2026-01-02'"), Err(NoBaseline::Missing(0, "reason")));
        assert_eq!(with("reason: ' ', date: '2026-01-02'"), Err(NoBaseline::Missing(0, "reason")));
        assert_eq!(with("reason: r, date: soon"), Err(NoBaseline::Date { index: 0, date: "soon".to_owned() }));
        assert_eq!(entries(b"version: 2\n").map(|found| found.len()), Err(NoBaseline::Version));
        assert_eq!(entries(b"version: 1\n").map(|found| found.len()), Ok(0));
    }
}
