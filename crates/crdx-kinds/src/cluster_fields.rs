//! The parts of a new object that depend on the cluster: API servers allocate them, or admission plugins set them from other
//! objects (`plugin/pkg/admission` in `k8s.io/kubernetes`). What depends on the object alone is not among them.

use crdx_cel::value::{Gaps, UsedGap};
use crdx_server::policies::request::Alternative;
use crdx_server::server::{ClusterFields, KnownInputs};
use crdx_value::{Map, Value, object};

/// The annotation in which `LimitRanger` describes its changes.
const LIMIT_RANGER: &str = "kubernetes.io/limit-ranger";
/// The annotation that selects the class of an Ingress.
const INGRESS_CLASS: &str = "kubernetes.io/ingress.class";
/// The start of the names of volumes with a token of the service account; the rest is random.
const TOKEN_VOLUME: &str = "kube-api-access-";
/// The path at which containers have the token.
const TOKEN_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The lifetime of the token, in seconds (`WarnOnlyBoundTokenExpirationSeconds`).
const TOKEN_LIFETIME: i64 = 60 * 60 + 7;

/// The fields of new objects that depend on the cluster.
#[derive(Debug)]
pub(crate) struct FieldsOfCluster;

impl ClusterFields for FieldsOfCluster {
    fn depend_on_limit_ranges(&self, group: &str, kind: &str) -> bool {
        (group, kind) == ("", "Pod")
    }

    fn unknown(&self, group: &str, kind: &str, object: &Value, known: KnownInputs) -> Option<Gaps> {
        unknown(group, kind, object, known)
    }

    fn alternatives(&self, group: &str, kind: &str, object: &Value, known: KnownInputs) -> Vec<Alternative> {
        alternatives(group, kind, object, known)
    }
}

/// The unknown parts of an object that is created, with defaults; `None` if everything is known.
fn unknown(group: &str, kind: &str, object: &Value, known: KnownInputs) -> Option<Gaps> {
    let mut root = Gaps { used: UsedGap::default(), ..Gaps::default() };
    match (group, kind) {
        ("", "Pod") => pod(&mut root, object, known, may_mount_token(object)),
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

/// All results that the plugin `ServiceAccount` may have for the volumes of a new Pod: it leaves them unchanged, or adds a
/// volume with a token and mounts it in all containers, which depends on the plugin and on the service account. The name
/// of the volume is not known. Empty for objects that the plugin does not change.
fn alternatives(group: &str, kind: &str, object: &Value, known: KnownInputs) -> Vec<Alternative> {
    if (group, kind) != ("", "Pod") || !may_mount_token(object) {
        return Vec::new();
    }
    let gaps = |object: &Value| {
        let mut root = Gaps { used: UsedGap::default(), ..Gaps::default() };
        pod(&mut root, object, known, false);
        root
    };
    let (mounted, names) = with_token(object);
    let mut mounted_gaps = gaps(&mounted);
    for (list, at, inner) in &names {
        let mut part = item(member(spec(&mut mounted_gaps), list), *at);
        if let Some((list, at)) = inner {
            part = item(member(part, list), *at);
        }
        member(part, "name").whole = true;
    }
    vec![Alternative { object: None, gaps: gaps(object) }, Alternative { object: Some(mounted), gaps: mounted_gaps }]
}

fn may_mount_token(pod: &Value) -> bool {
    pod.at(&["spec", "automountServiceAccountToken"]).and_then(Value::as_bool) != Some(false)
}

/// The item of a list in `spec`, and possibly an item of a list in it, whose name is not known.
type UnknownName = (&'static str, usize, Option<(&'static str, usize)>);

/// Returns a Pod with the volume and the mounts of the token, and their names that are not known (`mountServiceAccountToken`
/// in `plugin/pkg/admission/serviceaccount`).
fn with_token(pod: &Value) -> (Value, Vec<UnknownName>) {
    let (mut pod, mut names) = (pod.clone(), Vec::new());
    let volumes = pod.at(&["spec", "volumes"]).and_then(Value::as_array).unwrap_or_default();
    let mut given = volumes.iter().filter_map(|volume| volume.str_at(&["name"]));
    let known_name = given.find(|name| name.starts_with(TOKEN_VOLUME)).map(str::to_owned);
    let volume_name = Value::from(known_name.as_deref().unwrap_or(TOKEN_VOLUME));
    let Some(own) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return (pod, names) };
    let mut needs_volume = false;
    for list in ["initContainers", "containers"] {
        let Some(Value::Array(containers)) = own.get_mut(list) else { continue };
        for (at, container) in containers.iter_mut().enumerate() {
            let Some(mounts) = list_of(container.as_object_mut(), "volumeMounts") else { continue };
            if mounts.iter().any(|mount| mount.str_at(&["mountPath"]) == Some(TOKEN_PATH)) {
                continue;
            }
            let mount =
                [("name", volume_name.clone()), ("readOnly", Value::Bool(true)), ("mountPath", TOKEN_PATH.into())];
            mounts.push(object(mount));
            needs_volume = true;
            if known_name.is_none() {
                names.push((list, at, Some(("volumeMounts", mounts.len().saturating_sub(1)))));
            }
        }
    }
    if needs_volume
        && known_name.is_none()
        && let Some(volumes) = list_of(Some(own), "volumes")
    {
        volumes.push(object([("name", volume_name), ("projected", token_source())]));
        names.push(("volumes", volumes.len().saturating_sub(1), None));
    }
    (pod, names)
}

/// `TokenVolumeSource`
fn token_source() -> Value {
    let list = |item: Value| Value::Array(vec![item]);
    let token = object([("expirationSeconds", Value::Int(TOKEN_LIFETIME)), ("path", "token".into())]);
    let certificate = list(object([("key", "ca.crt"), ("path", "ca.crt")]));
    let certificates = object([("items", certificate), ("name", "kube-root-ca.crt".into())]);
    let field = object([("apiVersion", "v1"), ("fieldPath", "metadata.namespace")]);
    let namespace = object([("items", list(object([("fieldRef", field), ("path", "namespace".into())])))]);
    let sources = [("serviceAccountToken", token), ("configMap", certificates), ("downwardAPI", namespace)];
    let sources: Vec<Value> = sources.map(|source| object([source])).into();
    object([("defaultMode", Value::Int(0o644)), ("sources", Value::Array(sources))])
}

/// The list with this name, which is added if it is absent.
fn list_of<'v>(object: Option<&'v mut Map>, name: &str) -> Option<&'v mut Vec<Value>> {
    let list = object?.entry(name.to_owned()).or_default();
    if list.is_null() {
        *list = Value::Array(Vec::new());
    }
    if let Value::Array(items) = list { Some(items) } else { None }
}

/// The plugins `LimitRanger`, `ServiceAccount`, `Priority` and `RuntimeClass`. With `open_volumes`, the volumes and mounts
/// of the token are not known.
fn pod(root: &mut Gaps, object: &Value, known: KnownInputs, open_volumes: bool) {
    let Some(own) = object.get("spec") else { return };
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
    if open_volumes {
        may_extend(spec, Some(own), "volumes");
    }
    for list in ["containers", "initContainers"] {
        let containers = own.get(list).and_then(Value::as_array).unwrap_or_default();
        for (at, container) in containers.iter().enumerate() {
            let gaps = item(member(spec, list), at);
            if open_volumes {
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

    fn unknown_of(group: &str, kind: &str, known: KnownInputs, object: &str) -> Vec<String> {
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
        let found = unknown_of("", "Pod", KnownInputs::default(), pod);
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
        let known = KnownInputs { limit_ranges: true, user: true };
        let found = unknown_of(
            "",
            "Pod",
            known,
            &pod.replace("\"volumes\"", "\"automountServiceAccountToken\":false,\"volumes\""),
        );
        assert!(!found.iter().any(|path| path.contains("resources") || path.contains("olume")), "{found:?}");
        assert!(unknown_of("apps", "Deployment", KnownInputs::default(), pod).is_empty());
    }

    #[test]
    fn addresses_and_ports_are_allocated() {
        let found = unknown_of(
            "",
            "Service",
            KnownInputs::default(),
            r#"{"spec":{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"],"ports":[{"port":1,"nodePort":30000}],"selector":{"a":"b"}}}"#,
        );
        assert_eq!(found, ["spec.clusterIP", "spec.clusterIPs", "spec.ports[0].nodePort"]);
        let headless = r#"{"spec":{"clusterIP":"None","ipFamilies":["IPv4"],"selector":{"a":"b"}}}"#;
        assert_eq!(unknown_of("", "Service", KnownInputs::default(), headless), ["spec.ipFamilies"]);
    }

    #[test]
    fn default_classes_are_set_if_none_is_given() {
        let claim = |spec: &str| unknown_of("", "PersistentVolumeClaim", KnownInputs::default(), spec);
        assert_eq!(claim(r#"{"spec":{}}"#), ["spec.storageClassName+"]);
        assert!(claim(r#"{"spec":{"storageClassName":""}}"#).is_empty());
        let ingress = |object: &str| unknown_of("networking.k8s.io", "Ingress", KnownInputs::default(), object);
        assert_eq!(ingress(r#"{"spec":{}}"#), ["spec.ingressClassName+"]);
        assert!(ingress(r#"{"metadata":{"annotations":{"kubernetes.io/ingress.class":"x"}},"spec":{}}"#).is_empty());
    }
    #[test]
    fn the_token_of_the_service_account_is_a_volume_of_an_unknown_name_or_absent() {
        let read = |text: &str| crdx_text::json::read(text.as_bytes()).unwrap();
        let pod = read(
            r#"{"spec":{"volumes":[{"name":"v"}],"initContainers":[{"name":"i"}],
                "containers":[{"name":"c","volumeMounts":[{"name":"v","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}]}}"#,
        );
        let known = KnownInputs { user: true, limit_ranges: true };
        let both = alternatives("", "Pod", &pod, known);
        let paths_of = |alternative: &Alternative| {
            let mut out = Vec::new();
            paths(&alternative.gaps, &mut out);
            out.retain(|path| path.contains("olume"));
            out
        };
        assert!(both.len() == 2 && both[0].object.is_none() && paths_of(&both[0]).is_empty());
        assert_eq!(paths_of(&both[1]), ["spec.initContainers[0].volumeMounts[0].name", "spec.volumes[1].name"]);
        let mounted = both[1].object.as_ref().unwrap();
        assert_eq!(mounted.at(&["spec", "containers"]), pod.at(&["spec", "containers"]));
        let volumes = mounted.at(&["spec", "volumes"]).and_then(Value::as_array).unwrap();
        let expected = r#"{"defaultMode":420,"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},
            {"configMap":{"items":[{"key":"ca.crt","path":"ca.crt"}],"name":"kube-root-ca.crt"}},
            {"downwardAPI":{"items":[{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"},"path":"namespace"}]}}]}"#;
        assert_eq!(volumes[1].get("projected"), Some(&read(expected)));
        let given = read(r#"{"spec":{"volumes":[{"name":"kube-api-access-a"}],"containers":[{"name":"c"}]}}"#);
        let both = alternatives("", "Pod", &given, known);
        assert!(paths_of(&both[1]).is_empty());
        let mounts = r#"[{"name":"kube-api-access-a","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]"#;
        let containers =
            both[1].object.as_ref().unwrap().at(&["spec", "containers"]).and_then(Value::as_array).unwrap();
        assert_eq!(containers[0].get("volumeMounts"), Some(&read(mounts)));
        let without = read(r#"{"spec":{"automountServiceAccountToken":false,"containers":[{"name":"c"}]}}"#);
        assert!(alternatives("", "Pod", &without, known).is_empty());
    }
}
