//! `pods/binding`: assigns a pod to a node (`BindingREST` in `pkg/registry/core/pod/storage/storage.go`).

use super::{PODS, Request, members, set_condition, text};
use crate::pipeline::metadata::{Metadata, annotations, labels, size_of_annotations};
use crate::server::http::context::Context;
use crate::server::http::status::{Refusal, aggregate};
use crate::server::metadata;
use crate::server::registry::rest::stored_key;
use crate::server::registry::{Registry, store};
use crate::server::scope::GroupResource;
use crate::server::strategy::typed_resource::TypedResource;
use crdx_value::field::{
    ErrorList, FieldError, FieldPath,
    names::{self, NameForm},
};
use crdx_value::quote::go_quote;
use crdx_value::release::{Release, V1_35, V1_37, V1_38};
use crdx_value::{Map, Value};

/// The annotations of former init containers, which are dropped (`DropInitContainerAnnotations`; before 1.37, the conversion
/// to the stored form does).
const DROPPED: [&str; 4] = [
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
];

/// The kind in messages about the annotations.
const BINDING: GroupResource<'static> = GroupResource { group: "", resource: "Binding" };

/// Assigns the pod. Returns its resourceVersion.
pub(super) fn create(
    ctx: &mut Context<'_>,
    pods: &Registry<'_, TypedResource>,
    request: &Request<'_>,
) -> Result<String, Refusal> {
    let binding = &request.object;
    if request.name != metadata::text(binding, "name") {
        return Err(Refusal::bad_request("name in URL does not match name in Binding object"));
    }
    if let Some(errors) = aggregate(&validate(binding, ctx.release())) {
        return Err(Refusal::unclassified(errors));
    }
    request.admit(ctx)?;
    let (now, name) = (ctx.now(), request.name);
    let key = stored_key(PODS, &store::key(&ctx.target.namespace, name), request.options.dry_run);
    let refuse = |reason: &str| {
        let of = GroupResource { group: "", resource: "pods/binding" };
        Err(Refusal::conflict(of, name, reason))
    };
    let pod = pods.guaranteed_update(ctx, name, request.options.dry_run, &mut |pod| {
        for (field, what) in [("uid", "UID"), ("resourceVersion", "ResourceVersion")] {
            let (wanted, have) = (metadata::text(binding, field), metadata::text(pod, field));
            if !wanted.is_empty() && wanted != have {
                let reason = format!(
                    "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {have}"
                );
                return Err(Refusal::conflict(PODS, name, &reason));
            }
        }
        if metadata::is_deleting(pod) {
            return refuse(&format!("pod {name} is being deleted, cannot be assigned to a host"));
        }
        let node = text(pod, &["spec", "nodeName"]);
        if !node.is_empty() {
            return refuse(&format!("pod {name} is already assigned to node {}", go_quote(node)));
        }
        let gates = pod.at(&["spec", "schedulingGates"]).and_then(Value::as_array);
        if gates.is_some_and(|gates| !gates.is_empty()) {
            return refuse(&format!("pod {name} has non-empty .spec.schedulingGates"));
        }
        let old = metadata::get(pod, "annotations").cloned().unwrap_or_default();
        assign(ctx, pods, pod, binding, &now);
        let errors = errors_of_annotations(pods.strategy(), pod, binding, &old);
        if errors.is_empty() { Ok(()) } else { Err(Refusal::invalid(BINDING, "", errors)) }
    })?;
    Ok(metadata::text(&*pod, "resourceVersion").to_owned())
}

fn assign(ctx: &Context<'_>, pods: &Registry<'_, TypedResource>, pod: &mut Value, binding: &Value, now: &str) {
    let release = ctx.release();
    pod.insert_at(&["spec", "nodeName"], text(binding, &["target", "name"]).into());
    // The gates ClearingNominatedNodeNameAfterBinding and PodTopologyLabelsAdmission.
    if release.since(V1_35)
        && let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut)
    {
        status.remove("nominatedNodeName");
    }
    let mut annotations = merged(pod, binding, "annotations");
    annotations.retain(|key, _| !DROPPED.contains(&key.as_str()));
    metadata::set(pod, "annotations", Some(Value::Object(annotations)));
    if release.since(V1_35) {
        let labels = merged(pod, binding, "labels");
        metadata::set(pod, "labels", Some(Value::Object(labels)));
    }
    set_condition(pod, members([("type", "PodScheduled".into()), ("status", "True".into())]), now);
    *pod = pods.strategy().encode(pod);
}

/// Validates the annotations of the pod if the binding has some, since 1.38.
fn errors_of_annotations(pods: &TypedResource, pod: &Value, binding: &Value, old: &Value) -> ErrorList {
    let release = pods.release();
    let added = metadata::get(binding, "annotations").and_then(Value::as_object);
    if !release.since(V1_38) || added.is_none_or(Map::is_empty) {
        return ErrorList::new();
    }
    let mut errors = pods.validate_bound(pod, old);
    size_of_annotations(Metadata::from_object(pod), &FieldPath::new("metadata"), release, &mut errors);
    errors
}

/// The labels or annotations of the pod with those of the binding.
fn merged(pod: &Value, binding: &Value, key: &str) -> Map {
    let of = |object: &Value| metadata::get(object, key).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut all = of(pod);
    all.extend(of(binding));
    all
}

/// `ValidatePodBinding`
fn validate(binding: &Value, release: Release) -> ErrorList {
    let mut errors = ErrorList::new();
    let target = FieldPath::new("target");
    let kind = text(binding, &["target", "kind"]);
    if !matches!(kind, "" | "Node") {
        errors.push(FieldError::not_supported(&target.child("kind"), kind, &["Node", "<empty>"]));
    }
    let (path, name) = (target.child("name"), text(binding, &["target", "name"]));
    if name.is_empty() {
        errors.push(FieldError::required(&path, ""));
    } else if release.since(V1_37) && matches!(kind, "" | "Node") {
        errors.extend(
            names::name_is_subdomain(name, NameForm::Whole)
                .into_iter()
                .map(|text| FieldError::invalid(&path, name, text)),
        );
    }
    if release.since(V1_38) {
        let path = FieldPath::new("metadata");
        annotations(Metadata::from_object(binding), &path, release, &mut errors);
        labels(Metadata::from_object(binding), &path, release, &mut errors);
    }
    errors
}
