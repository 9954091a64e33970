//! `AdmissionReview`: the request to an admission webhook and its answer (`request/admissionreview.go`).

use super::call::type_text;
use crate::policies::matching::Matched;
use crate::policies::request::Request;
use crdx_types::reviews::ReviewKind;
use crdx_value::GoError;
use crdx_value::base64::Encoding;
use crdx_value::{Map, Value, object, quote};

/// The versions of `AdmissionReview` that the server supports.
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Returns the version of `AdmissionReview` to send: the first accepted version that is known.
///
/// # Errors
/// Returns the server's message if the webhook accepts no known version.
pub fn version(accepted: &[String]) -> Result<&'static str, GoError> {
    let known = accepted.iter().find_map(|version| VERSIONS.into_iter().find(|known| known == version));
    known.ok_or_else(|| {
        "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)"
            .into()
    })
}

/// Builds the review of a request; `object` and `old_object` are in the version that the webhook matched.
pub fn review(
    version: &str,
    uid: &str,
    request: &Request<'_>,
    matched: &Matched,
    (object_, old_object): (Option<&Value>, Option<&Value>),
) -> Value {
    let mut out = request.to_value(&matched.kind, &matched.resource);
    if let Some(members) = out.as_object_mut() {
        members.insert("uid".to_owned(), uid.into());
        members.insert("object".to_owned(), object_.cloned().unwrap_or_default());
        members.insert("oldObject".to_owned(), old_object.cloned().unwrap_or_default());
    }
    object([
        ("kind", Value::from("AdmissionReview")),
        ("apiVersion", format!("{}/{version}", ReviewKind::Admission.group()).into()),
        ("request", out),
    ])
}

/// The answer of a webhook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AdmissionResponse {
    /// `allowed`
    pub allowed: bool,
    /// `patch` as a JSON patch, decoded from base64.
    pub patch: Vec<u8>,
    /// `patchType`
    pub patch_type: String,
    /// `status`
    pub status: Option<Value>,
    /// `warnings`
    pub warnings: Vec<String>,
}

/// Reads the answer to a review of this version and uid (`VerifyAdmissionResponse`).
///
/// # Errors
/// Returns the server's message for an invalid answer.
pub fn answer(review: &Value, version: &str, uid: &str, mutating: bool) -> Result<AdmissionResponse, GoError> {
    let invalid = |reason: String| format!("received invalid webhook response: {reason}");
    let Some(response) = review.get("response").filter(|response| !response.is_null()) else {
        return Err(invalid("webhook response was absent".to_owned()).into());
    };
    let AdmissionResponse { allowed, patch, patch_type, status, warnings } = read(response);
    let is_v1 = version == "v1";
    let actual = response.str_at(&["uid"]).unwrap_or_default();
    if is_v1 && actual != uid {
        let (uid, actual) = (quote::go_quote(uid), quote::go_quote(actual));
        return Err(invalid(format!("expected response.uid={uid}, got {actual}")).into());
    }
    let actual = type_text(review);
    let wanted = format!("{}/v1, Kind=AdmissionReview", ReviewKind::Admission.group());
    if is_v1 && actual != wanted {
        return Err(invalid(format!("expected webhook response of {wanted}, got {actual}")).into());
    }
    let typed = response.get("patchType").is_some_and(|type_| !type_.is_null());
    let problem = match (is_v1, mutating) {
        (true, true) if !patch.is_empty() && !typed => {
            Some("webhook returned response.patch but not response.patchType")
        }
        (true, true) if patch.is_empty() && typed => Some("webhook returned response.patchType but not response.patch"),
        (true, true) if typed && patch_type.is_empty() => Some("webhook returned invalid response.patchType of \"\""),
        (true, false) if !patch.is_empty() => Some("validating webhook may not return response.patch"),
        (true, false) if typed => Some("validating webhook may not return response.patchType"),
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(invalid(problem.to_owned()).into());
    }
    let patch_type = if is_v1 || patch.is_empty() { patch_type } else { "JSONPatch".to_owned() };
    let patch = if mutating { patch } else { Vec::new() };
    Ok(AdmissionResponse { allowed, patch, patch_type, status, warnings })
}

/// Reads a `response` whose members have the types that [`reviews::check`](crdx_types::reviews::check) requires.
fn read(response: &Value) -> AdmissionResponse {
    let text = |key: &str| response.str_at(&[key]).unwrap_or_default().to_owned();
    let warnings = response.get("warnings").and_then(Value::as_array).unwrap_or_default();
    AdmissionResponse {
        allowed: response.get("allowed").and_then(Value::as_bool).unwrap_or_default(),
        patch: Encoding::Standard.decode(&text("patch")).unwrap_or_default(),
        patch_type: text("patchType"),
        status: response.get("status").filter(|status| !status.is_null()).cloned(),
        warnings: warnings.iter().map(|warning| warning.as_str().unwrap_or_default().to_owned()).collect(),
    }
}

/// The `Status` of a rejection (`webhookerrors.ToStatusErr`).
pub fn rejection(webhook: &str, status: Option<&Value>) -> Value {
    let denied = format!("admission webhook {} denied the request", quote::go_quote(webhook));
    let mut members = status.and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let code = members.get("code").and_then(Value::as_int).unwrap_or_default();
    let message = match (text("message").as_str(), text("reason").as_str()) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let state = text("status");
    members.insert("code".to_owned(), Value::Int(code.max(400)));
    members
        .insert("status".to_owned(), if matches!(&*state, "" | "Success") { "Failure".into() } else { state.into() });
    members.insert("message".to_owned(), message.into());
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read as parse;

    fn reviewed(response: &str, mutating: bool) -> Result<AdmissionResponse, GoError> {
        let review =
            format!(r#"{{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{response}}}"#);
        answer(&parse(review.as_bytes()).unwrap(), "v1", "u", mutating)
    }

    #[test]
    fn answers_are_verified() {
        let patched = r#"{"uid":"u","allowed":true,"patch":"W10=","patchType":"JSONPatch","warnings":["w"]}"#;
        let answer = reviewed(patched, true).unwrap();
        assert_eq!((answer.allowed, answer.patch.as_slice(), answer.warnings.len()), (true, &b"[]"[..], 1));
        for (response, mutating, reason) in [
            ("null", true, "received invalid webhook response: webhook response was absent"),
            (r#"{"uid":"x"}"#, true, "received invalid webhook response: expected response.uid=\"u\", got \"x\""),
            (
                r#"{"uid":"u","patch":"W10="}"#,
                true,
                "received invalid webhook response: webhook returned response.patch but not response.patchType",
            ),
            (patched, false, "received invalid webhook response: validating webhook may not return response.patch"),
        ] {
            assert_eq!(reviewed(response, mutating).unwrap_err(), reason.into());
        }
    }

    #[test]
    fn a_rejection_is_a_failure_with_a_reason() {
        let status = |text: &str| {
            let status = rejection("w", Some(&parse(text.as_bytes()).unwrap()));
            (status.get("code").and_then(Value::as_int), status.str_at(&["message"]).unwrap_or_default().to_owned())
        };
        assert_eq!(status("{}"), (Some(400), "admission webhook \"w\" denied the request without explanation".into()));
        assert_eq!(
            status(r#"{"code":403,"message":"no","reason":"Forbidden"}"#),
            (Some(403), "admission webhook \"w\" denied the request: no".into())
        );
        assert_eq!(
            status(r#"{"code":200,"reason":"Forbidden"}"#),
            (Some(400), "admission webhook \"w\" denied the request: Forbidden".into())
        );
    }
}
