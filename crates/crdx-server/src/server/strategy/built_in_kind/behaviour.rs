//! Facts about a built-in kind: names, generation, status of new objects, field selectors and field owners
//! (`pkg/registry/*/*/strategy.go`, and the field label conversions in `pkg/apis/*/v1/conversion.go`).

use crate::pipeline::metadata::NameRule;
use crate::server::strategy::subresource::Subresource;
use crdx_value::release::{Gate, Minor, Release};

/// The behaviour of a kind.
#[derive(Debug)]
pub struct Behaviour {
    /// Which names objects may have (`Validate…Name` in `pkg/apis/*/validation`).
    pub name: NameRule,
    /// The first release that sets `metadata.generation`.
    pub generation_since: Minor,
    /// The feature gate without which it is not set.
    pub generation_gate: Option<Gate>,
    /// Which writes set it.
    pub generation: GenerationRule,
    /// The field of the metadata whose changes count as changes of the generation.
    pub counted_metadata: Option<&'static str>,
    /// The status of a new object.
    pub status: InitialStatus,
    /// The field labels of selectors besides the name; `None` if the kind has no conversion of field labels.
    pub fields: Option<&'static [FieldLabel]>,
    /// The first release that has this conversion.
    pub fields_since: Minor,
    /// True if an update must have a resourceVersion.
    pub needs_revision: bool,
    /// True if a PUT creates an object that does not exist, also one of the status (`AllowCreateOnUpdate`).
    pub creates_on_update: bool,
    /// True if an apply of the status creates an object that does not exist, because the store passes `forceAllowCreate` on.
    pub applies_new_status: bool,
    /// True if the names of finalizers need a domain, or are those of Kubernetes.
    pub qualifies_finalizers: bool,
    /// True if new objects name the user who creates them.
    pub names_user: bool,
    /// True if the access to devices that objects may request depends on their namespace.
    pub depends_on_namespace: bool,
    /// True if cluster IPs and node ports are allocated for objects.
    pub allocates: bool,
    /// The first release whose updates validate the prefix of a generated name without the rule for names
    /// (`ValidateObjectMetaUpdate`). Most strategies validate the whole metadata again (`ValidateObjectMeta`).
    pub relaxes_prefix_since: Minor,
    /// True if the metadata of a new object are validated only if nothing else is wrong, because the strategy does not validate
    /// them, but `BeforeCreate` does.
    pub validates_metadata_last: bool,
    /// True if an error is repeated that several rules report with the same text. Since 1.37, every strategy in `pkg/registry`
    /// embeds `rest.DeclarativeValidation`, which passes errors through `FilterCoveredHandwrittenErrors`.
    pub repeats_errors: bool,
    /// True if an update counts as a change only if it changes fields that the strategy then drops: the strategy compares the
    /// objects before it drops fields.
    pub compares_before_preparation: bool,
    /// True if the strategy alone prepares updates.
    pub prepares_updates_alone: bool,
    /// The group of the stored form and of the internal type, if it differs.
    pub stored_group: Option<&'static str>,
    /// True if a DELETE returns the removed object (`ReturnDeletedObject`).
    pub returns_deleted: bool,
    /// The fields that a write of the status leaves unchanged, and never owns.
    pub status_keeps: &'static [&'static [&'static str]],
    /// The subresources besides `status` that are written as the whole object, with the first release that serves them by
    /// default.
    pub subresources: &'static [(Subresource, Minor)],
}

/// Which writes set `metadata.generation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GenerationRule {
    /// It is 1 for a new object, and grows when the specification changes.
    Counted,
    /// It is 1.
    Constant,
    /// It grows when the specification changes; that of a new object is the one in the request.
    OnlyUpdates,
}

/// The status of a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialStatus {
    /// The zero value.
    Empty,
    /// As in the request.
    Kept,
    /// The zero value with this phase.
    Phase(&'static str),
}

/// A field that selectors may name.
#[derive(Debug)]
pub struct FieldLabel {
    /// The label.
    pub label: &'static str,
    /// The paths of the field; the first one that is not empty is compared.
    pub paths: &'static [&'static [&'static str]],
    /// The text for an absent field.
    pub absent: &'static str,
}

/// The label of a field with text, which is empty if it is absent.
pub const fn text(label: &'static str, paths: &'static [&'static [&'static str]]) -> FieldLabel {
    FieldLabel { label, paths, absent: "" }
}

/// The field label of the namespace.
pub const NAMESPACE: FieldLabel = text("metadata.namespace", &[&["metadata", "namespace"]]);
/// The fields that a write of most statuses leaves unchanged.
pub const SPEC: &[&[&str]] = &[&["spec"]];
/// The fields that a write of a status leaves unchanged if it writes the status only.
pub const ALL_BUT_STATUS: &[&[&str]] = &[&["metadata"], &["spec"]];

impl Behaviour {
    /// Returns true if a release sets `metadata.generation`.
    pub(in crate::server) fn has_generation(&self, release: Release) -> bool {
        release.since(self.generation_since) && self.generation_gate.is_none_or(|gate| release.enables(gate))
    }

    /// The behaviour of most kinds.
    pub const MOST: Self = Self {
        name: NameRule::Subdomain,
        generation_since: Minor::NEVER,
        generation_gate: None,
        generation: GenerationRule::Counted,
        counted_metadata: None,
        status: InitialStatus::Empty,
        fields: None,
        fields_since: Minor::ALWAYS,
        needs_revision: false,
        creates_on_update: false,
        applies_new_status: false,
        qualifies_finalizers: true,
        names_user: false,
        depends_on_namespace: false,
        allocates: false,
        relaxes_prefix_since: Minor::NEVER,
        validates_metadata_last: false,
        repeats_errors: false,
        compares_before_preparation: false,
        prepares_updates_alone: false,
        stored_group: None,
        returns_deleted: false,
        status_keeps: SPEC,
        subresources: &[],
    };
    /// The behaviour of kinds whose deletion returns the removed object.
    pub const RETURNED: Self = Self { returns_deleted: true, ..Self::MOST };
    /// The behaviour of kinds with a generation.
    pub const GENERATION: Self = Self { generation_since: Minor::ALWAYS, ..Self::MOST };
}
