//! A request as a value.

use crate::cluster_state::ClusterState;
use crate::server::http::user::UserInfo;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::time::Timestamp;
use std::sync::Arc;

/// An HTTP method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// HEAD: handled as GET; the caller omits the body.
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
    /// OPTIONS, TRACE and any other method.
    Other,
}

impl Method {
    /// The method with this name.
    pub fn from_name(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            _ => Self::Other,
        }
    }

    /// Its name; `OPTIONS` for any other method.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
            Self::Other => "OPTIONS",
        }
    }
}

/// An HTTP request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path and query, percent-encoded as in the HTTP request line.
    pub path: String,
    /// `Content-Type`
    pub content_type: Option<String>,
    /// `Accept`
    pub accept: Option<String>,
    /// `User-Agent`, from which the default field manager name is derived.
    pub user_agent: Option<String>,
    /// The requesting user, if not the server's default user ([`ServerBuilder::with_user`]).
    pub user: Option<UserInfo>,
    /// True to bypass admission plugins. Used for requests that prepare the server's state and that no client sends.
    pub skips_admission: bool,
    /// True to create an object without validation: an earlier version of its CRD may have accepted it. Like `skips_admission`, only for
    /// requests that prepare the server's state.
    pub skips_validation: bool,
    /// True to hide a dry run from policies and webhooks: the request simulates a write that is not a dry run.
    pub hides_dry_run: bool,
    /// Returns the part of an existing object without managedFields that the manager of an apply applied before. By default, as in the
    /// API server, the manager `before-first-apply` owns all of its fields.
    pub applied_before: Option<fn(&Value) -> Value>,
    /// True if the body is a value as the Go type of the resource encodes it ([`crdx_types::encode`]). It is neither checked
    /// nor encoded again.
    pub is_encoded: bool,
    /// The empty lists and maps, and fractions of seconds, that the encoded body omits.
    pub empties: Option<Empties>,
    /// The state of the cluster at the time of the request, instead of the one that the server was given.
    pub cluster_state: Option<Arc<dyn ClusterState>>,
    /// The request body.
    pub body: Body,
    /// The time of the request.
    pub now: Timestamp,
}

/// The body of a request.
#[derive(Clone, Debug, Default)]
pub enum Body {
    /// No body.
    #[default]
    Empty,
    /// The bytes as received.
    Bytes(Vec<u8>),
    /// A parsed value (JSON without duplicate keys), for callers in the same process.
    Value(Value),
}

impl Request {
    /// Creates a request without headers, at time zero. The content type of a PATCH is that of a JSON merge patch.
    pub fn new(method: Method, path: &str, body: impl Into<Body>) -> Self {
        Self {
            method,
            path: path.to_owned(),
            content_type: (method == Method::Patch).then(|| "application/merge-patch+json".to_owned()),
            accept: None,
            user_agent: None,
            user: None,
            skips_admission: false,
            skips_validation: false,
            hides_dry_run: false,
            applied_before: None,
            is_encoded: false,
            empties: None,
            cluster_state: None,
            body: body.into(),
            now: Timestamp::default(),
        }
    }
}

/// Empty text means no body.
impl From<&str> for Body {
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::Empty } else { Self::Bytes(text.as_bytes().to_vec()) }
    }
}

/// Null means no body.
impl From<Value> for Body {
    fn from(value: Value) -> Self {
        if value.is_null() { Self::Empty } else { Self::Value(value) }
    }
}
