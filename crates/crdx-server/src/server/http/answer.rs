//! The answer of a handler, before it is written in the negotiated format.

use crdx_value::{Map, Value, object};
use std::sync::Arc;

/// The result of a handler before it is written as a response.
pub(in crate::server) struct Answer {
    /// The HTTP status code.
    pub code: u16,
    /// The content of the response.
    pub content: Content,
}

/// The content of a response.
pub(in crate::server) enum Content {
    /// One object.
    Object(Arc<Value>),
    List(List),
    /// A Status, which is never converted to a Table or to partial metadata.
    Status(Value),
}

/// A list of objects.
#[derive(Debug)]
pub(in crate::server) struct List {
    /// `apiVersion`
    pub api_version: String,
    pub kind: String,
    /// `resourceVersion`
    pub resource_version: String,
    /// `continue`, empty for none.
    pub continue_: String,
    /// `remainingItemCount`
    pub remaining: Option<i64>,
    /// `shardInfo.selector`, empty for none.
    pub shards: String,
    pub items: Vec<Arc<Value>>,
    /// The Go type of the list, which one error message contains.
    pub go_type: &'static str,
}

impl Answer {
    /// An answer with one object.
    pub fn object(code: u16, object: Arc<Value>) -> Self {
        Self { code, content: Content::Object(object) }
    }
}

impl List {
    /// `metadata` of the list. Lists of custom resources always have `continue`.
    pub(super) fn metadata(&self, always_continue: bool) -> Map {
        let mut out = Map::new();
        if always_continue || !self.continue_.is_empty() {
            out.insert("continue".to_owned(), Value::from(self.continue_.as_str()));
        }
        if let Some(count) = self.remaining {
            out.insert("remainingItemCount".to_owned(), Value::Int(count));
        }
        out.insert("resourceVersion".to_owned(), Value::from(self.resource_version.as_str()));
        if !self.shards.is_empty() {
            out.insert("shardInfo".to_owned(), object([("selector", self.shards.as_str())]));
        }
        out
    }

    pub(super) fn into_value(self) -> Value {
        let metadata = self.metadata(self.go_type == UNSTRUCTURED_LIST);
        let is_typed = self.go_type != UNSTRUCTURED_LIST;
        let mut items: Vec<Value> = self.items.into_iter().map(Arc::unwrap_or_clone).collect();
        if is_typed {
            // Items of a typed list have neither apiVersion nor kind.
            for members in items.iter_mut().filter_map(Value::as_object_mut) {
                members.remove("kind");
                members.remove("apiVersion");
            }
        }
        object([
            ("apiVersion", Value::from(self.api_version)),
            ("kind", Value::from(self.kind)),
            ("metadata", Value::Object(metadata)),
            ("items", Value::Array(items)),
        ])
    }
}

/// The Go type of lists of built-in kinds. Its package is not that of a real type.
pub(in crate::server) const TYPED_LIST: &str = "*core.List";
/// The Go type of lists of custom resources.
pub(in crate::server) const UNSTRUCTURED_LIST: &str = "*unstructured.UnstructuredList";
