//! The attributes of a request that admission reads in addition to the object (`admission.Attributes`).

use crate::server::http::delete_options::{DeleteOptions, Propagation};
use crate::server::http::given_state::GivenState;
use crate::server::http::options::WriteOptions;
use crate::server::http::status::Refusal;
use crate::server::http::user::UserInfo;
use crate::server::metadata;
use crate::server::scope::{GroupResource, GroupVersionKind, GroupVersionResource};
use crdx_types::empties::Empties;
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object};

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
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

/// The options of a write request.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) enum OperationOptions<'a> {
    /// The options of a create or update.
    Write(&'a WriteOptions),
    /// The options of a deletion.
    Delete(&'a DeleteOptions),
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
    /// The empty lists and maps of the object in the request.
    pub empties: Option<&'a Empties>,
    /// The state of the cluster besides the stored objects.
    pub given: &'a GivenState<'a>,
    /// True if a mutating policy has changed the object.
    pub is_patched: bool,
    /// The options of the request.
    pub options: OperationOptions<'a>,
    /// True for a dry run, which stores nothing.
    pub dry_run: bool,
    /// The user that sends the request.
    pub user: &'a UserInfo,
    /// The time of the request.
    pub now: Timestamp,
}

impl Attributes<'_> {
    /// The group and plural of the resource.
    pub fn group_resource(&self) -> GroupResource<'_> {
        GroupResource { group: self.resource.group, resource: self.resource.resource }
    }

    /// The refusal of a plugin (`admission.NewForbidden`).
    pub fn forbidden(&self, reason: &str) -> Refusal {
        Refusal::forbidden(self.group_resource(), self.name, reason)
    }

    /// The refusal of a new object, which may have no name yet (`extractResourceName`).
    pub(crate) fn forbidden_object(&self, object: &Value, reason: &str) -> Refusal {
        let names = [self.name, metadata::text(object, "name"), metadata::text(object, "generateName"), "Unknown"];
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        Refusal::forbidden(self.group_resource(), name, reason)
    }

    /// Returns `CreateOptions`, `UpdateOptions` or `DeleteOptions` as in `request.options`. A PATCH has the options of
    /// the operation it results in.
    pub(crate) fn options_value(&self) -> Value {
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
