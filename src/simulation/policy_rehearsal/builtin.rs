//! The next write of stored objects of built-in kinds.

use super::{PolicyRehearsal, cannot_tell};
use crate::output::policy_rehearsal::Effects;
use crate::simulation::identity::{self, FieldLocator, Namespace};
use crdx::report::{Action, Answer, Diagnostic, ObjectReport, Verdict};
use crdx_cel::value::{Gaps, UsedGap};
use crdx_server::server::TypedWrite;
use crdx_types::{resources, table::table};
use crdx_value::{Map, Value, group_version, object};
use std::collections::BTreeMap;
use std::sync::PoisonError;

impl PolicyRehearsal<'_> {
    /// Returns the item of a stored object of a built-in kind, with the effects of the new policies. The object must be
    /// complete, as the cluster stores it, because its defaults are not simulated.
    pub(super) fn rehearse_builtin(&self, stored: &Value, locator: &dyn FieldLocator) -> (ObjectReport, Effects) {
        let own = identity::identity(stored, Namespace::Own);
        let (group, version) = group_version::split(&own.api_version);
        let minor = self.release.minor().number().into();
        let row = table().kind(&own.api_version, &own.kind, minor).filter(|row| row.served);
        let Some(row) = row else {
            let reason = format!("no matches for kind \"{}\" in version \"{}\"", own.kind, own.api_version);
            return cannot_tell(own.clone(), locator, reason, None);
        };
        let namespace = if row.cluster { Namespace::None } else { Namespace::Or(self.namespace) };
        let identity = identity::identity(stored, namespace);
        let has = |key: &str| stored.str_at(&["metadata", key]).is_some_and(|text| !text.is_empty());
        if !has("uid") || !has("creationTimestamp") {
            let reason =
                "it is not complete as a cluster stores it, and the defaults of built-in kinds are not simulated";
            let help = "give the objects as kubectl get -o yaml prints them";
            return cannot_tell(identity, locator, reason.to_owned(), Some(help));
        }
        if self.admission.read_managed_fields() {
            let reason = "a policy reads managedFields, which are not simulated for built-in kinds";
            return cannot_tell(identity, locator, reason.to_owned(), None);
        }
        let server = self.server();
        self.admission.prepare(identity.namespace.as_deref(), &server);
        let next = touched(stored);
        let plural = resources::plural(&identity.kind);
        let gaps = written_metadata();
        let is_namespace = group.is_empty() && identity.kind == "Namespace";
        let namespace = if is_namespace { Some(identity.name.as_str()) } else { identity.namespace.as_deref() };
        let write = TypedWrite {
            group,
            version,
            resource: &plural,
            kind: &identity.kind,
            namespace: namespace.unwrap_or_default(),
            name: &identity.name,
            object: &next,
            gaps: &gaps,
            old_object: Some(stored),
            field_manager: "",
            field_validation: "Ignore",
        };
        let decision = server.admit(&write);
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).push(server);
        let mut item = ObjectReport::new(locator.start(), Verdict::Decodes, "");
        item.identity = identity.clone();
        item.action = Action::Update;
        let problem = |kind: &str, message: String| Diagnostic {
            kind: kind.to_owned(),
            message,
            location: Some(locator.start()),
            ..Diagnostic::default()
        };
        item.warnings = decision.warnings.into_iter().map(|text| problem("Warning", text)).collect();
        if let Some((code, reason, message)) = decision.refusal {
            item.verdict = Verdict::Rejected;
            item.errors = vec![problem(&reason, message.clone())];
            item.answer = Some(Answer { code, reason, message });
        }
        let mut findings = decision.findings;
        findings.webhooks.clear();
        let (findings, effects) = self.effects(Box::new(findings));
        self.finish(item, effects, findings)
    }
}

/// The object with the label that the rehearsal adds.
fn touched(stored: &Value) -> Value {
    let mut next = stored.clone();
    let metadata = next.get_mut("metadata").and_then(Value::as_object_mut);
    if let Some(metadata) = metadata {
        let labels = metadata.entry("labels".to_owned()).or_insert_with(|| Value::Object(Map::new()));
        match labels.as_object_mut() {
            Some(labels) => drop(labels.insert("crdx-rehearsal".to_owned(), "touched".into())),
            None => *labels = object([("crdx-rehearsal", "touched")]),
        }
    }
    next
}

/// The metadata that a write changes.
fn written_metadata() -> Gaps {
    let used = UsedGap::default();
    let path = || "metadata".to_owned();
    let managed =
        Gaps { path: "metadata.managedFields".to_owned(), whole: true, used: used.clone(), ..Gaps::default() };
    let metadata = Gaps {
        path: path(),
        unset: ["managedFields"].into(),
        members: BTreeMap::from([("managedFields".to_owned(), managed)]),
        used: used.clone(),
        ..Gaps::default()
    };
    Gaps { members: BTreeMap::from([(path(), metadata)]), used, ..Gaps::default() }
}
