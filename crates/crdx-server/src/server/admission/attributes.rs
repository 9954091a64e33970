//! The attributes of a request that admission reads in addition to the object (`admission.Attributes`).

use crate::server::http::delete_options::{DeleteOptions, Propagation};
use crate::server::http::options::WriteOptions;
use crdx_cel::value::Gaps;
use crdx_value::{Map, Value, object};
use std::collections::BTreeMap;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Operation {
    /// A POST, or an apply of an object that does not exist.
    Create,
    /// A PUT, PATCH or apply of an existing object or one of its subresources.
    Update,
    /// A DELETE of an object, or of each object of a collection.
    Delete,
}

impl Operation {
    /// Returns the operation name used in policies and in `request.operation`.
    #[cfg(test)]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A group, a version and a resource (plural).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct GroupVersionResource<'a> {
    /// The group, empty for the core group.
    pub group: &'a str,
    pub version: &'a str,
    /// The plural.
    pub resource: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct GroupVersionKind<'a> {
    /// The group, empty for the core group.
    pub group: &'a str,
    pub version: &'a str,
    pub kind: &'a str,
}

/// The target of a write: the resource and subresource of the URL, and the kind of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) struct RequestScope<'a> {
    pub resource: GroupVersionResource<'a>,
    /// `status`, `scale`, or empty.
    pub subresource: &'a str,
    /// The kind: `autoscaling/v1` Scale for the scale subresource.
    pub kind: GroupVersionKind<'a>,
}

/// The options of a write request.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) enum OperationOptions<'a> {
    /// The options of a create or update.
    Write(&'a WriteOptions),
    /// The options of a deletion.
    Delete(&'a DeleteOptions),
}

/// The user that sends a request (`user.Info`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    /// The name.
    pub username: String,
    /// The UID; empty if there is none.
    pub uid: String,
    /// The groups, in order.
    pub groups: Vec<String>,
    /// Additional attributes from the authenticator.
    pub extra: BTreeMap<String, Vec<String>>,
}

const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

impl UserInfo {
    /// Creates the user info of an impersonated user, with the default groups of a service account if `groups` is
    /// empty, and with `system:authenticated` (`endpoints/filters/impersonation`).
    pub fn authenticated(username: String, mut groups: Vec<String>) -> Self {
        if groups.is_empty()
            && let Some((namespace, _)) =
                username.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'))
        {
            groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
        }
        let anonymous = username == ANONYMOUS;
        let has = |wanted: &str| groups.iter().any(|group| group == wanted);
        if anonymous && !has(UNAUTHENTICATED) {
            groups.push(UNAUTHENTICATED.to_owned());
        } else if !anonymous && !has(AUTHENTICATED) && !has(UNAUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self { username, uid: String::new(), groups, extra: BTreeMap::new() }
    }
}

impl UserInfo {
    /// The user of requests without credentials.
    pub fn anonymous() -> Self {
        Self::authenticated(ANONYMOUS.to_owned(), Vec::new())
    }

    /// Returns true for the user of requests without credentials.
    pub fn is_anonymous(&self) -> bool {
        self.username == ANONYMOUS
    }
}

/// The administrator that kubeadm creates.
impl Default for UserInfo {
    fn default() -> Self {
        Self {
            username: "kubernetes-admin".to_owned(),
            uid: String::new(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
            extra: BTreeMap::new(),
        }
    }
}

/// The attributes of a request that admission reads in addition to the object to be written (`admission.Attributes`).
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Attributes<'a> {
    pub operation: Operation,
    /// The resource of the URL.
    pub resource: GroupVersionResource<'a>,
    /// `status`, `scale`, or empty.
    pub subresource: &'a str,
    /// The kind of the object: `autoscaling/v1` Scale for the scale subresource.
    pub kind: GroupVersionKind<'a>,
    /// The namespace of the URL, or empty. For a Namespace object, its own name.
    pub namespace: &'a str,
    /// The name in the URL; for a create, the name of the object. Empty if the name is to be generated, and for a
    /// deletecollection.
    pub name: &'a str,
    /// The existing object at the version of the request; `None` on create.
    pub old_object: Option<&'a Value>,
    /// The options of the request.
    pub options: OperationOptions<'a>,
    /// True for a dry run, which stores nothing.
    pub dry_run: bool,
    /// The user that sends the request.
    pub user: &'a UserInfo,
    /// The unknown parts of the object.
    pub gaps: Option<&'a Gaps>,
}

impl Attributes<'_> {
    /// Returns `CreateOptions`, `UpdateOptions` or `DeleteOptions` as in `request.options`. A PATCH has the options of
    /// the operation it results in.
    pub fn options_value(&self) -> Value {
        let kind = match self.operation {
            Operation::Create => "CreateOptions",
            Operation::Update => "UpdateOptions",
            Operation::Delete => "DeleteOptions",
        };
        let mut out = Map::new();
        out.insert("kind".to_owned(), kind.into());
        out.insert("apiVersion".to_owned(), "meta.k8s.io/v1".into());
        if self.dry_run {
            out.insert("dryRun".to_owned(), Value::Array(vec!["All".into()]));
        }
        match self.options {
            OperationOptions::Write(options) => {
                insert_text(&mut out, "fieldManager", &options.field_manager);
                insert_text(&mut out, "fieldValidation", &options.field_validation_text);
            }
            OperationOptions::Delete(options) => insert_delete_options(&mut out, options),
        }
        Value::Object(out)
    }
}

fn insert_delete_options(out: &mut Map, options: &DeleteOptions) {
    if let Some(seconds) = options.grace_period_seconds {
        out.insert("gracePeriodSeconds".to_owned(), Value::Int(seconds));
    }
    let preconditions = [("uid", &options.uid), ("resourceVersion", &options.resource_version)];
    let preconditions: Vec<(&str, Value)> =
        preconditions.into_iter().filter_map(|(key, text)| Some((key, Value::from(text.as_deref()?)))).collect();
    if !preconditions.is_empty() {
        out.insert("preconditions".to_owned(), object(preconditions));
    }
    if let Some(orphan) = options.orphan_dependents {
        out.insert("orphanDependents".to_owned(), Value::Bool(orphan));
    }
    if let Some(propagation) = options.propagation {
        let word = match propagation {
            Propagation::Orphan => "Orphan",
            Propagation::Background => "Background",
            Propagation::Foreground => "Foreground",
        };
        out.insert("propagationPolicy".to_owned(), word.into());
    }
}

fn insert_text(out: &mut Map, key: &str, text: &str) {
    if !text.is_empty() {
        out.insert(key.to_owned(), text.into());
    }
}
