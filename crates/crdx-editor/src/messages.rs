//! The parts of the client's messages that this server reads (Language Server Protocol 3.17).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A position in a text: lines from 0, UTF-16 code units from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Position {
    pub line: u32,
    pub character: u32,
}

/// A part of a text, without its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Range {
    pub start: Position,
    pub end: Position,
}

/// `initialize`
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// Older clients send nothing else.
    pub root_uri: Option<String>,
    pub workspace_folders: Option<Vec<DocumentUri>>,
    pub initialization_options: Option<Value>,
    /// `ClientCapabilities`
    #[serde(default)]
    pub capabilities: Value,
}

impl InitializeParams {
    /// Returns true if the client has a capability, which is a boolean at a path of members.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.pointer(capability).and_then(Value::as_bool).unwrap_or_default()
    }
}

/// `textDocument/didOpen`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidOpen {
    pub text_document: OpenDocument,
}

/// A document that the client opened.
#[derive(Debug, Deserialize)]
pub struct OpenDocument {
    pub uri: String,
    pub version: i32,
    pub text: String,
}

/// `textDocument/didChange`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidChange {
    pub text_document: VersionedDocument,
    pub content_changes: Vec<TextChange>,
}

/// A document, and its version after a change.
#[derive(Debug, Deserialize)]
pub struct VersionedDocument {
    pub uri: String,
    pub version: i32,
}

/// A new text for a range, or for the whole document.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TextChange {
    pub range: Option<Range>,
    pub text: String,
}

/// `textDocument/didClose` and `textDocument/didSave`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfDocument {
    pub text_document: DocumentUri,
}

/// `workspace/didChangeWatchedFiles`
#[derive(Debug, Deserialize)]
pub struct DidChangeFiles {
    pub changes: Vec<DocumentUri>,
}

/// A document or a folder.
#[derive(Debug, Deserialize)]
pub struct DocumentUri {
    pub uri: String,
}

/// `workspace/didChangeConfiguration`
#[derive(Debug, Deserialize)]
pub struct DidChangeSettings {
    pub settings: Value,
}
