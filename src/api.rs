//! The simulated API server: [`Server::handle`] takes a [`Request`] and gives the [`Response`] that
//! `k8s.io/apiextensions-apiserver` 1.37 would give. No sockets, clock, files or threads: they come in as values.
//!
//! One file per verb and concern. A request passes [`route`], [`negotiate`], [`options`] and [`body`], then its verb
//! ([`create`], [`get`], [`list`], [`update`], [`patch`], [`delete`], [`scale`]); objects live in [`store`]; refusals are
//! [`status`] values. Definitions themselves are served by [`definitions`].

mod body;
mod context;
mod create;
mod decode;
mod definitions;
mod delete;
mod get;
mod list;
mod managed_fields;
mod metadata;
mod negotiate;
mod objects;
mod options;
mod patch;
mod project;
mod query;
mod random;
mod route;
mod scale;
mod selector;
mod serving;
mod status;
mod store;
mod table;
mod update;
mod written;

use crate::field::ErrorList;
use crate::pipeline::Defaulted;
pub use crate::value::time::Timestamp;

use crate::value::Value;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// HEAD: answered as GET, the caller leaves the body out.
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS, TRACE and whatever else HTTP allows.
    Other,
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
    /// How the client wants a JSON body written; callers in the same process need not care.
    pub format: Format,
    /// The texts of `Warning: 299` headers, in order.
    pub warnings: Vec<String>,
    /// What the pipeline did on the way; never sent over HTTP.
    pub trace: Trace,
}

/// The text form of a body, negotiated by `Accept`, `pretty` and `User-Agent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Compact JSON and a newline.
    #[default]
    Json,
    /// Indented JSON.
    PrettyJson,
    /// YAML.
    Yaml,
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
    /// JSON; shared with the store, so that reading an object copies nothing.
    Json(Arc<Value>),
    /// Plain text (`404 page not found`).
    Text(String),
}

/// The server. It may be shared by threads: every method takes `&self`, and locks are held only to look up and commit.
#[derive(Debug)]
pub struct Server {
    definitions: definitions::Definitions,
    serving: RwLock<HashMap<String, Arc<serving::Serving>>>,
    revision: store::Revision,
    random: random::Random,
}

impl Server {
    /// An empty server. UIDs and generated names follow from `seed` alone; the edge brings a random one.
    pub fn new(seed: u64) -> Self {
        Self {
            definitions: definitions::Definitions::default(),
            serving: RwLock::default(),
            revision: store::Revision::default(),
            random: random::Random::new(seed),
        }
    }

    /// Answers one request. Values nest deep and are followed by recursion: the calling thread needs a large stack (64 MiB
    /// and more for the deepest).
    pub fn handle(&self, request: &Request) -> Response {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let query = query::Query::parse(query);
        match route::route(request.method, path, &query) {
            route::Route::Resource(target) => {
                let ctx = context::Context::new(self, request, query, target);
                if definitions::is_about(&ctx.target) {
                    definitions::handle(ctx, request.method)
                } else {
                    objects::handle(ctx)
                }
            }
            route::Route::Other(_) | route::Route::Malformed => not_found_page(),
        }
    }
}

/// What is answered where nothing is.
fn not_found_page() -> Response {
    Response {
        code: 404,
        body: ResponseBody::Text("404 page not found\n".to_owned()),
        format: Format::Json,
        warnings: Vec::new(),
        trace: Trace::default(),
    }
}
