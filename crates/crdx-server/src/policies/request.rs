//! The input of policies: a request, and the interface to the cluster.

use super::dependencies::Dependencies;
use super::model::ParamKind;
use crate::cluster_state::{Listed, Lookup};
use crdx_cel::value::{Authorizer, Gaps};
use crdx_types::merge::TypeRef;
use crdx_value::GoError;
use crdx_value::group_version;
use crdx_value::steps::{Spent, Steps};
use crdx_value::{Map, Value, object};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The object is created.
    Create,
    /// The object or one of its subresources is changed.
    Update,
    /// The object is deleted.
    Delete,
}

impl Operation {
    /// Returns the operation name that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A group, version and resource (plural).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub resource: String,
}

/// A group, version and kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    /// The group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
}

impl Kind {
    /// Returns the kind that `paramKind` names.
    pub fn of_params(kind: &ParamKind) -> Self {
        let (group, version) = group_version::split(&kind.api_version);
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.kind.clone() }
    }

    /// Returns the `apiVersion` of objects of the kind.
    pub fn api_version(&self) -> String {
        group_version::api_version(&self.group, &self.version)
    }

    /// `schema.GroupVersionKind.String`
    pub fn text(&self) -> String {
        format!("{}/{}, Kind={}", self.group, self.version, self.kind)
    }

    fn to_value(&self) -> Value {
        object([("group", self.group.as_str()), ("version", &self.version), ("kind", &self.kind)])
    }
}

impl Resource {
    fn to_value(&self) -> Value {
        object([("group", self.group.as_str()), ("version", &self.version), ("resource", &self.resource)])
    }

    /// `schema.GroupResource.String`
    pub(crate) fn group_resource(&self) -> String {
        if self.group.is_empty() { self.resource.clone() } else { format!("{}.{}", self.resource, self.group) }
    }
}

/// The user that sent the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub username: String,
    /// The UID; empty if there is none.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
    /// Additional attributes.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    fn to_value(&self) -> Value {
        let mut out = Map::new();
        for (key, text) in [("username", &self.username), ("uid", &self.uid)] {
            if !text.is_empty() {
                out.insert(key.to_owned(), text.as_str().into());
            }
        }
        let texts = |list: &[String]| Value::Array(list.iter().map(|text| text.as_str().into()).collect());
        if !self.groups.is_empty() {
            out.insert("groups".to_owned(), texts(&self.groups));
        }
        if !self.extra.is_empty() {
            let extra = self.extra.iter().map(|(key, values)| (key.clone(), texts(values)));
            out.insert("extra".to_owned(), Value::Object(extra.collect()));
        }
        Value::Object(out)
    }
}

/// A request, except the object to be written.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The operation.
    pub operation: Operation,
    /// The resource of the URL.
    pub resource: Arc<Resource>,
    /// `status`, `scale`, or empty.
    pub subresource: &'a str,
    /// The kind of the object.
    pub kind: Arc<Kind>,
    /// The namespace, empty for none; for a Namespace its own name.
    pub namespace: &'a str,
    /// The name; empty if it is to be generated.
    pub name: &'a str,
    /// The existing object.
    pub old_object: Option<&'a Value>,
    /// `CreateOptions`, `UpdateOptions` or `DeleteOptions`.
    pub options: Value,
    /// True for a dry run.
    pub dry_run: bool,
    /// The user.
    pub user: User,
    /// The unknown parts of the object.
    pub gaps: Option<Arc<Gaps>>,
    /// The objects that plugins of the cluster may make of the object; the server has one of them. They may have unknown parts,
    /// too. Empty if there is no such list.
    pub alternatives: Arc<[Alternative]>,
    /// The steps that are left for its policies.
    pub steps: Steps,
}

/// An object that the server may have.
#[derive(Debug)]
pub struct Alternative {
    /// The object; `None` if it is that of the request.
    pub object: Option<Value>,
    /// Its unknown parts.
    pub gaps: Gaps,
}

impl Request<'_> {
    /// Returns `request` for expressions of a policy that matched `kind` and `resource` (`CreateAdmissionRequest`).
    pub fn to_value(&self, kind: &Kind, resource: &Resource) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
        put("uid", "".into());
        put("kind", kind.to_value());
        put("resource", resource.to_value());
        put("requestKind", self.kind.to_value());
        put("requestResource", self.resource.to_value());
        put("operation", self.operation.as_str().into());
        put("userInfo", self.user.to_value());
        put("dryRun", self.dry_run.into());
        put("options", self.options.clone());
        for (key, text) in [
            ("subResource", self.subresource),
            ("requestSubResource", self.subresource),
            ("name", self.name),
            ("namespace", self.namespace),
        ] {
            if !text.is_empty() {
                put(key, text.into());
            }
        }
        Value::Object(out)
    }

    /// Returns true if the object is a Namespace.
    pub fn is_namespace(&self) -> bool {
        self.kind.group.is_empty() && self.kind.version == "v1" && self.kind.kind == "Namespace"
    }

    /// Returns the name of the object in refusals (`admission.NewForbidden`).
    pub(crate) fn shown_name(&self, object: Option<&Value>) -> String {
        if !self.name.is_empty() {
            return self.name.to_owned();
        }
        let text = |key: &str| object?.str_at(&["metadata", key]).filter(|text| !text.is_empty());
        text("name").or_else(|| text("generateName")).unwrap_or("Unknown").to_owned()
    }
}

/// The properties of a kind of params.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamScope {
    /// True if the kind is namespaced.
    pub namespaced: bool,
    /// True if the server has a Go type for the kind: its cached objects have neither apiVersion nor kind.
    pub typed: bool,
}

/// Read access to the cluster for policies. All state is in memory.
pub trait Cluster {
    /// Returns a Namespace object.
    fn namespace(&self, name: &str) -> Lookup<Arc<Value>>;

    /// Returns the properties of a kind of params; `None` if it is not served.
    fn param_scope(&self, kind: &Kind) -> Option<ParamScope>;

    /// Returns the params of a kind in a namespace (`None` for a cluster-scoped kind), by name or all of them.
    fn params(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) -> Listed;

    /// Returns every version of a resource with the subresource, and the kind of its objects, in the order of the CRD.
    fn equivalents(&self, resource: &Resource, subresource: &str) -> Vec<(Resource, Kind)>;

    /// Converts an object to another version.
    ///
    /// # Errors
    /// Returns the server's message for an unknown version.
    fn convert(&self, object: &Value, resource: &Resource, kind: &Kind) -> Result<Value, GoError>;

    /// Sets the defaults of an object of this kind.
    ///
    /// # Errors
    /// Returns an error if the defaults need more memory than an object that can be stored.
    fn default(&self, resource: &Resource, kind: &Kind, object: &mut Value) -> Result<(), Spent>;

    /// Returns the types of a kind in the published OpenAPI document, if any.
    fn merge_type(&self, resource: &Resource, kind: &Kind) -> Option<TypeRef>;

    /// Returns the authorizer that expressions query.
    fn authorizer(&self) -> Arc<dyn Authorizer>;

    /// Returns the unknown inputs, except Namespaces and params.
    fn unknown(&self) -> Dependencies {
        Dependencies::default()
    }

    /// Returns true if the cluster serves no kind of params that [`Cluster::param_scope`] does not return.
    fn are_kinds_known(&self) -> bool {
        true
    }
}
