//! Resources of a whole Pod that follow from those of its containers (`DefaultPodLevelResources` in `pkg/api/pod/util.go`;
//! before 1.37, `defaultHugePagePodLimits` and `defaultPodRequests` in `pkg/apis/core/v1/defaults.go`).

use crdx_cel::value::Quantity;
use crdx_value::Value;
use crdx_value::release::{Release, V1_34, V1_37};
use std::collections::BTreeMap;

/// Quantities by the names of their resources.
type Resources = BTreeMap<String, Quantity>;

const HUGE_PAGES: &str = "hugepages-";

/// Completes the resources when the Pod is defaulted, as releases before 1.37 do.
pub(super) fn default(pod: &mut Value, release: Release) {
    if release.since(V1_34) && !release.since(V1_37) {
        complete(pod, release);
    }
}

/// Completes the resources of a new Pod, as releases since 1.37 do.
pub(super) fn prepare(pod: &mut Value, release: Release) {
    if release.since(V1_37) {
        complete(pod, release);
    }
}

fn complete(pod: &mut Value, release: Release) {
    let own = |pod: &Value, field| resources(pod.at(&["spec", "resources", field]));
    let (mut requests, mut limits) = (own(pod, "requests"), own(pod, "limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    let aggregated = aggregate(pod, "limits");
    for (name, limit) in aggregated.iter().filter(|(name, _)| name.starts_with(HUGE_PAGES)) {
        if !requests.contains_key(name) {
            set_default(&mut limits, name, limit);
        }
    }
    if release.since(V1_37) || !limits.is_empty() {
        for (name, request) in
            aggregate(pod, "requests").iter().filter(|(name, _)| matches!(name.as_str(), "cpu" | "memory"))
        {
            set_default(&mut requests, name, request);
        }
        for (name, limit) in limits.iter().filter(|(name, _)| is_supported(name)) {
            set_default(&mut requests, name, limit);
        }
    }
    if release.since(V1_37) {
        for (name, request) in requests.iter().filter(|(name, _)| is_supported(name) && all_limit(pod, name)) {
            if let Some(limit) = aggregated.get(name) {
                set_default(&mut limits, name, if request.compare(limit).is_gt() { request } else { limit });
            }
        }
    }
    write(pod, "requests", &requests);
    write(pod, "limits", &limits);
}

/// `IsSupportedPodLevelResource`
fn is_supported(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with(HUGE_PAGES)
}

fn set_default(resources: &mut Resources, name: &str, quantity: &Quantity) {
    resources.entry(name.to_owned()).or_insert_with(|| quantity.clone());
}

/// Sets the quantities that the Pod lacks. The others keep their form.
fn write(pod: &mut Value, field: &str, resources: &Resources) {
    for (name, quantity) in resources {
        let path = ["spec", "resources", field, name];
        if pod.at(&path).is_none() {
            pod.insert_at(&path, quantity.to_string().into());
        }
    }
}

/// The quantities of an encoded list.
fn resources(list: Option<&Value>) -> Resources {
    let members = list.and_then(Value::as_object).into_iter().flatten();
    let parsed = members.filter_map(|(name, quantity)| Some((name.clone(), Quantity::parse(quantity.as_str()?).ok()?)));
    parsed.collect()
}

fn items<'v>(pod: &'v Value, list: &str) -> &'v [Value] {
    pod.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default()
}

/// Returns true if every container has a limit of a resource (`aggregateContainerLimits`).
fn all_limit(pod: &Value, name: &str) -> bool {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let mut containers = lists.into_iter().flat_map(|list| items(pod, list));
    containers.all(|container| container.at(&["resources", "limits", name]).is_some())
}

/// The requests or limits of the containers together (`aggregateContainerResourcesByFn` in
/// `k8s.io/component-helpers/resource`). Sidecars run along with all containers that start later.
fn aggregate(pod: &Value, field: &str) -> Resources {
    let of = |container: &Value| resources(container.at(&["resources", field]));
    let mut total = Resources::new();
    for container in items(pod, "containers") {
        add(&mut total, &of(container));
    }
    let (mut sidecars, mut init) = (Resources::new(), Resources::new());
    for container in items(pod, "initContainers") {
        let mut needed = of(container);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            add(&mut total, &needed);
            add(&mut sidecars, &needed);
            raise(&mut init, &sidecars);
        } else {
            add(&mut needed, &sidecars);
            raise(&mut init, &needed);
        }
    }
    raise(&mut total, &init);
    total
}

/// `addResourceList`
fn add(total: &mut Resources, more: &Resources) {
    for (name, quantity) in more {
        match total.get_mut(name) {
            Some(sum) => {
                if let Ok(added) = sum.add(quantity) {
                    *sum = added;
                }
            }
            None => {
                total.insert(name.clone(), quantity.clone());
            }
        }
    }
}

/// `maxResourceList`
fn raise(highest: &mut Resources, other: &Resources) {
    for (name, quantity) in other {
        if highest.get(name).is_none_or(|found| quantity.compare(found).is_gt()) {
            highest.insert(name.clone(), quantity.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    fn completed(spec: &str, release: &str) -> String {
        let mut pod = json::read(format!(r#"{{"spec":{spec}}}"#).as_bytes()).unwrap();
        complete(&mut pod, release.parse().unwrap());
        to_string(pod.at(&["spec", "resources"]).unwrap())
    }

    #[test]
    fn a_resource_that_all_containers_limit_is_limited() {
        let container =
            |cpu: &str| format!(r#"{{"resources":{{"limits":{{"cpu":"{cpu}"}},"requests":{{"cpu":"{cpu}"}}}}}}"#);
        let (first, second) = (container("500m"), container("1"));
        let spec = |more: &str| {
            format!(r#"{{"resources":{{"requests":{{"memory":"1Gi"}}}},"containers":[{first},{second}{more}]}}"#)
        };
        let limited = r#"{"limits":{"cpu":"1500m"},"requests":{"cpu":"1500m","memory":"1Gi"}}"#;
        assert_eq!(completed(&spec(""), "1.37"), limited);
        assert_eq!(completed(&spec(",{}"), "1.37"), r#"{"requests":{"cpu":"1500m","memory":"1Gi"}}"#);
        assert_eq!(completed(&spec(""), "1.36"), r#"{"requests":{"memory":"1Gi"}}"#, "it has no limits");
    }

    #[test]
    fn a_limit_is_not_lower_than_the_request() {
        let spec = r#"{"resources":{"requests":{"cpu":"3"}},"containers":[{"resources":{"limits":{"cpu":"1"}}}]}"#;
        assert_eq!(completed(spec, "1.37"), r#"{"limits":{"cpu":"3"},"requests":{"cpu":"3"}}"#);
    }

    #[test]
    fn huge_pages_are_limited_in_all_releases() {
        let spec =
            r#"{"resources":{"requests":{"cpu":"1"}},"containers":[{"resources":{"limits":{"hugepages-2Mi":"2Mi"}}}]}"#;
        let expected = r#"{"limits":{"hugepages-2Mi":"2Mi"},"requests":{"cpu":"1","hugepages-2Mi":"2Mi"}}"#;
        assert_eq!(completed(spec, "1.34"), expected);
        assert_eq!(completed(spec, "1.37"), expected);
    }

    #[test]
    fn an_init_container_runs_with_the_sidecars_before_it() {
        let request = |cpu: &str, policy: &str| format!(r#"{{"resources":{{"requests":{{"cpu":"{cpu}"}}}}{policy}}}"#);
        let always = r#","restartPolicy":"Always""#;
        let (sidecar, init, container) = (request("1", always), request("3", ""), request("2", ""));
        let spec = format!(
            r#"{{"resources":{{"limits":{{"memory":"1Gi"}}}},"initContainers":[{sidecar},{init}],"containers":[{container}]}}"#
        );
        let expected = r#"{"limits":{"memory":"1Gi"},"requests":{"cpu":"4","memory":"1Gi"}}"#;
        assert_eq!(completed(&spec, "1.34"), expected);
    }

    #[test]
    fn a_pod_without_own_resources_is_unchanged() {
        let spec = r#"{"resources":{},"containers":[{"resources":{"limits":{"cpu":"1"}}}]}"#;
        assert_eq!(completed(spec, "1.37"), "{}");
    }
}
