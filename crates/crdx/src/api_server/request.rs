//! The names, selectors, patch types and options of requests.

use crdx_engine::kubectl::FieldValidation;
use crdx_server::server::UserInfo;
use crdx_value::Value;

/// The namespace of objects without one.
const NAMESPACE: &str = "default";
/// The field manager of writes, and the user agent.
pub(super) const MANAGER: &str = "crdx";

/// The name of an object.
///
/// ```
/// use crdx::ObjectRef;
///
/// let kite = ObjectRef::new("toys.example.com/v1", "Kite", "dragon").namespace("park");
/// let its_status = kite.clone().subresource("status");
/// # let _ = its_status;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ObjectRef {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// `metadata.name`
    pub name: String,
    /// The namespace; without one it is that of [`RequestOptions`]. Objects of cluster-scoped kinds have none.
    pub namespace: Option<String>,
    /// The subresource, such as `status` or `scale`.
    pub subresource: Option<String>,
}

impl ObjectRef {
    /// The object with this name.
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>, name: impl Into<String>) -> Self {
        let (api_version, kind, name) = (api_version.into(), kind.into(), name.into());
        Self { api_version, kind, name, namespace: None, subresource: None }
    }

    /// The name of an object that a server returned.
    pub fn from_object(object: &Value) -> Self {
        let text = |path: &[&str]| object.str_at(path).unwrap_or_default();
        let namespace = Some(text(&["metadata", "namespace"])).filter(|namespace| !namespace.is_empty());
        Self {
            namespace: namespace.map(str::to_owned),
            ..Self::new(text(&["apiVersion"]), text(&["kind"]), text(&["metadata", "name"]))
        }
    }

    /// The same name in a namespace.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..self }
    }

    /// A subresource of the object, such as `status` or `scale`.
    #[must_use]
    pub fn subresource(self, subresource: impl Into<String>) -> Self {
        Self { subresource: Some(subresource.into()), ..self }
    }
}

/// The objects of a kind that [`ApiServer::list`](super::ApiServer::list) returns.
///
/// ```
/// use crdx::Collection;
///
/// let everywhere = Collection::new("toys.example.com/v1", "Kite");
/// let some = everywhere.clone().namespace("park").labels("colour=red").fields("metadata.name!=dragon");
/// # let _ = some;
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Collection {
    /// `apiVersion`
    pub api_version: String,
    /// `kind` of the objects.
    pub kind: String,
    /// The namespace; without one, the objects of all namespaces.
    pub namespace: Option<String>,
    /// The label selector; empty for all objects.
    pub labels: String,
    /// The field selector; empty for all objects.
    pub fields: String,
}

impl Collection {
    /// All objects of a kind.
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>) -> Self {
        let (api_version, kind) = (api_version.into(), kind.into());
        Self { api_version, kind, namespace: None, labels: String::new(), fields: String::new() }
    }

    /// Selects the objects of a namespace.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        Self { namespace: Some(namespace.into()), ..self }
    }

    /// Selects the objects with these labels, such as `app=web,tier!=cache`.
    #[must_use]
    pub fn labels(self, selector: impl Into<String>) -> Self {
        Self { labels: selector.into(), ..self }
    }

    /// Selects the objects with these fields, such as `metadata.name=dragon`.
    #[must_use]
    pub fn fields(self, selector: impl Into<String>) -> Self {
        Self { fields: selector.into(), ..self }
    }
}

/// A type of patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatchType {
    /// A JSON merge patch (RFC 7386).
    Merge,
    /// A JSON patch (RFC 6902): a list of operations.
    Json,
    /// A strategic merge patch, which the server refuses for custom resources.
    Strategic,
    /// Server-side apply; the patch is the whole object that the field manager wants. [`ApiServer::apply`] sends it, too.
    ///
    /// [`ApiServer::apply`]: super::ApiServer::apply
    Apply,
}

impl PatchType {
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Merge => "application/merge-patch+json",
            Self::Json => "application/json-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }
}

/// The options of requests, for [`ApiServer::with`](super::ApiServer::with).
///
/// ```
/// use crdx::{ApiServer, FieldValidation, RequestOptions};
///
/// # fn main() -> Result<(), crdx::Error> {
/// let server = ApiServer::new();
/// # server.install(include_str!("../../tests/kites.yaml"))?;
/// let strict = server.with(RequestOptions::default().field_validation(FieldValidation::Strict).dry_run());
/// let kite = "apiVersion: toys.example.com/v1
/// kind: Kite
/// metadata: {name: dragon}
/// spec: {tail: long}
/// ";
/// let refused = strict.create(kite).unwrap_err();
/// assert_eq!(refused.status().unwrap().causes[0].position.unwrap().to_string(), "4:8");
/// assert!(server.create(kite).is_ok());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RequestOptions {
    /// The user; without one, it is that of the server.
    pub user: Option<UserInfo>,
    /// The namespace of objects without one: `default`, unless it is set.
    pub namespace: String,
    /// The handling of unknown and duplicate fields: by default the server drops them with a warning, as it does if
    /// the client asks for nothing else. `kubectl` asks for [`FieldValidation::Strict`].
    pub field_validation: FieldValidation,
    /// The field manager: `crdx`, unless it is set.
    pub field_manager: String,
    /// True to take over the fields of other managers in an apply.
    pub force: bool,
    /// True if nothing is stored.
    pub dry_run: bool,
}

impl Default for RequestOptions {
    fn default() -> Self {
        Self {
            user: None,
            namespace: NAMESPACE.to_owned(),
            field_validation: FieldValidation::Warn,
            field_manager: MANAGER.to_owned(),
            force: false,
            dry_run: false,
        }
    }
}

impl RequestOptions {
    /// Sets the user, with these groups and those of every authenticated user. Policies see the user; nothing is forbidden
    /// to any user.
    #[must_use]
    pub fn user<G: Into<String>>(self, name: impl Into<String>, groups: impl IntoIterator<Item = G>) -> Self {
        let groups = groups.into_iter().map(Into::into).collect();
        Self { user: Some(UserInfo::authenticated(name.into(), groups)), ..self }
    }

    /// Sets the namespace of objects without one.
    #[must_use]
    pub fn namespace(self, namespace: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), ..self }
    }

    /// Sets what the server does with unknown and duplicate fields.
    #[must_use]
    pub fn field_validation(self, field_validation: FieldValidation) -> Self {
        Self { field_validation, ..self }
    }

    /// Sets the field manager.
    #[must_use]
    pub fn field_manager(self, name: impl Into<String>) -> Self {
        Self { field_manager: name.into(), ..self }
    }

    /// Takes over the fields of other managers in an apply.
    #[must_use]
    pub fn force(self) -> Self {
        Self { force: true, ..self }
    }

    /// Stores nothing.
    #[must_use]
    pub fn dry_run(self) -> Self {
        Self { dry_run: true, ..self }
    }
}
