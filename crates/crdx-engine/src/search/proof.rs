//! Proves from the differences of two CRDs that no object can show an effect.
//!
//! The objects in question are those that the old CRD accepts without unknown fields. Each function is true only if its
//! claim follows from the differences; false means nothing. A difference that is not listed here proves nothing.

use super::differing::without_children;
use crate::schema_steps::{SchemaStep, below, is_type_or_metadata, steps_below, takes_unknown};
use crdx_server::crd::Spec;
use crdx_server::schema::Schema;

/// Returns true if the new CRD accepts, on create and on update, every object of `version` that the old one accepts.
pub fn accepts_all(old: &Spec, new: &Spec, version: &str) -> bool {
    let (Some(before), Some(after)) = (old.schema(version), new.schema(version)) else { return false };
    is_comparable(old, new, version) && (before == after || (!preserves_all(old, new) && is_relaxed(before, after)))
}

/// Returns true if the new CRD stores, and returns, every object that both accept as the old one does.
pub fn stores_the_same(old: &Spec, new: &Spec, version: &str) -> bool {
    let (Some(was), Some(is)) = (storage_version(old), storage_version(new)) else { return false };
    let same = |name: &str| {
        let (Some(before), Some(after)) = (old.schema(name), new.schema(name)) else { return false };
        before == after || (!preserves_all(old, new) && has_same_fields(before, after))
    };
    was == is && is_comparable(old, new, version) && same(version) && same(was)
}

/// Returns the name of the version in which objects are stored.
pub fn storage_version(spec: &Spec) -> Option<&str> {
    spec.versions.iter().find(|version| version.storage).map(|version| version.name.as_str())
}

/// Returns true if both CRDs have the same printer columns.
pub fn has_same_columns(old: &Spec, new: &Spec, version: &str) -> bool {
    old.columns(version) == new.columns(version)
}

/// Returns true if the CRDs differ at most in schemas, columns and what has no effect on objects.
fn is_comparable(old: &Spec, new: &Spec, version: &str) -> bool {
    let is_served = |spec: &Spec| spec.version(version).is_some_and(|version| version.served);
    old.group == new.group
        && old.scope == new.scope
        && (&old.names.plural, &old.names.kind) == (&new.names.plural, &new.names.kind)
        && is_served(old)
        && is_served(new)
        && old.preserves_unknown_fields() == new.preserves_unknown_fields()
        && old.subresources(version) == new.subresources(version)
        && old.conversion == new.conversion
}

/// `preserveUnknownFields` of the CRD: objects may have any field.
fn preserves_all(old: &Spec, new: &Spec) -> bool {
    old.preserves_unknown_fields() || new.preserves_unknown_fields()
}

/// Returns true if every value that `old` accepts is valid in `new`, and no rule sees another value or type.
fn is_relaxed(old: &Schema, new: &Schema) -> bool {
    is_relaxed_below(old, new, has_rules(old) || has_rules(new))
}

fn is_relaxed_below(old: &Schema, new: &Schema, has_rules: bool) -> bool {
    if old == new {
        return true;
    }
    let (before, mut after) = (without_children(old), without_children(new));
    relax_limits(&before, &mut after, has_rules);
    relax_sets(&before, &mut after);
    after == before && children(old, new, &|old, new| is_relaxed_below(old, new, has_rules))
}

/// Sets limits that are wider in `new` to those of `old`.
fn relax_limits(old: &Schema, new: &mut Schema, has_rules: bool) {
    for (before, after) in [
        (old.max_length, &mut new.max_length),
        (old.max_items, &mut new.max_items),
        (old.max_properties, &mut new.max_properties),
    ] {
        if after.is_none_or(|after| before.is_some_and(|before| after >= before)) {
            *after = before;
        }
    }
    for (before, after) in [
        (old.min_length, &mut new.min_length),
        (old.min_items, &mut new.min_items),
        (old.min_properties, &mut new.min_properties),
    ] {
        if after.unwrap_or(0) <= before.unwrap_or(0) {
            *after = before;
        }
    }
    if new.maximum.is_none_or(|after| old.maximum.is_some_and(|before| after > before))
        || (new.maximum == old.maximum && !new.exclusive_maximum)
    {
        (new.maximum, new.exclusive_maximum) = (old.maximum, old.exclusive_maximum);
    }
    if new.minimum.is_none_or(|after| old.minimum.is_some_and(|before| after < before))
        || (new.minimum == old.minimum && !new.exclusive_minimum)
    {
        (new.minimum, new.exclusive_minimum) = (old.minimum, old.exclusive_minimum);
    }
    if new.multiple_of.is_none() {
        new.multiple_of = old.multiple_of;
    }
    if new.pattern.is_empty() {
        new.pattern.clone_from(&old.pattern);
    }
    // Formats such as `byte` and `date-time` are types of rules.
    if new.format.is_empty() && !has_rules {
        new.format.clone_from(&old.format);
    }
}

/// Sets `enum`, `required`, unions and rules to those of `old` if they allow more in `new`.
fn relax_sets(old: &Schema, new: &mut Schema) {
    if new.enum_.is_empty() || (!old.enum_.is_empty() && old.enum_.iter().all(|value| new.enum_.contains(value))) {
        new.enum_.clone_from(&old.enum_);
    }
    if new.required.iter().all(|name| old.required.contains(name)) {
        new.required.clone_from(&old.required);
    }
    if new.all_of.iter().all(|part| old.all_of.contains(part)) {
        new.all_of.clone_from(&old.all_of);
    }
    if new.any_of.is_empty() || (!old.any_of.is_empty() && old.any_of.iter().all(|part| new.any_of.contains(part))) {
        new.any_of.clone_from(&old.any_of);
    }
    if new.one_of.is_empty() {
        new.one_of.clone_from(&old.one_of);
    }
    if new.not.is_none() {
        new.not.clone_from(&old.not);
    }
    let is_kept = |rule: &crdx_server::schema::ValidationRule| {
        old.x_validations.iter().any(|one| one.rule == rule.rule && one.optional_old_self == rule.optional_old_self)
    };
    if new.x_validations.iter().all(is_kept) && new.x_validations.len() <= old.x_validations.len() {
        new.x_validations.clone_from(&old.x_validations);
    }
}

/// Returns true if objects are pruned, defaulted and returned in the same way: constraints and rules have no part in it.
fn has_same_fields(old: &Schema, new: &Schema) -> bool {
    old == new || (fields_of(old) == fields_of(new) && children(old, new, &has_same_fields))
}

/// Returns a node with only the keywords on which pruning, defaulting and null values depend.
fn fields_of(node: &Schema) -> Schema {
    let own = without_children(node);
    Schema {
        type_: own.type_,
        default: own.default,
        nullable: own.nullable,
        additional_properties: own.additional_properties,
        x_preserve_unknown_fields: own.x_preserve_unknown_fields,
        x_embedded_resource: own.x_embedded_resource,
        x_int_or_string: own.x_int_or_string,
        x_list_type: own.x_list_type,
        x_list_map_keys: own.x_list_map_keys,
        x_map_type: own.x_map_type,
        ..Schema::default()
    }
}

/// Returns true if `holds` for all children, and if `new` has more children at most where no object of `old` has the field and
/// none gets it by a default.
fn children(old: &Schema, new: &Schema, holds: &dyn Fn(&Schema, &Schema) -> bool) -> bool {
    // Every object has a name, whether the schema lists it or not. A node that takes unknown fields may hold any value in them.
    let is_implicit = |step: &SchemaStep, after: &Schema| {
        is_type_or_metadata(step) && is_unconstrained(after) && (old.x_embedded_resource || !takes_unknown(old))
    };
    let holds = |step: &SchemaStep, before: &Schema, after: &Schema| {
        let may_differ = !is_type_or_metadata(step) || is_unconstrained(after);
        before == after || (may_differ && holds(before, after))
    };
    let kept = steps_below(old)
        .into_iter()
        .all(|(step, before)| below(new, &step).is_some_and(|after| holds(&step, before, after)));
    let mut added = steps_below(new)
        .into_iter()
        .filter(|(step, node)| below(old, step).is_none() && !is_implicit(step, node))
        .peekable();
    if added.peek().is_none() {
        return kept;
    }
    let is_closed = !takes_unknown(old) && !takes_unknown(new);
    kept && is_closed
        && old.type_ == "object"
        && added.all(|(step, node)| node.default.is_none() && !is_type_or_metadata(&step))
}

/// Returns true if a node and those below it have a type and nothing else.
fn is_unconstrained(node: &Schema) -> bool {
    let own = without_children(node);
    own == Schema { type_: own.type_.clone(), ..Schema::default() }
        && steps_below(node).into_iter().all(|(_, child)| is_unconstrained(child))
}

fn has_rules(schema: &Schema) -> bool {
    let mut left: Vec<&Schema> = vec![schema];
    while let Some(node) = left.pop() {
        if !node.x_validations.is_empty() {
            return true;
        }
        left.extend(steps_below(node).into_iter().map(|(_, node)| node));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::kites;
    use crdx_server::crd;

    fn spec(schema: &str) -> Spec {
        let schema = format!("        {{type: object, properties: {{spec: {schema}}}}}");
        crd::decode(&kites(&schema)).unwrap().crd.spec
    }

    fn proofs(old: &str, new: &str) -> (bool, bool) {
        let (old, new) = (spec(old), spec(new));
        (accepts_all(&old, &new, "v1"), stores_the_same(&old, &new, "v1"))
    }

    const OLD: &str = "{type: object, required: [a], properties: {a: {type: string, maxLength: 5, enum: [p, q]}, b: {type: integer, minimum: 2}}}";

    #[test]
    fn wider_constraints_accept_all() {
        for new in [
            "{type: object, required: [a], properties: {a: {type: string, maxLength: 6, enum: [p, q, r]}, b: {type: integer, minimum: 1}}}",
            "{type: object, properties: {a: {type: string}, b: {type: integer}}}",
            "{type: object, properties: {a: {type: string}, b: {type: integer}, c: {type: object, required: [d], properties: {d: {type: string}}}}}",
        ] {
            assert_eq!(proofs(OLD, new), (true, true), "{new}");
        }
    }

    #[test]
    fn narrower_constraints_prove_nothing_about_acceptance() {
        for new in [
            "{type: object, required: [a], properties: {a: {type: string, maxLength: 4, enum: [p, q]}, b: {type: integer, minimum: 2}}}",
            "{type: object, required: [a], properties: {a: {type: string, maxLength: 5, enum: [p]}, b: {type: integer, minimum: 2}}}",
            "{type: object, required: [a], properties: {a: {type: string, maxLength: 5, enum: [p, q]}, b: {type: integer, minimum: 2, exclusiveMinimum: true}}}",
            "{type: object, required: [a, b], properties: {a: {type: string, maxLength: 5, enum: [p, q]}, b: {type: integer, minimum: 2}}}",
            "{type: object, required: [a], not: {required: [b]}, properties: {a: {type: string, maxLength: 5, enum: [p, q]}, b: {type: integer, minimum: 2}}}",
        ] {
            assert_eq!(proofs(OLD, new), (false, true), "{new}");
        }
    }

    #[test]
    fn other_fields_and_defaults_prove_nothing() {
        for new in [
            "{type: object, properties: {a: {type: string}}}",
            "{type: object, properties: {a: {type: string}, b: {type: integer, default: 3}}}",
            "{type: object, properties: {a: {type: string}, b: {type: integer}, c: {type: string, default: x}}}",
            "{type: object, properties: {a: {type: string, nullable: true}, b: {type: integer}}}",
        ] {
            assert_eq!(proofs(OLD, new), (false, false), "{new}");
        }
    }

    #[test]
    fn an_added_field_is_no_news_only_where_unknown_fields_are_dropped() {
        let old = "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}";
        let new = "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}, b: {type: integer}}}";
        assert_eq!(proofs(old, new), (false, false));
    }

    #[test]
    fn metadata_in_an_open_node_is_news() {
        let open = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
        for added in ["metadata: {type: object}", "kind: {type: string}"] {
            let new = format!("{{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {{{added}}}}}");
            assert_eq!(proofs(open, &new), (false, false), "{added}");
        }
    }

    #[test]
    fn a_limit_of_names_concerns_objects_whose_schema_has_no_name() {
        let of = |metadata: &str| {
            let schema = format!("        {{type: object, properties: {{spec: {{type: object}}{metadata}}}}}");
            crd::decode(&kites(&schema)).unwrap().crd.spec
        };
        let limited = of(", metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}");
        let plain = of(", kind: {type: string}, metadata: {type: object}");
        for old in [of(""), plain.clone()] {
            assert!(!accepts_all(&old, &limited, "v1"));
            assert!(accepts_all(&limited, &limited, "v1"));
        }
        assert!(accepts_all(&of(""), &plain, "v1"));
        assert!(!accepts_all(&of(""), &of(", kind: {type: string, enum: [Boat]}"), "v1"));
    }

    #[test]
    fn a_format_is_a_type_of_rules() {
        let with = |format: &str| {
            format!(
                "{{type: object, properties: {{a: {{type: string{format}}}}}, x-kubernetes-validations: [{{rule: \"size(self.a) > 1\"}}]}}"
            )
        };
        assert!(!proofs(&with(", format: byte"), &with("")).0);
    }
}
