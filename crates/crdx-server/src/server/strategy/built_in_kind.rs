//! The Go type and the behaviour of a built-in kind that is served with its type ([`super::typed_resource`]).

pub mod behaviour;
pub(in crate::server) mod kind_strategy;

use crate::apply::set::Set;
use crate::server::http::table::Columns;
use crate::server::metadata;
use crate::server::registry::managed_fields as managed;
use crate::server::strategy::subresource::Subresource;
use behaviour::{Behaviour, InitialStatus};
use crdx_types::empties::Empties;
use crdx_types::encode::Encoded;
use crdx_types::merge::TypeRef;
use crdx_types::openapi::OpenApiVersion;
use crdx_types::types::{TypeId, Types};
use crdx_types::{Endpoint, defaults, encode, equal, merge_type, openapi, protobuf, resources, restore, strategic};
use crdx_value::GoError;
use crdx_value::group_version::{api_version, rank};
use crdx_value::release::Release;
use crdx_value::{Map, Value, object};
use kind_strategy::{BuiltInKinds, Conversion, ConversionUse, ConvertedKind, KindStrategy};
use std::sync::OnceLock;

/// A built-in kind in one version.
#[derive(Debug)]
pub struct BuiltInKind {
    /// The group, version and kind.
    pub(in crate::server) endpoint: Endpoint,
    /// The types of the release.
    pub(in crate::server) types: &'static Types,
    /// The difference from other kinds.
    pub(in crate::server) strategy: &'static dyn KindStrategy,
    /// The facts of the strategy.
    pub(in crate::server) behaviour: &'static Behaviour,
    /// The columns of its Table.
    pub(in crate::server) columns: Columns,
    /// Other apiVersions that requests may have (`AcceptsGroupVersion`), whose types have the same fields.
    pub(in crate::server) accepted: &'static [&'static str],
    id: TypeId,
    release: Release,
    /// The kind of the stored form, if that has another group or version.
    stored: Option<Box<BuiltInKind>>,
    /// The conversion to the stored form, if the fields differ.
    conversion: Option<&'static dyn Conversion>,
    status_keeps: Set,
    initial_status: OnceLock<Option<Value>>,
}

/// Published schemas.
#[derive(Debug)]
pub(in crate::server) struct Schemas {
    /// The schemas of the kind, of its list, and of all types that they contain, by name.
    pub all: Map,
    /// The name of the kind's schema.
    pub kind: String,
    /// The name of the list's schema.
    pub list: Option<String>,
}

/// The group whose events are stored as those of the core group.
pub(in crate::server) const EVENTS: &str = "events.k8s.io";

impl BuiltInKind {
    /// A kind of `kinds`; `None` if the release has no type for it.
    pub(in crate::server) fn new(
        kinds: &BuiltInKinds,
        group: &str,
        version: &str,
        kind: &str,
        plural: &str,
        release: Release,
    ) -> Option<Self> {
        let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
        let types = Types::for_release(release.minor().number().into());
        let id = types.of_kind(&endpoint.api_version(), kind)?;
        let strategy = kinds.strategy(group, kind);
        let behaviour = strategy.behaviour();
        let stored =
            |group: &str, version: &str| Some(Box::new(Self::new(kinds, group, version, kind, plural, release)?));
        let newest = newest_version(group, plural, release).unwrap_or(version);
        let stored = match behaviour.stored_group {
            Some(other) => Some(stored(other, newest_version(other, plural, release).unwrap_or(version))?),
            None if version == newest => None,
            // The release has no type for the stored form.
            None => Some(stored(group, newest)?),
        };
        Some(Self {
            endpoint,
            types,
            strategy,
            behaviour,
            columns: strategy.columns().map_or_else(|| Columns::new(&[]), Columns::printed),
            accepted: &[],
            id,
            release,
            stored,
            conversion: strategy.conversion(version, version == newest),
            status_keeps: Set::of_fields(behaviour.status_keeps),
            initial_status: OnceLock::new(),
        })
    }

    /// A kind that is not stored, such as that of an action.
    pub(in crate::server) fn unstored(group: &str, version: &str, kind: &str, release: Release) -> Option<Self> {
        Self::new(BuiltInKinds::NONE, group, version, kind, "", release)
    }

    fn converted(&self) -> ConvertedKind<'_> {
        ConvertedKind { release: self.release, kind: self, stored: self.stored.as_deref() }
    }

    /// The kind with other apiVersions that requests may have.
    pub(crate) fn accepting(self, accepted: &'static [&'static str]) -> Self {
        Self { accepted, ..self }
    }

    /// The `apiVersion`
    pub(in crate::server) fn api_version(&self) -> String {
        api_version(&self.endpoint.group, &self.endpoint.version)
    }

    /// The merge type for server-side apply, built on first use.
    pub(in crate::server) fn merge_type(&self) -> &'static TypeRef {
        merge_type::merge_type(self.types, self.id)
    }

    /// The status of a new object, encoded on first use; `None` if its Go type omits an empty status.
    pub(crate) fn initial_status(&self) -> Option<&Value> {
        let encoded = || {
            let status = match self.behaviour.status {
                InitialStatus::Phase(phase) => object([("status", object([("phase", phase)]))]),
                _ => Value::Object(Map::new()),
            };
            self.encode(&status).as_object_mut()?.remove("status")
        };
        self.initial_status.get_or_init(encoded).as_ref()
    }

    /// The fields that a write of the status never owns.
    pub(crate) fn status_keeps(&self) -> &Set {
        &self.status_keeps
    }

    /// The subresources besides `status` that are written as the whole object.
    pub(crate) fn subresources(&self) -> impl Iterator<Item = Subresource> {
        let all = self.behaviour.subresources.iter();
        all.filter(|(_, since)| self.release.since(*since)).map(|(subresource, _)| *subresource)
    }

    /// Encodes an object as its Go type does, with the kind and apiVersion of this kind, and sets its defaults.
    pub fn complete(&self, object: &Value) -> Value {
        self.default(self.encode(object))
    }

    /// Sets the defaults of an encoded object.
    pub(crate) fn default(&self, mut object: Value) -> Value {
        let set_defaults = |object: &mut Value| {
            defaults::set(self.types, self.id, object, self.release);
        };
        if let Some(conversion) = self.conversion {
            return conversion.default(object, &self.converted(), &set_defaults);
        }
        set_defaults(&mut object);
        object
    }

    /// Completes the decoded object of a request.
    pub(in crate::server) fn complete_request(&self, decoded: &Value) -> Value {
        let encoded = self.encoded(decoded);
        self.default_request(encoded.object, encoded.empties.as_ref())
    }

    /// Sets the defaults of the encoded object of a request. An empty list of managedFields, which the encoded form omits,
    /// resets them.
    pub(crate) fn default_request(&self, encoded: Value, empties: Option<&Empties>) -> Value {
        let fields = empties.and_then(|empties| empties.child("metadata")?.child(managed::FIELD));
        let mut object = self.default(encoded);
        if fields.is_some_and(|fields| fields.text() == Some("[]")) {
            metadata::set(&mut object, managed::FIELD, Some(Value::Array(Vec::new())));
        }
        object
    }

    /// Encodes an object as its Go type does, with the kind and apiVersion of this kind.
    pub fn encode(&self, object: &Value) -> Value {
        self.encoded(object).object
    }

    /// Encodes an object like [`Self::encode`]. The result conforms only if the object has this kind and apiVersion.
    pub(crate) fn encoded(&self, object: &Value) -> Encoded {
        let mut encoded = encode::encode(self.types, self.id, object);
        if let Some(members) = encoded.object.as_object_mut() {
            for (name, own) in [("apiVersion", &self.api_version()), ("kind", &self.endpoint.kind)] {
                let given = members.insert(name.to_owned(), own.as_str().into());
                encoded.conforms &= given.as_ref().and_then(Value::as_str) == Some(own);
            }
        }
        encoded
    }

    /// The schemas of this kind and its list, and the names of both.
    pub(in crate::server) fn schemas(&self, version: OpenApiVersion) -> Schemas {
        let list = self.types.of_kind(&self.api_version(), &format!("{}List", self.endpoint.kind));
        let ids = std::iter::once(self.id).chain(list);
        Schemas {
            all: ids.flat_map(|id| openapi::schemas(self.types, id, version)).collect(),
            kind: openapi::model_name(self.types, self.id),
            list: list.map(|id| openapi::model_name(self.types, id)),
        }
    }

    /// Decodes an object of this kind from Protobuf.
    ///
    /// # Errors
    /// Returns an error for bytes that are not such an object.
    pub(crate) fn read_protobuf(&self, message: &[u8]) -> Result<Value, protobuf::Error> {
        protobuf::read(self.types, self.id, message).map(|message| message.value)
    }

    /// Returns true if two objects of this kind differ in their metadata only.
    pub(in crate::server) fn is_same(&self, one: &Value, other: &Value) -> bool {
        equal::equal_except(self.types, self.id, one, other, "metadata")
    }

    /// Returns true if all values of an object have the types of this kind's fields.
    pub fn fits(&self, object: &Value) -> bool {
        self.check(object).is_ok()
    }

    /// Checks an object that was not decoded from JSON. Returns the paths of unknown fields.
    ///
    /// # Errors
    /// Returns Go's message for a value of a wrong type.
    pub(in crate::server) fn check(&self, object: &Value) -> Result<Vec<String>, GoError> {
        restore::check(self.types, self.id, object)
    }

    /// Encodes the result of an apply, which was not decoded from JSON.
    ///
    /// # Errors
    /// Returns the server's message for a value of a wrong type.
    pub(in crate::server) fn convert(&self, object: &Value) -> Result<Value, GoError> {
        let (api_version, kind) = (self.api_version(), &self.endpoint.kind);
        let shown = if api_version.contains('/') { api_version } else { format!("/{api_version}") };
        self.check(object)
            .map_err(|error| format!("unable to convert unstructured object to {shown}, Kind={kind}: {error}"))?;
        Ok(self.encode(object))
    }

    /// Applies a strategic merge patch.
    ///
    /// # Errors
    /// Returns the reason why the patch cannot be applied.
    pub(in crate::server) fn patch(&self, current: Map, patch: Map) -> Result<Map, strategic::PatchError> {
        strategic::merge(self.types, self.id, current, patch)
    }

    /// The kind of the stored form, if validation sees its fields.
    pub(crate) fn stored_kind(&self) -> Option<&Self> {
        self.stored.as_deref().filter(|_| self.conversion.is_some_and(Conversion::shows_stored_fields))
    }

    /// An object in the form of [`Self::stored_kind`]; `None` if that has the same fields.
    pub(crate) fn stored_fields(&self, object: &Value) -> Option<Value> {
        self.stored_kind().and_then(|_| self.stored(object))
    }

    /// Changes an object in the form of [`Self::stored_kind`], or in its own if that has the same fields.
    pub(crate) fn change_stored(&self, object: &mut Value, change: impl FnOnce(&Self, &mut Value)) {
        let Some(kind) = self.stored_kind() else { return change(self, object) };
        let Some(mut stored) = self.stored_fields(object) else { return };
        change(kind, &mut stored);
        if let Some(restored) = self.restored_for(&stored, ConversionUse::Internal) {
            *object = restored;
        }
    }

    /// Converts an object of this kind to another version, by way of the stored form.
    pub(crate) fn to_version(&self, version: &Self, object: Value) -> Value {
        let stored = self.stored(&object).unwrap_or(object);
        version.restored(&stored).unwrap_or(stored)
    }

    /// The object that etcd has for a complete object of this kind.
    pub(crate) fn stored_object(&self, object: Value) -> Value {
        match &self.stored {
            Some(stored) => stored.complete(&self.stored(&object).unwrap_or(object)),
            None => object,
        }
    }

    /// The stored form of an object of this kind, if it differs.
    pub fn stored(&self, object: &Value) -> Option<Value> {
        let stored = self.stored.as_deref()?;
        match self.conversion {
            Some(conversion) => {
                conversion.to_stored(object, &self.converted()).map(|converted| stored.encode(&converted))
            }
            None => Some(stored.encode(object)),
        }
    }

    /// An object of this kind from its stored form, if it differs.
    pub fn restored(&self, stored: &Value) -> Option<Value> {
        self.restored_for(stored, ConversionUse::Answer)
    }

    fn restored_for(&self, stored: &Value, use_: ConversionUse) -> Option<Value> {
        self.stored.as_ref()?;
        match self.conversion {
            Some(conversion) => conversion.of_stored(stored, self.release, use_).map(|restored| self.encode(&restored)),
            None => Some(self.encode(stored)),
        }
    }
}

/// The newest version of a resource in its group.
fn newest_version(group: &str, plural: &str, release: Release) -> Option<&'static str> {
    let versions = resources::versions(group, plural, release.emulated().number().into());
    let versions = versions.iter().filter(|served| served.group == group).map(|served| served.version);
    versions.max_by_key(|version| rank(version))
}
