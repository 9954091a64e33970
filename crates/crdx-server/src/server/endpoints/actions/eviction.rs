//! `pods/eviction`: deletes a pod unless its disruption budget forbids it (`EvictionREST` in
//! `pkg/registry/core/pod/storage/eviction.go`).

use super::{Request, budgets, condition, members, set_condition, text};
use crate::server::endpoints::backend::Backend;
use crate::server::http::context::Context;
use crate::server::http::delete_options::{self, DeleteOptions, EvictionOptions};
use crate::server::http::paused::OnConflict;
use crate::server::http::status::{Reason, Refusal};
use crate::server::metadata;
use crate::server::registry::Registry;
use crate::server::scope::GroupResource;
use crate::server::strategy::typed_resource::TypedResource;
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::release::V1_32;

/// The name of pods in the messages of failed preconditions.
const POD: GroupResource<'static> = GroupResource { group: "", resource: "Pod" };

/// Evicts the pod. Returns the resourceVersion that its deletion left.
pub(super) fn create(
    ctx: &mut Context<'_>,
    backend: &Backend,
    pods: &Registry<'_, TypedResource>,
    request: &Request<'_>,
) -> Result<String, Refusal> {
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
    let EvictionOptions { options, errors, .. } = options(eviction, ctx)?;
    request.admit(ctx)?;
    let names_revision = options.resource_version.is_some();
    // The server repeats a conflict for ten seconds. It is the same conflict until another write changes the pod.
    let mut conflict: Option<(String, Refusal)> = None;
    let pod = loop {
        let pod = pods.find(ctx, name)?;
        let revision = metadata::text(&*pod, "resourceVersion").to_owned();
        if let Some((_, refusal)) = conflict.take().filter(|(at, _)| *at == revision) {
            return Err(refusal);
        }
        if !ignores_budgets(&pod) {
            break pod;
        }
        let enforced = !is_terminal(&pod) && !names_revision;
        let attempt = if enforced { at_revision(&options, &pod) } else { options.clone() };
        match delete(ctx, pods, name, (attempt, &errors)) {
            Err(refusal) if refusal.reason == Reason::Conflict && !names_revision => {
                conflict = Some((revision, refusal));
            }
            done => {
                if let Some(paused) = ctx.paused.as_mut().filter(|_| !names_revision) {
                    paused.on_conflict = OnConflict::Retry;
                }
                return done;
            }
        }
    };
    let budget = budgets::of_pod(backend, ctx, &pod)?;
    let Some(budget) = budget else { return delete(ctx, pods, name, (options, &errors)) };
    if !is_ready(&pod) && budget.allows_unhealthy() {
        let deleted = delete(ctx, pods, name, (at_revision(&options, &pod), &errors));
        if let Some(paused) = ctx.paused.as_mut().filter(|_| !names_revision) {
            paused.on_conflict = OnConflict::Refuse(Box::new(budget.busy()));
        }
        return deleted.map_err(|refusal| match refusal.reason {
            Reason::Conflict if !names_revision => budget.busy(),
            _ => refusal,
        });
    }
    budget.take(ctx, name, options.dry_run)?;
    delete(ctx, pods, name, (options, &errors))
}

/// Continues an eviction whose deletion paused, like [`create`]. Returns `None` if it has to be handled again, because another write
/// changed the pod.
pub(super) fn resume(
    ctx: &mut Context<'_>,
    pods: &Registry<'_, TypedResource>,
    name: &str,
    on_conflict: OnConflict,
) -> Result<Option<String>, Refusal> {
    match pods.remove_unreviewed(ctx, name, &DeleteOptions::default()) {
        Err(refusal) if refusal.reason == Reason::Conflict => match on_conflict {
            OnConflict::Report => Err(refusal),
            OnConflict::Retry => Ok(None),
            OnConflict::Refuse(refusal) => Err(*refusal),
        },
        done => done.map(Some),
    }
}

/// The options of the deletion (`propagateDryRun`).
fn options(eviction: &Value, ctx: &Context<'_>) -> Result<EvictionOptions, Refusal> {
    let given = eviction.get("deleteOptions").filter(|options| !options.is_null());
    let mut options = match given {
        Some(given) => DeleteOptions::of_eviction(given, ctx.release())?,
        None => EvictionOptions::default(),
    };
    let requested: Vec<String> = ctx.query.all("dryRun").map(str::to_owned).collect();
    if !requested.is_empty() && !options.dry_run.is_empty() && requested != options.dry_run {
        let (requested, given) = (requested.join(" "), options.dry_run.join(" "));
        return Err(Refusal::unclassified(format!(
            "Non-matching dry-run options in request and content: [{requested}] and [{given}]"
        )));
    }
    options.options.dry_run |= !requested.is_empty();
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

/// `addConditionAndDeletePod`. The options are validated after the condition is added.
fn delete(
    ctx: &mut Context<'_>,
    pods: &Registry<'_, TypedResource>,
    name: &str,
    (mut options, errors): (DeleteOptions, &ErrorList),
) -> Result<String, Refusal> {
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
    if !errors.is_empty() {
        return Err(delete_options::invalid(errors.clone()));
    }
    pods.remove_unreviewed(ctx, name, &options)
}
