//! Adds the effects of policies on an object to its item.

use super::Admission;
use super::messages::{self, Reason};
use crate::report::Difference;
use crate::report::admission::{Admission as Report, FieldChange, PolicyChange, PolicyFailure, UndecidedPart, Webhook};
use crate::report::{Diagnostic, ObjectReport, Verdict};
use crdx_server::policies::denial::Origin;
use crdx_server::policies::findings::{Change, Findings, WebhookMatch};
use crdx_server::policies::knowledge::{Missing, UnevaluatedPart};
use crdx_server::policies::model::PolicyKind;

/// Adds the findings of policies to an item, if there are policies.
pub fn admitted(item: &mut ObjectReport, findings: Option<Box<Findings>>, admission: Option<&Admission>) {
    if let (Some(findings), Some(admission)) = (findings, admission) {
        admission.report(item, *findings);
    }
}

impl Admission {
    /// Adds the findings of policies to the item of an object.
    pub fn report(&self, item: &mut ObjectReport, findings: Findings) {
        let Findings { changes, denials, warnings, audits, annotations, unevaluated, webhooks } = findings;
        // A denial with the same text is reported as an error.
        for audit in audits.iter().filter(|audit| !denials.contains(audit)) {
            let message = format!(
                "ValidatingAdmissionPolicy '{}' with binding '{}' records a failure in the audit log: {}",
                audit.policy, audit.binding, audit.message
            );
            item.warnings.push(self.problem("Audit", message, audit, item));
        }
        // The first denial is the server's response.
        if let (Some(first), Some(error)) = (denials.first(), item.errors.first_mut()) {
            error.help = Some(self.failure(first).origin());
        }
        for denial in denials.iter().skip(1).filter(|_| item.verdict == Verdict::Rejected) {
            let kind = item.answer.as_ref().map_or_else(String::new, |answer| answer.reason.clone());
            item.errors.push(self.problem(&kind, denial.cause(), denial, item));
        }
        let open = |unevaluated: &&UnevaluatedPart| {
            let of_user = matches!(unevaluated.missing, Missing::User | Missing::Authorizer);
            unevaluated.decides && (self.strict || !of_user)
        };
        let undecided = unevaluated
            .iter()
            .map(|unevaluated| UndecidedPart { decides: open(&unevaluated), ..self.undecided(unevaluated) });
        let undecided: Vec<UndecidedPart> = undecided.collect();
        let first_open = unevaluated.iter().find(open);
        // A mutating policy could change the object that is rejected.
        let could_change =
            unevaluated.iter().filter(open).any(|unevaluated| unevaluated.policy_kind == PolicyKind::Mutating);
        if let Some(unevaluated) = first_open
            && (item.verdict != Verdict::Rejected || could_change)
        {
            let UndecidedPart { message, help, .. } = self.undecided(unevaluated);
            (item.verdict, item.reason, item.help) = (Verdict::CannotTell, message, Some(help));
            (item.answer, item.object, item.table) = (None, None, None);
            item.errors.clear();
            item.hidden.clear();
        }
        let failures = |origins: &[Origin]| origins.iter().map(|origin| self.failure(origin)).collect();
        item.admission = Some(Box::new(Report {
            denied: failures(&denials),
            warned: failures(&warnings),
            audited: failures(&audits),
            annotations,
            mutated: changes.iter().map(changed).collect(),
            undecided,
            webhooks: webhooks.iter().map(|webhook| self.interception(webhook)).collect(),
        }));
    }

    fn problem(&self, kind: &str, message: String, origin: &Origin, item: &ObjectReport) -> Diagnostic {
        let help = Some(self.failure(origin).origin());
        Diagnostic {
            kind: kind.to_owned(),
            message,
            location: Some(item.location.clone()),
            help,
            ..Diagnostic::default()
        }
    }

    fn failure(&self, origin: &Origin) -> PolicyFailure {
        let Origin { policy_kind, policy, binding, validation, expression, message } = origin.clone();
        let location = self.locations.get(&(policy_kind, policy.clone())).cloned();
        PolicyFailure { policy, binding, validation, expression, message, location }
    }

    fn interception(&self, webhook: &WebhookMatch) -> Webhook {
        let WebhookMatch { policy_kind, configuration, webhook, missing } = webhook;
        Webhook {
            policy_kind: *policy_kind,
            configuration: configuration.clone(),
            name: webhook.clone(),
            depends_on: missing.as_ref().map(messages::missing),
            help: missing.as_ref().map(|missing| messages::help(missing, self.reason(missing))),
        }
    }

    /// The reason why an input is unknown.
    fn reason(&self, missing: &Missing) -> Reason {
        match missing {
            Missing::Namespace { name, .. } if self.live.as_ref().is_some_and(|live| live.misses_namespace(name)) => {
                Reason::NoNamespace
            }
            _ if self.live.is_some() => Reason::NotReadable,
            _ => Reason::NotInFiles,
        }
    }

    fn undecided(&self, unevaluated: &UnevaluatedPart) -> UndecidedPart {
        let reason = self.reason(&unevaluated.missing);
        UndecidedPart {
            policy: unevaluated.policy.clone(),
            binding: unevaluated.binding.clone(),
            message: messages::message(unevaluated, reason),
            help: messages::help(&unevaluated.missing, reason),
            decides: unevaluated.decides,
        }
    }
}

fn changed(change: &Change) -> PolicyChange {
    let Difference { lost, defaulted, changed, .. } =
        Difference::between(&change.before, &change.after, &crdx_value::Value::Null);
    let lost = lost.into_iter().map(|(path, value)| FieldChange { path, before: Some(value), after: None });
    let set = defaulted.into_iter().map(|(path, value)| FieldChange { path, before: None, after: Some(value) });
    let other = changed.into_iter();
    let other = other.map(|(path, before, after)| FieldChange { path, before: Some(before), after: Some(after) });
    PolicyChange {
        policy: change.policy.clone(),
        binding: change.binding.clone(),
        fields: lost.chain(set).chain(other).collect(),
    }
}
