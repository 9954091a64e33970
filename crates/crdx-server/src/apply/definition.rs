//! The merge type of CRDs: the static type of `apiextensions.k8s.io/v1`, as described by its OpenAPI document.

use super::types::type_meta;
use crdx_types::merge::{Field, ListRelation, ListType, MapType, Scalar, Type, TypeRef, list, map, own, scalar};
use crdx_value::Value;
use std::{collections::BTreeMap, sync::LazyLock};

/// The merge type of CRDs.
pub fn of_definition() -> &'static Type {
    DEFINITION.resolve()
}

/// The merge type of a schema in a CRD, which is recursive.
fn of_schema() -> &'static Type {
    SCHEMA.resolve()
}

fn text() -> TypeRef {
    scalar(Scalar::String)
}

fn number() -> TypeRef {
    scalar(Scalar::Numeric)
}

fn boolean() -> TypeRef {
    scalar(Scalar::Boolean)
}

fn atomic(items: TypeRef) -> TypeRef {
    list(ListRelation::Atomic, items)
}

fn map_of(other: TypeRef) -> TypeRef {
    map(MapType { other: Some(other), ..MapType::default() })
}

fn fields<'a>(of: impl IntoIterator<Item = (&'a str, TypeRef)>) -> BTreeMap<String, Field> {
    of.into_iter().map(|(name, type_)| (name.to_owned(), Field { type_, default: None })).collect()
}

fn object<'a>(of: impl IntoIterator<Item = (&'a str, TypeRef)>) -> TypeRef {
    map(MapType { fields: fields(of), ..MapType::default() })
}

/// A map list with one string key, whose default is an empty string.
fn keyed<'a>(key: &str, of: impl IntoIterator<Item = (&'a str, TypeRef)>) -> TypeRef {
    let mut fields = fields(of);
    if let Some(field) = fields.get_mut(key) {
        field.default = Some(Value::from(""));
    }
    let items = map(MapType { fields, ..MapType::default() });
    own(Type {
        list: Some(ListType { relation: ListRelation::Keyed(vec![key.to_owned()]), items, all_keys: false }),
        ..Type::default()
    })
}

static DEFINITION: LazyLock<TypeRef> = LazyLock::new(|| {
    let names = || {
        object([
            ("categories", atomic(text())),
            ("kind", text()),
            ("listKind", text()),
            ("plural", text()),
            ("shortNames", atomic(text())),
            ("singular", text()),
        ])
    };
    let service = object([("name", text()), ("namespace", text()), ("path", text()), ("port", number())]);
    let client = object([("caBundle", text()), ("service", service), ("url", text())]);
    let webhook = object([("clientConfig", client), ("conversionReviewVersions", atomic(text()))]);
    let column = object([
        ("description", text()),
        ("format", text()),
        ("jsonPath", text()),
        ("name", text()),
        ("priority", number()),
        ("type", text()),
    ]);
    let scale = object([("labelSelectorPath", text()), ("specReplicasPath", text()), ("statusReplicasPath", text())]);
    let version = object([
        ("additionalPrinterColumns", atomic(column)),
        ("deprecated", boolean()),
        ("deprecationWarning", text()),
        ("name", text()),
        ("schema", object([("openAPIV3Schema", TypeRef::Recursive(of_schema))])),
        ("selectableFields", atomic(object([("jsonPath", text())]))),
        ("served", boolean()),
        ("storage", boolean()),
        ("subresources", object([("scale", scale), ("status", map_of(TypeRef::Deduced))])),
    ]);
    let spec = object([
        ("conversion", object([("strategy", text()), ("webhook", webhook)])),
        ("group", text()),
        ("names", names()),
        ("preserveUnknownFields", boolean()),
        ("scope", text()),
        ("versions", atomic(version)),
    ]);
    let conditions = keyed(
        "type",
        [
            ("lastTransitionTime", scalar(Scalar::Untyped)),
            ("message", text()),
            ("observedGeneration", number()),
            ("reason", text()),
            ("status", text()),
            ("type", text()),
        ],
    );
    let status = object([
        ("acceptedNames", names()),
        ("conditions", conditions),
        ("observedGeneration", number()),
        ("storedVersions", atomic(text())),
    ]);
    let mut all = type_meta();
    all.extend(fields([("spec", spec), ("status", status)]));
    map(MapType { fields: all, ..MapType::default() })
});

static SCHEMA: LazyLock<TypeRef> = LazyLock::new(|| {
    const TEXTS: [&str; 10] = [
        "$ref",
        "$schema",
        "description",
        "format",
        "id",
        "pattern",
        "title",
        "type",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
    ];
    const NUMBERS: [&str; 9] = [
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
    ];
    const BOOLEANS: [&str; 7] = [
        "exclusiveMaximum",
        "exclusiveMinimum",
        "nullable",
        "uniqueItems",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
    ];
    const ANYTHING: [&str; 5] = ["additionalItems", "additionalProperties", "default", "example", "items"];
    let mut all = fields(TEXTS.map(|name| (name, text())));
    all.extend(fields(NUMBERS.map(|name| (name, number()))));
    all.extend(fields(BOOLEANS.map(|name| (name, boolean()))));
    all.extend(fields(ANYTHING.map(|name| (name, TypeRef::Deduced))));
    all.extend(fields(["allOf", "anyOf", "oneOf"].map(|name| (name, atomic(TypeRef::Recursive(of_schema))))));
    all.extend(fields(
        ["definitions", "patternProperties", "properties"].map(|name| (name, map_of(TypeRef::Recursive(of_schema)))),
    ));
    all.extend(fields(["required", "x-kubernetes-list-map-keys"].map(|name| (name, atomic(text())))));
    let rules = keyed(
        "rule",
        [
            ("fieldPath", text()),
            ("message", text()),
            ("messageExpression", text()),
            ("optionalOldSelf", boolean()),
            ("reason", text()),
            ("rule", text()),
        ],
    );
    all.extend(fields([
        ("dependencies", map_of(TypeRef::Deduced)),
        ("enum", atomic(TypeRef::Deduced)),
        ("externalDocs", object([("description", text()), ("url", text())])),
        ("not", TypeRef::Recursive(of_schema)),
        ("x-kubernetes-validations", rules),
    ]));
    map(MapType { fields: all, ..MapType::default() })
});
