//! Objects of the cluster that are not known, and for which it may refuse an object that is accepted here.

use crate::report::{ASK_THE_CLUSTER, ObjectReport, Verdict};
use crate::simulator::context::SimulationContext;
use crdx_builtin::{admin_access, priority};
use crdx_server::server::KnownObjects;
use crdx_value::Value;

/// An object of the cluster that decides the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    DefaultPriorityClass,
    Namespace,
}

/// Leaves the verdict on an accepted new object open if it depends on an object that is not known.
pub(super) fn leave_open(
    item: &mut ObjectReport,
    context: SimulationContext<'_>,
    sent: &Value,
    known: Option<&KnownObjects>,
) {
    if item.verdict != Verdict::Accepted {
        return;
    }
    let missing = missing((item.identity.group(), &item.identity.kind), sent, known);
    let (reason, help) = match missing {
        Some(Missing::DefaultPriorityClass) => {
            ("its priority must be that of the default PriorityClass", ASK_THE_CLUSTER.to_owned())
        }
        Some(Missing::Namespace) => {
            let reason = "the access of administrators to devices needs a label of the namespace";
            (reason, format!("give the Namespace among the inputs; {ASK_THE_CLUSTER}"))
        }
        _ => return,
    };
    let why = if context.configured_cluster().is_some() { "it could not be read" } else { "no cluster was asked" };
    item.verdict = Verdict::CannotTell;
    item.reason = format!("{reason}: {why}");
    item.help = Some(help);
}

/// Returns the object that decides the answer to a new object, if it is not known.
fn missing((group, kind): (&str, &str), sent: &Value, known: Option<&KnownObjects>) -> Option<Missing> {
    let classes = known.map(|known| &known.priority_classes);
    let has_class = classes.is_some_and(|classes| classes.is_complete);
    let has_namespace = known.is_some_and(|known| known.namespace.is_some());
    if (group, kind) == ("", "Pod") {
        (!has_class && priority::needs_default_class(sent)).then_some(Missing::DefaultPriorityClass)
    } else {
        let requests_access = admin_access::applies(group, kind) && admin_access::request(kind, sent).is_some();
        (requests_access && !has_namespace).then_some(Missing::Namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::server::KnownClasses;
    use crdx_text::json::read;
    use std::sync::Arc;

    fn missing_of(kind: (&str, &str), sent: &str, known: &KnownObjects) -> Option<Missing> {
        missing(kind, &read(sent.as_bytes()).unwrap(), Some(known))
    }

    #[test]
    fn a_pod_with_an_own_priority_needs_the_default_class() {
        let (pod, none) = (("", "Pod"), KnownObjects::default());
        let own = r#"{"spec":{"priority":5}}"#;
        assert_eq!(missing_of(pod, own, &none), Some(Missing::DefaultPriorityClass));
        assert_eq!(missing_of(pod, r#"{"spec":{"priority":0}}"#, &none), None);
        let priority_classes = KnownClasses { is_complete: true, ..KnownClasses::default() };
        assert_eq!(missing_of(pod, own, &KnownObjects { priority_classes, ..KnownObjects::default() }), None);
    }

    #[test]
    fn a_claim_for_the_access_of_administrators_needs_its_namespace() {
        let claim = ("resource.k8s.io", "ResourceClaim");
        let sent = r#"{"spec":{"devices":{"requests":[{"exactly":{"adminAccess":true}}]}}}"#;
        assert_eq!(missing_of(claim, sent, &KnownObjects::default()), Some(Missing::Namespace));
        assert_eq!(missing_of(claim, r#"{"spec":{}}"#, &KnownObjects::default()), None);
        let namespace = Some(Arc::new(Value::default()));
        assert_eq!(missing_of(claim, sent, &KnownObjects { namespace, ..KnownObjects::default() }), None);
    }
}
