//! A response as a value.

use crate::apply::typed::TypeError;
use crate::cluster_state::Wanted;
use crate::pipeline::Defaulted;
use crate::policies::findings::Findings;
use crate::server::http::status::{Reason, Refusal};
use crdx_value::Value;
use crdx_value::field::ErrorList;
use std::collections::HashSet;
use std::sync::Arc;

/// An HTTP response.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The HTTP status code.
    pub code: u16,
    /// The response body.
    pub body: ResponseBody,
    /// The format of a JSON body; callers in the same process can ignore it.
    pub format: Format,
    /// Headers added to those of every response; a `Content-Type` here replaces the default.
    pub headers: Vec<(&'static str, String)>,
    /// The texts of `Warning: 299` headers, in order.
    pub warnings: Vec<String>,
    /// Side effects of the request, such as pruned fields; never sent over HTTP.
    pub trace: Trace,
}

/// The format of a response body, negotiated from `Accept`, `pretty` and `User-Agent`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Compact JSON followed by a line break.
    #[default]
    Json,
    /// Indented JSON.
    PrettyJson,
    /// YAML.
    Yaml,
    /// Protobuf, for OpenAPI documents only ([`crate::crd::openapi::protobuf`]).
    Protobuf,
}

/// The objects of the cluster that a request needs and that are not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterNeeds {
    /// The parts of the state of the cluster to read before the request can be answered. If it is not empty, the request had
    /// no effect and the response is not an answer: read it, and send the request again.
    pub unread: Vec<Wanted>,
    /// The unknown parts of the cluster that decide the answer. If it is not empty, the answer of a server that accepts the
    /// object is open.
    pub unknown: Vec<Wanted>,
}

/// Effects of a request that are not part of its response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Paths of pruned fields, as in `unknown field "spec.a"`.
    pub pruned: Vec<String>,
    /// Paths of fields that the version of the request has and the storage version does not, unless a default of the
    /// version of the request sets them again. Empty if a webhook converts objects.
    pub not_stored: Vec<String>,
    /// Fields set by defaulting.
    pub defaulted: Vec<Defaulted>,
    /// True if the object was rejected with strict decoding errors.
    pub failed_strict_decoding: bool,
    /// The path of the field that cannot be decoded, if that is the reason for a rejection and the path is known.
    pub undecodable_field: Option<Box<str>>,
    /// The fields of an apply configuration that do not have the type of the resource, if this is the reason for a rejection.
    pub type_errors: Vec<TypeError>,
    /// The field errors of a 422.
    pub errors: ErrorList,
    /// Decisions and changes made by admission policies, if any policy was evaluated.
    pub policies: Option<Box<Findings>>,
    /// True if the object is so near to etcd's limit that some clusters store it and others do not, because the length
    /// of a request depends on the IDs of etcd's members and on the revision.
    pub size_depends: bool,
    /// True if the object was refused because its stored form, measured as JSON, is too large for etcd.
    pub is_too_large: bool,
    /// True if the request was not finished, because it needs more steps or memory than the program uses for one: what a
    /// server would answer is not known.
    pub is_unfinished: bool,
    /// The objects of the cluster that the request needs and that are not known, if there are any.
    pub needs: Option<Box<ClusterNeeds>>,
    /// The cost of the rules of the schema, with the steps that it does not include.
    pub cost: u64,
}

impl Trace {
    /// Removes and returns what has to be read before the request is sent again.
    pub fn take_unread(&mut self) -> Vec<Wanted> {
        self.needs.as_mut().map(|needs| std::mem::take(&mut needs.unread)).unwrap_or_default()
    }

    /// Removes and returns the unknown parts of the cluster that decide the answer.
    pub fn take_unknown(&mut self) -> Vec<Wanted> {
        self.needs.as_mut().map(|needs| std::mem::take(&mut needs.unknown)).unwrap_or_default()
    }

    /// Records the fields that conversion to the storage version dropped, except those that a default sets again.
    pub(in crate::server) fn set_not_stored(&mut self, mut dropped: Vec<String>) {
        if !dropped.is_empty() && !self.defaulted.is_empty() {
            let defaults: HashSet<&str> = self.defaulted.iter().map(|field| field.path.as_str()).collect();
            // A default sets a whole value, so its path may be that of a parent.
            dropped.retain(|path| {
                let parents = path.match_indices(['.', '[']).filter_map(|(end, _)| path.get(..end));
                !parents.chain([path.as_str()]).any(|one| defaults.contains(one))
            });
        }
        self.not_stored = dropped;
    }
}

impl Response {
    /// The response to a request that takes too long (504).
    pub fn timeout() -> Self {
        Self::refused(Refusal::timeout("request did not complete within requested timeout"))
    }

    /// The response to a request whose token is not accepted (401).
    pub fn unauthorized() -> Self {
        Self::refused(Refusal::plain(401, Reason::Unauthorized, "Unauthorized"))
    }

    fn refused(refusal: Refusal) -> Self {
        Self {
            code: refusal.code,
            body: ResponseBody::Json(Arc::new(refusal.into_value())),
            format: Format::default(),
            headers: Vec::new(),
            warnings: Vec::new(),
            trace: Trace::default(),
        }
    }
}

/// The body of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum ResponseBody {
    /// JSON, shared with the store so that reading an object does not copy it.
    Json(Arc<Value>),
    /// Plain text (`404 page not found`).
    Text(String),
}

impl ResponseBody {
    /// The error message: the Status message, or the plain text body.
    pub fn message(&self) -> &str {
        match self {
            Self::Json(status) => status.str_at(&["message"]).unwrap_or_default(),
            Self::Text(text) => text.trim(),
        }
    }

    /// The reason of a Status; empty if it has none.
    pub fn reason(&self) -> &str {
        match self {
            Self::Json(status) => status.str_at(&["reason"]).unwrap_or_default(),
            Self::Text(_) => "",
        }
    }
}
