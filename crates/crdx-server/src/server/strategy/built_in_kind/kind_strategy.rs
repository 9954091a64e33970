//! The differences between built-in kinds: a [`KindStrategy`] each, which another crate defines and gives to the server
//! ([`BuiltInKinds`]). Every method has the behaviour of most kinds as its default.

use super::BuiltInKind;
use super::behaviour::Behaviour;
use crate::apply::set::Set;
use crate::cluster_state::{GroupVersionResource, Listed, Unread};
use crate::policies::request::Alternative;
use crate::server::http::table::PrinterColumn;
use crate::server::http::user::UserInfo;
use crate::server::strategy::subresource::Subresource;
use crdx_cel::value::Gaps;
use crdx_types::empties::Empties;
use crdx_types::service_families::ServiceRange;
use crdx_value::Value;
use crdx_value::field::ErrorList;
use crdx_value::release::Release;
use crdx_value::time::Timestamp;
use std::fmt::{self, Debug};

/// The strategies of built-in kinds, and what is common to all of them.
#[derive(Debug)]
pub struct BuiltInKinds {
    /// The strategies by group and kind. Other kinds have the behaviour of most.
    pub strategies: &'static [(&'static str, &'static str, &'static dyn KindStrategy)],
    /// The validation of the content of objects.
    pub content: &'static dyn ContentValidation,
    /// The fields of new objects that depend on the cluster.
    pub cluster_fields: &'static dyn ClusterFields,
    /// Creates the allocator of a server.
    pub allocator: CreateAllocator,
    /// The objects that an API server creates when it starts, with the paths of their collections.
    pub initial_objects: fn() -> Vec<(&'static str, Value)>,
}

/// Creates the allocator of a server from its ranges of cluster IPs, empty if they are not known, and its node ports, if they are
/// not the default ones; the last argument is true if the server does not store all objects of its cluster.
pub type CreateAllocator = fn(&[ServiceRange], Option<(u16, u16)>, bool) -> Box<dyn Allocator>;

impl BuiltInKinds {
    /// No strategies: every kind has the behaviour of most.
    pub(in crate::server) const NONE: &'static Self = &Self {
        strategies: &[],
        content: &NoValidation,
        cluster_fields: &NoClusterFields,
        allocator: |_, _, _| Box::new(NoAllocation),
        initial_objects: Vec::new,
    };

    /// A kind; `None` if the release has no type for it.
    pub fn kind(&self, group: &str, version: &str, kind: &str, plural: &str, release: Release) -> Option<BuiltInKind> {
        BuiltInKind::new(self, group, version, kind, plural, release)
    }

    /// The strategy of a kind.
    pub(in crate::server) fn strategy(&self, group: &str, kind: &str) -> &'static dyn KindStrategy {
        let found = self.strategies.iter().find(|(g, k, _)| (*g, *k) == (group, kind));
        found.map_or(&MostKinds, |(.., strategy)| *strategy)
    }
}

/// The request that writes an object.
#[derive(Clone, Copy, Debug)]
pub struct KindRequest<'r> {
    /// The kind at the version of the request, or of the stored form if that has other fields.
    pub kind: &'r BuiltInKind,
    /// The simulated release.
    pub release: Release,
    /// The time of the request.
    pub now: Timestamp,
    /// The part of the object that is written.
    pub subresource: Subresource,
    /// The user, if the behaviour of the kind names users.
    pub user: Option<&'r UserInfo>,
    /// The empty lists and maps of the object. Its encoded form omits them.
    pub empties: Option<&'r Empties>,
    /// True if the labels of the object are those of its template.
    pub shares_labels: bool,
    /// True if fields other than the status and the generation are set and dropped.
    pub generates_fields: bool,
}

/// The difference between one built-in kind and most of them (`strategy.go` in `pkg/registry/*/*`).
pub trait KindStrategy: Debug + Send + Sync {
    /// The strategy whose behaviour, columns, preparation and empty fields this one has, unless it defines its own.
    fn facts(&self) -> Option<&dyn KindStrategy> {
        None
    }

    /// The facts about the kind.
    fn behaviour(&self) -> &Behaviour {
        const MOST: &Behaviour = &Behaviour::MOST;
        self.facts().map_or(MOST, |facts| facts.behaviour())
    }

    /// The columns of its Table, if they are not those of most kinds: name and age (`pkg/printers/internalversion`).
    fn columns(&self) -> Option<&'static [PrinterColumn]> {
        self.facts()?.columns()
    }

    /// The conversion between a version and the stored form, unless both have the same fields; `is_newest` is true for the
    /// newest version, which is the stored form.
    fn conversion(&self, _version: &str, _is_newest: bool) -> Option<&'static dyn Conversion> {
        None
    }

    /// The error of the conversion of a decoded object to the internal type; `None` if it can be converted.
    fn conversion_error(&self, _object: &Value) -> Option<String> {
        None
    }

    /// Returns true if the labels of an object without defaults become those of its template.
    fn shares_labels(&self, _object: &Value) -> bool {
        false
    }

    /// Sets and drops the fields that the server sets and drops when it decodes an object, besides the defaults of its
    /// type. Called by servers that generate fields.
    fn complete_decoded(&self, object: &mut Value, release: Release) {
        if let Some(facts) = self.facts() {
            facts.complete_decoded(object, release);
        }
    }

    /// Sets the defaults that are the current time. Called by servers that generate fields.
    fn default_times(&self, _object: &mut Value, _now: Timestamp) {}

    /// The warnings about a new object that are found before it is prepared.
    fn early_warnings(&self, _object: &Value, _release: Release) -> Vec<String> {
        Vec::new()
    }

    /// Returns true if the status is written with the specification.
    fn writes_status_with_spec(&self, _release: Release) -> bool {
        false
    }

    /// Completes a new object (`PrepareForCreate`) whose status and generation are set.
    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        if let Some(facts) = self.facts() {
            facts.prepare_create(object, request);
        }
    }

    /// Completes an update of the object (`PrepareForUpdate`) that has the old status. The generation is counted later.
    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        if let Some(facts) = self.facts() {
            facts.prepare_update(object, old, request);
        }
    }

    /// Completes a write of a part that is neither the status nor the whole object. The generation is counted later.
    fn prepare_part(&self, _object: &mut Value, _old: &Value, _request: &KindRequest<'_>) {}

    /// Completes a write of the status (`PrepareForUpdate` of its strategy) that has the old specification.
    fn prepare_status(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        if let Some(facts) = self.facts() {
            facts.prepare_status(object, old, request);
        }
    }

    /// Returns true if an update has empty lists or maps that count as changes: some strategies compare objects with
    /// `reflect.DeepEqual`, which tells them from absent ones.
    fn has_emptied(&self, object: &Value, empties: &Empties) -> bool {
        self.facts().is_some_and(|facts| facts.has_emptied(object, empties))
    }

    /// The errors of a write that are found before those of the metadata; `old` is `None` for a new object.
    fn validate(&self, _object: &Value, _old: Option<&Value>, _request: &KindRequest<'_>) -> ErrorList {
        ErrorList::new()
    }

    /// The errors that depend on the Namespace of the object, found after those of [`Self::validate`], if the behaviour of the
    /// kind depends on it; `None` if there is none.
    fn validate_in_namespace(
        &self,
        _object: &Value,
        _old: Option<&Value>,
        _namespace: Option<&Value>,
        _request: &KindRequest<'_>,
    ) -> ErrorList {
        ErrorList::new()
    }

    /// Validates a write of a part that is neither the status nor the whole object.
    fn validate_part(&self, _object: &Value, _old: &Value, _request: &KindRequest<'_>) -> ErrorList {
        ErrorList::new()
    }

    /// Validates the annotations of an object to which a `Binding` added some; `old` are those before.
    fn validate_bound(&self, _object: &Value, _old: &Value, _release: Release) -> ErrorList {
        ErrorList::new()
    }

    /// The reason why an object with this name cannot be deleted alone; `None` if it can.
    fn deletion_refusal(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// The grace period in seconds of a deletion (`CheckGracefulDelete`), if the kind has one.
    fn grace_period(&self, _object: &Value, _requested: Option<i64>) -> Option<i64> {
        None
    }

    /// The fields that a write never owns (`GetResetFields`), if they are not those of most kinds.
    fn reset_fields(&self, _subresource: Subresource) -> Option<&'static Set> {
        None
    }
}

/// The strategy of kinds without one of their own.
#[derive(Debug)]
struct MostKinds;

impl KindStrategy for MostKinds {}

/// The conversion between a version and the stored form, whose fields differ (`pkg/apis/*/*/conversion.go`).
pub trait Conversion: Debug + Send + Sync {
    /// Sets the defaults of an encoded object with `set_defaults`, and completes them.
    fn default(&self, object: Value, converted: &ConvertedKind<'_>, set_defaults: &dyn Fn(&mut Value)) -> Value;

    /// Converts to the stored form; the caller encodes the result.
    fn to_stored(&self, object: &Value, converted: &ConvertedKind<'_>) -> Option<Value>;

    /// Converts from the stored form; the caller encodes the result.
    fn of_stored(&self, stored: &Value, release: Release, use_: ConversionUse) -> Option<Value>;

    /// Returns true if preparation and validation see the fields of the stored form.
    fn shows_stored_fields(&self) -> bool {
        true
    }
}

/// A kind whose stored form has other fields.
#[derive(Clone, Copy, Debug)]
pub struct ConvertedKind<'k> {
    /// The simulated release.
    pub release: Release,
    /// The kind.
    pub kind: &'k BuiltInKind,
    /// The kind of the stored form; `None` if it is the kind itself.
    pub stored: Option<&'k BuiltInKind>,
}

/// The purpose of a conversion from the stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionUse {
    /// The answer to a request.
    Answer,
    /// The form that the server uses internally.
    Internal,
}

/// Validates the content of objects. The metadata is validated elsewhere.
pub trait ContentValidation: Debug + Send + Sync {
    /// Validates an object of a group and kind; `old` is the existing object of an update.
    fn validate(
        &self,
        _kind: (&str, &str),
        _object: &Value,
        _empties: Option<&Empties>,
        _old: Option<&Value>,
        _release: Release,
    ) -> ErrorList {
        ErrorList::new()
    }

    /// The warnings about a valid object.
    fn warnings(&self, _kind: (&str, &str), _object: &Value, _old: Option<&Value>, _release: Release) -> Vec<String> {
        Vec::new()
    }

    /// Returns true if the status of a kind is validated.
    fn covers_status(&self, _group: &str, _kind: &str) -> bool {
        false
    }

    /// Validates a write of the status at a time.
    fn validate_status(
        &self,
        _kind: (&str, &str),
        _object: &Value,
        _empties: Option<&Empties>,
        _old: &Value,
        _at: (Release, Timestamp),
    ) -> ErrorList {
        ErrorList::new()
    }

    /// The warnings about a valid status.
    fn status_warnings(&self, _kind: (&str, &str), _object: &Value, _release: Release) -> Vec<String> {
        Vec::new()
    }
}

#[derive(Debug)]
struct NoValidation;

impl ContentValidation for NoValidation {}

/// The known inputs of the fields that a cluster sets.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownInputs {
    /// True if the user of the request is known.
    pub user: bool,
    /// True if the defaults of the limit ranges in the namespace are set.
    pub limit_ranges: bool,
}

/// The fields of new objects that depend on the cluster: API servers allocate them, or admission plugins set them from other
/// objects. Policies that read them make no decision if they are not known.
pub trait ClusterFields: Debug + Send + Sync {
    /// Returns true if limit ranges set fields of a kind.
    fn depend_on_limit_ranges(&self, _group: &str, _kind: &str) -> bool {
        false
    }

    /// The unknown parts of an object that is created, with defaults; `None` if everything is known.
    fn unknown(&self, _group: &str, _kind: &str, _object: &Value, _known: KnownInputs) -> Option<Gaps> {
        None
    }

    /// All objects that plugins may make of an object, if there are few.
    fn alternatives(&self, _group: &str, _kind: &str, _object: &Value, _known: KnownInputs) -> Vec<Alternative> {
        Vec::new()
    }
}

#[derive(Debug)]
struct NoClusterFields;

impl ClusterFields for NoClusterFields {}

/// Allocates the cluster IPs and node ports of Services. It has the state of one server.
pub trait Allocator: Debug + Send + Sync {
    /// Completes a new object, or keeps what was allocated for `old` and completes an update of it.
    ///
    /// # Errors
    /// Returns an error if a value of the request cannot be allocated.
    fn allocate(
        &self,
        _object: &mut Value,
        _old: Option<&Value>,
        _request: &AllocationRequest<'_>,
    ) -> Result<(), AllocationError> {
        Ok(())
    }
}

#[derive(Debug)]
struct NoAllocation;

impl Allocator for NoAllocation {}

/// Calls a function with every object.
pub type EachObject<'r> = dyn Fn(&mut dyn FnMut(&Value)) + 'r;

/// Lists the objects of a resource in a namespace, or in all.
pub type ListObjects<'r> = dyn Fn(GroupVersionResource<'_>, &str) -> Result<Listed, Unread> + 'r;

/// The request for which an [`Allocator`] allocates.
pub struct AllocationRequest<'r> {
    /// Calls a function with every stored object of the kind.
    pub each_stored: &'r EachObject<'r>,
    /// Calls a function with every stored `ServiceCIDR`.
    pub each_service_cidr: &'r EachObject<'r>,
    /// Lists the objects of the cluster that the server does not store.
    pub list: &'r ListObjects<'r>,
    /// The simulated release.
    pub release: Release,
    /// True if the values in requests are validated.
    pub validates: bool,
    /// True for a dry run, which allocates nothing.
    pub dry_run: bool,
}

/// The reason why nothing was allocated for a request. The server validates nothing else then.
#[derive(Debug)]
pub enum AllocationError {
    /// 422
    Invalid(ErrorList),
    /// 500
    Internal(String),
    /// 500, with a message that has no prefix
    Unclassified(String),
    /// An object of the cluster has to be read first.
    Unread(Unread),
}

impl fmt::Display for AllocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&errors.join(", "))
            }
            Self::Internal(text) | Self::Unclassified(text) => f.write_str(text),
            Self::Unread(_) => f.write_str("an object of the cluster was not read yet"),
        }
    }
}

impl std::error::Error for AllocationError {}

impl From<Unread> for AllocationError {
    fn from(unread: Unread) -> Self {
        Self::Unread(unread)
    }
}
