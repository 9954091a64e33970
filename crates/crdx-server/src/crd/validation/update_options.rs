//! Relaxations for updates: errors that the old CRD already has are tolerated.

use super::conversion::{has_invalid_ca_bundle, is_accepted_review_version};
use super::defaults::has_unpruned;
use super::lists::{has_loose_keys, is_non_atomic_set};
use super::options::{MAX_SELECTABLE_FIELDS, PreexistingExpressions, TYPES, ValidationOptions, schemas};
use super::structural;
use crate::crd::{CustomResourceDefinition, Spec};
use crate::schema::Schema;
use crdx_value::release::{Release, V1_31, V1_35};
use std::collections::BTreeSet;

impl ValidationOptions {
    /// The options for an update from `old` to `new`.
    pub fn update(new: &CustomResourceDefinition, old: &CustomResourceDefinition, release: Release) -> Self {
        let spec = &old.spec;
        let schemas = || schemas(spec);
        let has = |found: fn(&Schema) -> bool| schemas().any(|s| s.any(&mut |s| found(s)));
        let review_versions = spec.conversion.as_ref().map_or(&[][..], |c| &c.review_versions);
        Self {
            release,
            malformed: new.malformed.clone(),
            recognized_review_version: review_versions.is_empty()
                || review_versions.iter().any(|v| is_accepted_review_version(v)),
            immutable_names: old.is_true("Established"),
            schema: spec.validation.as_ref().is_some_and(|v| v.schema.is_some())
                || spec.versions.iter().all(|v| v.schema.as_ref().is_some_and(|v| v.schema.is_some())),
            valid_types: !has(|s| !s.type_.is_empty() && !TYPES.contains(&s.type_.as_str())),
            structural: schemas().all(|schema| structural::is_structural(schema, release)),
            pruned_defaults: !schemas().any(|schema| has_unpruned(schema, release)),
            atomic_sets: !has(is_non_atomic_set),
            list_map_keys: !has(has_loose_keys),
            // CA bundles are validated since 1.31.
            invalid_ca_bundle: !release.since(V1_31) || !immutable(old) || has_invalid_ca_bundle(spec),
            preexisting: PreexistingExpressions::from_spec(spec, release),
            unchanged_versions: unchanged_versions(&new.spec, spec),
            // Since 1.35, an existing CRD may keep too many selectable fields.
            many_selectable_fields: if release.since(V1_35) {
                many_selectable_fields(&new.spec, spec)
            } else {
                BTreeSet::new()
            },
        }
    }
}

fn immutable(old: &CustomResourceDefinition) -> bool {
    old.is_true("Established")
}

impl PreexistingExpressions {
    fn from_spec(spec: &Spec, release: Release) -> Self {
        let mut found = Self::default();
        for schema in schemas(spec) {
            schema.any(&mut |s| {
                for rule in &s.x_validations {
                    found.rules.insert(rule.rule.clone());
                    if !rule.message_expression.is_empty() {
                        // 1.30 uses the text of the rule by mistake.
                        let text = if release.since(V1_31) { &rule.message_expression } else { &rule.rule };
                        found.message_expressions.insert(text.clone());
                    }
                }
                false
            });
        }
        found
    }
}

fn unchanged_versions(new: &Spec, old: &Spec) -> BTreeSet<String> {
    // A spec with both a shared schema and schemas of versions is malformed, and so is a spec with several versions
    // that lacks the requested version.
    let malformed = |s: &Spec| s.validation.is_some() && s.versions.iter().any(|v| v.schema.is_some());
    if malformed(new) || malformed(old) {
        return BTreeSet::new();
    }
    let has_version = |s: &Spec, name: &str| s.versions.iter().all(|v| v.schema.is_none()) || s.version(name).is_some();
    new.versions
        .iter()
        .filter(|v| has_version(old, &v.name) && new.validation(&v.name) == old.validation(&v.name))
        .map(|v| v.name.clone())
        .collect()
}

fn many_selectable_fields(new: &Spec, old: &Spec) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    let keeps = |new: &[String], old: &[String]| old.len() > MAX_SELECTABLE_FIELDS && new == old;
    if keeps(&new.selectable_fields, &old.selectable_fields) {
        allowed.insert(String::new());
    }
    for v in &new.versions {
        if old
            .versions
            .iter()
            .rfind(|o| o.name == v.name)
            .is_some_and(|o| keeps(&v.selectable_fields, &o.selectable_fields))
        {
            allowed.insert(v.name.clone());
        }
    }
    allowed
}
