//! The state of one request while it is handled, and the writer of its response.

use crate::server::http::answer::{Answer, Content};
use crate::server::http::body::unreadable::Unreadable;
use crate::server::http::body::{self, BodyDocument};
use crate::server::http::calls::Calls;
use crate::server::http::delete_options::DeleteOptions;
use crate::server::http::given_state::GivenState;
use crate::server::http::negotiate::{self, Conversion, Endpoint, Input, Output};
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::{self, FieldValidation, WriteOptions};
use crate::server::http::paused::Paused;
use crate::server::http::protobuf::DefaultType;
use crate::server::http::query::Query;
use crate::server::http::request::Request;
use crate::server::http::response::{Format, Response, ResponseBody, Trace};
use crate::server::http::route::RequestInfo;
use crate::server::http::settings::Settings;
use crate::server::http::status::{Reason, Refusal};
use crate::server::http::table::{self, Columns};
use crate::server::http::user::UserInfo;
use crdx_text::strict::{StrictDecodingError, StrictError};
use crdx_value::release::Release;
use crdx_value::time;
use crdx_value::{Map, Value, object};
use std::collections::HashSet;
use std::sync::Arc;

/// The state of one request while it is handled.
pub(in crate::server) struct Context<'a> {
    settings: &'a Settings,
    pub request: &'a Request,
    /// The parsed query.
    pub query: Query,
    /// The requested resource.
    pub target: RequestInfo,
    /// The trace, to which handlers add.
    pub trace: Trace,
    /// The object of the body, if it was moved out of the request.
    pub object: Option<Value>,
    /// The notes of the strategy about the object.
    pub notes: ObjectNotes,
    /// The answers of webhooks.
    pub calls: Calls,
    /// The state of the cluster besides the stored objects.
    pub cluster: GivenState<'a>,
    /// Set if the attempt ends between two writes.
    pub paused: Option<Box<Paused>>,
    /// The earlier attempt that this one continues.
    pub resumed: Option<Box<Paused>>,
    warnings: Vec<String>,
    /// The texts of `warnings`.
    warned: HashSet<String>,
}

impl<'a> Context<'a> {
    /// Creates the context of a routed request.
    pub fn new(settings: &'a Settings, request: &'a Request, query: Query, target: RequestInfo) -> Self {
        Self {
            settings,
            request,
            query,
            target,
            trace: Trace::default(),
            object: None,
            notes: ObjectNotes::default(),
            calls: Calls::default(),
            cluster: GivenState::new(
                request.cluster_state.as_ref().or(settings.cluster_state.as_ref()).map(|state| &**state),
            ),
            paused: None,
            resumed: None,
            warnings: Vec::new(),
            warned: HashSet::new(),
        }
    }

    /// A UID for a new object.
    pub fn uid(&self) -> String {
        self.calls.uid().unwrap_or_else(|| self.settings.random.uid())
    }

    /// A name for a new object that gives only a prefix.
    pub fn generated_name(&self, prefix: &str) -> String {
        self.calls.name(prefix).unwrap_or_else(|| self.settings.random.name(prefix))
    }

    /// Continues an earlier attempt.
    pub fn resume(&mut self, mut paused: Box<Paused>) {
        for warning in std::mem::take(&mut paused.warnings) {
            self.warn(warning);
        }
        self.trace = std::mem::take(&mut paused.trace);
        self.resumed = Some(paused);
    }

    /// The reply to an attempt that ended between two writes.
    pub(crate) fn take_paused(&mut self) -> Option<Box<Paused>> {
        let mut paused = self.paused.take()?;
        paused.warnings = std::mem::take(&mut self.warnings);
        paused.trace = std::mem::take(&mut self.trace);
        Some(paused)
    }

    /// Ends an attempt that needs answers of webhooks, or more of the state of the cluster.
    ///
    /// # Errors
    /// Returns [`Refusal::waiting`] if it does.
    pub fn check_complete(&self) -> Result<(), Refusal> {
        self.calls.check()?;
        self.cluster.check()
    }

    /// The user that sends the request.
    pub fn user(&self) -> &'a UserInfo {
        self.request.user.as_ref().unwrap_or(&self.settings.user)
    }

    /// A random UID, even if the request is sent again.
    pub(crate) fn random_uid(&self) -> String {
        self.settings.random.uid()
    }

    /// The simulated release.
    pub fn release(&self) -> Release {
        self.settings.release
    }

    /// Decodes the object of the body, which must have apiVersion and kind, except in Protobuf: there `default` is used.
    pub(crate) fn body_object(
        &mut self,
        input: Input,
        validation: FieldValidation,
        default: DefaultType<'_>,
    ) -> Result<BodyDocument, Unreadable> {
        match self.object.take() {
            Some(value) => Ok(BodyDocument::from_value(value)),
            None => body::object(&self.request.body, input, validation, default, self.release()),
        }
    }

    /// Adds a warning unless the same text was added before.
    pub fn warn(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() && self.warned.insert(text.clone()) {
            self.warnings.push(text);
        }
    }

    /// The time of the request in RFC 3339 format, as used in metadata.
    pub fn now(&self) -> String {
        time::format(self.request.now)
    }

    /// Negotiates the format of the response.
    pub(crate) fn negotiate(&self, endpoint: Endpoint) -> Result<Output, Refusal> {
        negotiate::output(self.request.accept.as_deref(), self.request.user_agent.as_deref(), &self.query, endpoint)
    }

    /// The options of a deletion.
    ///
    /// # Errors
    /// Returns a refusal if they cannot be decoded or are not valid.
    pub fn delete_options(&self) -> Result<DeleteOptions, Refusal> {
        DeleteOptions::read(&self.request.body, self.request.content_type.as_deref(), &self.query, self.release())
    }

    /// The name in the URL.
    ///
    /// # Errors
    /// Returns 400 Bad Request if the URL has no name.
    pub fn name(&self) -> Result<String, Refusal> {
        if self.target.name.is_empty() {
            return Err(Refusal::bad_request("name must be provided"));
        }
        Ok(self.target.name.clone())
    }

    /// Adds strict decoding errors as warnings; an error of the YAML decoder gives one warning per line.
    pub(crate) fn warn_strict(&mut self, errors: &[StrictError]) {
        for error in errors {
            match error {
                StrictError::Yaml(lines) => lines.iter().for_each(|line| self.warn(line)),
                error => self.warn(error.to_string()),
            }
        }
    }

    /// Handles strict decoding errors: an error with `Strict`, warnings with `Warn`, nothing with `Ignore`.
    pub(crate) fn strict_errors(
        &mut self,
        errors: Vec<StrictError>,
        options: &WriteOptions,
    ) -> Result<(), StrictDecodingError> {
        if errors.is_empty() {
            return Ok(());
        }
        // A merged patch is not decoded by the schema, which would record them.
        if self.trace.pruned.is_empty() {
            self.trace.pruned = errors.iter().filter_map(StrictError::unknown_field).map(str::to_owned).collect();
        }
        match options.field_validation {
            FieldValidation::Strict => {
                self.trace.failed_strict_decoding = true;
                Err(StrictDecodingError(errors))
            }
            FieldValidation::Warn => {
                self.warn_strict(&errors);
                Ok(())
            }
            FieldValidation::Ignore => Ok(()),
        }
    }

    /// Writes the answer in the negotiated format, or the refusal.
    pub fn respond(self, output: &Output, columns: Option<&Columns>, answer: Result<Answer, Refusal>) -> Response {
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
            Err(refusal) => self.refuse(refusal),
        }
    }

    /// The warnings added so far, truncated as for the headers.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        headers(self.warnings)
    }

    /// Writes a refusal. Formats that only objects have do not apply to it, so `Accept` is negotiated again without
    /// them.
    pub fn refuse(mut self, mut refusal: Refusal) -> Response {
        let unread = self.cluster.take_unread();
        if !unread.is_empty() {
            self.trace.needs.get_or_insert_default().unread = unread;
        }
        self.trace.is_unfinished = refusal.reason == Reason::Unfinished;
        self.trace.errors = std::mem::take(&mut refusal.errors);
        let format = match self.negotiate(Endpoint::Plain) {
            Ok(output) => output.format,
            Err(_) => Format::PrettyJson,
        };
        let delay = refusal.details.as_ref().map_or(0, |details| details.retry_after_seconds);
        let delay = (delay > 0).then(|| ("retry-after", delay.to_string()));
        Response {
            code: refusal.code,
            body: ResponseBody::Json(Arc::new(refusal.into_value())),
            format,
            headers: delay.into_iter().collect(),
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
                // A Go slice that was never appended to is encoded as null.
                let items = if items.is_empty() { Value::Null } else { Value::Array(items) };
                object([
                    ("kind", Value::from("PartialObjectMetadataList")),
                    ("apiVersion", Value::from(format!("meta.k8s.io/{version}"))),
                    ("metadata", Value::Object(list.metadata(false))),
                    ("items", items),
                ])
            }
            _ => return Err(self.not_a_list()),
        };
        Ok(Arc::new(value))
    }

    /// The refusal of an object that was requested as a list of partial metadata. An unstructured object passes the
    /// server's first check for a list (`asPartialObjectMetadataList`) and fails the second.
    fn not_a_list(&self) -> Refusal {
        let go_type = match (self.target.group.as_str(), self.target.subresource.as_str()) {
            (crate::crd::GROUP, _) => "*apiextensions.CustomResourceDefinition",
            (_, "scale") => "*v1.Scale",
            _ => return Refusal::unclassified("content is not a list"),
        };
        Refusal::not_acceptable(format!(
            "you requested PartialObjectMetadataList, but the requested object is not a list ({go_type})"
        ))
    }
}

/// Truncates warnings for the response headers: if they have more than 4096 characters in total, each is cut to 256
/// characters (`filters/warning.go`).
fn headers(warnings: Vec<String>) -> Vec<String> {
    const TOTAL: usize = 4096;
    const ITEM: usize = 256;
    let length = |text: &String| text.chars().count();
    if warnings.iter().map(length).sum::<usize>() <= TOTAL {
        return warnings;
    }
    let mut written = 0;
    let mut out = Vec::new();
    // The server starts truncating at the first warning that exceeds the total, then truncates the preceding warnings
    // too.
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
