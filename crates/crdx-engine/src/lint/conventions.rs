//! Conventions of the fields of a CRD that the server does not check: those of the Kubernetes API conventions, and of the linters
//! `kube-api-linter` and `crd-schema-checker`, as far as a CRD shows them. `docs/conventions.md` has the reasons.

mod field;
mod whole;

use crate::schema_steps::{SchemaStep, is_type_or_metadata, schema_path, steps_below, value_path};
use crdx_server::crd::Spec;
use crdx_server::schema::Schema;
use std::collections::HashSet;

/// A convention; the names are types of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convention {
    /// A boolean instead of an enum.
    BooleanField,
    /// `conditions` is not a map of conditions by their type.
    ConditionsList,
    /// A duration as text, or a number whose name has no unit.
    DurationField,
    /// A value of an enum that is not in `PascalCase`.
    EnumValueName,
    /// A name that is not in `camelCase`.
    FieldName,
    /// A floating-point number.
    FloatField,
    /// An integer that is not `int32` or `int64`.
    IntegerFormat,
    /// A list that does not say how server-side apply merges it.
    ListTypeMissing,
    /// A map of objects.
    MapOfObjects,
    /// A field without a description.
    MissingDescription,
    /// An object without `spec`.
    MissingSpec,
    /// A field that may be null.
    NullableField,
    /// `status.phase`.
    PhaseField,
    /// A reference with a kind and no group.
    ReferenceGroup,
    /// A reference whose name does not end in `Ref`.
    ReferenceName,
    /// A required field with a default.
    RequiredDefault,
    /// A required status, or a required field of it.
    RequiredStatus,
    /// A status without the subresource.
    StatusSubresource,
    /// A time whose name does not end in `Time`.
    TimeName,
    /// A text, list or map without a limit.
    Unbounded,
    /// A field whose type, format, enum or default differs between served versions.
    VersionDifference,
}

impl Convention {
    /// Every convention.
    pub const ALL: [Self; 21] = [
        Self::BooleanField,
        Self::ConditionsList,
        Self::DurationField,
        Self::EnumValueName,
        Self::FieldName,
        Self::FloatField,
        Self::IntegerFormat,
        Self::ListTypeMissing,
        Self::MapOfObjects,
        Self::MissingDescription,
        Self::MissingSpec,
        Self::NullableField,
        Self::PhaseField,
        Self::ReferenceGroup,
        Self::ReferenceName,
        Self::RequiredDefault,
        Self::RequiredStatus,
        Self::StatusSubresource,
        Self::TimeName,
        Self::Unbounded,
        Self::VersionDifference,
    ];

    /// Returns the type of the finding.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BooleanField => "BooleanField",
            Self::ConditionsList => "ConditionsList",
            Self::DurationField => "DurationField",
            Self::EnumValueName => "EnumValueName",
            Self::FieldName => "FieldName",
            Self::FloatField => "FloatField",
            Self::IntegerFormat => "IntegerFormat",
            Self::ListTypeMissing => "ListTypeMissing",
            Self::MapOfObjects => "MapOfObjects",
            Self::MissingDescription => "MissingDescription",
            Self::MissingSpec => "MissingSpec",
            Self::NullableField => "NullableField",
            Self::PhaseField => "PhaseField",
            Self::ReferenceGroup => "ReferenceGroup",
            Self::ReferenceName => "ReferenceName",
            Self::RequiredDefault => "RequiredDefault",
            Self::RequiredStatus => "RequiredStatus",
            Self::StatusSubresource => "StatusSubresource",
            Self::TimeName => "TimeName",
            Self::Unbounded => "Unbounded",
            Self::VersionDifference => "VersionDifference",
        }
    }
}

/// A field that does not follow a convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The convention.
    pub convention: Convention,
    /// The path of the field in the CRD.
    pub crd_field: String,
    /// A description.
    pub message: String,
}

/// The maximum number of nodes of one schema.
const MAX_NODES: usize = 20_000;

/// Returns what does not follow a convention in the served versions of a CRD. What several versions have in common is reported
/// for the first of them.
pub fn departures(spec: &Spec) -> Vec<Departure> {
    let mut found = Vec::new();
    let mut reported = HashSet::new();
    for (index, version) in spec.versions.iter().enumerate().filter(|(_, version)| version.served) {
        let Some(root) = spec.schema(&version.name) else { continue };
        let prefix = format!("spec.versions[{index}].schema.openAPIV3Schema");
        let has_status = spec.subresources(&version.name).is_some_and(|subresources| subresources.status);
        let mut walk = Walk { prefix: &prefix, left: MAX_NODES, steps: Vec::new(), found: Vec::new() };
        whole::check(root, has_status, &mut walk);
        walk.fields(root);
        found.extend(walk.found.into_iter().filter(|one| reported.insert((one.convention, one.message.clone()))));
    }
    found.extend(whole::between_versions(spec));
    found
}

/// The field that is checked.
struct CheckedField<'s> {
    name: &'s str,
    schema: &'s Schema,
    parent: &'s Schema,
    is_in_status: bool,
}

/// A walk over the fields of a version.
struct Walk<'p> {
    prefix: &'p str,
    left: usize,
    steps: Vec<SchemaStep>,
    found: Vec<Departure>,
}

impl Walk<'_> {
    fn fields(&mut self, schema: &Schema) {
        for (step, node) in steps_below(schema) {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            let is_root = self.steps.is_empty();
            if is_root && is_type_or_metadata(&step) {
                continue;
            }
            self.steps.push(step.clone());
            field::check_node(node, self);
            if let SchemaStep::Property(name) = &step {
                let is_in_status = self.steps.first() == Some(&SchemaStep::Property("status".to_owned()));
                // The root is not a field of the author.
                if !is_root {
                    field::check(&CheckedField { name, schema: node, parent: schema, is_in_status }, self);
                }
            }
            self.fields(node);
            self.steps.pop();
        }
    }

    /// Adds a finding about a keyword of the current node, or about the node itself.
    fn add(&mut self, convention: Convention, keyword: &str, message: &str) {
        let path = value_path(&self.steps);
        let dot = if keyword.is_empty() { "" } else { "." };
        let crd_field = format!("{}{}{dot}{keyword}", self.prefix, schema_path(&self.steps));
        let message = format!("{path}: {message}");
        self.found.push(Departure { convention, crd_field, message });
    }
}

#[cfg(test)]
mod tests;
