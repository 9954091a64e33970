//! Admission policies on objects of built-in kinds.

use super::Rules;
use crate::simulation::admission::admitted;
use crate::simulation::context::SimulationContext;
use crate::simulation::existing::Found;
use crate::simulation::identity::FieldLocator;
use crdx::kubectl::Operation;
use crdx::report::{ASK_THE_CLUSTER, Answer, Diagnostic, ObjectReport, Verdict};
use crdx_server::server::TypedWrite;
use crdx_types::resources;
use crdx_types::table::KindRow;
use crdx_types::types::Types;
use crdx_types::unstructured::unstructured;
use crdx_value::group_version;
use crdx_value::{Map, Value};

/// Lets policies evaluate the create of an object that decodes, `sent` as it is written in the input.
pub fn review(
    item: &mut ObjectReport,
    sent: &Value,
    found: Found,
    row: &KindRow,
    rules: Rules,
    context: SimulationContext<'_>,
    locator: &dyn FieldLocator,
) {
    let Some(admission) = context.admission else { return };
    let identity = item.identity.clone();
    let (group, version) = group_version::split(&identity.api_version);
    let plural = resources::plural(&identity.kind);
    if !admission.may_match(group, &plural) {
        return;
    }
    let open = |item: &mut ObjectReport, reason: String| {
        (item.verdict, item.reason, item.help) = (Verdict::CannotTell, reason, Some(ASK_THE_CLUSTER.to_owned()));
    };
    let request_kind = &context.updates.request_kind;
    match found {
        Found::Nothing if request_kind.may_create() => {}
        Found::Error(error) => {
            let reason =
                format!("admission policies match it, and it is not known whether it exists: {}", error.message);
            return open(item, reason);
        }
        _ => {
            let reason = "admission policies match it, and updates of built-in kinds are not simulated".to_owned();
            return open(item, reason);
        }
    }
    let is_named = !sent.str_at(&["metadata", "name"]).is_none_or(str::is_empty);
    let operation = request_kind.operation(is_named, false);
    let object = as_created(sent, identity.namespace.as_deref(), operation);
    let types = Types::of(rules.minor());
    let Some(shown) = unstructured(types, row.type_name, &identity.kind, &object) else { return };
    admission.prepare(identity.namespace.as_deref(), context.server);
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default();
    let namespace = if identity.kind == "Namespace" && group.is_empty() {
        name
    } else {
        identity.namespace.as_deref().unwrap_or_default()
    };
    let write = TypedWrite {
        group,
        version,
        resource: &plural,
        kind: &identity.kind,
        namespace,
        name,
        object: &shown.object,
        gaps: &shown.gaps,
        old_object: None,
        field_manager: request_kind.field_manager(operation),
        field_validation: rules.level.as_str(),
    };
    let decision = context.server.admit(&write);
    let spot = Some(locator.start());
    let problem = |kind: &str, message: &str| Diagnostic {
        kind: kind.to_owned(),
        message: message.to_owned(),
        location: spot.clone(),
        ..Diagnostic::default()
    };
    item.warnings.extend(decision.warnings.iter().map(|text| problem("Warning", text)));
    if let Some((code, reason, message)) = decision.refusal {
        item.verdict = Verdict::Rejected;
        item.errors = vec![problem(&reason, &message)];
        item.answer = Some(Answer { code, reason, message });
    }
    // Webhooks are reported for custom resources only.
    let mut findings = decision.findings;
    findings.webhooks.clear();
    admitted(item, Some(Box::new(findings)), Some(admission));
}

/// The object in the request that creates it.
fn as_created(sent: &Value, namespace: Option<&str>, operation: Operation) -> Value {
    let mut object = sent.clone();
    if let (Some(namespace), Some(members)) = (namespace, object.as_object_mut()) {
        let metadata = members.entry("metadata".to_owned()).or_insert_with(|| Value::Object(Map::new()));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
    }
    operation.whole_object(object)
}
