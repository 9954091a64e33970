//! Errors that kubectl reports instead of the server's, because it sends no request or adds something to it.

use crate::documents::refusal;
use crate::kubectl::Verb;
use crate::report::{Diagnostic, Identity, ObjectReport, ServerResponse, Verdict};
use crate::simulation::identity::FieldLocator;
use crate::simulation::object::Object;
use crdx_types::types::Types;
use crdx_types::{BadRequest, Endpoint, decode};
use crdx_value::field::ErrorType;
use crdx_value::release::Release;
use crdx_value::{Value, json, object, quote};

const METADATA_NAME: &str = "metadata.name";
const ANNOTATIONS: &str = "metadata.annotations";

/// Replaces the errors of an object for which kubectl sends no request. The server rejects a create of every such object,
/// except that it generates the name of a `LimitRange`; of an object that may be accepted, `is_plain` is the result of
/// [`has_plain_metadata`].
pub fn replace(item: &mut ObjectReport, verb: Verb, is_plain: bool, locator: &dyn FieldLocator) {
    let is_rejected = item.verdict == Verdict::Rejected;
    // kubectl does not decode the metadata of an item of a list.
    if (is_rejected || !is_plain)
        && locator.text().is_some()
        && let Some(metadata) = locator.object().as_ref().and_then(|object| object.get("metadata"))
        && let Some(refusal) = metadata_error(metadata)
    {
        return refuse(item, refusal, locator);
    }
    if is_rejected {
        require_request_path(item, verb, locator);
        explain_annotations(item, verb);
    } else {
        require_name(item, verb, locator);
    }
}

/// Rejects an object without the name, or with a name or namespace, that the path of kubectl's request cannot have.
pub(crate) fn require_request_path(item: &mut ObjectReport, verb: Verb, locator: &dyn FieldLocator) {
    require_name(item, verb, locator);
    require_path(item, verb, locator);
}

/// Rejects an object whose name or namespace can be no part of a path, for which the client sends no request
/// (`rest.Request` in client-go). The name of a created object is in no path.
pub(crate) fn require_path(item: &mut ObjectReport, verb: Verb, locator: &dyn FieldLocator) {
    // The identity of an object without a name has its generateName.
    let is_own = |name: &&str| {
        locator.object().is_some_and(|object| object.str_at(&["metadata", "name"]).is_some_and(|own| own == *name))
    };
    let name = Some(item.identity.name.as_str()).filter(|name| verb != Verb::Create && !path_errors(name).is_empty());
    let name = name.filter(is_own);
    let parts = [("namespace", item.identity.namespace.as_deref()), ("resource name", name)];
    let wrong = parts.into_iter().find_map(|(what, part)| {
        let part = part?;
        let reasons = path_errors(part);
        let message = || format!("invalid {what} {}: [{}]", quote::go_quote(part), reasons.join(" "));
        (!reasons.is_empty()).then(|| (what == "namespace", message()))
    });
    if let Some((is_namespace, message)) = wrong {
        let field = if is_namespace { "metadata.namespace" } else { METADATA_NAME };
        reject(item, (422, "Invalid"), message, Some(field.to_owned()), locator);
    }
}

/// The reasons why a text can be no segment of a path (`IsValidPathSegmentName` in apimachinery).
fn path_errors(segment: &str) -> Vec<String> {
    if [".", ".."].contains(&segment) {
        return vec![format!("may not be '{segment}'")];
    }
    ["/", "%"]
        .into_iter()
        .filter(|part| segment.contains(part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// Returns the item of an object whose metadata kubectl cannot decode. It does not decode that of an item of a list.
pub fn undecodable(object: &mut Object, identity: &Identity) -> Option<ObjectReport> {
    if object.document.item.is_some() || has_plain_metadata(object.value()) {
        return None;
    }
    let refusal = metadata_error(object.value().get("metadata")?)?;
    let mut item = object.item(identity.clone(), Verdict::Rejected, "");
    refuse(&mut item, refusal, &object.finder());
    Some(item)
}

/// Rejects an object with the error of kubectl's decoder for its metadata.
fn refuse(item: &mut ObjectReport, refusal: BadRequest, locator: &dyn FieldLocator) {
    let message = format!(
        "unable to decode {}: {}",
        quote::go_quote(refusal::name_of_source(&item.location.source)),
        refusal.error
    );
    reject(item, (400, "BadRequest"), message, refusal.path, locator);
}

/// Returns true if the metadata of an object certainly has the right types: it has only texts, and labels and annotations
/// of texts.
pub(crate) fn has_plain_metadata(object: &Value) -> bool {
    let texts = |value: &Value| value.as_object().is_some_and(|all| all.values().all(|text| text.as_str().is_some()));
    let is_plain = |(key, value): (&String, &Value)| match key.as_str() {
        "name" | "namespace" | "uid" | "resourceVersion" | "generateName" => value.as_str().is_some(),
        "labels" | "annotations" => texts(value),
        _ => false,
    };
    object.get("metadata").and_then(Value::as_object).is_some_and(|metadata| metadata.iter().all(is_plain))
}

/// Rejects an object without a name, which only `kubectl create` sends. A name of a wrong type is an error of decoding.
pub(crate) fn require_name(item: &mut ObjectReport, verb: Verb, locator: &dyn FieldLocator) {
    let has_name = || locator.object().is_some_and(|object| object.at(&["metadata", "name"]).is_some_and(is_not_text));
    if item.identity.name.is_empty() && verb != Verb::Create && !has_name() {
        let message = "resource name may not be empty".to_owned();
        reject(item, (422, "Invalid"), message, Some(METADATA_NAME.to_owned()), locator);
    }
}

fn is_not_text(value: &Value) -> bool {
    !value.is_null() && value.as_str().is_none()
}

/// Rejects an object of a built-in kind without a name, in the server's words for a create.
pub(crate) fn require_name_of_create(item: &mut ObjectReport, locator: &dyn FieldLocator) {
    let Identity { kind, .. } = &item.identity;
    let message = "metadata.name: Required value: name or generateName is required";
    let group = item.identity.group();
    let of = if group.is_empty() { kind.clone() } else { format!("{kind}.{group}") };
    let answer = format!("{of} \"\" is invalid: {message}");
    reject(item, (422, "Invalid"), message.to_owned(), Some(METADATA_NAME.to_owned()), locator);
    item.is_unsent = false;
    if let (Some(error), Some(response)) = (item.errors.first_mut(), &mut item.answer) {
        ErrorType::Required.reason().clone_into(&mut error.kind);
        response.message = answer;
    }
}

/// Names requests without the last-applied annotation, if that makes the annotations too long.
pub(crate) fn explain_annotations(item: &mut ObjectReport, verb: Verb) {
    if verb != Verb::Apply {
        return;
    }
    for error in item.errors.iter_mut().filter(|error| is_about_annotations(error)) {
        error.help.get_or_insert_with(|| {
            "kubectl apply adds the whole object as an annotation; kubectl apply --server-side, kubectl create and kubectl \
             replace do not: give --server-side, --create or --replace for their verdict"
                .to_owned()
        });
    }
}

fn is_about_annotations(error: &Diagnostic) -> bool {
    error.kind == ErrorType::TooLong.reason() && error.field.as_deref() == Some(ANNOTATIONS)
}

/// Returns the error of kubectl's decoder for metadata (`metadataValidatingDecoder` in `cli-runtime`).
pub(crate) fn metadata_error(metadata: &Value) -> Option<BadRequest> {
    let body = json::to_string(&object([("metadata", metadata.clone())]));
    let word = str::to_owned;
    // The metadata of all kinds has the same type.
    let endpoint = Endpoint { group: String::new(), version: word("v1"), kind: word("ConfigMap") };
    let types = Types::for_release(Release::NEWEST.minor().number().into());
    let refusal = decode::decode(types, &endpoint, body.as_bytes()).err()?;
    // kubectl decodes into a type of its own.
    let error = refusal.error.replace("field ConfigMap.metadata ", "field metadataOnlyObject.metadata ");
    Some(BadRequest { error, ..refusal })
}

fn reject(
    item: &mut ObjectReport,
    (code, reason): (u16, &str),
    message: String,
    field: Option<String>,
    locator: &dyn FieldLocator,
) {
    let location = field.as_deref().map_or_else(|| locator.start(), |path| locator.field(path));
    (item.verdict, item.is_unsent) = (Verdict::Rejected, true);
    item.answer = Some(ServerResponse { code, reason: reason.to_owned(), message: message.clone() });
    let kind = reason.to_owned();
    item.errors = vec![Diagnostic { kind, field, message, location: Some(location), ..Diagnostic::default() }];
    item.hidden.clear();
    item.defaulted.clear();
    item.pruned.clear();
    (item.object, item.table) = (None, None);
}

/// Sets the default namespace or removes that of a cluster-scoped object, as kubectl does before it computes the
/// last-applied annotation.
pub fn in_namespace(mut object: Value, identity: &Identity) -> Value {
    let Some(namespace) = &identity.namespace else {
        remove_namespace(&mut object);
        return object;
    };
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("namespace").is_none_or(|own| own.is_null() || own.as_str() == Some(""))
    {
        metadata.insert("namespace".to_owned(), namespace.as_str().into());
    }
    object
}

/// Removes the namespace of an object that is not namespaced (`FilterNamespace` in `cli-runtime`).
pub(crate) fn remove_namespace(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("namespace").and_then(Value::as_str).is_some_and(|own| !own.is_empty())
    {
        metadata.remove("namespace");
    }
}
