//! Pod specifications (`ValidatePodSpec` in `pkg/apis/core/validation`).

pub(crate) mod affinity;
pub mod annotations;
pub mod containers;
mod env;
mod host;
mod operating_system;
mod options;
mod pod_resources;
mod probes;
mod security_context;
mod topology_spread;
mod volume_mounts;
pub mod volumes;

pub use options::{PodOptions, PodSpecOwner};

use crate::CONTAINER_LISTS;
use crate::validation::core::{resources, tolerations};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, network};
use containers::Containers;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::field::{FieldError, names};
use crdx_value::quote::go_quote;
use crdx_value::release::{Gate, Release, V1_31, V1_33};
use std::collections::{BTreeSet, HashSet};

const MAX_NAMESERVERS: usize = 3;
const MAX_SEARCH_PATHS: usize = 32;
const MAX_SEARCH_LENGTH: usize = 2048;

/// The containers of a Pod specification, with their paths: `VisitContainersWithPath`.
pub(crate) fn each_container<'v>(spec: &FieldValue<'v, '_>, mut visit: impl FnMut(&FieldValue<'v, '_>)) {
    for list in CONTAINER_LISTS {
        for container in spec.child(list).items() {
            visit(&container);
        }
    }
}

/// Forgets empty lists of volumes and their mounts below the specification at a path: while image volumes are disabled,
/// the server copies these lists without them (`dropImageVolumes`), and an empty copy is nil.
pub(crate) fn clear_volumes(empties: &mut Empties, path: &[&str], release: Release) {
    if !release.since(V1_31) || release.enables(Gate::ImageVolume) {
        return;
    }
    empties.clear(&[path, &["volumes"]].concat());
    for list in CONTAINER_LISTS {
        empties.clear(&[path, &[list, "*", "volumeMounts"]].concat());
    }
}

/// `ValidatePodSpec`; `metadata` is that of a Pod, and absent in templates.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, metadata: Option<&Value>, options: &PodOptions) {
    let grace_period = spec.child("terminationGracePeriodSeconds");
    if !grace_period.is_set() {
        errors.required(&grace_period, "");
    }
    let volumes = volumes::validate(errors, &spec.child("volumes"), metadata, options);
    let claims = resource_claims(errors, &spec.child("resourceClaims"), metadata);
    Containers { spec: *spec, volumes, claims: &claims, options }.validate(errors);
    if errors.release.enables(Gate::PodLevelResources) {
        pod_resources::validate(errors, spec, &claims, options);
    }
    host::network_ports(errors, spec, options);
    errors.one_of(&spec.child("restartPolicy"), &["Always", "OnFailure", "Never"]);
    errors.one_of(&spec.child("dnsPolicy"), &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    formats::labels(errors, &spec.child("nodeSelector"));
    security_context::pod(errors, spec, options);
    host::process_namespace(errors, spec);
    affinity::validate(errors, &spec.child("affinity"), options);
    dns_config(errors, &spec.child("dnsConfig"), spec.child("dnsPolicy").text());
    for gate in spec.child("readinessGates").items() {
        formats::qualified_name(errors, &gate.child("conditionType"));
    }
    scheduling_gates(errors, &spec.child("schedulingGates"));
    topology_spread::validate(errors, &spec.child("topologySpreadConstraints"), options);
    operating_system::host_processes(errors, spec);
    host::users(errors, spec, options);
    if errors.release.enables(Gate::HostnameOverride) {
        host::name_override(errors, spec);
    }
    names_of_others(errors, spec);
    let deadline = spec.child("activeDeadlineSeconds");
    if deadline.is_set() {
        errors.in_range(&deadline, 1, i64::from(i32::MAX));
    }
    for field in ["hostname", "subdomain"].map(|name| spec.child(name)) {
        if !field.text().is_empty() {
            formats::label(errors, &field);
        }
    }
    tolerations::validate(errors, &spec.child("tolerations"));
    for alias in spec.child("hostAliases").items() {
        network::legacy_ip(errors, &alias.child("ip"));
        for hostname in alias.child("hostnames").items() {
            formats::subdomain(errors, &hostname);
        }
    }
    let preemption = spec.child("preemptionPolicy");
    if preemption.is_set() {
        errors.one_of(&preemption, &["PreemptLowerPriority", "Never"]);
    }
    let overhead = spec.child("overhead");
    if overhead.is_set() {
        resources::overhead(errors, &overhead, overhead.value, options.allows_indivisible_huge_pages);
    }
    operating_system::validate(errors, spec);
    env::file_volumes(errors, spec);
}

/// The names of other objects.
fn names_of_others(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    for name in ["serviceAccountName", "nodeName", "priorityClassName"] {
        let field = spec.child(name);
        if !field.text().is_empty() {
            formats::object_name(errors, &field);
        }
    }
    let runtime_class = spec.child("runtimeClassName");
    if runtime_class.is_set() {
        formats::object_name(errors, &runtime_class);
    }
    let (account, deprecated) = (spec.child("serviceAccountName").text(), spec.child("serviceAccount").text());
    if account != deprecated {
        let detail = format!("must be the same as serviceAccountName: {}", go_quote(account));
        errors.invalid_value(&spec.path.child("deprecatedServiceAccount"), deprecated, detail);
    }
}

/// `validatePodResourceClaims`. Returns the names of the claims.
fn resource_claims<'v>(errors: &mut Errors, list: &FieldValue<'v, '_>, metadata: Option<&Value>) -> BTreeSet<&'v str> {
    let is_mirror = metadata.is_some_and(|m| m.at(&["annotations", annotations::MIRROR]).is_some());
    let mut names = BTreeSet::new();
    for claim in list.items() {
        if is_mirror {
            let path = crdx_value::field::FieldPath::new("");
            errors.list.push(FieldError::forbidden(&path, "static pods do not support resource claims"));
            continue;
        }
        let name = claim.child("name");
        if errors.require_text(&name) {
            if names.contains(name.text()) {
                errors.duplicate(&name);
            } else {
                formats::label(errors, &name);
                names.insert(name.text());
            }
        }
        let references = ["resourceClaimName", "resourceClaimTemplateName"].map(|name| claim.child(name));
        match references.iter().filter(|reference| reference.is_set()).count() {
            0 => errors.invalid_typed(
                &claim,
                "core.PodResourceClaim",
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            ),
            1 => {}
            _ => errors.invalid_typed(
                &claim,
                "core.PodResourceClaim",
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
        }
        for reference in references.iter().filter(|reference| reference.is_set()) {
            formats::object_name(errors, reference);
        }
    }
    list.items().map(|claim| claim.child("name").text()).filter(|name| !name.is_empty()).collect()
}

/// `validateSchedulingGates`
fn scheduling_gates(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    let mut seen = HashSet::new();
    for gate in list.items() {
        let name = gate.child("name").text();
        errors.messages_at(&gate.path, name, names::qualified_name(name, errors.release));
        if !seen.insert(name) {
            errors.list.push(FieldError::duplicate(&gate.path, name));
        }
    }
}

/// `validatePodDNSConfig`
fn dns_config(errors: &mut Errors, config: &FieldValue<'_, '_>, policy: &str) {
    let (nameservers, searches) = (config.child("nameservers"), config.child("searches"));
    if policy == "None" {
        if !config.is_set() {
            return errors.required(config, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if nameservers.len() == 0 {
            let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
            return errors.required(&nameservers, detail);
        }
    }
    if nameservers.len() > MAX_NAMESERVERS {
        errors.invalid_typed(
            &nameservers,
            "[]string",
            format!("must not have more than {MAX_NAMESERVERS} nameservers"),
        );
    }
    for nameserver in nameservers.items() {
        network::legacy_ip(errors, &nameserver);
    }
    if searches.len() > MAX_SEARCH_PATHS {
        errors.invalid_typed(&searches, "[]string", format!("must not have more than {MAX_SEARCH_PATHS} search paths"));
    }
    let spaces = searches.len().saturating_sub(1);
    if searches.texts().map(str::len).sum::<usize>() + spaces > MAX_SEARCH_LENGTH {
        let detail =
            format!("must not have more than {MAX_SEARCH_LENGTH} characters (including spaces) in the search list");
        errors.invalid_typed(&searches, "[]string", detail);
    }
    for search in searches.items() {
        let (text, release) = (search.text(), errors.release);
        let name = text.strip_suffix('.').unwrap_or(text);
        // Underscores, and the root alone, are allowed since 1.33.
        let messages = match text {
            "." if release.since(V1_33) => Vec::new(),
            _ if release.since(V1_33) => formats::subdomain_with_underscores(name),
            _ => names::dns1123_subdomain(name.as_bytes()),
        };
        errors.messages_at(&search.path, name, messages);
    }
    for option in config.child("options").items() {
        if option.child("name").text().is_empty() {
            errors.required(&option, "must not be empty");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn a_search_domain_may_be_the_root_or_have_underscores_since_1_33() {
        let pod = r#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a"}],"dnsConfig":{"searches":[".","a_b.c."]}}}"#;
        let errors = created("v1", "Pod", pod, "1.32");
        let fields: Vec<_> = errors.iter().filter_map(|error| error.split(':').next()).collect();
        assert_eq!(fields, ["spec.dnsConfig.searches[0]", "spec.dnsConfig.searches[1]"]);
        assert!(created("v1", "Pod", pod, "1.33").is_empty());
        assert!(created("v1", "Pod", pod, "1.34").is_empty());
    }
}
