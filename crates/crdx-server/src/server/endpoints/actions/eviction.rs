//! `pods/eviction`: deletes a pod unless its disruption budget forbids it (`EvictionREST` in
//! `pkg/registry/core/pod/storage/eviction.go`).

use super::{Request, budgets, condition, members, set_condition, text};
use crate::server::endpoints::backend::Backend;
use crate::server::http::context::Context;
use crate::server::http::delete_options::DeleteOptions;
use crate::server::http::paused::OnConflict;
use crate::server::http::status::{Reason, Refusal};
use crate::server::metadata;
use crate::server::registry::Registry;
use crate::server::scope::GroupResource;
use crate::server::strategy::typed_resource::TypedResource;
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath};
use crdx_value::release::V1_32;

/// The name of pods in the messages of failed preconditions.
const POD: GroupResource<'static> = GroupResource { group: "", resource: "Pod" };

/// Evicts the pod.
pub(super) fn create(
    ctx: &mut Context<'_>,
    backend: &Backend,
    pods: &Registry<'_, TypedResource>,
    request: &Request<'_>,
) -> Result<(), Refusal> {
    let (eviction, name) = (&request.object, request.name);
    if name != metadata::text(eviction, "name") {
        return Err(Refusal::bad_request("name in URL does not match name in Eviction object"));
    }
    let ignores = ["deleteOptions", "ignoreStoreReadErrorWithClusterBreakingPotential"];
    if ctx.release().since(V1_32) && eviction.at(&ignores) == Some(&Value::Bool(true)) {
        let options = FieldPath::new("deleteOptions");
        let detail = "can not be set for pod eviction, try after removing the option";
        let error = FieldError::invalid(&options.child(ignores[1]), true, detail);
        return Err(Refusal::invalid(GroupResource { group: "policy", resource: "Eviction" }, name, vec![error]));
    }
    let options = options(eviction, request.options.dry_run, ctx)?;
    request.admit(ctx)?;
    let names_revision = options.resource_version.is_some();
    let pod = loop {
        let pod = pods.find(ctx, name)?;
        if !ignores_budgets(&pod) {
            break pod;
        }
        let enforced = !is_terminal(&pod) && !names_revision;
        let attempt = if enforced { at_revision(&options, &pod) } else { options.clone() };
        match delete(ctx, pods, name, attempt) {
            Err(refusal) if refusal.reason == Reason::Conflict && !names_revision => {}
            done => {
                if let Some(paused) = ctx.paused.as_mut().filter(|_| !names_revision) {
                    paused.on_conflict = OnConflict::Retry;
                }
                return done;
            }
        }
    };
    let budget = budgets::of_pod(backend, ctx, &pod)?;
    let Some(budget) = budget else { return delete(ctx, pods, name, options) };
    if !is_ready(&pod) && budget.allows_unhealthy() {
        let deleted = delete(ctx, pods, name, at_revision(&options, &pod));
        if let Some(paused) = ctx.paused.as_mut().filter(|_| !names_revision) {
            paused.on_conflict = OnConflict::Refuse(Box::new(budget.busy()));
        }
        return deleted.map_err(|refusal| match refusal.reason {
            Reason::Conflict if !names_revision => budget.busy(),
            _ => refusal,
        });
    }
    budget.take(ctx, name, options.dry_run)?;
    delete(ctx, pods, name, options)
}

/// Continues an eviction whose deletion paused. Returns false if it has to be handled again, because another write
/// changed the pod.
pub(super) fn resume(
    ctx: &mut Context<'_>,
    pods: &Registry<'_, TypedResource>,
    name: &str,
    on_conflict: OnConflict,
) -> Result<bool, Refusal> {
    match pods.remove_unreviewed(ctx, name, &DeleteOptions::default()) {
        Err(refusal) if refusal.reason == Reason::Conflict => match on_conflict {
            OnConflict::Report => Err(refusal),
            OnConflict::Retry => Ok(false),
            OnConflict::Refuse(refusal) => Err(*refusal),
        },
        done => done.map(|()| true),
    }
}

/// The options of the deletion (`propagateDryRun`).
fn options(eviction: &Value, dry_run: bool, ctx: &Context<'_>) -> Result<DeleteOptions, Refusal> {
    let given = eviction.get("deleteOptions").filter(|options| !options.is_null());
    let mut options = match given {
        Some(given) => DeleteOptions::of_value(given, ctx.release())?,
        None => DeleteOptions::default(),
    };
    options.dry_run |= dry_run;
    Ok(options)
}

fn at_revision(options: &DeleteOptions, pod: &Value) -> DeleteOptions {
    let revision = metadata::text(pod, "resourceVersion").to_owned();
    DeleteOptions { resource_version: Some(revision), ..options.clone() }
}

/// `canIgnorePDB`
fn ignores_budgets(pod: &Value) -> bool {
    is_terminal(pod) || text(pod, &["status", "phase"]) == "Pending"
}

/// The negation of `shouldEnforceResourceVersion`
fn is_terminal(pod: &Value) -> bool {
    matches!(text(pod, &["status", "phase"]), "Succeeded" | "Failed") || metadata::is_deleting(pod)
}

/// `IsPodReady`
fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready").is_some_and(|ready| ready.str_at(&["status"]) == Some("True"))
}

/// `addConditionAndDeletePod`
fn delete(
    ctx: &mut Context<'_>,
    pods: &Registry<'_, TypedResource>,
    name: &str,
    mut options: DeleteOptions,
) -> Result<(), Refusal> {
    let now = ctx.now();
    if !options.dry_run {
        let pod = pods.guaranteed_update(ctx, name, false, &mut |pod| {
            options.check_preconditions(pod, POD)?;
            let condition = members([
                ("type", "DisruptionTarget".into()),
                ("status", "True".into()),
                ("reason", "EvictionByEvictionAPI".into()),
                ("message", "Eviction API: evicting".into()),
            ]);
            set_condition(pod, condition, &now);
            *pod = pods.strategy().encode(pod);
            Ok(())
        })?;
        if let Some(revision) = &mut options.resource_version {
            metadata::text(&*pod, "resourceVersion").clone_into(revision);
        }
    }
    pods.remove_unreviewed(ctx, name, &options)
}
