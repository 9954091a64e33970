//! Adds the effects of policies on an object to its item.

use super::{Admission, words};
use crate::output::report::admission::{
    Admission as Report, FieldChange, PolicyChange, PolicyFailure, Undecided, Webhook,
};
use crate::output::report::{Item, Problem, Verdict};
use crate::policies::denial::Origin;
use crate::policies::findings::{Change, Findings, Interception};
use crate::policies::knowledge::{Doubt, Missing};
use crate::policies::model::Family;
use crate::rehearsal::Difference;

/// Adds what policies found and changed, if there are policies.
pub fn admitted(item: &mut Item, findings: Option<Box<Findings>>, admission: Option<&Admission>) {
    if let (Some(findings), Some(admission)) = (findings, admission) {
        admission.report(item, *findings);
    }
}

impl Admission {
    /// Adds what policies found and changed to the item of an object.
    pub fn report(&self, item: &mut Item, findings: Findings) {
        let Findings { changes, denials, warnings, audits, annotations, doubts, webhooks } = findings;
        // An error says it already.
        for audit in audits.iter().filter(|audit| !denials.contains(audit)) {
            let message = format!(
                "ValidatingAdmissionPolicy '{}' with binding '{}' records a failure in the audit log: {}",
                audit.policy, audit.binding, audit.message
            );
            item.warnings.push(self.problem("Audit", message, audit, item));
        }
        // The first denial is the server's answer.
        if let (Some(first), Some(error)) = (denials.first(), item.errors.first_mut()) {
            error.help = Some(self.failure(first).origin());
        }
        for denial in denials.iter().skip(1).filter(|_| item.verdict == Verdict::Rejected) {
            let kind = item.answer.as_ref().map_or_else(String::new, |answer| answer.reason.clone());
            item.errors.push(self.problem(&kind, denial.cause(), denial, item));
        }
        let open = |doubt: &&Doubt| {
            let of_user = matches!(doubt.missing, Missing::User | Missing::Authorizer);
            doubt.decides && (self.strict || !of_user)
        };
        let undecided = doubts.iter().map(|doubt| Undecided { decides: open(&doubt), ..self.undecided(doubt) });
        let undecided: Vec<Undecided> = undecided.collect();
        let first_open = doubts.iter().find(open);
        // A mutating policy could change what is refused.
        let could_change = doubts.iter().filter(open).any(|doubt| doubt.family == Family::Mutating);
        if let Some(doubt) = first_open
            && (item.verdict != Verdict::Rejected || could_change)
        {
            let Undecided { message, help, .. } = self.undecided(doubt);
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

    fn problem(&self, kind: &str, message: String, origin: &Origin, item: &Item) -> Problem {
        let help = Some(self.failure(origin).origin());
        Problem { kind: kind.to_owned(), message, spot: Some(item.spot.clone()), help, ..Problem::default() }
    }

    fn failure(&self, origin: &Origin) -> PolicyFailure {
        let Origin { family, policy, binding, validation, expression, message } = origin.clone();
        let spot = self.places.get(&(family, policy.clone())).cloned();
        PolicyFailure { policy, binding, validation, expression, message, spot }
    }

    fn interception(&self, webhook: &Interception) -> Webhook {
        let Interception { family, configuration, webhook, missing } = webhook;
        Webhook {
            family: *family,
            configuration: configuration.clone(),
            name: webhook.clone(),
            depends_on: missing.as_ref().map(words::missing),
            help: missing.as_ref().map(|missing| words::help(missing, self.live.is_some())),
        }
    }

    fn undecided(&self, doubt: &Doubt) -> Undecided {
        Undecided {
            policy: doubt.policy.clone(),
            binding: doubt.binding.clone(),
            message: words::message(doubt),
            help: words::help(&doubt.missing, self.live.is_some()),
            decides: doubt.decides,
        }
    }
}

fn changed(change: &Change) -> PolicyChange {
    let Difference { lost, defaulted, changed, .. } =
        Difference::between(&change.before, &change.after, &crate::value::Value::Null);
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
