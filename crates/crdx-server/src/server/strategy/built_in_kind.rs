//! The Go type and the behaviour of a built-in kind that is served with its type ([`super::typed_resource`]).

mod autoscaler;
pub(in crate::server) mod behaviour;
mod priority_level;

use crate::apply::set::Set;
use crate::server::http::table::Columns;
use crate::server::metadata;
use crate::server::registry::managed_fields as managed;
use crate::server::strategy::subresource::Subresource;
use autoscaler::Use;
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
use std::sync::OnceLock;

/// A built-in kind in one version.
#[derive(Debug)]
pub(in crate::server) struct BuiltInKind {
    /// The group, version and kind.
    pub endpoint: Endpoint,
    /// The types of the release.
    pub types: &'static Types,
    /// The behaviour of the kind on the server.
    pub behaviour: &'static Behaviour,
    /// The columns of its Table.
    pub columns: Columns,
    /// Other apiVersions that requests may have (`AcceptsGroupVersion`), whose types have the same fields.
    pub accepted: &'static [&'static str],
    id: TypeId,
    release: Release,
    conversion: Conversion,
    status_keeps: Set,
    initial_status: OnceLock<Option<Value>>,
}

/// The difference between a kind and its stored form, with the kind of the stored form.
#[derive(Debug)]
enum Conversion {
    /// It is the stored form.
    None,
    /// The apiVersion.
    Version(Box<BuiltInKind>),
    /// The apiVersion, and the names of top-level fields, here and in the stored form.
    Renamed(&'static [(&'static str, &'static str)], Box<BuiltInKind>),
    /// `autoscaling/v2`, the stored form of `HorizontalPodAutoscaler`s.
    Autoscaler,
    /// `autoscaling/v1`
    OldAutoscaler(Box<BuiltInKind>),
    /// `flowcontrol.apiserver.k8s.io/v1beta3`
    OldPriorityLevel(Box<BuiltInKind>),
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

/// The fields of `events.k8s.io/v1`, which are stored as those of `v1` (`pkg/apis/events/v1/conversion.go`).
const EVENT_FIELDS: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reportingController", "reportingComponent"),
];
/// The group whose events are stored as those of the core group.
pub(in crate::server) const EVENTS: &str = "events.k8s.io";

impl Conversion {
    /// The conversion of a kind; `None` if the release has no type for its stored form, which is that of the newest version.
    fn of(Endpoint { group, version, kind }: &Endpoint, plural: &str, release: Release) -> Option<Self> {
        let stored = |group: &str, version: &str| BuiltInKind::new(group, version, kind, plural, release).map(Box::new);
        if group == EVENTS {
            return Some(Self::Renamed(&EVENT_FIELDS, stored("", "v1")?));
        }
        let versions = resources::versions(group, plural, release.minor().number().into());
        let newest = versions.iter().filter(|served| served.group == group).map(|served| served.version);
        let newest = newest.max_by_key(|version| rank(version)).unwrap_or(version);
        Some(match kind.as_str() {
            "HorizontalPodAutoscaler" if version == newest => Self::Autoscaler,
            "HorizontalPodAutoscaler" => Self::OldAutoscaler(stored(group, newest)?),
            _ if version == newest => Self::None,
            "PriorityLevelConfiguration" => Self::OldPriorityLevel(stored(group, newest)?),
            _ => Self::Version(stored(group, newest)?),
        })
    }
}

impl BuiltInKind {
    /// The kind; `None` if the release has no type for it.
    pub fn new(group: &str, version: &str, kind: &str, plural: &str, release: Release) -> Option<Self> {
        let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
        let types = Types::for_release(release.minor().number().into());
        let id = types.of_kind(&endpoint.api_version(), kind)?;
        let behaviour = Behaviour::for_resource(plural, group);
        let conversion = Conversion::of(&endpoint, plural, release)?;
        let status_keeps = Set::of_fields(behaviour.status_keeps);
        let columns = Columns::of_kind(group, kind);
        let initial_status = OnceLock::new();
        Some(Self {
            endpoint,
            types,
            behaviour,
            columns,
            accepted: &[],
            id,
            release,
            conversion,
            status_keeps,
            initial_status,
        })
    }

    /// The kind with other apiVersions that requests may have.
    pub(crate) fn accepting(self, accepted: &'static [&'static str]) -> Self {
        Self { accepted, ..self }
    }

    /// The `apiVersion`
    pub fn api_version(&self) -> String {
        api_version(&self.endpoint.group, &self.endpoint.version)
    }

    /// The merge type for server-side apply, built on first use.
    pub fn merge_type(&self) -> &'static TypeRef {
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
        let means_zero =
            matches!(self.conversion, Conversion::OldPriorityLevel(_)) && priority_level::means_zero(&object);
        defaults::set(self.types, self.id, &mut object);
        match &self.conversion {
            Conversion::OldPriorityLevel(_) => {
                if means_zero {
                    priority_level::set_zero(&mut object);
                }
                object = self.encode(&priority_level::to_v1beta3(&object));
            }
            Conversion::Autoscaler => autoscaler::drop_annotations(&mut object, self.release),
            Conversion::OldAutoscaler(stored) => {
                let converted = autoscaler::to_v2(&object, self.release, &|object| stored.check(object).is_ok());
                object = self.encode(&autoscaler::to_v1(&stored.complete(&converted), self.release, Use::Internal));
            }
            _ => {}
        }
        object
    }

    /// Completes the decoded object of a request.
    pub fn complete_request(&self, decoded: &Value) -> Value {
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
    pub fn schemas(&self, version: OpenApiVersion) -> Schemas {
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
    pub fn is_same(&self, one: &Value, other: &Value) -> bool {
        equal::equal_except(self.types, self.id, (one, other), "metadata")
    }

    /// Checks an object that was not decoded from JSON. Returns the paths of unknown fields.
    ///
    /// # Errors
    /// Returns Go's message for a value of a wrong type.
    pub fn check(&self, object: &Value) -> Result<Vec<String>, GoError> {
        restore::check(self.types, self.id, object)
    }

    /// Encodes the result of an apply, which was not decoded from JSON.
    ///
    /// # Errors
    /// Returns the server's message for a value of a wrong type.
    pub fn convert(&self, object: &Value) -> Result<Value, GoError> {
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
    pub fn patch(&self, current: Map, patch: Map) -> Result<Map, strategic::PatchError> {
        strategic::merge(self.types, self.id, current, patch)
    }

    /// The kind of the stored form, if validation sees its fields.
    pub(crate) fn stored_kind(&self) -> Option<&Self> {
        match &self.conversion {
            Conversion::OldAutoscaler(stored) | Conversion::OldPriorityLevel(stored) => Some(stored),
            _ => None,
        }
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
        if let Some(restored) = self.restored_for(&stored, Use::Internal) {
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
        match &self.conversion {
            Conversion::None | Conversion::Autoscaler => object,
            Conversion::Version(stored)
            | Conversion::Renamed(_, stored)
            | Conversion::OldAutoscaler(stored)
            | Conversion::OldPriorityLevel(stored) => stored.complete(&self.stored(&object).unwrap_or(object)),
        }
    }

    /// The stored form of an object of this kind, if it differs.
    pub fn stored(&self, object: &Value) -> Option<Value> {
        match &self.conversion {
            Conversion::None | Conversion::Autoscaler => None,
            Conversion::Version(stored) => Some(stored.encode(object)),
            Conversion::Renamed(names, stored) => {
                rename(object, names.iter().copied()).map(|renamed| stored.encode(&renamed))
            }
            Conversion::OldAutoscaler(stored) => {
                let accepts = |object: &Value| stored.check(object).is_ok();
                Some(stored.encode(&autoscaler::to_v2(object, self.release, &accepts)))
            }
            Conversion::OldPriorityLevel(stored) => Some(stored.encode(&priority_level::to_v1(object))),
        }
    }

    /// An object of this kind from its stored form, if it differs.
    pub fn restored(&self, stored: &Value) -> Option<Value> {
        self.restored_for(stored, Use::Answer)
    }

    fn restored_for(&self, stored: &Value, purpose: Use) -> Option<Value> {
        let restored = match &self.conversion {
            Conversion::None | Conversion::Autoscaler => return None,
            Conversion::Version(_) => return Some(self.encode(stored)),
            Conversion::Renamed(names, _) => rename(stored, names.iter().map(|(here, stored)| (*stored, *here)))?,
            Conversion::OldAutoscaler(_) => autoscaler::to_v1(stored, self.release, purpose),
            Conversion::OldPriorityLevel(_) => priority_level::to_v1beta3(stored),
        };
        Some(self.encode(&restored))
    }
}

/// Renames top-level fields of an object.
fn rename(object: &Value, names: impl Iterator<Item = (&'static str, &'static str)>) -> Option<Value> {
    let mut members = object.as_object()?.clone();
    for (from, to) in names {
        if let Some(value) = members.remove(from) {
            members.insert(to.to_owned(), value);
        }
    }
    Some(Value::Object(members))
}
