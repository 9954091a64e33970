//! The disruption budget of a pod that is evicted (`checkAndDecrement` in `pkg/registry/core/pod/storage/eviction.go`).

use super::{condition, members, registry, set_condition, text};
use crate::policies::selector::LabelSelector;
use crate::server::endpoints::backend::Backend;
use crate::server::http::context::Context;
use crate::server::http::options::WriteOptions;
use crate::server::http::status::{Cause, Details, Reason, Refusal};
use crate::server::metadata;
use crate::server::registry::Registry;
use crate::server::scope::GroupResource;
use crate::server::strategy::subresource::Subresource;
use crate::server::strategy::typed_resource::TypedResource;
use crdx_value::release::{V1_35, V1_37};
use crdx_value::{Map, Value};
use std::sync::Arc;

const DEFINITION: &str = "poddisruptionbudgets.policy";
const ALLOWED: &str = "DisruptionAllowed";

/// The largest number of evictions that the controller of budgets has not confirmed.
const MAX_DISRUPTED_PODS: usize = 2000;

/// The budget of a pod.
pub(super) struct Budget<'b> {
    object: Arc<Value>,
    registry: Registry<'b, TypedResource>,
}

/// The budget that selects a pod.
///
/// # Errors
/// Returns 500 if several do.
pub(super) fn of_pod<'b>(backend: &'b Backend, ctx: &Context<'_>, pod: &Value) -> Result<Option<Budget<'b>>, Refusal> {
    let Some(registry) = registry(backend, ctx, DEFINITION, Subresource::Status) else { return Ok(None) };
    let labels = metadata::get(pod, "labels").and_then(Value::as_object);
    let selects = |budget: &Value| {
        let selector = budget.at(&["spec", "selector"]).filter(|selector| !selector.is_null());
        selector.is_some_and(|selector| {
            let selector = LabelSelector::read(selector, ctx.release());
            selector.check().is_ok() && selector.matches(labels)
        })
    };
    let all = registry.all(&ctx.target.namespace)?;
    let mut selecting = all.into_iter().filter(|budget| selects(budget));
    let (first, second) = (selecting.next(), selecting.next());
    if second.is_some() {
        return Err(Refusal::unclassified(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        ));
    }
    Ok(first.map(|object| Budget { object, registry }))
}

fn number(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_int).unwrap_or_default()
}

impl Budget<'_> {
    /// Returns true if a pod that is not ready may be deleted without counting as a disruption.
    pub(crate) fn allows_unhealthy(&self) -> bool {
        let (healthy, desired) =
            (number(&self.object, &["status", "currentHealthy"]), number(&self.object, &["status", "desiredHealthy"]));
        text(&self.object, &["spec", "unhealthyPodEvictionPolicy"]) == "AlwaysAllow"
            || healthy >= desired && desired > 0
    }

    /// The refusal of an eviction while the budget changes (`createTooManyRequestsError`).
    pub fn busy(&self) -> Refusal {
        let name = metadata::text(&*self.object, "name");
        too_many(10, format!("The disruption budget {name} is still being processed by the server."))
    }

    /// Takes one disruption from the budget.
    pub fn take(&self, ctx: &Context<'_>, pod: &str, dry_run: bool) -> Result<(), Refusal> {
        let strategy = self.registry.strategy();
        let name = metadata::text(&*self.object, "name");
        let options = WriteOptions { field_manager: "kube-apiserver".to_owned(), ..WriteOptions::default() };
        self.registry.guaranteed_update(ctx, name, dry_run, &mut |budget| {
            self.check(ctx, budget)?;
            let live = budget.clone();
            take(budget, pod, &ctx.now());
            *budget = strategy.encode(budget);
            self.registry.update_managed_fields(ctx, Some(&live), budget, &options);
            Ok(())
        })?;
        Ok(())
    }

    fn check(&self, ctx: &Context<'_>, budget: &Value) -> Result<(), Refusal> {
        let name = metadata::text(budget, "name");
        let status = |key: &str| number(budget, &["status", key]);
        if status("observedGeneration") < metadata::generation(budget) {
            return Err(self.busy());
        }
        let allowed = status("disruptionsAllowed");
        let forbid = |detail: &str, cause: &str| {
            let of = GroupResource { group: "policy", resource: "poddisruptionbudget" };
            let mut refusal = Refusal::forbidden(of, name, detail);
            // 1.37 added the cause.
            if ctx.release().since(V1_37)
                && let Some(details) = &mut refusal.details
            {
                let message = format!("The disruption budget {name} does not allow evicting pods currently: {cause}");
                details.causes.push(cause_of(message));
            }
            Err(refusal)
        };
        if allowed < 0 {
            let detail = "pdb disruptions allowed is negative";
            return forbid(detail, detail);
        }
        let disrupted = budget.at(&["status", "disruptedPods"]).and_then(Value::as_object).map_or(0, Map::len);
        if disrupted > MAX_DISRUPTED_PODS {
            return forbid(
                "DisruptedPods map too big - too many evictions not confirmed by PDB controller",
                "too many pending evictions not confirmed by PDB controller",
            );
        }
        if allowed > 0 {
            return Ok(());
        }
        let (desired, healthy) = (status("desiredHealthy"), status("currentHealthy"));
        let needs = format!("The disruption budget {name} needs {desired} healthy pods and has {healthy} currently");
        if !ctx.release().since(V1_35) {
            return Err(too_many(0, needs));
        }
        let blocked = format!("The disruption budget {name} does not allow evicting pods currently");
        let failed = condition(budget, ALLOWED).filter(|c| c.str_at(&["status"]) == Some("False"));
        let failed = failed.map(|c| (text(c, &["reason"]), text(c, &["message"]))).filter(|(_, text)| !text.is_empty());
        let message = match failed {
            Some(("SyncFailed", detail)) => format!("{blocked} because it failed sync: {detail}"),
            _ if healthy <= desired => needs,
            Some((reason, detail)) => format!("{blocked} ({reason}): {detail}"),
            None => blocked,
        };
        Err(too_many(0, message))
    }
}

fn take(budget: &mut Value, pod: &str, now: &str) {
    let left = number(budget, &["status", "disruptionsAllowed"]) - 1;
    budget.insert_at(&["status", "disruptionsAllowed"], Value::Int(left));
    if left == 0 {
        disallow(budget, now);
    }
    budget.insert_at(&["status", "disruptedPods", pod], now.into());
}

/// `UpdateDisruptionAllowedCondition` without disruptions left
fn disallow(budget: &mut Value, now: &str) {
    let observed = number(budget, &["status", "observedGeneration"]);
    let mut condition = members([
        ("type", ALLOWED.into()),
        ("status", "False".into()),
        ("reason", "InsufficientPods".into()),
        ("message", "".into()),
    ]);
    if observed != 0 {
        condition.insert("observedGeneration".to_owned(), Value::Int(observed));
    }
    set_condition(budget, condition, now);
}

fn cause_of(message: String) -> Cause {
    Cause { reason: "DisruptionBudget".to_owned(), message, ..Cause::default() }
}

/// `NewTooManyRequests`
fn too_many(retry_after_seconds: i64, cause: String) -> Refusal {
    let text = "Cannot evict pod as it would violate the pod's disruption budget.";
    let details = Details { causes: vec![cause_of(cause)], retry_after_seconds, ..Details::default() };
    Refusal { details: Some(Box::new(details)), ..Refusal::unrouted(429, Reason::TooManyRequests, text) }
}
