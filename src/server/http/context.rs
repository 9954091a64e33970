//! One request on its way: what was asked, what has been said so far, and how the answer is written.

use crate::release::Release;
use crate::server::http::body::unreadable::Unreadable;
use crate::server::http::body::{self, Document};
use crate::server::http::negotiate::{self, Conversion, Endpoint, Input, Output};
use crate::server::http::options::{self, FieldValidation, WriteOptions};
use crate::server::http::query::Query;
use crate::server::http::route::Target;
use crate::server::http::status::Refusal;
use crate::server::http::table::{self, Columns};
use crate::server::{Format, Request, Response, ResponseBody, Server, Trace};
use crate::value::time;
use crate::value::{Map, Value, object};
use std::sync::Arc;

/// A request that is being answered.
pub(in crate::server) struct Context<'a> {
    /// The server.
    pub server: &'a Server,
    /// The request.
    pub request: &'a Request,
    /// Its query.
    pub query: Query,
    /// What it is about.
    pub target: Target,
    /// The trace so far.
    pub trace: Trace,
    /// The object of the body, if it was taken out of it.
    pub object: Option<Value>,
    warnings: Vec<String>,
}

/// An answer before it is written.
pub(in crate::server) struct Answer {
    /// The code.
    pub code: u16,
    /// What is answered.
    pub content: Content,
}

/// What is answered.
pub(in crate::server) enum Content {
    /// One object.
    Object(Arc<Value>),
    /// A list.
    List(List),
    /// A Status: never shown in another form.
    Status(Value),
}

/// A list of objects.
pub(in crate::server) struct List {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// `resourceVersion`
    pub resource_version: String,
    /// `continue`, empty for none.
    pub continue_: String,
    /// `remainingItemCount`
    pub remaining: Option<i64>,
    /// The items.
    pub items: Vec<Arc<Value>>,
    /// Go's name of the list's type, which one refusal tells.
    pub go_type: &'static str,
}

impl Answer {
    /// An object with a code.
    pub fn object(code: u16, object: Arc<Value>) -> Self {
        Self { code, content: Content::Object(object) }
    }
}

impl<'a> Context<'a> {
    /// A request that was routed.
    pub fn new(server: &'a Server, request: &'a Request, query: Query, target: Target) -> Self {
        Self { server, request, query, target, trace: Trace::default(), object: None, warnings: Vec::new() }
    }

    /// The release that answers.
    pub fn release(&self) -> Release {
        self.server.release
    }

    /// The object of the body, which must have a type.
    pub fn body_object(&mut self, input: Input, validation: FieldValidation) -> Result<Document, Unreadable> {
        match self.object.take() {
            Some(value) => Ok(Document { value, strict: Vec::new() }),
            None => body::object(&self.request.body, input, validation),
        }
    }

    /// Adds a warning; equal ones are told once.
    pub fn warn(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() && !self.warnings.contains(&text) {
            self.warnings.push(text);
        }
    }

    /// The time of the request, as metadata holds it.
    pub fn now(&self) -> String {
        time::format(self.request.now)
    }

    /// Chooses the output form.
    pub fn negotiate(&self, endpoint: Endpoint) -> Result<Output, Refusal> {
        negotiate::output(self.request.accept.as_deref(), self.request.user_agent.as_deref(), &self.query, endpoint)
    }

    /// The name in the URL, which most verbs need.
    pub fn name(&self) -> Result<String, Refusal> {
        if self.target.name.is_empty() {
            return Err(Refusal::bad_request("name must be provided"));
        }
        Ok(self.target.name.clone())
    }

    /// Tells about strict decoding errors as warnings, one per line of a YAML error.
    pub fn warn_strict(&mut self, errors: &[String]) {
        for error in errors {
            let lines = ["yaml: unmarshal errors:\n", "error converting YAML to JSON: yaml: unmarshal errors:\n"]
                .iter()
                .find_map(|prefix| error.strip_prefix(prefix));
            match lines {
                Some(lines) => lines.split('\n').for_each(|line| self.warn(line.trim())),
                None => self.warn(error.as_str()),
            }
        }
    }

    /// Strict decoding errors: an error in Strict, warnings in Warn.
    pub fn strict_errors(&mut self, errors: &[String], options: &WriteOptions) -> Result<(), String> {
        if errors.is_empty() {
            return Ok(());
        }
        match options.field_validation {
            FieldValidation::Strict => Err(format!("strict decoding error: {}", errors.join(", "))),
            FieldValidation::Warn => {
                self.warn_strict(errors);
                Ok(())
            }
            FieldValidation::Ignore => Ok(()),
        }
    }

    /// Writes the answer in the negotiated form, or the refusal.
    pub fn respond(mut self, output: &Output, columns: Option<&Columns>, answer: Result<Answer, Refusal>) -> Response {
        let shaped = answer.and_then(|answer| {
            let code = answer.code;
            self.shape(output, columns, answer.content).map(|body| (code, body))
        });
        match shaped {
            Ok((code, body)) => Response {
                code,
                body: ResponseBody::Json(body),
                format: output.format,
                headers: Vec::new(),
                warnings: headers(self.warnings),
                trace: self.trace,
            },
            Err(refusal) => {
                self.trace.errors.clone_from(&refusal.errors);
                self.refuse(&refusal)
            }
        }
    }

    /// The texts of the warnings so far.
    pub fn into_warnings(self) -> Vec<String> {
        headers(self.warnings)
    }

    /// Writes a refusal: a form for the object is not wanted any more, so `Accept` is read again without.
    pub fn refuse(mut self, refusal: &Refusal) -> Response {
        self.trace.errors.clone_from(&refusal.errors);
        let format = match self.negotiate(Endpoint::Plain) {
            Ok(output) => output.format,
            Err(_) => Format::PrettyJson,
        };
        Response {
            code: refusal.code,
            body: ResponseBody::Json(Arc::new(refusal.to_value())),
            format,
            headers: Vec::new(),
            warnings: headers(self.warnings),
            trace: self.trace,
        }
    }

    fn shape(&self, output: &Output, columns: Option<&Columns>, content: Content) -> Result<Arc<Value>, Refusal> {
        let table = |items: &mut dyn Iterator<Item = &Value>, list: Map, version: &str| {
            let include = options::include_object(&self.query)?;
            let Some(columns) = columns else { return Err(Refusal::internal("no table here")) };
            Ok(table::table(columns, items, list, version, include, self.request.now))
        };
        let (Conversion { kind, version, .. }, content) = match (&output.convert, content) {
            (_, Content::Status(status)) => return Ok(Arc::new(status)),
            (None, Content::Object(object)) => return Ok(object),
            (None, Content::List(list)) => return Ok(Arc::new(list.into_value())),
            (Some(convert), content) => (convert, content),
        };
        let value = match (kind.as_str(), &content) {
            ("Table", Content::List(list)) => {
                table(&mut list.items.iter().map(|o| &**o), list.metadata(false), version)?
            }
            ("Table", Content::Object(o)) => {
                let revision = o.at(&["metadata", "resourceVersion"]).cloned();
                let metadata = revision.map(|v| ("resourceVersion".to_owned(), v)).into_iter().collect();
                table(&mut std::iter::once(&**o), metadata, version)?
            }
            ("PartialObjectMetadata", Content::Object(o)) => table::partial(o, version),
            ("PartialObjectMetadata", Content::List(list)) => {
                let text = format!(
                    "you requested PartialObjectMetadata, but the requested object is a list ({})",
                    list.go_type
                );
                return Err(Refusal::not_acceptable(text));
            }
            (_, Content::List(list)) => {
                let items: Vec<Value> = list.items.iter().map(|o| table::partial(o, version)).collect();
                // A list that was never appended to is null to Go.
                let items = if items.is_empty() { Value::Null } else { Value::Array(items) };
                object([
                    ("kind", Value::from("PartialObjectMetadataList")),
                    ("apiVersion", Value::from(format!("meta.k8s.io/{version}"))),
                    ("metadata", Value::Object(list.metadata(false))),
                    ("items", items),
                ])
            }
            _ => return Err(Refusal::unclassified("content is not a list")),
        };
        Ok(Arc::new(value))
    }
}

impl List {
    /// `metadata` of the list. Custom resources' lists always have `continue`.
    fn metadata(&self, always_continue: bool) -> Map {
        let mut out = Map::new();
        if always_continue || !self.continue_.is_empty() {
            out.insert("continue".to_owned(), Value::from(self.continue_.as_str()));
        }
        if let Some(count) = self.remaining {
            out.insert("remainingItemCount".to_owned(), Value::Int(count));
        }
        out.insert("resourceVersion".to_owned(), Value::from(self.resource_version.as_str()));
        out
    }

    fn into_value(self) -> Value {
        let metadata = self.metadata(self.go_type == UNSTRUCTURED_LIST);
        let is_typed = self.go_type != UNSTRUCTURED_LIST;
        let mut items: Vec<Value> = self.items.into_iter().map(Arc::unwrap_or_clone).collect();
        if is_typed {
            // Items of a typed list do not name their type.
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

/// Go's type of lists of custom resources.
pub(in crate::server) const UNSTRUCTURED_LIST: &str = "*unstructured.UnstructuredList";

/// The warnings that fit the headers: above 4096 characters in all, each is cut to 256 (`filters/warning.go`).
fn headers(warnings: Vec<String>) -> Vec<String> {
    const TOTAL: usize = 4096;
    const ITEM: usize = 256;
    let length = |text: &String| text.chars().count();
    if warnings.iter().map(length).sum::<usize>() <= TOTAL {
        return warnings;
    }
    let mut written = 0;
    let mut out = Vec::new();
    // The server begins to cut at the first warning that does not fit, and cuts those before it again.
    let mut sum = 0;
    let first_over = warnings.iter().position(|w| {
        sum += length(w);
        sum > TOTAL
    });
    for (i, warning) in warnings.iter().enumerate() {
        if written >= TOTAL && Some(i) > first_over {
            break;
        }
        let cut: String = warning.chars().take(ITEM).collect();
        written += length(&cut);
        out.push(cut);
    }
    out
}
