//! Users and resources of containers that a status reports.

use crate::validation::field_value::{Errors, FieldValue, range};
use crate::validation::formats;
use crdx_types::amounts;
use crdx_value::Value;
use crdx_value::release::{Release, V1_32, V1_33, V1_37};
use std::collections::{HashMap, HashSet};

const CLAIM: &str = "claim:";
const MAX_MESSAGE: usize = 1024;
const HEALTH: &[&str] = &["Healthy", "Unhealthy", "Unknown"];

/// `validateContainerStatusUsers`
pub(super) fn users(errors: &mut Errors, list: &FieldValue<'_, '_>, spec: &FieldValue<'_, '_>) {
    let os = spec.child("os");
    let is_windows = os.is_set() && os.child("name").text() == "windows";
    let is_linux = !os.is_set() || os.child("name").text() == "linux";
    for status in list.items() {
        let user = status.child("user");
        let linux = user.child("linux");
        if !linux.is_set() {
            continue;
        }
        // Before 1.33, paths had no `user`.
        let older = FieldValue { path: status.path.child("linux"), ..linux };
        let linux = if errors.release.since(V1_33) { linux } else { older };
        if is_windows {
            errors.forbidden(&linux, "cannot be set for a windows pod");
        } else if is_linux {
            linux_user(errors, &linux);
        }
    }
}

/// `validateLinuxContainerUser`. Since 1.37, a container may run as any user of Linux.
fn linux_user(errors: &mut Errors, user: &FieldValue<'_, '_>) {
    let (uid, groups) = (user.child("uid"), user.child("supplementalGroups"));
    if !errors.release.since(V1_37) {
        formats::user_or_group_id(errors, &uid);
    } else if uid.int().is_some_and(|id| !(0..=u32::MAX.into()).contains(&id)) {
        errors.invalid(&uid, range(0, u32::MAX.into()));
    }
    formats::user_or_group_id(errors, &user.child("gid"));
    for group in groups.items() {
        formats::user_or_group_id(errors, &group);
    }
}

/// `validateContainerStatusAllocatedResourcesStatus`. From 1.33 to 1.35, the server drops the statuses.
pub(super) fn allocated_resources(
    errors: &mut Errors,
    list: &FieldValue<'_, '_>,
    containers: &FieldValue<'_, '_>,
    extended: &FieldValue<'_, '_>,
) {
    let mut by_name: HashMap<&str, OfContainer<'_, '_>> = HashMap::new();
    for container in containers.items() {
        by_name.entry(text_at(container.value, "name")).or_insert_with(|| OfContainer::new(container));
    }
    for mapping in extended.child("requestMappings").items().map(|mapping| mapping.value) {
        if let Some(container) = by_name.get_mut(text_at(mapping, "containerName"))
            && container.requests(text_at(mapping, "resourceName"), errors.release)
        {
            container.mapped.insert(text_at(mapping, "requestName"));
        }
    }
    for status in list.items() {
        let container = by_name.get(status.child("name").text());
        for resource in status.child("allocatedResourcesStatus").items() {
            if let Some(container) = container {
                resource_name(errors, &resource.child("name"), container, extended);
            }
            health(errors, &resource.child("resources"));
        }
    }
}

fn text_at<'v>(object: &'v Value, key: &str) -> &'v str {
    object.str_at(&[key]).unwrap_or_default()
}

/// A container, and the names of its claims and requests for devices.
struct OfContainer<'v, 'p> {
    container: FieldValue<'v, 'p>,
    /// `claimName/request`, or `claimName` without a request
    claims: HashSet<String>,
    /// The requests to which the status of the Pod maps its resources.
    mapped: HashSet<&'v str>,
}

impl<'v, 'p> OfContainer<'v, 'p> {
    fn new(container: FieldValue<'v, 'p>) -> Self {
        let claims = container.value.at(&["resources", "claims"]).and_then(Value::as_array).unwrap_or_default();
        let name = |claim: &Value| match (text_at(claim, "name"), text_at(claim, "request")) {
            (name, "") => name.to_owned(),
            (name, request) => format!("{name}/{request}"),
        };
        Self { container, claims: claims.iter().map(name).collect(), mapped: HashSet::new() }
    }

    /// Returns true if the container requests some of a resource.
    fn requests(&self, resource: &str, release: Release) -> bool {
        let amount = self.container.value.at(&["resources", "requests", resource]);
        let amount = amount.and_then(|amount| amounts::quantity(amount, release.minor()));
        amount.is_some_and(|amount| amount.sign() != 0)
    }
}

/// A name is that of a resource or a claim of the container.
fn resource_name(
    errors: &mut Errors,
    name: &FieldValue<'_, '_>,
    container: &OfContainer<'_, '_>,
    extended: &FieldValue<'_, '_>,
) {
    let resources = container.container.child("resources");
    // Before 1.32, a claim is no such name.
    let has_claims = errors.release.since(V1_32);
    let Some(claim) = name.text().strip_prefix(CLAIM).filter(|_| has_claims) else {
        if resources.child("requests").value.get(name.text()).is_none() {
            let detail = if has_claims {
                "must match one of the container's resource requests"
            } else {
                "must match one of the container's resource requirements"
            };
            errors.invalid_stringer(&name.path, name.text(), detail);
        }
        return;
    };
    let (given, request) = claim.split_once('/').unwrap_or((claim, ""));
    let is_newest = errors.release.since(V1_37);
    let is_known =
        container.claims.contains(claim) || is_newest && matches_extended(container, (given, request), extended);
    if !is_known {
        let detail = if is_newest {
            "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty"
        } else {
            "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
        };
        errors.invalid_stringer(&name.path, name.text(), detail);
    }
}

/// `matchesExtendedResourceClaimStatus`
fn matches_extended(
    container: &OfContainer<'_, '_>,
    (claim, request): (&str, &str),
    extended: &FieldValue<'_, '_>,
) -> bool {
    let is_of_claim = !claim.is_empty() && extended.child("resourceClaimName").text() == claim;
    is_of_claim && !request.is_empty() && container.mapped.contains(request)
}

/// The health of the devices of a resource
fn health(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    let mut seen = HashSet::new();
    for resource in list.items() {
        let (id, message) = (resource.child("resourceID"), resource.child("message"));
        errors.supported(&resource.child("health"), HEALTH);
        if message.is_set() && message.text().is_empty() {
            errors.required(&message, "must be non-empty if specified");
        } else if message.text().len() > MAX_MESSAGE {
            errors.too_long(&message, MAX_MESSAGE as i64);
        }
        if !seen.insert(id.text()) {
            errors.duplicate(&id);
        }
    }
}

/// `validateContainerStatusNoAllocatedResourcesStatus`
pub(super) fn no_allocated_resources(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    for status in list.items() {
        let resources = status.child("allocatedResourcesStatus");
        if resources.len() > 0 {
            errors.forbidden(&resources, "must not be specified in container status");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    fn written(spec: &str, status: &str, release: &str) -> Vec<String> {
        let object = format!(r#"{{"spec":{spec},"status":{status}}}"#);
        errors(("", "Pod"), &object, &object, release)
    }

    #[test]
    fn users_are_those_of_the_operating_system() {
        let user = |spec: &str, user: &str, release: &str| {
            let status = format!(r#"{{"containerStatuses":[{{"name":"a","user":{{"linux":{user}}}}}]}}"#);
            written(spec, &status, release)
        };
        let path = "status.containerStatuses[0].user.linux";
        assert_eq!(
            user(r#"{"os":{"name":"windows"}}"#, "{}", "1.37"),
            [format!("{path}: Forbidden: cannot be set for a windows pod")]
        );
        let root = r#"{"uid":4294967295,"gid":-1,"supplementalGroups":[1,-2]}"#;
        let group = |field: &str, id: i64| {
            format!("{path}.{field}: Invalid value: {id}: must be between 0 and 2147483647, inclusive")
        };
        assert_eq!(user("{}", root, "1.37"), [group("gid", -1), group("supplementalGroups[1]", -2)]);
        assert_eq!(
            user("{}", root, "1.36"),
            [group("uid", 4_294_967_295), group("gid", -1), group("supplementalGroups[1]", -2)]
        );
    }

    const SPEC: &str = r#"{"containers":[{"name":"a","resources":{"requests":{"example.com/gpu":"1"},"claims":[{"name":"c"},{"name":"d","request":"r"}]}}]}"#;

    fn allocated(resource: &str, release: &str) -> Vec<String> {
        let status = format!(r#"{{"name":"a","allocatedResourcesStatus":[{resource}]}}"#);
        let extended = r#""extendedResourceClaimStatus":{"resourceClaimName":"e","requestMappings":[{"containerName":"a","resourceName":"example.com/gpu","requestName":"r"}]}"#;
        written(SPEC, &format!(r#"{{"containerStatuses":[{status}],{extended}}}"#), release)
    }

    #[test]
    fn allocated_resources_are_requested() {
        let error = |name: &str| allocated(&format!(r#"{{"name":"{name}"}}"#), "1.37");
        for name in ["example.com/gpu", "claim:c", "claim:d/r", "claim:e/r"] {
            assert_eq!(error(name), [""; 0], "{name}");
        }
        let path = "status.containerStatuses[0].allocatedResourcesStatus[0].name";
        assert_eq!(
            error("cpu"),
            [format!(r#"{path}: Invalid value: "cpu": must match one of the container's resource requests"#)]
        );
        for name in ["claim:d", "claim:c/r", "claim:e"] {
            let found = error(name);
            assert!(found.len() == 1 && found[0].contains("resource claims as 'claim:"), "{found:?}");
        }
        assert_eq!(allocated(r#"{"name":"claim:e/r"}"#, "1.36").len(), 1);
    }

    #[test]
    fn devices_have_a_known_health() {
        let resources = r#"{"name":"claim:c","resources":[{"resourceID":"1","health":"Healthy","message":""},{"resourceID":"1","health":"x"}]}"#;
        let path = "status.containerStatuses[0].allocatedResourcesStatus[0].resources";
        assert_eq!(
            allocated(resources, "1.37"),
            [
                format!("{path}[0].message: Required value: must be non-empty if specified"),
                format!(
                    r#"{path}[1].health: Unsupported value: "x": supported values: "Healthy", "Unhealthy", "Unknown""#
                ),
                format!(r#"{path}[1].resourceID: Duplicate value: "1""#),
            ]
        );
    }

    #[test]
    fn ephemeral_containers_have_no_resources() {
        let status = r#"{"ephemeralContainerStatuses":[{"name":"a","allocatedResourcesStatus":[{"name":"x"}]}]}"#;
        assert_eq!(
            written("{}", status, "1.37"),
            [
                "status.ephemeralContainerStatuses[0].allocatedResourcesStatus: Forbidden: must not be specified in container status"
            ]
        );
    }
    #[test]
    fn claims_are_no_resources_before_1_32() {
        let named = |name: &str, release| {
            let status =
                format!(r#"{{"containerStatuses":[{{"name":"a","allocatedResourcesStatus":[{{"name":"{name}"}}]}}]}}"#);
            written(SPEC, &status, release)
        };
        let path = "status.containerStatuses[0].allocatedResourcesStatus[0].name";
        let detail = "must match one of the container's resource requirements";
        assert_eq!(named("claim:c", "1.31"), [format!("{path}: Invalid value: claim:c: {detail}")]);
        assert_eq!(named("example.com/gpu", "1.31"), [""; 0]);
        assert_eq!(named("claim:c", "1.32"), [""; 0]);
    }
}
