//! `ConversionReview`: conversion of custom resources by a webhook
//! (`apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go`).

use super::call::{self, CallOutcome, type_text};
use crate::crd::{CustomResourceDefinition, WebhookClientConfig};
use crdx_types::reviews::ReviewKind;
use crdx_value::GoError;
use crdx_value::field::{FieldError, FieldPath, names};
use crdx_value::group_version;
use crdx_value::json::go_kind;
use crdx_value::release::Release;
use crdx_value::{Map, Value, object, print, quote};
use std::sync::Arc;

const GROUP: &str = "apiextensions.k8s.io";
/// The client's timeout: conversion webhooks have no `timeoutSeconds`.
pub(crate) const TIMEOUT_SECONDS: u64 = 30;

/// The conversion webhook of a CRD.
#[derive(Clone, Debug)]
pub struct Converter {
    /// The address of the webhook.
    pub target: Arc<WebhookClientConfig>,
    versions: Vec<String>,
    release: Release,
}

impl Converter {
    /// Returns the conversion webhook of a CRD; `None` if its objects are converted without one.
    pub fn from_crd(crd: &CustomResourceDefinition, release: Release) -> Option<Self> {
        let conversion = crd.spec.conversion.as_ref().filter(|conversion| conversion.strategy == "Webhook")?;
        let target = Arc::new(conversion.client_config.clone()?);
        Some(Self { target, versions: conversion.review_versions.clone(), release })
    }

    fn version(&self) -> Result<&'static str, GoError> {
        let known = self.versions.iter().find_map(|version| ["v1", "v1beta1"].into_iter().find(|v| v == version));
        known.ok_or_else(|| "no supported conversion review versions".into())
    }

    /// Builds the review that requests `original` in another version.
    ///
    /// # Errors
    /// Returns the server's message if the webhook accepts no known version of `ConversionReview`.
    pub fn review(&self, original: &Value, desired: &str, uid: &str) -> Result<Value, GoError> {
        let request = object([
            ("uid", Value::from(uid)),
            ("desiredAPIVersion", desired.into()),
            ("objects", Value::Array(vec![without_revision(original)])),
        ]);
        let empty = object([
            ("uid", Value::from("")),
            ("convertedObjects", Value::Null),
            ("result", object([("metadata", object::<String, Value>([]))])),
        ]);
        Ok(object([
            ("kind", Value::from("ConversionReview")),
            ("apiVersion", format!("{GROUP}/{}", self.version()?).into()),
            ("request", request),
            ("response", empty),
        ]))
    }

    /// Returns the converted object: the webhook's object with the metadata of the original, except labels and
    /// annotations.
    ///
    /// # Errors
    /// Returns the server's message for a failed call or an invalid answer.
    pub fn converted(
        &self,
        original: &Value,
        desired: &str,
        uid: &str,
        outcome: &CallOutcome,
    ) -> Result<Value, GoError> {
        let of = type_text(original);
        let failed = |error: GoError| format!("conversion webhook for {of} failed: {error}");
        let version = self.version()?;
        let review = call::review(outcome, ReviewKind::Conversion, version, self.release).map_err(failed)?;
        let mut objects = objects_of(&review, version, uid).map_err(failed)?;
        if objects.len() != 1 {
            return Err(format!("conversion webhook for {of} returned {} objects, expected 1", objects.len()).into());
        }
        let mut converted = objects.pop().unwrap_or_default();
        let invalid =
            |error: String| format!("conversion webhook for {of} returned invalid object at index 0: {error}");
        let text = |object: &Value, path: &[&str]| object.str_at(path).unwrap_or_default().to_owned();
        match &converted {
            Value::Object(_) => {}
            // `RawExtension` ignores `null` and stays empty.
            Value::Null => return Err("unexpected end of JSON input".into()),
            other => {
                let kind = go_kind(other);
                return Err(
                    format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}").into()
                );
            }
        }
        if text(&converted, &["kind"]).is_empty() {
            return Err(format!("Object 'Kind' is missing in '{}'", crdx_value::json::to_string(&converted)).into());
        }
        let received = text(&converted, &["apiVersion"]);
        if received != desired {
            let desired = group_version_text(desired);
            let received = group_version_text(&received);
            return Err(invalid(format!("invalid groupVersion (expected {desired}, received {received})")).into());
        }
        let (expected, actual) = (text(original, &["kind"]), text(&converted, &["kind"]));
        if expected != actual {
            return Err(invalid(format!("invalid kind (expected {expected}, received {actual})")).into());
        }
        for (key, what) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
            let (expected, actual) = (text(original, &["metadata", key]), text(&converted, &["metadata", key]));
            if expected != actual {
                return Err(format!(
                    "conversion webhook for {of} returned invalid object: must have the same {what}: {expected} != {actual}"
                ).into());
            }
        }
        restore_metadata(original, &mut converted, self.release)
            .map_err(|error| format!("conversion webhook for {of} returned invalid metadata: {error}"))?;
        Ok(converted)
    }
}

/// Returns true if the object has only `apiVersion` and `kind`; such an object is not sent.
pub fn is_empty(object: &Value) -> bool {
    object
        .as_object()
        .is_some_and(|members| members.len() == 2 && members.contains_key("kind") && members.contains_key("apiVersion"))
}

/// Removes `resourceVersion`, which storage sets only after conversion.
fn without_revision(original: &Value) -> Value {
    let mut sent = original.clone();
    if let Some(metadata) = sent.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    sent
}

/// `GroupVersion.String`, which omits the slash if the group is empty.
fn group_version_text(api_version: &str) -> String {
    let (group, version) = group_version::split(api_version);
    group_version::api_version(group, version)
}

/// `getConvertedObjectsFromResponse`
fn objects_of(review: &Value, version: &str, uid: &str) -> Result<Vec<Value>, GoError> {
    let (actual, wanted) = (type_text(review), format!("{GROUP}/v1, Kind=ConversionReview"));
    if version == "v1" && actual != wanted {
        return Err(format!("expected webhook response of {wanted}, got {actual}").into());
    }
    let Some(response) = review.get("response").filter(|response| !response.is_null()) else {
        return Err("no response provided".into());
    };
    let actual = response.str_at(&["uid"]).unwrap_or_default();
    if version == "v1" && actual != uid {
        return Err(format!("expected response.uid={}, got {}", quote::go_quote(uid), quote::go_quote(actual)).into());
    }
    let status = response.str_at(&["result", "status"]).unwrap_or_default();
    if status != "Success" {
        let message = response.str_at(&["result", "message"]).unwrap_or_default();
        return Err(if message.is_empty() {
            format!("response.result.status was '{status}', not 'Success'").into()
        } else {
            message.into()
        });
    }
    Ok(response.get("convertedObjects").and_then(Value::as_array).unwrap_or_default().to_vec())
}

/// `restoreObjectMeta`
fn restore_metadata(original: &Value, converted: &mut Value, release: Release) -> Result<(), GoError> {
    let Some(answered) = converted.get("metadata").cloned() else {
        return Err("missing metadata in converted object".into());
    };
    if answered.as_object().is_none() {
        return Err(format!("invalid metadata of type {} in converted object", print::type_name(&answered)).into());
    }
    let mut metadata = original.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    for key in ["labels", "annotations"] {
        let Some(given) = answered.get(key).filter(|given| !given.is_null()) else {
            metadata.remove(key);
            continue;
        };
        let Some(members) = given.as_object() else {
            return Err(
                format!("invalid metadata.{key} of type {} in converted object", print::type_name(given)).into()
            );
        };
        if let Some((name, other)) = members.iter().find(|(_, value)| value.as_str().is_none()) {
            let type_ = print::type_name(other);
            return Err(format!("metadata.{key}[{name}] must be a string, but is {type_} in converted object").into());
        }
        if metadata.get(key) != Some(given) {
            check(key, members, release)?;
        }
        metadata.insert(key.to_owned(), given.clone());
    }
    if let Some(members) = converted.as_object_mut() {
        members.insert("metadata".to_owned(), Value::Object(metadata));
    }
    Ok(())
}

/// The maximum number of bytes of all annotations.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Checks that labels or annotations that the webhook changed are valid.
fn check(key: &str, members: &Map, release: Release) -> Result<(), GoError> {
    let metadata = FieldPath::new("metadata");
    let mut errors = Vec::new();
    if key == "labels" {
        let path = metadata.child("labels");
        for (key, value) in members {
            let value = value.as_str().unwrap_or_default();
            errors.extend(
                names::qualified_name(key, release).into_iter().map(|c| FieldError::invalid(&path, key.as_str(), c)),
            );
            errors.extend(names::label_value(value, release).into_iter().map(|c| FieldError::invalid(&path, value, c)));
        }
    } else {
        // The API server omits the "s".
        let path = metadata.child("annotation");
        for key in members.keys() {
            let messages = names::qualified_name(&key.to_lowercase(), release);
            errors.extend(messages.into_iter().map(|c| FieldError::invalid(&path, key.as_str(), c)));
        }
        let size: usize = members.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
        if size > MAX_ANNOTATIONS {
            errors.push(FieldError::too_long(&path, MAX_ANNOTATIONS as i64, release));
        }
    }
    let mut texts: Vec<String> = Vec::new();
    for text in errors.iter().map(ToString::to_string) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match &*texts {
        [] => Ok(()),
        [one] => Err(one.clone().into()),
        many => Err(format!("[{}]", many.join(", ")).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    const ORIGINAL: &str = r#"{"apiVersion":"g.io/v1","kind":"K","metadata":{"name":"a","uid":"1","generation":3,
        "resourceVersion":"7","labels":{"a":"b"}},"spec":{"x":1}}"#;

    fn converted(answer: &str) -> Result<Value, GoError> {
        let target = WebhookClientConfig { url: Some("https://h/".to_owned()), ..Default::default() };
        let versions = vec!["v2".to_owned(), "v1".to_owned()];
        let converter = Converter { target: Arc::new(target), versions, release: Release::NEWEST };
        let original = read(ORIGINAL.as_bytes()).unwrap();
        let review = converter.review(&original, "g.io/v2", "u").unwrap();
        assert_eq!(review.str_at(&["request", "desiredAPIVersion"]), Some("g.io/v2"));
        let answer = format!(
            r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{{"uid":"u",{answer}}}}}"#
        );
        let outcome = CallOutcome::Answered { code: 200, is_text: false, body: answer.into_bytes() };
        converter.converted(&original, "g.io/v2", "u", &outcome)
    }

    fn with(object: &str) -> String {
        format!(r#""result":{{"status":"Success"}},"convertedObjects":[{object}]"#)
    }

    #[test]
    fn metadata_is_that_of_the_original_but_for_labels_and_annotations() {
        let answer = with(
            r#"{"apiVersion":"g.io/v2","kind":"K","metadata":{"name":"a","uid":"1","generation":9,"annotations":{"n":"m"}},"spec":{"y":1}}"#,
        );
        let object = converted(&answer).unwrap();
        assert_eq!(
            crdx_value::json::to_string(&object),
            r#"{"apiVersion":"g.io/v2","kind":"K","metadata":{"annotations":{"n":"m"},"generation":3,"name":"a","resourceVersion":"7","uid":"1"},"spec":{"y":1}}"#
        );
    }

    #[test]
    fn answers_are_checked() {
        let of = "conversion webhook for g.io/v1, Kind=K";
        for (answer, reason) in [
            (r#""result":{"status":"Failed","message":"no"}"#.to_owned(), "failed: no"),
            (r#""result":{}"#.to_owned(), "failed: response.result.status was '', not 'Success'"),
            (r#""result":{"status":"Success"}"#.to_owned(), "returned 0 objects, expected 1"),
            (
                with(r#"{"apiVersion":"g.io/v1","kind":"K"}"#),
                "returned invalid object at index 0: invalid groupVersion (expected g.io/v2, received g.io/v1)",
            ),
            (
                with(r#"{"apiVersion":"g.io/v2","kind":"L"}"#),
                "returned invalid object at index 0: invalid kind (expected K, received L)",
            ),
            (
                with(r#"{"apiVersion":"g.io/v2","kind":"K","metadata":{"name":"b"}}"#),
                "returned invalid object: must have the same name: a != b",
            ),
            (
                with(r#"{"apiVersion":"g.io/v2","kind":"K","metadata":{"name":"a","uid":"1","labels":{"x":1}}}"#),
                "returned invalid metadata: metadata.labels[x] must be a string, but is int64 in converted object",
            ),
        ] {
            assert_eq!(converted(&answer).unwrap_err(), format!("{of} {reason}").into());
        }
    }
}
