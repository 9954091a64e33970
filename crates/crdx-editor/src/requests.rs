//! The responses to requests about open files.

use super::check::Checker;
use super::cursor::Cursor;
use super::files::{File, Files};
use super::messages::{Position, Range};
use super::text::Text;
use super::{completion, defaults, definition, hover, kinds, protocol, schema, symbols, uri};
use crdx_text::spans::PathStep;
use crdx_value::group_version;
use lsp_server::{ErrorCode, Request, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The data from which requests are answered.
#[derive(Clone, Copy)]
pub struct Requests<'a> {
    /// The CRDs.
    pub checker: &'a Checker,
    /// The open files.
    pub files: &'a Files,
    /// Reads a file that is not open.
    pub read: fn(&str) -> Option<String>,
    /// True if the client shows trees of symbols.
    pub has_symbol_trees: bool,
}

impl<'a> Requests<'a> {
    pub fn respond(self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let result = match method.as_str() {
            "textDocument/hover" => TextPosition::from_params(&params).map(|at| self.hover(&at)),
            "textDocument/completion" => TextPosition::from_params(&params).map(|at| self.completion(&at)),
            "textDocument/codeAction" => self.code_actions(&params),
            "textDocument/definition" => TextPosition::from_params(&params).map(|at| self.definition(&at)),
            "textDocument/documentSymbol" => self.symbols(&params),
            "textDocument/inlayHint" => self.inlay_hints(&params),
            _ => {
                let message = format!("{method} is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match result {
            Ok(result) => Response::new_ok(id, result),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        }
    }

    /// The path, the file and the byte offset of a position.
    fn resolve(self, at: &TextPosition) -> Option<(String, &'a File, usize)> {
        let file = self.files.get(&at.uri)?;
        Some((uri::path(&at.uri), file, file.text.offset(at.position)))
    }

    fn hover(self, at: &TextPosition) -> Value {
        let found = || {
            let (path, file, offset) = self.resolve(at)?;
            let cursor = Cursor::at(self.checker, &path, &file.text, offset)?;
            let object = &cursor.document.value;
            if cursor.document.is_definition() {
                return hover::rule(object, &cursor.path, self.checker.releases());
            }
            if let [PathStep::Member(name)] = cursor.path.as_slice()
                && matches!(name.as_str(), "apiVersion" | "kind")
            {
                return kinds::hover(self.checker, object);
            }
            let root = schema::root(self.checker, object, &cursor.path)?;
            let (_, version) = group_version::split(object.str_at(&["apiVersion"])?);
            let costs = self
                .checker
                .definition(object)
                .map(|definition| hover::costs(definition, version, (&root, &cursor.path), self.checker.releases()));
            hover::text(&root, &cursor.path, &costs.unwrap_or_default())
        };
        found().map_or(Value::Null, |text| json!({"contents": {"kind": "markdown", "value": text}}))
    }

    fn completion(self, at: &TextPosition) -> Value {
        let Some((path, file, offset)) = self.resolve(at) else { return Value::Null };
        let found = completion::suggestions(self.checker, &path, &file.text, offset);
        found.iter().enumerate().map(|(index, suggestion)| protocol::completion_item(index, suggestion)).collect()
    }

    fn definition(self, at: &TextPosition) -> Value {
        let read = |path: &str| {
            let open = self.files.text_of(path).cloned();
            open.or_else(|| (self.read)(path).map(Text::new))
        };
        let found = self
            .resolve(at)
            .and_then(|(path, file, offset)| definition::definition(self.checker, (&path, &file.text), offset, read));
        found.map_or(Value::Null, |found| protocol::location(&found))
    }

    fn code_actions(self, params: &Value) -> Result<Value, serde_json::Error> {
        let uri = uri_of(params)?;
        let range: Range = member(params, "range")?;
        let Some(file) = self.files.get(&uri).filter(|file| !file.is_outdated) else { return Ok(json!([])) };
        let (from, to) = (file.text.offset(range.start), file.text.offset(range.end));
        let touched = file.findings.iter().filter(|finding| finding.range.start <= to && from <= finding.range.end);
        let mut actions: Vec<Value> = Vec::new();
        for action in touched.filter_map(|finding| protocol::code_action(finding, &uri, &file.text)) {
            // A rule and its schema may need the same limits.
            if !actions.iter().any(|known| known.get("edit") == action.get("edit")) {
                actions.push(action);
            }
        }
        Ok(actions.into())
    }

    fn inlay_hints(self, params: &Value) -> Result<Value, serde_json::Error> {
        let uri = uri_of(params)?;
        let range: Range = member(params, "range")?;
        let Some(file) = self.files.get(&uri).filter(|file| !file.is_outdated) else { return Ok(json!([])) };
        let range = file.text.offset(range.start)..file.text.offset(range.end);
        let hints = defaults::hints(self.checker, &uri::path(&uri), &file.text, &file.defaulted, &range);
        Ok(hints.iter().map(|hint| protocol::inlay_hint(hint, &file.text)).collect())
    }

    fn symbols(self, params: &Value) -> Result<Value, serde_json::Error> {
        let uri = uri_of(params)?;
        let Some(file) = self.files.get(&uri) else { return Ok(Value::Null) };
        let found = symbols::symbols(self.checker, &uri::path(&uri), &file.text);
        if self.has_symbol_trees {
            return Ok(found.iter().map(|symbol| protocol::symbol(symbol, &file.text)).collect());
        }
        Ok(found.iter().flat_map(|symbol| protocol::symbol_information(symbol, &uri, &file.text)).collect())
    }
}

/// A position in a file.
struct TextPosition {
    uri: String,
    position: Position,
}

impl TextPosition {
    /// Reads `TextDocumentPositionParams`.
    fn from_params(params: &Value) -> Result<Self, serde_json::Error> {
        Ok(Self { uri: uri_of(params)?, position: member(params, "position")? })
    }
}

fn uri_of(params: &Value) -> Result<String, serde_json::Error> {
    member(&member::<Value>(params, "textDocument")?, "uri")
}

fn member<T: DeserializeOwned>(params: &Value, name: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(params.get(name).cloned().unwrap_or_default())
}
