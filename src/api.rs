//! The simulated API server: [`Server::handle`] takes a [`Request`] and gives the [`Response`] that
//! `k8s.io/apiextensions-apiserver` 1.37 would give. No sockets, clock, files or threads: they come in as values.

use crate::field::ErrorList;
use crate::pipeline::Defaulted;
pub use crate::value::time::Timestamp;

use crate::value::Value;

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

/// A request, as it would come over HTTP.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path and query, percent-encoded as on the wire.
    pub path: String,
    /// `Content-Type`
    pub content_type: Option<String>,
    /// `Accept`
    pub accept: Option<String>,
    /// `User-Agent`, from which the field manager's default name comes.
    pub user_agent: Option<String>,
    /// The body.
    pub body: Body,
    /// The time of the request.
    pub now: Timestamp,
}

/// A request's body.
#[derive(Clone, Debug, Default)]
pub enum Body {
    /// None.
    #[default]
    Empty,
    /// Text as received.
    Bytes(Vec<u8>),
    /// A value that was already read (JSON without duplicate keys); spares callers in the same process the text.
    Value(Value),
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status code.
    pub code: u16,
    /// The body.
    pub body: ResponseBody,
    /// The texts of `Warning: 299` headers, in order.
    pub warnings: Vec<String>,
    /// What the pipeline did on the way; never sent over HTTP.
    pub trace: Trace,
}

/// What the server did with the object of a request and does not say in its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Paths of pruned fields, as in `unknown field "spec.a"`.
    pub pruned: Vec<String>,
    /// Fields set by defaulting.
    pub defaulted: Vec<Defaulted>,
    /// The field errors of a 422.
    pub errors: ErrorList,
    /// CEL rules that could not be evaluated here: the verdict is then "cannot tell".
    pub rules_not_evaluated: usize,
}

/// An answer's body.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseBody {
    /// JSON.
    Json(Value),
    /// Plain text (`404 page not found`).
    Text(String),
}
