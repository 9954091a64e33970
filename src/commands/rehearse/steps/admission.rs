//! The steps for the policies and webhook configurations of an operator.

use super::{UpgradeSteps, step};
use crate::commands::rehearse::admission::{AdmissionChange, AdmissionObject, AdmissionUpgrade, ChangedWebhook};
use crate::commands::rehearse::report::admission::AdmissionCounts;
use crate::commands::rehearse::report::definition::plural;
use crdx_engine::report::Verdict;
use std::collections::BTreeSet;

impl UpgradeSteps {
    /// Adds the steps for policies and webhook configurations. The files of `applied` have their steps already.
    pub(super) fn add_admission(
        &mut self,
        admission: &AdmissionUpgrade<'_>,
        counts: &AdmissionCounts,
        mut applied: BTreeSet<String>,
    ) {
        self.fix_first(admission, counts);
        let is_replaced =
            |object: &&AdmissionObject| matches!(object.change, AdmissionChange::Added | AdmissionChange::Changed);
        let (webhooks, policies): (Vec<&AdmissionObject>, Vec<&AdmissionObject>) =
            admission.objects.iter().filter(is_replaced).partition(|object| object.has_webhooks());
        self.replace("admission policies", &policies, &mut applied);
        let removed = |has_webhooks: bool| {
            let is_removed = move |object: &&AdmissionObject| object.change == AdmissionChange::Removed;
            admission.objects.iter().filter(is_removed).filter(move |object| object.has_webhooks() == has_webhooks)
        };
        for object in removed(true) {
            let rejects = if object.webhooks.iter().any(|webhook| webhook.fails_closed) {
                "; the server rejects the writes that it matches while nothing answers"
            } else {
                ""
            };
            let AdmissionObject { kind, name, .. } = object;
            let text = format!(
                "delete the {kind} {name}, which is no longer part of the operator, before the old operator stops{rejects}"
            );
            self.during.push(step(text, Some(delete(object))));
        }
        self.wait_for_services(&webhooks, counts);
        self.replace("webhook configurations", &webhooks, &mut applied);
        for object in removed(false) {
            let AdmissionObject { kind, name, .. } = object;
            let text = format!("delete the {kind} {name}, which is no longer part of the operator");
            self.after.push(step(text, Some(delete(object))));
        }
    }

    fn fix_first(&mut self, admission: &AdmissionUpgrade<'_>, counts: &AdmissionCounts) {
        for item in &admission.refused {
            let message = item.errors.first().map_or(&item.reason, |error| &error.message);
            let does = if item.verdict == Verdict::Rejected { "does not accept" } else { "may not accept" };
            let text = format!("the server {does} {} {}: {message}", item.identity.kind, item.identity.name);
            self.before.push(step(text, None));
        }
        for (policy, denied) in counts.policies.denied() {
            let text = format!("fix {} whose next write the new policy {policy} denies", plural(denied, "object"));
            self.before.push(step(text, None));
        }
    }

    /// Adds a step for each file with one of the objects.
    fn replace(&mut self, what: &str, objects: &[&AdmissionObject], applied: &mut BTreeSet<String>) {
        for object in objects {
            let file = object.location.source.to_string();
            if applied.insert(file.clone()) {
                let command = format!("kubectl apply --server-side --force-conflicts -f {file}");
                self.during.push(step(format!("replace the {what} of {file}"), Some(command)));
            }
        }
    }

    /// Adds a step for each Service that a new or changed webhook calls.
    fn wait_for_services(&mut self, configurations: &[&AdmissionObject], counts: &AdmissionCounts) {
        let is_new = |webhook: &&ChangedWebhook| webhook.change != AdmissionChange::Unchanged && webhook.fails_closed;
        let called = configurations.iter().flat_map(|object| {
            let name = &object.name;
            object.webhooks.iter().filter(is_new).filter_map(move |one| Some((one.service.as_ref()?, name, &one.name)))
        });
        let called: Vec<(&String, &String, &String)> = called.collect();
        let services: BTreeSet<&String> = called.iter().map(|(service, ..)| *service).collect();
        for service in services {
            let own = called.iter().filter(|(other, ..)| *other == service);
            let own: Vec<(&str, &str)> = own.map(|(_, name, webhook)| (name.as_str(), webhook.as_str())).collect();
            let names: Vec<&str> = own.iter().map(|(_, webhook)| *webhook).collect();
            let objects = counts.called_by_any(&own);
            let text = format!(
                "start the new operator, and wait until its Service {service} answers: while it does not, the server rejects the writes that match {} ({} of the stored objects match)",
                names.join(", "),
                objects
            );
            self.during.push(step(text, None));
        }
    }
}

fn delete(object: &AdmissionObject) -> String {
    format!("kubectl delete {} {}", object.resource(), object.name)
}
