//! The parts of a new object that depend on the cluster: API servers allocate them, or admission plugins set them from other
//! objects (`plugin/pkg/admission` in `k8s.io/kubernetes`). What depends on the object alone is not among them.

use crdx_cel::value::{Gaps, UsedGap};
use crdx_value::Value;

/// The annotation in which `LimitRanger` describes its changes.
const LIMIT_RANGER: &str = "kubernetes.io/limit-ranger";
/// The annotation that selects the class of an Ingress.
const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";

/// The known parts of the state of the cluster.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known {
    /// True if the user of the request is known.
    pub user: bool,
    /// True if the defaults of the limit ranges in the namespace are set.
    pub limit_ranges: bool,
}

/// The unknown parts of an object that is created, with defaults; `None` if everything is known.
pub fn unknown(group: &str, kind: &str, object: &Value, known: Known) -> Option<Gaps> {
    let mut root = Gaps { used: UsedGap::default(), ..Gaps::default() };
    match (group, kind) {
        ("", "Pod") => pod(&mut root, object, known),
        ("", "PersistentVolumeClaim") => {
            // `DefaultStorageClass`
            may_set(spec(&mut root), object.get("spec"), "storageClassName");
        }
        ("", "Service") => service(&mut root, object),
        ("networking.k8s.io", "Ingress")
            // `DefaultIngressClass`
            if object.at(&["metadata", "annotations", INGRESS_CLASS]).is_none() => {
            may_set(spec(&mut root), object.get("spec"), "ingressClassName");
        }
        ("certificates.k8s.io", "CertificateSigningRequest") if !known.user => {
            for name in ["extra", "groups", "uid", "username"] {
                is_set(spec(&mut root), object.get("spec"), name);
            }
        }
        _ => {}
    }
    root.members.retain(|_, gaps| !gaps.is_empty());
    (!root.is_empty()).then_some(root)
}

/// The plugins `LimitRanger`, `ServiceAccount`, `Priority` and `RuntimeClass`.
fn pod(root: &mut Gaps, object: &Value, known: Known) {
    let Some(own) = object.get("spec") else { return };
    let mounts_token = own.get("automountServiceAccountToken").and_then(Value::as_bool) != Some(false);
    if !known.limit_ranges {
        let metadata = object.get("metadata");
        may_extend_by(member(root, "metadata"), metadata, "annotations", LIMIT_RANGER);
    }
    let spec = spec(root);
    for name in ["serviceAccount", "serviceAccountName", "priorityClassName"] {
        may_set(spec, Some(own), name);
    }
    if own.get("imagePullSecrets").and_then(Value::as_array).is_none_or(<[_]>::is_empty) {
        may_set(spec, Some(own), "imagePullSecrets");
    }
    // A global default class gives Pods without class another priority.
    for name in ["priority", "preemptionPolicy"] {
        is_set(spec, Some(own), name);
    }
    if own.get("runtimeClassName").is_some() {
        for name in ["nodeSelector", "overhead", "tolerations"] {
            may_extend(spec, Some(own), name);
        }
    }
    if mounts_token {
        may_extend(spec, Some(own), "volumes");
    }
    for list in ["containers", "initContainers"] {
        let containers = own.get(list).and_then(Value::as_array).unwrap_or_default();
        for (at, container) in containers.iter().enumerate() {
            let gaps = item(member(spec, list), at);
            if mounts_token {
                may_extend(gaps, Some(container), "volumeMounts");
            }
            if !known.limit_ranges {
                let resources = container.get("resources");
                let gaps = member(gaps, "resources");
                may_extend(gaps, resources, "limits");
                may_extend(gaps, resources, "requests");
            }
        }
    }
}

/// The addresses and ports that API servers allocate, and the address families of the cluster.
fn service(root: &mut Gaps, object: &Value) {
    let Some(own) = object.get("spec") else { return };
    let spec = spec(root);
    let is_headless = own.str_at(&["clusterIP"]) == Some("None");
    if own.get("clusterIP").is_some() && !is_headless {
        is_set(spec, Some(own), "clusterIP");
        is_set(spec, Some(own), "clusterIPs");
    }
    for name in ["ipFamilies", "healthCheckNodePort"] {
        if own.get(name).is_some() {
            is_set(spec, Some(own), name);
        }
    }
    if is_headless && own.get("selector").is_none() {
        is_set(spec, Some(own), "ipFamilyPolicy");
    }
    for (at, port) in own.get("ports").and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
        if port.get("nodePort").is_some() {
            is_set(item(member(spec, "ports"), at), Some(port), "nodePort");
        }
    }
}

fn spec(root: &mut Gaps) -> &mut Gaps {
    member(root, "spec")
}

/// The unknown parts of a member.
fn member<'g>(gaps: &'g mut Gaps, name: &str) -> &'g mut Gaps {
    let path = if gaps.path.is_empty() { name.to_owned() } else { format!("{}.{name}", gaps.path) };
    let used = gaps.used.clone();
    gaps.members.entry(name.to_owned()).or_insert_with(|| Gaps { path, used, ..Gaps::default() })
}

/// The unknown parts of an item.
fn item(gaps: &mut Gaps, at: usize) -> &mut Gaps {
    let (path, used) = (format!("{}[{at}]", gaps.path), gaps.used.clone());
    gaps.items.entry(at).or_insert_with(|| Gaps { path, used, ..Gaps::default() })
}

/// A field that the server may set if it is absent.
fn may_set(gaps: &mut Gaps, object: Option<&Value>, name: &'static str) {
    if object.and_then(|object| object.get(name)).is_none() {
        gaps.unset.insert(name);
    }
}

/// A field that the server sets to a value that is not known.
fn is_set(gaps: &mut Gaps, object: Option<&Value>, name: &'static str) {
    may_set(gaps, object, name);
    member(gaps, name).whole = true;
}

/// A list or map to which the server may add items or members.
fn may_extend(gaps: &mut Gaps, object: Option<&Value>, name: &'static str) {
    may_set(gaps, object, name);
    member(gaps, name).open = true;
}

/// A map to which the server may add one member.
fn may_extend_by(gaps: &mut Gaps, object: Option<&Value>, name: &'static str, added: &'static str) {
    may_set(gaps, object, name);
    let map = object.and_then(|object| object.get(name));
    may_set(member(gaps, name), map, added);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths that are not known, sorted; `+` marks absent fields that may be set, `*` lists and maps that may be longer.
    fn paths(gaps: &Gaps, out: &mut Vec<String>) {
        if gaps.whole {
            out.push(gaps.path.clone());
        }
        if gaps.open {
            out.push(format!("{}*", gaps.path));
        }
        let within = if gaps.path.is_empty() { String::new() } else { format!("{}.", gaps.path) };
        out.extend(gaps.unset.iter().map(|name| format!("{within}{name}+")));
        gaps.members.values().chain(gaps.items.values()).for_each(|inner| paths(inner, out));
        out.sort();
    }

    fn unknown_of(group: &str, kind: &str, known: Known, object: &str) -> Vec<String> {
        let object = crdx_text::json::read(object.as_bytes()).unwrap();
        let mut out = Vec::new();
        if let Some(gaps) = unknown(group, kind, &object, known) {
            paths(&gaps, &mut out);
        }
        out
    }

    #[test]
    fn plugins_change_pods() {
        let pod = r#"{"metadata":{"name":"a","annotations":{"x":"y"}},"spec":{"volumes":[{"name":"v"}],
            "containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]}}"#;
        let found = unknown_of("", "Pod", Known::default(), pod);
        for path in [
            "metadata.annotations.kubernetes.io/limit-ranger+",
            "spec.serviceAccountName+",
            "spec.volumes*",
            "spec.priority",
            "spec.containers[0].resources.limits*",
            "spec.containers[0].resources.requests+",
            "spec.containers[0].volumeMounts+",
        ] {
            assert!(found.iter().any(|known| known == path), "{path}: {found:?}");
        }
        assert!(!found.iter().any(|path| path.contains("metadata.annotations+") || path.contains("tolerations")));
        let known = Known { limit_ranges: true, user: true };
        let found = unknown_of(
            "",
            "Pod",
            known,
            &pod.replace("\"volumes\"", "\"automountServiceAccountToken\":false,\"volumes\""),
        );
        assert!(!found.iter().any(|path| path.contains("resources") || path.contains("olume")), "{found:?}");
        assert!(unknown_of("apps", "Deployment", Known::default(), pod).is_empty());
    }

    #[test]
    fn addresses_and_ports_are_allocated() {
        let found = unknown_of(
            "",
            "Service",
            Known::default(),
            r#"{"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ports":[{"port":1,"nodePort":30000}],"selector":{"a":"b"}}}"#,
        );
        assert_eq!(found, ["spec.clusterIP", "spec.clusterIPs", "spec.ports[0].nodePort"]);
        let headless = r#"{"spec":{"clusterIP":"None","ipFamilies":["IPv4"],"selector":{"a":"b"}}}"#;
        assert_eq!(unknown_of("", "Service", Known::default(), headless), ["spec.ipFamilies"]);
    }

    #[test]
    fn default_classes_are_set_if_none_is_given() {
        let claim = |spec: &str| unknown_of("", "PersistentVolumeClaim", Known::default(), spec);
        assert_eq!(claim(r#"{"spec":{}}"#), ["spec.storageClassName+"]);
        assert!(claim(r#"{"spec":{"storageClassName":""}}"#).is_empty());
        let ingress = |object: &str| unknown_of("networking.k8s.io", "Ingress", Known::default(), object);
        assert_eq!(ingress(r#"{"spec":{}}"#), ["spec.ingressClassName+"]);
        assert!(ingress(r#"{"metadata":{"annotations":{"kubernetes.io/ingress.class":"x"}},"spec":{}}"#).is_empty());
    }
}
