//! `ResourceQuota`s: what an object uses of them (`plugin/pkg/admission/resourcequota` in `k8s.io/apiserver` and
//! `pkg/quota/v1/evaluator/core` in `k8s.io/kubernetes`).

use crate::amounts::{limits_of_pod, of_pod};
use crate::volume_resize;
use crdx_cel::value::Quantity;
use crdx_types::amounts::{
    Amounts, add, amounts, containers, is_huge_page, is_huge_page_of_quota, is_less, is_native, is_of_pods, quantity,
};
use crdx_value::Value;
use crdx_value::release::{Minor, Release};
use std::collections::{BTreeMap, BTreeSet};

/// The names under which quotas count Pods, besides huge pages and extended resources.
const OF_PODS: [&str; 10] = [
    "count/pods",
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];
/// The amounts that every container must specify if a quota counts them.
const REQUIRED: [&str; 6] = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];
const OF_SERVICES: [&str; 4] = ["count/services", "services", "services.loadbalancers", "services.nodeports"];
const OF_CLAIMS: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
/// The resources that quotas count under their own names, too.
const ALIASES: [&str; 4] = ["configmaps", "replicationcontrollers", "resourcequotas", "secrets"];
const CLASS_SUFFIX: &str = ".storageclass.storage.k8s.io/";

/// A write that quotas may refuse.
#[derive(Clone, Copy, Debug)]
pub struct QuotaRequest<'v> {
    /// The resource, such as `pods` or `deployments.apps`.
    pub resource: &'v str,
    /// The object as it would be stored.
    pub object: &'v Value,
    /// The existing object of an update.
    pub old: Option<&'v Value>,
    /// The simulated release.
    pub release: Release,
}

/// A resource that objects may use only if a quota counts it (`LimitedResource`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitedResource {
    /// The resource, such as `pods` or `deployments.apps`.
    pub resource: String,
    /// Parts of the names of what is limited, such as `count/pods`.
    pub match_contains: Vec<String>,
    /// The scopes whose objects need a quota with the scope: their name, operator and values.
    pub match_scopes: Vec<(String, String, Vec<Value>)>,
}

/// Returns the reason why one of the quotas in the namespace refuses a write, or why it needs another quota (`CheckRequest`).
pub fn refusal<'v>(
    quotas: impl IntoIterator<Item = &'v Value>,
    write: QuotaRequest<'_>,
    limited: &[LimitedResource],
) -> Option<String> {
    if !write.is_charged() {
        return None;
    }
    let mut counting = Vec::new();
    let (mut covered, mut covered_scopes) = (BTreeSet::new(), BTreeSet::new());
    let quotas: Vec<&Value> = quotas.into_iter().collect();
    for quota in quotas {
        covered_scopes.extend(selectors(quota).filter(|selector| write.is_selected(*selector)).map(|(name, ..)| name));
        let status = |list| amounts(quota, &["status", list], write.release.minor());
        let (hard, used) = (status("hard"), status("used"));
        let counted: Vec<&str> =
            hard.keys().map(String::as_str).filter(|name| is_counted(write.resource, name)).collect();
        if counted.is_empty() || !selectors(quota).all(|selector| write.is_selected(selector)) {
            continue;
        }
        let name = quota.str_at(&["metadata", "name"]).unwrap_or_default();
        if let Some(missing) = write.missing(&counted) {
            return Some(format!("failed quota: {name}: must specify {missing}"));
        }
        if counted.iter().any(|name| !used.contains_key(*name)) {
            return Some(format!("status unknown for quota: {name}, resources: {}", counted.join(",")));
        }
        covered.extend(counted.into_iter().map(str::to_owned));
        counting.push((name, hard, used));
    }
    let mut usage = write.usage(write.object);
    let limited: Vec<&LimitedResource> = limited.iter().filter(|each| each.resource == write.resource).collect();
    let is_limited = |name: &str| {
        let mut parts = limited.iter().flat_map(|each| &each.match_contains);
        parts.any(|part| name.contains(part.as_str()))
    };
    let consumed = usage.iter().filter(|(name, amount)| amount.sign() > 0 && is_limited(name));
    let uncovered: Vec<String> =
        consumed.map(|(name, _)| name.clone()).filter(|name| !covered.contains(name)).collect();
    if let Some(old) = write.old {
        let old = write.usage(old);
        for (name, amount) in &mut usage {
            if let Some(before) = old.get(name) {
                *amount =
                    amount.sub(before).ok().filter(|rest| rest.sign() > 0).unwrap_or_else(|| Quantity::from_int(0));
            }
        }
    }
    usage.retain(|_, amount| amount.sign() != 0);
    if !usage.is_empty() && !uncovered.is_empty() {
        return Some(format!("insufficient quota to consume: {}", uncovered.join(",")));
    }
    let scopes = limited.iter().flat_map(|each| &each.match_scopes);
    let scopes = scopes.filter(|(name, operator, values)| {
        write.is_selected((name, operator, values)) && !covered_scopes.contains(name.as_str())
    });
    let scopes: Vec<String> = scopes
        .map(|(name, operator, values)| {
            let values: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            format!("{{{name} {operator} [{}]}}", values.join(" "))
        })
        .collect();
    if !usage.is_empty() && !scopes.is_empty() {
        return Some(format!("insufficient quota to match these scopes: [{}]", scopes.join(" ")));
    }
    counting.iter().find_map(|(name, hard, used)| exceeded(name, &usage, hard, used))
}

/// The error of a quota that a usage exceeds.
fn exceeded(quota: &str, usage: &Amounts, hard: &Amounts, used: &Amounts) -> Option<String> {
    let exceeds = |name: &String, amount: &Quantity| {
        let total = used.get(name).map_or_else(|| Ok(amount.clone()), |used| used.add(amount));
        hard.get(name).is_some_and(|hard| total.is_ok_and(|total| is_less(hard, &total)))
    };
    let names: Vec<&String> =
        usage.iter().filter(|(name, amount)| exceeds(name, amount)).map(|(name, _)| name).collect();
    let shown = |amounts: &Amounts| {
        let found = names.iter().filter_map(|name| Some(format!("{name}={}", amounts.get(*name)?)));
        found.collect::<Vec<_>>().join(",")
    };
    let (requested, used, limited) = (shown(usage), shown(used), shown(hard));
    let text = || format!("exceeded quota: {quota}, requested: {requested}, used: {used}, limited: {limited}");
    (!names.is_empty()).then(text)
}

/// A selector of a quota: its scope, operator and values (`getScopeSelectorsFromQuota`).
type Selector<'v> = (&'v str, &'v str, &'v [Value]);

fn selectors(quota: &Value) -> impl Iterator<Item = Selector<'_>> {
    let list = |path: &[&str]| quota.at(path).and_then(Value::as_array).unwrap_or_default().iter();
    let scopes = list(&["spec", "scopes"]).filter_map(Value::as_str).map(|scope| (scope, "Exists", [].as_slice()));
    scopes.chain(list(&["spec", "scopeSelector", "matchExpressions"]).map(|selector| {
        let text = |key: &str| selector.str_at(&[key]).unwrap_or_default();
        let values = selector.get("values").and_then(Value::as_array).unwrap_or_default();
        (text("scopeName"), text("operator"), values)
    }))
}

/// Returns true if a selector matches one of the names, or that there is none.
fn selects((_, operator, values): Selector<'_>, names: &[&str]) -> bool {
    let is_value = |name: &&str| values.iter().any(|value| value.as_str() == Some(*name));
    match operator {
        "Exists" => !names.is_empty(),
        "DoesNotExist" => names.is_empty(),
        "In" => names.iter().any(is_value),
        "NotIn" => names.is_empty() || names.iter().any(|name| !is_value(name)),
        _ => false,
    }
}

/// Returns true if a quota counts the objects of a resource, such as `deployments.apps`, under this name (`MatchingResources`).
pub fn is_counted(resource: &str, name: &str) -> bool {
    match resource {
        "pods" => {
            name == "pods"
                || OF_PODS.contains(&name)
                || is_huge_page_of_quota(name)
                || is_extended(name) && name.starts_with("requests.")
        }
        "services" => OF_SERVICES.contains(&name),
        "persistentvolumeclaims" => {
            let of_class = name.split_once(CLASS_SUFFIX).map(|(_, counted)| counted);
            name == "count/persistentvolumeclaims" || OF_CLAIMS.contains(&of_class.unwrap_or(name))
        }
        resource => name.strip_prefix("count/") == Some(resource) || name == resource && ALIASES.contains(&resource),
    }
}

impl QuotaRequest<'_> {
    /// Returns true if quotas may refuse the write: updates of most objects do not change what they use.
    pub fn is_charged(&self) -> bool {
        self.old.is_none() || matches!(self.resource, "services" | "persistentvolumeclaims")
    }

    /// Returns true if the object belongs to a scope (`podMatchesScopeFunc`, `pvcMatchesScopeFunc`).
    fn is_selected(&self, selector: Selector<'_>) -> bool {
        let name = |path: &[&str]| self.object.str_at(path).filter(|name| !name.is_empty());
        let is_terminating =
            || self.object.at(&["spec", "activeDeadlineSeconds"]).and_then(Value::as_int).is_some_and(|n| n >= 0);
        let is_best_effort = || name(&["status", "qosClass"]) == Some("BestEffort");
        match (self.resource, selector.0) {
            ("pods", "Terminating") => is_terminating(),
            ("pods", "NotTerminating") => !is_terminating(),
            ("pods", "BestEffort") => is_best_effort(),
            ("pods", "NotBestEffort") => !is_best_effort(),
            ("pods", "PriorityClass") => selects(selector, name(&["spec", "priorityClassName"]).as_slice()),
            ("pods", "CrossNamespacePodAffinity") => crosses_namespaces(self.object),
            ("persistentvolumeclaims", "VolumeAttributesClass") => {
                let paths: [&[&str]; 3] = [
                    &["spec", "volumeAttributesClassName"],
                    &["status", "currentVolumeAttributesClassName"],
                    &["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"],
                ];
                selects(selector, &paths.into_iter().filter_map(name).collect::<Vec<_>>())
            }
            _ => false,
        }
    }

    /// The amounts that containers lack, with the names of the containers (`Constraints`).
    fn missing(&self, counted: &[&str]) -> Option<String> {
        let minor = self.release.minor();
        let mut lists = ["requests", "limits"].iter();
        let of_pod = lists.any(|key| !amounts(self.object, &["spec", "resources", key], minor).is_empty());
        if self.resource != "pods" || of_pod {
            return None;
        }
        let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let spec = self.object.get("spec").unwrap_or(&Value::Null);
        for container in ["containers", "initContainers"].iter().flat_map(|list| containers(spec, list)) {
            let of = |key: &str| amounts(container, &["resources", key], minor);
            let specified = compute(&of("requests"), &of("limits"));
            for name in REQUIRED.iter().filter(|name| counted.contains(name) && !specified.contains_key(**name)) {
                missing.entry(name).or_default().insert(container.str_at(&["name"]).unwrap_or_default());
            }
        }
        let text = |(name, containers): (&str, BTreeSet<&str>)| {
            format!("{name} for: {}", containers.into_iter().collect::<Vec<_>>().join(","))
        };
        (!missing.is_empty()).then(|| missing.into_iter().map(text).collect::<Vec<_>>().join("; "))
    }

    fn usage(&self, object: &Value) -> Amounts {
        let (one, minor) = (|| Quantity::from_int(1), self.release.minor());
        let mut usage = Amounts::from([(format!("count/{}", self.resource), one())]);
        match self.resource {
            "pods" => {
                let is_over = matches!(object.str_at(&["status", "phase"]), Some("Failed" | "Succeeded"));
                if !is_over {
                    let mut requests = of_pod(object, "requests", minor, is_of_pods);
                    let mut limits = limits_of_pod(object, minor);
                    let mut overhead = amounts(object, &["spec", "overhead"], minor);
                    add(&mut requests, &overhead);
                    overhead.retain(|name, _| limits.get(name).is_some_and(|limit| limit.sign() != 0));
                    add(&mut limits, &overhead);
                    usage.insert("pods".to_owned(), one());
                    usage.extend(compute(&requests, &limits));
                }
            }
            "services" => {
                let ports = object.at(&["spec", "ports"]).and_then(Value::as_array).unwrap_or_default();
                let type_ = object.str_at(&["spec", "type"]).unwrap_or_default();
                let allocates = object.at(&["spec", "allocateLoadBalancerNodePorts"]) != Some(&Value::Bool(false));
                let has_port = |port: &&Value| port.get("nodePort").is_some_and(|port| port.as_int() != Some(0));
                let node_ports = match type_ {
                    "NodePort" => ports.len(),
                    "LoadBalancer" if allocates => ports.len(),
                    "LoadBalancer" => ports.iter().filter(has_port).count(),
                    _ => 0,
                };
                let balancers = i64::from(type_ == "LoadBalancer");
                usage.insert("services".to_owned(), one());
                usage.insert("services.loadbalancers".to_owned(), Quantity::from_int(balancers));
                let node_ports = Quantity::from_int(i64::try_from(node_ports).unwrap_or(i64::MAX));
                usage.insert("services.nodeports".to_owned(), node_ports);
            }
            "persistentvolumeclaims" => {
                let mut own = Amounts::from([("persistentvolumeclaims".to_owned(), one())]);
                own.extend(storage(object, minor).map(|size| ("requests.storage".to_owned(), size)));
                let class = volume_resize::class(object);
                if !class.is_empty() {
                    usage.extend(
                        own.iter().map(|(name, amount)| (format!("{class}{CLASS_SUFFIX}{name}"), amount.clone())),
                    );
                }
                usage.extend(own);
            }
            resource if ALIASES.contains(&resource) => {
                usage.insert(resource.to_owned(), one());
            }
            _ => {}
        }
        usage
    }
}

/// The storage of a claim in whole bytes: the larger of what it requests and what is allocated.
fn storage(claim: &Value, release: Minor) -> Option<Quantity> {
    let whole = |quantity: Quantity| {
        let bytes = Quantity::from_int(quantity.value());
        if is_less(&quantity, &bytes) { bytes } else { quantity }
    };
    let at = |path: &[&str]| quantity(claim.at(path)?, release);
    let requested = at(&["spec", "resources", "requests", "storage"]).map(whole)?;
    let allocated = at(&["status", "allocatedResources", "storage"]);
    Some(allocated.filter(|allocated| is_less(&requested, allocated)).map_or(requested, whole))
}

/// `podComputeUsageHelper`, without the number of Pods
fn compute(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut usage = Amounts::new();
    for (name, amount) in requests {
        let is_basic = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        let is_huge = is_huge_page(name);
        if is_basic || is_huge {
            usage.insert(name.clone(), amount.clone());
        }
        if is_basic || is_huge || is_extended(name) {
            usage.insert(format!("requests.{name}"), amount.clone());
        }
    }
    for name in ["cpu", "memory", "ephemeral-storage"] {
        usage.extend(limits.get(name).map(|amount| (format!("limits.{name}"), amount.clone())));
    }
    usage
}

/// Returns true for a resource that Kubernetes does not define (`IsDRAExtendedResourceName`), with or without the prefix of
/// quotas.
fn is_extended(name: &str) -> bool {
    let resource = name.strip_prefix("requests.").unwrap_or(name);
    !is_native(name) || resource.starts_with("deviceclass.resource.kubernetes.io/")
}

/// `usesCrossNamespacePodAffinity`
fn crosses_namespaces(pod: &Value) -> bool {
    let list = |value: &Value, key: &str| value.get(key).and_then(Value::as_array).unwrap_or_default().to_vec();
    let crosses = |term: &Value| !list(term, "namespaces").is_empty() || term.get("namespaceSelector").is_some();
    ["podAffinity", "podAntiAffinity"].iter().filter_map(|kind| pod.at(&["spec", "affinity", kind])).any(|affinity| {
        let required = list(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = list(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
        required.iter().any(crosses) || preferred.iter().filter_map(|term| term.get("podAffinityTerm")).any(crosses)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    /// A quota `q` with these limits and what is used of them.
    fn quota(spec: &str, hard: &str, used: &str) -> Value {
        read(&format!(
            r#"{{"metadata":{{"name":"q"}},"spec":{{{spec}}},"status":{{"hard":{{{hard}}},"used":{{{used}}}}}}}"#
        ))
    }

    fn of(quota: &Value, resource: &str, object: &str) -> String {
        let object = read(object);
        refusal([quota], QuotaRequest { resource, object: &object, old: None, release: Release::NEWEST }, &[])
            .unwrap_or_default()
    }

    #[test]
    fn objects_are_counted() {
        let full =
            quota("", r#""count/deployments.apps":"2","secrets":"1""#, r#""count/deployments.apps":"2","secrets":"0""#);
        let text = "exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=2, limited: count/deployments.apps=2";
        assert_eq!(of(&full, "deployments.apps", "{}"), text);
        assert_eq!((of(&full, "secrets", "{}"), of(&full, "configmaps", "{}")), (String::new(), String::new()));
        let unknown = quota("", r#""count/secrets":"1""#, "");
        assert_eq!(of(&unknown, "secrets", "{}"), "status unknown for quota: q, resources: count/secrets");
    }

    const POD: &str = r#"{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"2"}}},{"name":"b"}]}}"#;

    #[test]
    fn containers_specify_what_a_quota_counts() {
        let cpu = quota("", r#""requests.cpu":"4","limits.memory":"1Gi""#, r#""requests.cpu":"0","limits.memory":"0""#);
        assert_eq!(of(&cpu, "pods", POD), "failed quota: q: must specify limits.memory for: a,b; requests.cpu for: b");
        let storage = quota("", r#""requests.ephemeral-storage":"1Gi""#, r#""requests.ephemeral-storage":"0""#);
        assert_eq!(of(&storage, "pods", POD), "");
    }

    #[test]
    fn the_resources_of_a_pod_are_added() {
        let pod = POD.replace(
            r#"{"name":"b"}"#,
            r#"{"name":"b","resources":{"requests":{"cpu":"500m","example.com/gpu":"2"}}}"#,
        );
        let few =
            quota("", r#""cpu":"10","requests.example.com/gpu":"3""#, r#""cpu":"9","requests.example.com/gpu":"1""#);
        let text = "exceeded quota: q, requested: cpu=1500m, used: cpu=9, limited: cpu=10";
        assert_eq!(of(&few, "pods", &pod), text);
    }

    #[test]
    fn the_huge_pages_of_a_whole_pod_are_counted() {
        let few = quota("", r#""hugepages-2Mi":"3Mi""#, r#""hugepages-2Mi":"0""#);
        let pod = |pages: &str| {
            format!(
                r#"{{"spec":{{"resources":{{"requests":{{"hugepages-2Mi":"{pages}"}}}},
                "containers":[{{"resources":{{"requests":{{"hugepages-2Mi":"2Mi"}}}}}}]}}}}"#
            )
        };
        assert_eq!(of(&few, "pods", &pod("2Mi")), "");
        assert!(of(&few, "pods", &pod("4Mi")).contains("requested: hugepages-2Mi=4Mi"));
    }

    #[test]
    fn overhead_does_not_limit_a_pod_without_limits() {
        let none = quota("", r#""limits.cpu":"1""#, r#""limits.cpu":"0""#);
        let pod = |limit: &str| {
            let container = format!(r#"{{"name":"c","resources":{{"limits":{{"cpu":"{limit}"}}}}}}"#);
            format!(r#"{{"spec":{{"overhead":{{"cpu":"2"}},"containers":[{container}]}}}}"#)
        };
        assert_eq!(of(&none, "pods", &pod("0")), "");
        assert!(of(&none, "pods", &pod("1m")).contains("requested: limits.cpu=2001m"));
    }

    #[test]
    fn a_quota_counts_the_objects_in_its_scopes() {
        let spec =
            r#""scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high"]}]}"#;
        let high = quota(spec, r#""pods":"0""#, r#""pods":"0""#);
        let pod = |class: &str| of(&high, "pods", &format!(r#"{{"spec":{{"priorityClassName":"{class}"}}}}"#));
        assert!(pod("high").starts_with("exceeded quota: q") && pod("low").is_empty());
        let ending = quota(r#""scopes":["Terminating"]"#, r#""pods":"0""#, r#""pods":"0""#);
        assert!(of(&ending, "pods", r#"{"spec":{"activeDeadlineSeconds":5}}"#).starts_with("exceeded"));
        assert_eq!(of(&ending, "pods", r#"{"spec":{}}"#), "");
    }

    #[test]
    fn services_and_claims_are_counted_by_what_they_use() {
        let ports = quota("", r#""services.nodeports":"1""#, r#""services.nodeports":"0""#);
        assert_eq!(of(&ports, "services", r#"{"spec":{"type":"NodePort","ports":[{"port":1}]}}"#), "");
        let two = r#"{"spec":{"type":"LoadBalancer","ports":[{"port":1},{"port":2}]}}"#;
        assert!(of(&ports, "services", two).contains("requested: services.nodeports=2"));
        let gold = "gold.storageclass.storage.k8s.io/requests.storage";
        let size = quota("", &format!(r#""{gold}":"10Gi""#), &format!(r#""{gold}":"9Gi""#));
        let claim = |class: &str, size: &str| {
            read(&format!(
                r#"{{"spec":{{"storageClassName":"{class}","resources":{{"requests":{{"storage":"{size}"}}}}}}}}"#
            ))
        };
        let refused = |new: &Value, old: Option<&Value>| {
            let write = QuotaRequest { resource: "persistentvolumeclaims", object: new, old, release: Release::NEWEST };
            refusal([&size], write, &[]).unwrap_or_default()
        };
        let text = format!("exceeded quota: q, requested: {gold}=2Gi, used: {gold}=9Gi, limited: {gold}=10Gi");
        assert_eq!(refused(&claim("gold", "2Gi"), None), text);
        assert_eq!(refused(&claim("iron", "2Gi"), None), "");
        let full = quota("", r#""requests.storage":"0""#, r#""requests.storage":"0""#);
        let write = QuotaRequest {
            resource: "persistentvolumeclaims",
            object: &claim("gold", "1500m"),
            old: None,
            release: Release::NEWEST,
        };
        let rounded = refusal([&full], write, &[]).unwrap_or_default();
        assert!(rounded.contains("requested: requests.storage=2,"), "{rounded}");
        assert_eq!(refused(&claim("gold", "5Gi"), Some(&claim("gold", "4Gi"))), "");
        assert_eq!(refused(&claim("gold", "6Gi"), Some(&claim("gold", "4Gi"))), text);
    }
}
