//! The Tables of built-in kinds (`pkg/printers/internalversion/printers.go` of Kubernetes). The descriptions of columns that
//! Kubernetes takes from its documentation of fields are empty.

mod access;
mod autoscaler;
mod network;
mod pod;
mod storage;
mod workloads;

use super::{CREATED, NAME};
use crate::server::http::selector::label_selector_of;
use crdx_value::jsonpath::duration;
use crdx_value::time::{self, Timestamp};
use crdx_value::{self as value, Value, json};

/// A column of a built-in kind.
#[derive(Debug)]
pub(super) struct Printed {
    pub name: &'static str,
    pub type_: &'static str,
    pub format: &'static str,
    pub description: &'static str,
    pub priority: i32,
    /// The cell of an object at a time.
    pub cell: fn(&Value, Timestamp) -> Value,
}

type Cell = fn(&Value, Timestamp) -> Value;

const fn column(name: &'static str, description: &'static str, cell: Cell) -> Printed {
    Printed { name, type_: "string", format: "", description, priority: 0, cell }
}

const fn wide(name: &'static str, description: &'static str, cell: Cell) -> Printed {
    Printed { priority: 1, ..column(name, description, cell) }
}

const NAMED: Printed = Printed { format: "name", ..column("Name", NAME, |o, _| text(o, &["metadata", "name"]).into()) };
const AGE: Printed = column("Age", CREATED, |o, now| since(o, &["metadata", "creationTimestamp"], now).into());
const CONTAINERS: Printed =
    wide("Containers", "Names of each container in the template.", |o, _| of_containers(o, "name").into());
const IMAGES: Printed =
    wide("Images", "Images referenced by each container in the template.", |o, _| of_containers(o, "image").into());

static PODS: &[Printed] = &[
    NAMED,
    column("Ready", "The aggregate readiness state of this pod for accepting traffic.", |o, now| {
        pod::ready(o, now).into()
    }),
    column("Status", "The aggregate status of the containers in this pod.", |o, now| pod::status(o, now).into()),
    column(
        "Restarts",
        "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
        |o, now| pod::restarts(o, now).into(),
    ),
    AGE,
    wide("IP", "", |o, _| first_of(o, &["status", "podIPs"], "ip").into()),
    wide("Node", "", |o, _| or(text(o, &["spec", "nodeName"]), "<none>").into()),
    wide("Nominated Node", "", |o, _| or(text(o, &["status", "nominatedNodeName"]), "<none>").into()),
    wide("Readiness Gates", "", |o, _| pod::readiness_gates(o).into()),
];

const READY_OF_REPLICAS: Printed = column("Ready", "Number of the pod with ready state", |o, _| {
    format!("{}/{}", int(o, &["status", "readyReplicas"]), int(o, &["spec", "replicas"])).into()
});

static DEPLOYMENTS: &[Printed] = &[
    NAMED,
    READY_OF_REPLICAS,
    column("Up-to-date", "", |o, _| int(o, &["status", "updatedReplicas"]).into()),
    column("Available", "", |o, _| int(o, &["status", "availableReplicas"]).into()),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| label_selector_of(o).unwrap_or_default().into()),
];

static SERVICES: &[Printed] = &[
    NAMED,
    column("Type", "", |o, _| text(o, &["spec", "type"]).into()),
    column("Cluster-IP", "", |o, _| {
        let first = list(o, &["spec", "clusterIPs"]).first().and_then(Value::as_str);
        first.unwrap_or("<none>").into()
    }),
    column("External-IP", "", |o, _| external_ip(o).into()),
    column("Port(s)", "", |o, _| ports(o).into()),
    AGE,
    wide("Selector", "", |o, _| or(&labels(o, &["spec", "selector"]), "<none>").into()),
];

static CONFIG_MAPS: &[Printed] =
    &[NAMED, column("Data", "", |o, _| (count(o, &["data"]) + count(o, &["binaryData"])).into()), AGE];

static SECRETS: &[Printed] = &[
    NAMED,
    column("Type", "", |o, _| text(o, &["type"]).into()),
    column("Data", "", |o, _| count(o, &["data"]).into()),
    AGE,
];

static NAMESPACES: &[Printed] =
    &[NAMED, column("Status", "The status of the namespace", |o, _| text(o, &["status", "phase"]).into()), AGE];

static SERVICE_ACCOUNTS: &[Printed] = &[NAMED, AGE];

static EVENTS: &[Printed] = &[
    column("Last Seen", "", |o, now| last_seen(o, now).into()),
    column("Type", "", |o, _| text(o, &["type"]).into()),
    column("Reason", "", |o, _| text(o, &["reason"]).into()),
    column("Object", "", |o, _| {
        let part = |key: &str| either(o, &["involvedObject", key], &["regarding", key]).to_owned();
        let (kind, name) = (part("kind").to_lowercase(), part("name"));
        if name.is_empty() { kind.into() } else { format!("{kind}/{name}").into() }
    }),
    wide("Subobject", "", |o, _| either(o, &["involvedObject", "fieldPath"], &["regarding", "fieldPath"]).into()),
    wide("Source", "", |o, _| event_source(o).into()),
    column("Message", "", |o, _| either(o, &["message"], &["note"]).trim().into()),
    wide("First Seen", "", |o, now| first_seen(o, now).into()),
    wide("Count", "", |o, _| {
        let counted = int(o, &["count"]).max(int(o, &["deprecatedCount"]));
        if o.get("series").is_some() { int(o, &["series", "count"]).into() } else { counted.max(1).into() }
    }),
    Printed { priority: 1, ..NAMED },
];

static JOBS: &[Printed] = &[
    NAMED,
    column("Status", "Status of the job.", |o, _| job_status(o).into()),
    column("Completions", "", |o, _| completions(o).into()),
    column("Duration", "Time required to complete the job.", |o, now| job_duration(o, now).into()),
    AGE,
    CONTAINERS,
    IMAGES,
    wide("Selector", "", |o, _| or(&label_selector_of(o).unwrap_or_default(), "<none>").into()),
];

static NODES: &[Printed] = &[
    NAMED,
    column("Status", "The status of the node", |o, _| node_status(o).into()),
    column("Roles", "The roles of the node", |o, _| roles(o).into()),
    AGE,
    column("Version", "", |o, _| text(o, &["status", "nodeInfo", "kubeletVersion"]).into()),
    wide("Internal-IP", "", |o, _| address(o, "InternalIP").into()),
    wide("External-IP", "", |o, _| address(o, "ExternalIP").into()),
    wide("OS-Image", "", |o, _| or(text(o, &["status", "nodeInfo", "osImage"]), "<unknown>").into()),
    wide("Kernel-Version", "", |o, _| {
        let version = or(text(o, &["status", "nodeInfo", "kernelVersion"]), "<unknown>");
        match text(o, &["status", "nodeInfo", "architecture"]) {
            "" => version.into(),
            architecture => format!("{version} ({architecture})").into(),
        }
    }),
    wide("Container-Runtime", "", |o, _| {
        or(text(o, &["status", "nodeInfo", "containerRuntimeVersion"]), "<unknown>").into()
    }),
];

/// The columns of a kind; `None` for kinds whose Tables have only names and ages here.
pub(super) fn columns(group: &str, kind: &str) -> Option<&'static [Printed]> {
    Some(match (group, kind) {
        ("", "Pod") => PODS,
        ("apps", "Deployment") => DEPLOYMENTS,
        ("", "Service") => SERVICES,
        ("", "ConfigMap") => CONFIG_MAPS,
        ("", "Secret") => SECRETS,
        ("" | "events.k8s.io", "Event") => EVENTS,
        ("", "Namespace") => NAMESPACES,
        ("batch", "Job") => JOBS,
        ("", "Node") => NODES,
        ("", "ServiceAccount") => SERVICE_ACCOUNTS,
        ("", "PodTemplate") => workloads::POD_TEMPLATES,
        ("", "ReplicationController") => workloads::REPLICATION_CONTROLLERS,
        ("apps", "ControllerRevision") => workloads::CONTROLLER_REVISIONS,
        ("apps", "DaemonSet") => workloads::DAEMON_SETS,
        ("apps", "ReplicaSet") => workloads::REPLICA_SETS,
        ("apps", "StatefulSet") => workloads::STATEFUL_SETS,
        ("batch", "CronJob") => workloads::CRON_JOBS,
        ("policy", "PodDisruptionBudget") => workloads::BUDGETS,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler::AUTOSCALERS,
        ("", "Endpoints") => network::ENDPOINTS,
        ("discovery.k8s.io", "EndpointSlice") => network::ENDPOINT_SLICES,
        ("networking.k8s.io", "IPAddress") => network::IP_ADDRESSES,
        ("networking.k8s.io", "Ingress") => network::INGRESSES,
        ("networking.k8s.io", "IngressClass") => network::INGRESS_CLASSES,
        ("networking.k8s.io", "NetworkPolicy") => network::NETWORK_POLICIES,
        ("networking.k8s.io", "ServiceCIDR") => network::SERVICE_CIDRS,
        ("", "PersistentVolume") => storage::VOLUMES,
        ("", "PersistentVolumeClaim") => storage::CLAIMS,
        ("storage.k8s.io", "CSIDriver") => storage::CSI_DRIVERS,
        ("storage.k8s.io", "CSINode") => storage::CSI_NODES,
        ("storage.k8s.io", "VolumeAttachment") => storage::VOLUME_ATTACHMENTS,
        ("", "LimitRange") | ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => access::WITH_CREATION,
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => access::BINDINGS,
        ("", "ResourceQuota") => access::RESOURCE_QUOTAS,
        ("coordination.k8s.io", "Lease") => access::LEASES,
        ("scheduling.k8s.io", "PriorityClass") => access::PRIORITY_CLASSES,
        ("node.k8s.io", "RuntimeClass") => access::RUNTIME_CLASSES,
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => access::PRIORITY_LEVELS,
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
            access::WEBHOOKS
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => access::VALIDATING_POLICIES,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => access::MUTATING_POLICIES,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding") => {
            access::POLICY_BINDINGS
        }
        _ => return None,
    })
}

fn text<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    object.str_at(path).unwrap_or_default()
}

fn either<'v>(object: &'v Value, one: &[&str], other: &[&str]) -> &'v str {
    or(text(object, one), text(object, other))
}

fn or<'v>(text: &'v str, otherwise: &'v str) -> &'v str {
    if text.is_empty() { otherwise } else { text }
}

fn int(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_int).unwrap_or_default()
}

fn list<'v>(object: &'v Value, path: &[&str]) -> &'v [Value] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

fn count(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_object).map_or(0, |members| members.len() as i64)
}

fn first_of<'v>(object: &'v Value, path: &[&str], key: &str) -> &'v str {
    or(list(object, path).first().map(|item| text(item, &[key])).unwrap_or_default(), "<none>")
}

/// A time; `None` if it is absent or malformed.
fn moment(object: &Value, path: &[&str]) -> Option<Timestamp> {
    object.str_at(path).and_then(|text| time::parse(text).ok())
}

/// The duration between two times, as people read it.
fn between(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.seconds.saturating_sub(from.seconds).saturating_mul(1_000_000_000);
    duration::human(seconds.saturating_add(i64::from(to.nanos) - i64::from(from.nanos)))
}

/// `translateTimestampSince`
fn since(object: &Value, path: &[&str], now: Timestamp) -> String {
    moment(object, path).map_or_else(|| "<unknown>".to_owned(), |then| between(then, now))
}

/// `layoutContainerCells`
fn of_containers(object: &Value, key: &str) -> String {
    let containers = list(object, &["spec", "template", "spec", "containers"]);
    containers.iter().map(|container| text(container, &[key])).collect::<Vec<_>>().join(",")
}

/// `FormatLabels`
fn labels_or_none(object: &Value, path: &[&str]) -> String {
    or(&labels(object, path), "<none>").to_owned()
}

/// `FormatLabelSelector`
fn label_selector(object: &Value, path: &[&str]) -> String {
    let selector = object.at(path).cloned().unwrap_or_default();
    let holder = value::object([("spec", value::object([("selector", selector)]))]);
    or(&label_selector_of(&holder).unwrap_or_default(), "<none>").to_owned()
}

/// `printBoolPtr`
fn bool_text(object: &Value, path: &[&str]) -> &'static str {
    match object.at(path).and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    }
}

fn labels(object: &Value, path: &[&str]) -> String {
    let labels = object.at(path).and_then(Value::as_object).into_iter().flatten();
    labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join(",")
}

/// Returns true if an object has a condition with the status `True`.
fn has_condition(object: &Value, type_: &str) -> bool {
    list(object, &["status", "conditions"])
        .iter()
        .any(|c| text(c, &["type"]) == type_ && text(c, &["status"]) == "True")
}

/// `getServiceExternalIP`
fn external_ip(object: &Value) -> String {
    let external: Vec<&str> = list(object, &["spec", "externalIPs"]).iter().filter_map(Value::as_str).collect();
    match text(object, &["spec", "type"]) {
        "ClusterIP" | "NodePort" => or(&external.join(","), "<none>").to_owned(),
        "LoadBalancer" => {
            let ingress = list(object, &["status", "loadBalancer", "ingress"]).iter();
            let mut all: Vec<&str> =
                ingress.map(|i| either(i, &["ip"], &["hostname"])).filter(|text| !text.is_empty()).collect();
            all.sort_unstable();
            all.dedup();
            all.extend(external);
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => text(object, &["spec", "externalName"]).to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// `makePortString`
fn ports(object: &Value) -> String {
    let ports = list(object, &["spec", "ports"]).iter().map(|port| {
        let (number, node, protocol) = (int(port, &["port"]), int(port, &["nodePort"]), text(port, &["protocol"]));
        if node > 0 { format!("{number}:{node}/{protocol}") } else { format!("{number}/{protocol}") }
    });
    or(&ports.collect::<Vec<_>>().join(","), "<none>").to_owned()
}

fn first_seen(object: &Value, now: Timestamp) -> String {
    let first = moment(object, &["firstTimestamp"]).or_else(|| moment(object, &["deprecatedFirstTimestamp"]));
    first.map_or_else(|| since(object, &["eventTime"], now), |first| between(first, now))
}

fn last_seen(object: &Value, now: Timestamp) -> String {
    if object.get("series").is_some() {
        return since(object, &["series", "lastObservedTime"], now);
    }
    let last = moment(object, &["lastTimestamp"]).or_else(|| moment(object, &["deprecatedLastTimestamp"]));
    last.map_or_else(|| first_seen(object, now), |last| between(last, now))
}

/// `formatEventSource`
fn event_source(object: &Value) -> String {
    let of = |key: &str| either(object, &["source", key], &["deprecatedSource", key]).to_owned();
    let (component, host) = (of("component"), of("host"));
    let reporter = either(object, &["reportingComponent"], &["reportingController"]);
    let component = or(&component, reporter);
    match or(&host, text(object, &["reportingInstance"])) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}

fn job_status(object: &Value) -> &'static str {
    for (condition, shown) in [("Complete", "Complete"), ("Failed", "Failed")] {
        if has_condition(object, condition) {
            return shown;
        }
    }
    if object.at(&["metadata", "deletionTimestamp"]).is_some() {
        return "Terminating";
    }
    ["Suspended", "FailureTarget", "SuccessCriteriaMet"]
        .into_iter()
        .find(|condition| has_condition(object, condition))
        .unwrap_or("Running")
}

fn completions(object: &Value) -> String {
    let succeeded = int(object, &["status", "succeeded"]);
    match (object.at(&["spec", "completions"]), int(object, &["spec", "parallelism"])) {
        (Some(wanted), _) => format!("{succeeded}/{}", json::to_string(wanted)),
        (None, parallelism @ 2..) => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    }
}

fn job_duration(object: &Value, now: Timestamp) -> String {
    match (moment(object, &["status", "startTime"]), moment(object, &["status", "completionTime"])) {
        (None, _) => String::new(),
        (Some(start), end) => between(start, end.unwrap_or(now)),
    }
}

fn node_status(object: &Value) -> String {
    let conditions = list(object, &["status", "conditions"]);
    let ready = conditions.iter().rev().find(|condition| text(condition, &["type"]) == "Ready");
    let status = match ready.map(|condition| text(condition, &["status"])) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let unschedulable = object.at(&["spec", "unschedulable"]).and_then(Value::as_bool) == Some(true);
    format!("{status}{}", if unschedulable { ",SchedulingDisabled" } else { "" })
}

/// `findNodeRoles`
fn roles(object: &Value) -> String {
    let labels = object.at(&["metadata", "labels"]).and_then(Value::as_object).into_iter().flatten();
    let mut roles: Vec<&str> = labels
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    or(&roles.join(","), "<none>").to_owned()
}

fn address<'v>(object: &'v Value, type_: &str) -> &'v str {
    let addresses = list(object, &["status", "addresses"]).iter();
    let found = addresses.into_iter().find(|address| text(address, &["type"]) == type_);
    found.map_or("<none>", |address| text(address, &["address"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    fn cells(group: &str, kind: &str, object: &str) -> Vec<String> {
        let object = read(object.as_bytes()).unwrap();
        let now = time::parse("2026-01-01T01:00:00Z").unwrap();
        let shown = |value: Value| value.as_str().map_or_else(|| json::to_string(&value), str::to_owned);
        columns(group, kind).unwrap().iter().map(|column| shown((column.cell)(&object, now))).collect()
    }

    const META: &str = r#""metadata":{"name":"a","creationTimestamp":"2026-01-01T00:00:00Z"}"#;

    #[test]
    fn cells_are_those_of_kubectl() {
        let deployment = format!(
            r#"{{{META},"spec":{{"replicas":3,"selector":{{"matchLabels":{{"x":"y"}}}},"template":{{"spec":{{"containers":
            [{{"name":"c","image":"i"}},{{"name":"d","image":"j"}}]}}}}}},"status":{{"readyReplicas":1}}}}"#
        );
        assert_eq!(cells("apps", "Deployment", &deployment), ["a", "1/3", "0", "0", "60m", "c,d", "i,j", "x=y"]);
        let service = format!(
            r#"{{{META},"spec":{{"type":"LoadBalancer","clusterIPs":["1.2.3.4"],"ports":[{{"port":80,"protocol":"TCP"}},
            {{"port":1,"nodePort":30000,"protocol":"UDP"}}]}}}}"#
        );
        let expected = ["a", "LoadBalancer", "1.2.3.4", "<pending>", "80/TCP,1:30000/UDP", "60m", "<none>"];
        assert_eq!(cells("", "Service", &service), expected);
        let node = format!(
            r#"{{{},"spec":{{"unschedulable":true}},"status":{{"conditions":[{{"type":"Ready","status":"False"}}]}}}}"#,
            META.replace(r#""name""#, r#""labels":{"node-role.kubernetes.io/worker":""},"name""#)
        );
        let none = ["<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"];
        let expected = [&["a", "NotReady,SchedulingDisabled", "worker", "60m", ""][..], &none].concat();
        assert_eq!(cells("", "Node", &node), expected);
        let job = format!(
            r#"{{{META},"spec":{{"completions":2}},"status":{{"succeeded":1,"startTime":"2026-01-01T00:58:00Z"}}}}"#
        );
        assert_eq!(cells("batch", "Job", &job), ["a", "Running", "1/2", "2m", "60m", "", "", "<none>"]);
        let event = format!(
            r#"{{{META},"type":"Normal","reason":"R","involvedObject":{{"kind":"Pod","name":"p"}},"message":" m ",
            "lastTimestamp":"2026-01-01T00:59:30Z","source":{{"component":"c","host":"h"}}}}"#
        );
        let expected = ["30s", "Normal", "R", "pod/p", "", "c, h", "m", "<unknown>", "1", "a"];
        assert_eq!(cells("", "Event", &event), expected);
        assert_eq!(
            cells("", "Secret", &format!(r#"{{{META},"type":"Opaque","data":{{"a":"","b":""}}}}"#)),
            ["a", "Opaque", "2", "60m"]
        );
    }

    #[test]
    fn workloads_network_storage_and_access_have_the_columns_of_the_server() {
        let object = |rest: &str| format!("{{{META},{rest}}}");
        let template = r#""template":{"spec":{"containers":[{"name":"c","image":"i"}],"nodeSelector":{"x":"y"}}}"#;
        let set = object(&format!(r#""spec":{{"replicas":2,"selector":{{"matchLabels":{{"k":"v"}}}},{template}}}"#));
        assert_eq!(cells("apps", "ReplicaSet", &set), ["a", "2", "0", "0", "60m", "c", "i", "k=v"]);
        assert_eq!(cells("apps", "StatefulSet", &set), ["a", "0/2", "60m", "c", "i"]);
        let expected = ["a", "0", "0", "0", "0", "0", "x=y", "60m", "c", "i", "k=v"];
        assert_eq!(cells("apps", "DaemonSet", &set), expected);
        let cron = object(r#""spec":{"schedule":"1 * * * *","suspend":true},"status":{"active":[{}]}"#);
        let expected = ["a", "1 * * * *", "<none>", "True", "1", "<none>", "60m", "", "", "<none>"];
        assert_eq!(cells("batch", "CronJob", &cron), expected);
        let ingress = object(
            r#""spec":{"tls":[{}],"rules":[{"host":"a"},{"host":"b"},{"host":"c"},{"host":"d"}]},
            "status":{"loadBalancer":{"ingress":[{"ip":"2.2.2.2"},{"hostname":"h"}]}}"#,
        );
        let expected = ["a", "<none>", "a,b,c + 1 more...", "2.2.2.2,h", "80, 443", "60m"];
        assert_eq!(cells("networking.k8s.io", "Ingress", &ingress), expected);
        let endpoints =
            object(r#""subsets":[{"addresses":[{"ip":"1.1.1.1"},{"ip":"::1"}],"ports":[{"port":1},{"port":2}]}]"#);
        assert_eq!(cells("", "Endpoints", &endpoints), ["a", "1.1.1.1:1,[::1]:1,1.1.1.1:2 + 1 more...", "60m"]);
        let claim =
            object(r#""spec":{"volumeMode":"Block"},"status":{"phase":"Pending","capacity":{"storage":"1Gi"}}"#);
        let expected = ["a", "Pending", "", "", "", "", "<unset>", "60m", "Block"];
        assert_eq!(cells("", "PersistentVolumeClaim", &claim), expected);
        let volume = object(r#""spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteMany","ReadWriteOnce"]}"#);
        let expected = ["a", "1Gi", "RWO,RWX", "", "", "", "", "<unset>", "", "60m", "<unset>"];
        assert_eq!(cells("", "PersistentVolume", &volume), expected);
        let binding = object(
            r#""roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"},{"kind":"User","name":"v"},
            {"kind":"ServiceAccount","name":"s","namespace":"n"}]"#,
        );
        let expected = ["a", "Role/r", "60m", "u, v", "", "n/s"];
        assert_eq!(cells("rbac.authorization.k8s.io", "RoleBinding", &binding), expected);
        assert_eq!(cells("", "LimitRange", &object(r#""spec":{}"#)), ["a", "2026-01-01T00:00:00Z"]);
        let quota = object(r#""status":{"hard":{"pods":"5","limits.cpu":"2"},"used":{"pods":"1"}}"#);
        assert_eq!(cells("", "ResourceQuota", &quota), ["a", "pods: 1/5", "limits.cpu: 0/2", "60m"]);
        let scaler = object(
            r#""spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d"},"metrics":[
            {"type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}},
            {"type":"External","external":{"target":{"value":"30"}}},{"type":"Pods"}]},
            "status":{"currentMetrics":[{"resource":{"current":{"averageUtilization":20}}}]}"#,
        );
        let expected = ["a", "Deployment/d", "cpu: 20%/80%, <unknown>/30 + 1 more...", "<unset>", "3", "0", "60m"];
        assert_eq!(cells("autoscaling", "HorizontalPodAutoscaler", &scaler), expected);
    }
}
