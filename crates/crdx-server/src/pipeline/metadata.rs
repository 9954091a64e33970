//! Validates metadata on create and update (`apimachinery/pkg/api/validation/objectmeta.go`, `meta/v1/validation`).
//!
//! A field whose value does not have its Go type is treated as absent; [`read`] reports it where the server does.

mod name_rule;

use crdx_types::conforms::conforms;
use crdx_types::restore;
use crdx_types::types::Types;
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::field::{
    names::{self, NameForm},
    remove_repeated,
};
use crdx_value::release::{Release, V1_33, V1_34, V1_37, V1_38};
use crdx_value::time;
use crdx_value::{Map, Value, json, print, quote};
use std::collections::BTreeSet;

pub use name_rule::NameRule;

const MAX_ANNOTATIONS: usize = 256 * 1024;
const MAX_MANAGER: usize = 128;
const MAX_SUBRESOURCE: usize = 256;

/// Read access to metadata.
#[derive(Clone, Copy, Debug)]
pub struct Metadata<'a>(Option<&'a Map>);

impl<'a> Metadata<'a> {
    /// The metadata of an object; empty if absent.
    pub fn from_object(object: &'a Value) -> Self {
        Self(object.get("metadata").and_then(Value::as_object))
    }
    /// Wraps metadata.
    pub fn new(members: &'a Map) -> Self {
        Self(Some(members))
    }
    fn get(self, key: &str) -> Option<&'a Value> {
        self.0?.get(key)
    }
    /// A string field; empty if absent.
    pub fn text(self, key: &str) -> &'a str {
        self.get(key).and_then(Value::as_str).unwrap_or_default()
    }
    fn integer(self, key: &str) -> Option<i64> {
        self.get(key)?.as_int()
    }
    fn list(self, key: &str) -> &'a [Value] {
        self.get(key).and_then(Value::as_array).unwrap_or_default()
    }
    /// Labels or annotations; a null, which only an apply leaves, is empty. Before 1.33, a map with a null is treated as
    /// absent (`Unstructured.GetLabels`).
    fn texts(self, key: &str, release: Release) -> impl Iterator<Item = (&'a str, &'a str)> {
        let has_type = |members: &&Map| release.since(V1_33) || !members.values().any(Value::is_null);
        let members = self.get(key).and_then(Value::as_object).filter(has_type).into_iter().flatten();
        members.map(|(k, v)| (k.as_str(), v.as_str().unwrap_or_default()))
    }
    /// The finalizers.
    pub fn finalizers(self) -> impl Iterator<Item = &'a str> {
        self.list("finalizers").iter().filter_map(Value::as_str)
    }
    fn time(self, key: &str) -> Option<time::Timestamp> {
        let text = self.text(key);
        if text.is_empty() { None } else { time::parse(text).ok().filter(|t| !t.is_zero()) }
    }
}

/// Removes duplicate errors, as `ValidateObjectMetaDeclaratively` (since 1.37) does; the handwritten validation reports
/// them twice.
pub(crate) fn without_duplicates(mut errors: ErrorList, release: Release) -> ErrorList {
    if release.since(V1_37) {
        remove_repeated(&mut errors);
    }
    errors
}

/// `ValidateObjectMeta`, for a new object.
pub fn validate(
    m: Metadata<'_>,
    namespaced: bool,
    rule: NameRule,
    path: &FieldPath<'_>,
    release: Release,
    validation: MetadataValidation,
) -> ErrorList {
    validate_named(m, m.text("name"), namespaced, rule, path, release, validation)
}

/// Like [`validate`], but with `name` instead of the name in the metadata.
pub(crate) fn validate_named(
    m: Metadata<'_>,
    name: &str,
    namespaced: bool,
    rule: NameRule,
    path: &FieldPath<'_>,
    release: Release,
    validation: MetadataValidation,
) -> ErrorList {
    let mut errors = validate_prefix(m, rule, path, release);
    let field_path = path.child("name");
    if name.is_empty() {
        errors.push(FieldError::required(&field_path, "name or generateName is required"));
    } else {
        errors.extend(
            rule.messages(name, NameForm::Whole, release)
                .into_iter()
                .map(|c| FieldError::invalid(&field_path, name, c)),
        );
    }
    let namespace = m.text("namespace");
    let field_path = path.child("namespace");
    match (namespaced, namespace.is_empty()) {
        (true, true) => errors.push(FieldError::required(&field_path, "")),
        (true, false) => {
            let messages = names::dns1123_label(namespace.as_bytes());
            errors.extend(messages.into_iter().map(|c| FieldError::invalid(&field_path, namespace, c)));
        }
        (false, false) => errors.push(FieldError::forbidden(&field_path, "not allowed on this type")),
        (false, true) => {}
    }
    not_negative(m, path, &mut errors);
    labels(m, path, release, &mut errors);
    annotations(m, path, release, &mut errors);
    let last = owner_references(m, path, release, validation, &mut errors);
    finalizers(m, path, release, &mut errors);
    managed_fields(m, path, release, validation, &mut errors);
    errors.extend(last);
    errors
}

/// The part of [`validate`] about the prefix of a generated name, which an update may change.
pub(crate) fn validate_prefix(m: Metadata<'_>, rule: NameRule, path: &FieldPath<'_>, release: Release) -> ErrorList {
    let prefix = m.text("generateName");
    if prefix.is_empty() {
        return ErrorList::new();
    }
    let path = path.child("generateName");
    let messages = rule.messages(prefix, NameForm::Prefix, release);
    messages.into_iter().map(|message| FieldError::invalid(&path, prefix, message)).collect()
}

/// `ValidateObjectMetaUpdate`
pub fn validate_update(new: Metadata<'_>, old: Metadata<'_>, path: &FieldPath<'_>, release: Release) -> ErrorList {
    validate_change(new, old, path, release, MetadataValidation::Handwritten)
}

/// `ValidateObjectMetaDeclaratively` of an update
pub fn validate_update_declaratively(
    new: Metadata<'_>,
    old: Metadata<'_>,
    path: &FieldPath<'_>,
    release: Release,
) -> ErrorList {
    without_duplicates(validate_change(new, old, path, release, MetadataValidation::declared(release)), release)
}

/// The code that reports missing fields, and changes of fields that the server sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataValidation {
    /// `ValidateObjectMetaAccessor` and `ValidateObjectMetaAccessorUpdate`. Errors have a detail and the new value.
    Handwritten,
    /// The generated `Validate_ObjectMeta`. Its errors have neither, and come last.
    Declared,
}

impl MetadataValidation {
    /// The rules of `ValidateObjectMetaDeclaratively`: the generated ones are enforced since 1.38.
    pub fn declared(release: Release) -> Self {
        if release.since(V1_38) { Self::Declared } else { Self::Handwritten }
    }

    /// As [`Self::declared`], for the owners of an object that is updated: generated code does not validate unchanged values.
    pub fn declared_for_owners(new: Metadata<'_>, old: Metadata<'_>, release: Release) -> Self {
        if new.list("ownerReferences") == old.list("ownerReferences") {
            return Self::Handwritten;
        }
        Self::declared(release)
    }

    /// The detail of an error about a missing field.
    const fn required_detail(self) -> &'static str {
        match self {
            Self::Handwritten => "must not be empty",
            Self::Declared => "",
        }
    }
}

fn validate_change(
    new: Metadata<'_>,
    old: Metadata<'_>,
    path: &FieldPath<'_>,
    release: Release,
    validation: MetadataValidation,
) -> ErrorList {
    let mut errors = ErrorList::new();
    if old.time("deletionTimestamp").is_some() {
        let known: BTreeSet<&str> = old.finalizers().collect();
        let added: BTreeSet<&str> = new.finalizers().filter(|f| !known.contains(f)).collect();
        if !added.is_empty() {
            let shown: Vec<String> = added.into_iter().map(quote::go_quote).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                shown.join(", ")
            );
            errors.push(FieldError::forbidden(&path.child("finalizers"), detail));
        }
    }
    let version = new.text("resourceVersion");
    if version.is_empty() {
        errors.push(FieldError::invalid(&path.child("resourceVersion"), version, "must be specified for an update"));
    }
    if release.since(V1_37) {
        not_negative(new, path, &mut errors);
    }
    let generation = new.integer("generation").unwrap_or(0);
    if generation < old.integer("generation").unwrap_or(0) {
        let is_cleared = generation == 0 && release.since(V1_38);
        let detail = if is_cleared { "field cannot be cleared once set" } else { "must not be decremented" };
        errors.push(FieldError::invalid(&path.child("generation"), generation, detail));
    }
    let mut immutable = |field: &str, same: bool, bad: BadValue| {
        if !same {
            errors.push(FieldError::invalid(&path.child(field), bad, "field is immutable"));
        }
    };
    for field in ["name", "namespace"] {
        immutable(field, new.text(field) == old.text(field), new.text(field).into());
    }
    let mut immutable = |field: &str, same: bool, bad: BadValue| match validation {
        MetadataValidation::Handwritten => immutable(field, same, bad),
        MetadataValidation::Declared => immutable(field, same, BadValue::new(&Value::Null, release)),
    };
    immutable("uid", new.text("uid") == old.text("uid"), named_string(new.text("uid"), release));
    for field in ["creationTimestamp", "deletionTimestamp"] {
        let (new, old) = (new.time(field), old.time(field));
        immutable(field, new == old, shown_time(new, field == "deletionTimestamp", release));
    }
    let field = "deletionGracePeriodSeconds";
    let shown = new.integer(field).map_or_else(|| BadValue::new(&Value::Null, release), BadValue::from);
    immutable(field, new.integer(field) == old.integer(field), shown);
    labels(new, path, release, &mut errors);
    annotations(new, path, release, &mut errors);
    let of_owners = match validation {
        MetadataValidation::Handwritten => validation,
        MetadataValidation::Declared => MetadataValidation::declared_for_owners(new, old, release),
    };
    let last = owner_references(new, path, release, of_owners, &mut errors);
    managed_fields(new, path, release, validation, &mut errors);
    errors.extend(last);
    errors
}

/// Formats a value of a named string type: as JSON and, before 1.34, in Go syntax.
fn named_string(text: &str, release: Release) -> BadValue {
    if !release.since(V1_34) {
        return BadValue::from(text);
    }
    let mut shown = String::new();
    json::write_string(&mut shown, text);
    BadValue::Raw(shown)
}

/// Formats a timestamp: as JSON and, before 1.34, like `time.Time.String`.
fn shown_time(time: Option<time::Timestamp>, is_pointer: bool, release: Release) -> BadValue {
    match time {
        _ if release.since(V1_34) => {
            BadValue::Raw(time.map_or_else(|| "null".to_owned(), |t| format!("\"{}\"", time::format(t))))
        }
        None if is_pointer => BadValue::new(&Value::Null, release),
        None => BadValue::Raw("0001-01-01 00:00:00 +0000 UTC".to_owned()),
        Some(t) => {
            let nanos = format!(".{:09}", t.nanos);
            let fraction = nanos.trim_end_matches('0').trim_end_matches('.');
            BadValue::Raw(format!("{}{fraction} +0000 UTC", time::format(t).trim_end_matches('Z').replace('T', " ")))
        }
    }
}

fn not_negative(m: Metadata<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(generation @ ..=-1) = m.integer("generation") {
        let field_path = path.child("generation");
        errors.push(FieldError::invalid(&field_path, generation, "must be greater than or equal to 0"));
    }
}

/// `ValidateLabels`
pub(crate) fn labels(m: Metadata<'_>, path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    let field_path = path.child("labels");
    for (key, value) in m.texts("labels", release) {
        errors
            .extend(names::qualified_name(key, release).into_iter().map(|c| FieldError::invalid(&field_path, key, c)));
        errors
            .extend(names::label_value(value, release).into_iter().map(|c| FieldError::invalid(&field_path, value, c)));
    }
}

/// `ValidateAnnotations`
pub(crate) fn annotations(m: Metadata<'_>, path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    let field_path = path.child("annotations");
    for (key, _) in m.texts("annotations", release) {
        let messages = names::qualified_name(&key.to_lowercase(), release);
        errors.extend(messages.into_iter().map(|c| FieldError::invalid(&field_path, key, c)));
    }
    size_of_annotations(m, path, release, errors);
}

/// `ValidateAnnotationsSize`
pub(crate) fn size_of_annotations(m: Metadata<'_>, path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    let size: usize = m.texts("annotations", release).map(|(key, value)| key.len() + value.len()).sum();
    if size > MAX_ANNOTATIONS {
        let field_path = path.child("annotations");
        errors.push(FieldError::too_long(&field_path, MAX_ANNOTATIONS as i64, release));
    }
}

/// The most text of owners in errors, in bytes.
const SHOWN_OWNERS: usize = 4 << 20;

/// Adds the errors about owners, and returns those that come after all other errors about the metadata.
fn owner_references(
    m: Metadata<'_>,
    path: &FieldPath<'_>,
    release: Release,
    validation: MetadataValidation,
    errors: &mut ErrorList,
) -> ErrorList {
    let field_path = path.child("ownerReferences");
    let references = m.list("ownerReferences");
    let mut controller: Option<String> = None;
    let mut missing = ErrorList::new();
    // Each of many errors shows all owners.
    let mut shown_bytes = 0;
    for (i, reference) in references.iter().enumerate() {
        let text = |key| reference.str_at(&[key]).unwrap_or_default();
        // Before 1.37, errors were reported at the list instead of the item.
        let item = if release.since(V1_37) { field_path.index(i) } else { field_path };
        let api_version = text("apiVersion");
        let group_version = super::decode::parse_group_version(api_version);
        if !release.since(V1_37) {
            incomplete_owner(reference, group_version.clone().unwrap_or_default(), &item, release, errors);
        } else if api_version.is_empty() {
            missing.push(FieldError::required(&item.child("apiVersion"), validation.required_detail()));
        } else if !matches!(group_version, Ok((_, version)) if !version.is_empty()) {
            let detail = "must be <group>/<version> or <version>";
            errors.push(FieldError::invalid(&item.child("apiVersion"), api_version, detail));
        }
        for key in ["kind", "name", "uid"] {
            if release.since(V1_37) && text(key).is_empty() {
                missing.push(FieldError::required(&item.child(key), validation.required_detail()));
            }
        }
        if validation == MetadataValidation::Handwritten {
            errors.append(&mut missing);
        }
        if group_version == Ok(("", "v1")) && text("kind") == "Event" {
            let detail = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(FieldError::invalid(&item, BadValue::Raw(shown_owner(reference, release)), detail));
        }
        if reference.get("controller") == Some(&Value::Bool(true)) {
            let name = format!("{}/{}", text("kind"), text("name"));
            if let Some(first) = &controller {
                if shown_bytes > SHOWN_OWNERS {
                    errors.push(FieldError::unfinished(&field_path));
                    return missing;
                }
                let shown: Vec<String> = references.iter().map(|owner| shown_owner(owner, release)).collect();
                let shown = if release.since(V1_34) {
                    format!("[{}]", shown.join(","))
                } else {
                    format!("[]v1.OwnerReference{{{}}}", shown.join(", "))
                };
                shown_bytes += shown.len();
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
                );
                errors.push(FieldError::invalid(&field_path, BadValue::Raw(shown), detail));
            } else {
                controller = Some(name);
            }
        }
    }
    missing
}

/// The errors of incomplete owner references before 1.37 (`validateOwnerReference`). 1.34 shortened the messages.
fn incomplete_owner(
    reference: &Value,
    group_version: (&str, &str),
    path: &FieldPath<'_>,
    release: Release,
    errors: &mut ErrorList,
) {
    let text = |key| reference.str_at(&[key]).unwrap_or_default();
    if group_version.1.is_empty() {
        let shown = text("apiVersion");
        errors.push(FieldError::invalid(&path.child("apiVersion"), shown, "version must not be empty"));
    }
    for key in ["kind", "name", "uid"] {
        if text(key).is_empty() {
            let subject = if release.since(V1_34) { String::new() } else { format!("{key} ") };
            errors.push(FieldError::invalid(&path.child(key), "", format!("{subject}must not be empty")));
        }
    }
}

/// Formats an owner reference: as JSON and, before 1.34, in Go syntax, where pointers are printed as varying addresses.
fn shown_owner(reference: &Value, release: Release) -> String {
    if !release.since(V1_34) {
        let text = |key| quote::go_quote(reference.str_at(&[key]).unwrap_or_default());
        let flag = |key| if reference.get(key).is_some() { "0xc000000000" } else { "nil" };
        return format!(
            "v1.OwnerReference{{APIVersion:{}, Kind:{}, Name:{}, UID:{}, Controller:(*bool)({}), BlockOwnerDeletion:(*bool)({})}}",
            text("apiVersion"),
            text("kind"),
            text("name"),
            text("uid"),
            flag("controller"),
            flag("blockOwnerDeletion")
        );
    }
    let mut out = String::from("{");
    for key in ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"] {
        if let Some(v) = reference.get(key) {
            if out.len() > 1 {
                out.push(',');
            }
            json::write_string(&mut out, key);
            out.push(':');
            json::write_compact(&mut out, v);
        }
    }
    out.push('}');
    out
}

fn finalizers(m: Metadata<'_>, path: &FieldPath<'_>, release: Release, errors: &mut ErrorList) {
    let field_path = path.child("finalizers");
    let (mut orphan, mut foreground) = (false, false);
    for name in m.finalizers() {
        errors.extend(
            names::qualified_name(name, release).into_iter().map(|c| FieldError::invalid(&field_path, name, c)),
        );
        orphan |= name == "orphan";
        foreground |= name == "foregroundDeletion";
    }
    if orphan && foreground {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(FieldError::invalid(&field_path, BadValue::strings(m.finalizers(), release), detail));
    }
}

fn managed_fields(
    m: Metadata<'_>,
    path: &FieldPath<'_>,
    release: Release,
    validation: MetadataValidation,
    errors: &mut ErrorList,
) {
    let field_path = path.child("managedFields");
    for (i, entry) in m.list("managedFields").iter().enumerate() {
        let text = |key| entry.str_at(&[key]).unwrap_or_default();
        let item = field_path.index(i);
        match text("operation") {
            "Apply" | "Update" => {}
            other if !release.since(V1_37) => {
                let detail = "must be `Apply` or `Update`";
                errors.push(FieldError::invalid(&item.child("operation"), named_string(other, release), detail));
            }
            "" => errors.push(FieldError::required(&item.child("operation"), validation.required_detail())),
            other => {
                let supported = ["Apply", "Update"];
                errors.push(FieldError::not_supported(
                    &item.child("operation"),
                    named_string(other, release),
                    &supported,
                ));
            }
        }
        let fields_type = text("fieldsType");
        if !fields_type.is_empty() && fields_type != "FieldsV1" {
            errors.push(FieldError::invalid(&item.child("fieldsType"), fields_type, "must be `FieldsV1`"));
        }
        errors.extend(validate_manager(text("manager"), &item.child("manager"), release));
        if text("subresource").len() > MAX_SUBRESOURCE {
            errors.push(FieldError::too_long(&item.child("subresource"), MAX_SUBRESOURCE as i64, release));
        }
    }
}

/// `ValidateFieldManager`
pub(crate) fn validate_manager(manager: &str, path: &FieldPath<'_>, release: Release) -> ErrorList {
    let mut errors = ErrorList::new();
    if manager.len() > MAX_MANAGER {
        errors.push(FieldError::too_long(path, MAX_MANAGER as i64, release));
    }
    for (at, c) in manager.char_indices().filter(|(_, c)| !quote::is_print(*c)) {
        let detail = format!("invalid character U+{:04X} (at position {at})", c as u32);
        errors.push(FieldError::invalid(path, manager, detail));
    }
    errors
}

/// Checks metadata against its Go type (`runtime.DefaultUnstructuredConverter.FromUnstructured`). The metadata of requests
/// was decoded into that type, but a JSON patch of a mutating policy can set values of any type.
fn mismatch(metadata: &Value, release: Release) -> Option<String> {
    let types = Types::of_definitions(release);
    let id = types.id("meta/v1.ObjectMeta")?;
    if conforms(types, id, metadata) { None } else { restore::check(types, id, metadata).err().map(String::from) }
}

/// The metadata of an object as the strategy decodes it.
///
/// # Errors
/// Since 1.37, the strategy decodes metadata once more after timestamps were converted to UTC: a malformed timestamp is an
/// error, and so is one in the last hours of the year 9999, if the result exceeds the range that can be parsed. Earlier
/// releases read each field separately, and treat a malformed one as absent. Metadata that is not an object is an error, too.
pub fn read(object: &Value, release: Release) -> Result<Metadata<'_>, FieldError> {
    match object.get("metadata") {
        None | Some(Value::Null) => Ok(Metadata(None)),
        Some(whole @ Value::Object(members)) => {
            let m = Metadata::new(members);
            if !release.since(V1_37) {
                return Ok(m);
            }
            if let Some(text) = mismatch(whole, release) {
                return Err(FieldError::invalid(&FieldPath::new("metadata"), BadValue::new(whole, release), text));
            }
            let own = ["creationTimestamp", "deletionTimestamp"].into_iter().filter_map(|key| m.get(key));
            let managers = m.list("managedFields").iter().filter_map(|entry| entry.get("time"));
            match own.chain(managers).filter_map(Value::as_str).find_map(|text| time::parse(text).err()) {
                Some(text) => {
                    Err(FieldError::invalid(&FieldPath::new("metadata"), BadValue::new(whole, release), text))
                }
                None => Ok(m),
            }
        }
        Some(other) => {
            let detail = format!("expected map[string]interface{{}}, got {}", print::type_name(other));
            Err(FieldError::invalid(&FieldPath::new("metadata"), BadValue::new(other, release), detail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, texts};

    const PATH: FieldPath<'static> = FieldPath::new("metadata");

    fn created(metadata: &str, namespaced: bool) -> Vec<String> {
        let v = json(metadata);
        texts(&validate(
            Metadata::new(v.as_object().unwrap()),
            namespaced,
            NameRule::Subdomain,
            &PATH,
            Release::NEWEST,
            MetadataValidation::Handwritten,
        ))
    }

    #[test]
    fn new_metadata() {
        assert_eq!(created(r#"{"name":"a","namespace":"b"}"#, true), [""; 0]);
        for (metadata, error) in [
            (r#"{"namespace":"b"}"#, "metadata.name: Required value: name or generateName is required"),
            (r#"{"name":"a"}"#, "metadata.namespace: Required value"),
            (
                r#"{"name":"a","namespace":"b","generation":-1}"#,
                "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                r#"{"name":"a","namespace":"b","finalizers":["orphan","foregroundDeletion"]}"#,
                r#"metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set"#,
            ),
            (
                r#"{"name":"a","namespace":"b","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}]}"#,
                r#"metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"n","uid":"u"}: /v1, Kind=Event is disallowed from being an owner"#,
            ),
            (
                r#"{"name":"a","namespace":"b","managedFields":[{"operation":"Nope"}]}"#,
                r#"metadata.managedFields[0].operation: Unsupported value: "Nope": supported values: "Apply", "Update""#,
            ),
        ] {
            assert_eq!(created(metadata, true), [error]);
        }
        assert_eq!(
            created(r#"{"name":"a","namespace":"b"}"#, false),
            ["metadata.namespace: Forbidden: not allowed on this type"]
        );
    }

    #[test]
    fn the_total_size_of_annotations_is_limited() {
        let big = "x".repeat(MAX_ANNOTATIONS);
        assert_eq!(
            created(&format!(r#"{{"name":"a","annotations":{{"K":"{big}"}}}}"#), false),
            ["metadata.annotations: Too long: may not be more than 262144 bytes"]
        );
    }

    #[test]
    fn earlier_releases_treat_a_malformed_time_as_absent() {
        let object = json(r#"{"metadata":{"name":"a","deletionTimestamp":"2020"}}"#);
        let earlier = read(&object, "1.36".parse().unwrap()).unwrap();
        assert_eq!(earlier.time("deletionTimestamp"), None);
        let error = read(&object, Release::NEWEST).err().unwrap();
        assert!(error.to_string().contains("parsing time \"2020\""), "{error}");
    }

    #[test]
    fn changed_metadata() {
        let old = json(
            r#"{"name":"a","uid":"u","resourceVersion":"1","deletionTimestamp":"2024-01-01T00:00:00Z","finalizers":["x/y"]}"#,
        );
        let new = json(r#"{"name":"b","uid":"v","finalizers":["x/y","x/z"]}"#);
        let of = |v| Metadata::new(Value::as_object(v).unwrap());
        assert_eq!(
            texts(&validate_update(of(&new), of(&old), &PATH, Release::NEWEST)),
            [
                r#"metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/z"}"#,
                r#"metadata.resourceVersion: Invalid value: "": must be specified for an update"#,
                r#"metadata.name: Invalid value: "b": field is immutable"#,
                r#"metadata.uid: Invalid value: "v": field is immutable"#,
                "metadata.deletionTimestamp: Invalid value: null: field is immutable",
            ]
        );
    }

    #[test]
    fn generated_validation_shows_no_value_of_immutable_fields() {
        let old = json(r#"{"name":"a","uid":"u","resourceVersion":"1","generation":2}"#);
        let new = json(r#"{"name":"b","uid":"v","resourceVersion":"1","deletionGracePeriodSeconds":5}"#);
        let of = |v| Metadata::new(Value::as_object(v).unwrap());
        let texts =
            |release: &str| texts(&validate_update_declaratively(of(&new), of(&old), &PATH, release.parse().unwrap()));
        assert_eq!(
            texts("1.37"),
            [
                "metadata.generation: Invalid value: 0: must not be decremented",
                r#"metadata.name: Invalid value: "b": field is immutable"#,
                r#"metadata.uid: Invalid value: "v": field is immutable"#,
                "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable",
            ]
        );
        assert_eq!(
            texts("1.38"),
            [
                "metadata.generation: Invalid value: 0: field cannot be cleared once set",
                r#"metadata.name: Invalid value: "b": field is immutable"#,
                "metadata.uid: Invalid value: null: field is immutable",
                "metadata.deletionGracePeriodSeconds: Invalid value: null: field is immutable",
            ]
        );
    }

    #[test]
    fn the_first_field_of_another_type_is_reported() {
        let found = |text: &str| mismatch(&json(text), Release::NEWEST);
        assert_eq!(found(r#"{"name":"a","labels":{"a":"b","c":null},"generation":2.0,"finalizers":["x"]}"#), None);
        for (metadata, error) in [
            (r#"{"labels":1.5}"#, "cannot restore map from float64"),
            (r#"{"annotations":{"a":1}}"#, "cannot convert int64 to string"),
            (r#"{"annotations":{"a":true}}"#, "unrecognized type: string"),
            (r#"{"uid":1}"#, "cannot convert int64 to types.UID"),
            (r#"{"finalizers":"x"}"#, "cannot restore slice from string"),
            (r#"{"ownerReferences":["x"]}"#, "cannot restore struct from: string"),
            (r#"{"labels":[],"generation":1.5}"#, "cannot convert float64 to int64"),
            (r#"{"creationTimestamp":5}"#, "json: cannot unmarshal number into Go value of type string"),
        ] {
            assert_eq!(found(metadata).as_deref(), Some(error), "{metadata}");
        }
    }
}
