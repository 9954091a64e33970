//! Objects of aggregated APIs, which other API servers than kube-apiserver serve. Their validation is not simulated. The OpenAPI
//! document that the cluster publishes for them says which fields there are: kubectl rejects an object with other fields if the
//! server does not validate fields itself (`NewParamVerifyingSchema` in `k8s.io/kubectl`), and servers that do reject it.

mod schema;

use super::decoding::decoded::{BAD_REQUEST, PUBLISHED_SCHEMA};
use super::identity::FieldLocator as _;
use super::object::{Kind, Object};
use crate::cluster::Cluster;
use crate::kubectl::FieldValidation;
use crate::profile::published_schemas;
use crate::report::{Diagnostic, Identity, ObjectReport, PrunedField, ServerResponse, Verdict};
use crdx_value::suggest;
use schema::{Fault, Violation};

/// The reason for objects that violate the published schema only where other servers may accept it.
const NOT_SIMULATED: &str = "the validation of its API server is not simulated";
/// The reason for objects that conform to the published schema.
const CONFORMS: &str =
    "it conforms to the schema that the cluster publishes; the validation of its API server is not simulated";

/// Returns the item of an object of a kind that the cluster serves without a CRD; `None` if no schema is published for it.
pub(super) fn item(
    cluster: &dyn Cluster,
    object: &mut Object,
    identity: Identity,
    kind: &Kind,
    level: FieldValidation,
) -> Option<ObjectReport> {
    let (group, version, name) = kind;
    let document = cluster.list(&published_schemas::path(group, version)).ok()?;
    let schemas = document.at(&["components", "schemas"])?;
    let schema = published_schemas::of_kind(schemas, (group, version, name))?;
    let violations = schema::check(&document, schema, object.value());
    let finder = object.finder();
    let problem = |violation: &Violation, kind: &str| {
        let is_unknown = matches!(violation.fault, Fault::Unknown { .. });
        let location = if is_unknown { finder.name(&violation.path) } else { finder.field(&violation.path) };
        let help = match &violation.fault {
            Fault::Unknown { similar } => similar.as_deref().map(suggest::did_you_mean),
            _ => None,
        };
        Diagnostic {
            kind: kind.to_owned(),
            field: Some(violation.path.clone()),
            message: violation.message(),
            location: Some(location),
            help,
            ..Diagnostic::default()
        }
    };
    let (mut errors, mut warnings, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for violation in &violations {
        match (&violation.fault, level) {
            (Fault::Unknown { .. }, FieldValidation::Strict) | (Fault::Type { .. }, _) => {
                errors.push(problem(violation, BAD_REQUEST));
            }
            (Fault::Unknown { .. }, FieldValidation::Warn) => warnings.push(problem(violation, "Warning")),
            (Fault::Unknown { .. }, FieldValidation::Ignore) => {}
            // The server resets the status.
            _ if violation.path.split(['.', '[']).next() == Some("status") => {}
            _ => warnings.push(problem(violation, PUBLISHED_SCHEMA)),
        }
        if matches!(violation.fault, Fault::Unknown { .. }) {
            unknown.push(PrunedField::new(&violation.path, finder.name(&violation.path), None));
        }
    }
    let verdict = if errors.is_empty() { Verdict::Decodes } else { Verdict::Rejected };
    let reason = match verdict {
        Verdict::Rejected => "",
        _ if violations.is_empty() => CONFORMS,
        _ => NOT_SIMULATED,
    };
    let mut item = object.item(identity, verdict, reason);
    if !errors.is_empty() {
        item.answer = Some(refusal((version, name), &violations));
    }
    (item.errors, item.warnings, item.pruned) = (errors, warnings, unknown);
    Some(item)
}

/// The response to an object with fields that the schema does not have. Servers word other errors by their own types.
fn refusal((version, kind): (&str, &str), violations: &[Violation]) -> ServerResponse {
    let texts = |is_shown: &dyn Fn(&Fault) -> bool| {
        let shown = violations.iter().filter(|violation| is_shown(&violation.fault));
        shown.map(Violation::message).collect::<Vec<String>>().join(", ")
    };
    let mut detail = texts(&|fault| matches!(fault, Fault::Type { .. }));
    // Unknown fields are reported only for what can be decoded.
    if detail.is_empty() {
        detail = format!("strict decoding error: {}", texts(&|fault| matches!(fault, Fault::Unknown { .. })));
    }
    let message = format!("{kind} in version \"{version}\" cannot be handled as a {kind}: {detail}");
    ServerResponse { code: 400, reason: BAD_REQUEST.to_owned(), message }
}
