//! Validates `spec` except schemas: group, scope, versions, names, columns, subresources and selectable fields.

use super::enum_text::enum_text;
use super::golang;
use super::options::{MAX_SELECTABLE_FIELDS, ValidationOptions, schemas};
use super::schema;
use crate::crd::{Column, CrdVersion, Names, Spec, Subresources, Validation};
use crate::rules::field_path;
use crate::schema::Schema;
use crdx_value::field::names::{dns1035_label, dns1123_subdomain};
use crdx_value::field::{BadValue, BoundedErrors, FieldError, FieldPath};
use crdx_value::quote;
use crdx_value::release::{Release, V1_34};
use std::collections::BTreeSet;

const COLUMN_TYPES: &str = "boolean,date,integer,number,string";
const COLUMN_FORMATS: &str = "byte,date,date-time,double,float,int32,int64,password";

/// Validates `spec`.
pub fn validate(spec: &Spec, options: &ValidationOptions, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    let mut options = options.clone();
    let group = path.child("group");
    let messages = dns1123_subdomain(spec.group.as_bytes());
    if spec.group.is_empty() {
        errors.push(FieldError::required(&group, ""));
    } else if !messages.is_empty() {
        errors.push(FieldError::invalid(&group, spec.group.as_str(), messages.join(",")));
    } else if !spec.group.contains('.') {
        errors.push(FieldError::invalid(&group, spec.group.as_str(), "should be a domain with at least one dot"));
    }
    enum_text(&spec.scope, &["Cluster", "Namespaced"], &path.child("scope"), errors);

    let prunes = !spec.preserves_unknown_fields();
    options.structural |= prunes;
    missing_schemas(spec, &options, prunes, path, errors);
    if schemas(spec).any(|s| s.any(&mut |s| s.default.is_some())) {
        options.structural = true;
        if spec.preserve_unknown_fields != Some(false) {
            let detail = "must be false in order to use defaults in the schema";
            errors.push(FieldError::invalid(&path.child("preserveUnknownFields"), true, detail));
        }
    }
    options.structural |= schemas(spec).any(|s| s.any(&mut has_extensions));

    versions(spec, &options, path, errors);
    required_names(&spec.names, &path.child("names"), errors);
    names(&spec.names, &path.child("names"), errors);

    let status = [&spec.subresources].into_iter().chain(spec.versions.iter().map(|v| &v.subresources));
    let any_status = status.flatten().any(|s| s.status);
    if let Some(validation) = &spec.validation {
        let unchanged = options.unchanged_versions.contains(&spec.version);
        schema::validate(validation, any_status, &options, unchanged, &path.child("validation"), errors);
    }
    subresources(spec.subresources.as_ref(), &path.child("subresources"), options.release, errors);
    columns(&spec.columns, &path.child("additionalPrinterColumns"), errors);
    if !spec.selectable_fields.is_empty() {
        let fields_path = path.child("selectableFields");
        match &spec.validation {
            None => {
                let subject = if options.release.since(V1_34) { "" } else { "selectableFields " };
                let detail = format!("{subject}may only be set when validations.schema is included");
                errors.push(FieldError::invalid(&fields_path, "", detail));
            }
            Some(Validation { schema }) => {
                let many = options.many_selectable_fields.contains("");
                let schema_path = path.child("schema.openAPIV3Schema");
                selectable_fields(
                    &spec.selectable_fields,
                    schema.as_deref(),
                    many,
                    (&fields_path, &schema_path),
                    options.release,
                    errors,
                );
            }
        }
    }
    if let Some(conversion) = &spec.conversion {
        let path = path.child("conversion");
        if conversion.strategy != "None" && spec.preserve_unknown_fields != Some(false) {
            let detail = "must be None if spec.preserveUnknownFields is true";
            errors.push(FieldError::invalid(&path.child("strategy"), conversion.strategy.as_str(), detail));
        }
        super::conversion::validate(conversion, &options, &path, errors);
    }
}

fn has_extensions(s: &Schema) -> bool {
    s.x_embedded_resource
        || s.x_preserve_unknown_fields.is_some()
        || s.x_int_or_string
        || !s.x_list_map_keys.is_empty()
        || s.x_list_type.is_some()
        || !s.x_validations.is_empty()
}

fn missing_schemas(
    spec: &Spec,
    options: &ValidationOptions,
    prunes: bool,
    path: &FieldPath<'_>,
    errors: &mut BoundedErrors,
) {
    if spec.validation.as_ref().is_some_and(|v| v.schema.is_some()) {
        return;
    }
    let versions = path.child("versions");
    for (i, v) in spec.versions.iter().enumerate() {
        if v.schema.as_ref().is_some_and(|s| s.schema.is_some()) {
            continue;
        }
        let path = versions.index(i);
        let path = path.child("schema");
        let path = path.child("openAPIV3Schema");
        if options.schema {
            let detail = if options.release.since(V1_34) { "" } else { "schemas are required" };
            errors.push(FieldError::required(&path, detail));
        } else if prunes && v.served {
            errors.push(FieldError::required(&path, "because otherwise all fields are pruned"));
        }
    }
}

fn versions(spec: &Spec, options: &ValidationOptions, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    let versions_path = path.child("versions");
    let mut seen = BTreeSet::new();
    let mut unique = true;
    for (i, v) in spec.versions.iter().enumerate() {
        let path = versions_path.index(i);
        unique &= seen.insert(&v.name);
        let messages = dns1035_label(v.name.as_bytes());
        if !messages.is_empty() {
            errors.push(FieldError::invalid(&path.child("name"), v.name.as_str(), messages.join(",")));
        }
        let status = spec.subresources(&v.name).is_some_and(|s| s.status);
        version(v, status, options, &path, errors);
    }

    let has = |part: fn(&CrdVersion) -> bool| spec.versions.iter().any(part);
    let mut exclusive = |name: &str, what: &str, both: bool| {
        if both {
            let detail = format!("top-level and per-version {what} are mutually exclusive");
            errors.push(FieldError::forbidden(&path.child(name), detail));
        }
    };
    exclusive("validation", "schemas", spec.validation.is_some() && has(|v| v.schema.is_some()));
    exclusive("subresources", "subresources", spec.subresources.is_some() && has(|v| v.subresources.is_some()));
    exclusive(
        "additionalPrinterColumns",
        "additionalPrinterColumns",
        !spec.columns.is_empty() && has(|v| !v.columns.is_empty()),
    );

    let mut invalid = |detail: &str| {
        errors.push(FieldError::invalid(&versions_path, golang::versions(spec, options.release), detail));
    };
    let identical = |same: &dyn Fn(&CrdVersion, &CrdVersion) -> bool| {
        spec.versions.first().is_some_and(|first| spec.versions.iter().all(|v| same(v, first)))
    };
    if identical(&|v, first| v.schema.is_some() && v.schema == first.schema) {
        invalid(
            "per-version schemas may not all be set to identical values (top-level validation should be used instead)",
        );
    }
    if identical(&|v, first| v.subresources.is_some() && v.subresources == first.subresources) {
        invalid(
            "per-version subresources may not all be set to identical values (top-level subresources should be used instead)",
        );
    }
    if identical(&|v, first| !v.columns.is_empty() && v.columns == first.columns) {
        invalid(
            "per-version additionalPrinterColumns may not all be set to identical values (top-level additionalPrinterColumns should be used instead)",
        );
    }
    if !unique {
        invalid("must contain unique version names");
    }
    if spec.versions.iter().filter(|v| v.storage).count() != 1 {
        invalid("must have exactly one version marked as storage version");
    }
    if !spec.version.is_empty() {
        let path = path.child("version");
        let messages = dns1035_label(spec.version.as_bytes());
        if !messages.is_empty() {
            errors.push(FieldError::invalid(&path, spec.version.as_str(), messages.join(",")));
        }
        if spec.versions.first().is_some_and(|v| v.name != spec.version) {
            let detail = "must match the first version in spec.versions";
            errors.push(FieldError::invalid(&path, spec.version.as_str(), detail));
        }
    }
}

fn version(
    v: &CrdVersion,
    status: bool,
    options: &ValidationOptions,
    path: &FieldPath<'_>,
    errors: &mut BoundedErrors,
) {
    deprecation_warning(v, options, &path.child("deprecationWarning"), errors);
    if let Some(validation) = &v.schema {
        let unchanged = options.unchanged_versions.contains(&v.name);
        schema::validate(validation, status, options, unchanged, &path.child("schema"), errors);
    }
    subresources(v.subresources.as_ref(), &path.child("subresources"), options.release, errors);
    columns(&v.columns, &path.child("additionalPrinterColumns"), errors);
    if v.selectable_fields.is_empty() {
        return;
    }
    let fields_path = path.child("selectableFields");
    match v.schema.as_ref().and_then(|s| s.schema.as_deref()) {
        None => {
            // The "not" is a mistake in the server's message.
            let detail = if options.release.since(V1_34) {
                "may only be set when `version.schema.openAPIV3Schema` is not included"
            } else {
                "selectableFields may only be set when version.schema.openAPIV3Schema is not included"
            };
            errors.push(FieldError::invalid(&fields_path, "", detail));
        }
        Some(schema) => {
            let many = options.many_selectable_fields.contains(&v.name);
            let schema_path = path.child("schema.openAPIV3Schema");
            selectable_fields(
                &v.selectable_fields,
                Some(schema),
                many,
                (&fields_path, &schema_path),
                options.release,
                errors,
            );
        }
    }
}

fn deprecation_warning(v: &CrdVersion, options: &ValidationOptions, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    let Some(warning) = v.deprecation_warning.as_deref() else { return };
    let mut invalid =
        |detail: String| errors.push(FieldError::invalid(path, golang::text(warning, options.release), detail));
    if !v.deprecated {
        return invalid("can only be set for deprecated versions".to_owned());
    }
    let bytes = options.malformed.bytes(warning);
    if bytes.len() > 256 {
        invalid("must be <= 256 characters long".to_owned());
    }
    if warning.is_empty() {
        invalid("must not be an empty string".to_owned());
    }
    let rule = "must only contain printable UTF-8 characters";
    if let Some(i) = first_not_printable(bytes) {
        invalid(format!("{rule}; non-printable character found at index {i}"));
    }
    if options.malformed.get(warning).is_some() {
        invalid(rule.to_owned());
    }
}

/// The index of the first character that is not printable. U+FFFD is printable, and so are bytes that are not UTF-8.
fn first_not_printable(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    for chunk in bytes.utf8_chunks() {
        if let Some((i, _)) = chunk.valid().char_indices().find(|(_, c)| !quote::is_print(*c)) {
            return Some(start + i);
        }
        start += chunk.valid().len() + chunk.invalid().len();
    }
    None
}

fn required_names(names: &Names, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    let all = [
        ("plural", &names.plural),
        ("singular", &names.singular),
        ("kind", &names.kind),
        ("listKind", &names.list_kind),
    ];
    for (key, name) in all {
        if name.is_empty() {
            errors.push(FieldError::required(&path.child(key), ""));
        }
    }
}

/// Validates names, in both spec and status.
pub fn names(names: &Names, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    let mut name = |path: &FieldPath<'_>, name: &str, mixed_case: bool| {
        let messages =
            if mixed_case { dns1035_label(name.to_lowercase().as_bytes()) } else { dns1035_label(name.as_bytes()) };
        if !messages.is_empty() {
            let mixed = if mixed_case { "may have mixed case, but should otherwise match: " } else { "" };
            errors.push(FieldError::invalid(path, name, format!("{mixed}{}", messages.join(","))));
        }
    };
    let single = [
        ("plural", &names.plural, false),
        ("singular", &names.singular, false),
        ("kind", &names.kind, true),
        ("listKind", &names.list_kind, true),
    ];
    for (key, text, mixed_case) in single {
        if !text.is_empty() {
            name(&path.child(key), text, mixed_case);
        }
    }
    for (key, list) in [("shortNames", &names.short_names), ("categories", &names.categories)] {
        let path = path.child(key);
        for (i, text) in list.iter().enumerate() {
            name(&path.index(i), text, false);
        }
    }
    if !names.kind.is_empty() && names.kind == names.list_kind {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(&path.child("listKind"), names.list_kind.as_str(), detail));
    }
}

fn columns(columns: &[Column], path: &FieldPath<'_>, errors: &mut BoundedErrors) {
    for (i, c) in columns.iter().enumerate() {
        let path = path.index(i);
        if c.name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        }
        if c.type_.is_empty() {
            errors.push(FieldError::required(&path.child("type"), format!("must be one of {COLUMN_TYPES}")));
        } else if !COLUMN_TYPES.split(',').any(|t| t == c.type_) {
            let detail = format!("must be one of {COLUMN_TYPES}");
            errors.push(FieldError::invalid(&path.child("type"), c.type_.as_str(), detail));
        }
        if !c.format.is_empty() && !COLUMN_FORMATS.split(',').any(|f| f == c.format) {
            let detail = format!("must be one of {COLUMN_FORMATS}");
            errors.push(FieldError::invalid(&path.child("format"), c.format.as_str(), detail));
        }
        // The name of the field in the internal form.
        let path = path.child("JSONPath");
        if c.json_path.is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else {
            simple_path(&c.json_path, &path, errors);
        }
    }
}

/// Validates a simple path, which must only start with a dot.
fn simple_path(text: &str, path: &FieldPath<'_>, errors: &mut BoundedErrors) -> bool {
    let fine = text.starts_with('.');
    if !fine {
        errors.push(FieldError::invalid(path, text, "must be a simple json path starting with ."));
    }
    fine
}

fn subresources(s: Option<&Subresources>, path: &FieldPath<'_>, release: Release, errors: &mut BoundedErrors) {
    let Some(scale) = s.and_then(|s| s.scale.as_ref()) else { return };
    let mut under = |name: &str, text: &str, prefixes: &[&str], place: &str| {
        let path = path.child(name);
        if text.is_empty() {
            errors.push(FieldError::required(&path, ""));
        } else if simple_path(text, &path, errors) && !prefixes.iter().any(|p| text.starts_with(p)) {
            let shown =
                if name.ends_with("labelSelectorPath") { golang::text(text, release) } else { BadValue::from(text) };
            errors.push(FieldError::invalid(&path, shown, format!("should be a json path under {place}")));
        }
    };
    under("scale.specReplicasPath", &scale.spec_replicas_path, &[".spec."], ".spec");
    under("scale.statusReplicasPath", &scale.status_replicas_path, &[".status."], ".status");
    if let Some(text) = scale.label_selector_path.as_deref().filter(|t| !t.is_empty()) {
        under("scale.labelSelectorPath", text, &[".spec.", ".status."], "either .spec or .status");
    }
}

fn selectable_fields(
    fields: &[String],
    schema: Option<&Schema>,
    many: bool,
    (path, schema_path): (&FieldPath<'_>, &FieldPath<'_>),
    release: Release,
    errors: &mut BoundedErrors,
) {
    let nothing = Schema::default();
    let mut schema = schema.unwrap_or(&nothing);
    if let Some(reason) = super::structural::unsupported(schema, release) {
        // The server continues with an empty schema, in which no path can be resolved.
        errors.push(FieldError::invalid(schema_path, "", reason));
        schema = &nothing;
    }
    let mut unique = BTreeSet::new();
    for (i, text) in fields.iter().enumerate() {
        let path = path.index(i);
        let path = path.child("jsonPath");
        if text.is_empty() {
            errors.push(FieldError::required(&path, ""));
            continue;
        }
        let found = match field_path::follow(text, schema, false) {
            Ok(found) => found,
            Err(e) => {
                errors.push(FieldError::invalid(&path, text.as_str(), format!("is an invalid path: {e}")));
                continue;
            }
        };
        if found.root == "metadata" {
            errors.push(FieldError::invalid(&path, text.as_str(), "must not point to fields in metadata"));
        }
        if !found.schema.is_some_and(|s| matches!(s.type_.as_str(), "string" | "boolean" | "integer")) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
            errors.push(FieldError::invalid(&path, text.as_str(), detail));
        }
        if !unique.insert(found.path) {
            errors.push(FieldError::duplicate(&path, text.as_str()));
        }
    }
    if unique.len() > MAX_SELECTABLE_FIELDS && !many {
        errors.push(FieldError::too_many(path, unique.len() as i64, MAX_SELECTABLE_FIELDS as i64, release));
    }
}
