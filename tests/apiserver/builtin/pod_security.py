#!/usr/bin/env python3
"""Creates random Pods and pod templates in namespaces with pod security standards, on the real kube-apiserver and on that of envtest, and counts the
responses that differ.

usage: pod_security.py FOLDER --envtest FOLDER [--count 1000] [--seed 1]

FOLDER has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh builds them), --envtest names the folder that `kubectl crdx envtest` printed. Every
request is a dry run of a create, or of an update of a Pod. The responses differ in their code, message or warnings about pod security; others are left out.
"""
import collections, copy, json, os, random, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import control_plane

LEVELS, VERSIONS = ["privileged", "baseline", "restricted"], ["latest", *(f"v1.{minor}" for minor in (0, 7, 8, 18, 19, 22, 23, 24, 25, 27, 29, 31, 32, 34, 35, 36, 37, 40))]
KINDS = {
    "Pod": ("v1", "/api/v1", "pods"), "PodTemplate": ("v1", "/api/v1", "podtemplates"),
    "ReplicationController": ("v1", "/api/v1", "replicationcontrollers"), "Deployment": ("apps/v1", "/apis/apps/v1", "deployments"),
    "ReplicaSet": ("apps/v1", "/apis/apps/v1", "replicasets"), "DaemonSet": ("apps/v1", "/apis/apps/v1", "daemonsets"),
    "StatefulSet": ("apps/v1", "/apis/apps/v1", "statefulsets"), "Job": ("batch/v1", "/apis/batch/v1", "jobs"), "CronJob": ("batch/v1", "/apis/batch/v1", "cronjobs"),
}
CAPABILITIES = ["ALL", "NET_RAW", "NET_BIND_SERVICE", "CHOWN", "SYS_ADMIN", "MKNOD"]
VOLUMES = [
    {"emptyDir": {}}, {"configMap": {"name": "a"}}, {"secret": {"secretName": "a"}}, {"hostPath": {"path": "/a"}}, {"nfs": {"server": "a", "path": "/a"}},
    {"persistentVolumeClaim": {"claimName": "a"}}, {"csi": {"driver": "a.example.com"}}, {"image": {"reference": "a"}}, {"projected": {"sources": []}},
    {"gitRepo": {"repository": "a"}}, {"iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:a", "lun": 0}}, {"downwardAPI": {}},
    {"glusterfs": {"endpoints": "a", "path": "a"}}, {"flexVolume": {"driver": "a/b"}}, {"fc": {"targetWWNs": ["a"], "lun": 0}}, {"awsElasticBlockStore": {"volumeID": "a"}},
]
SYSCTLS = ["kernel.shm_rmid_forced", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_rmem", "net.ipv4.tcp_notsent_lowat", "kernel.msgmax"]


class Pods:
    def __init__(self, chance):
        self.chance = chance

    def maybe(self, odds=0.3):
        return self.chance.random() < odds

    def some(self, values, most=2):
        return self.chance.sample(values, self.chance.randint(0, most))

    def shared_context(self):
        chance, context = self.chance, {}
        if self.maybe():
            context["seLinuxOptions"] = {key: chance.choice(values) for key, values in {
                "type": ["container_t", "container_engine_t", "spc_t", ""], "user": ["u", ""], "role": ["r", ""], "level": ["s0"]}.items() if self.maybe(0.5)}
        if self.maybe(0.5):
            context["seccompProfile"] = chance.choice([{"type": "RuntimeDefault"}, {"type": "Unconfined"}, {"type": "Localhost", "localhostProfile": "a"}])
        if self.maybe():
            context["appArmorProfile"] = chance.choice([{"type": "RuntimeDefault"}, {"type": "Unconfined"}, {"type": "Localhost", "localhostProfile": "a"}])
        if self.maybe(0.5):
            context["runAsNonRoot"] = self.maybe(0.8)
        if self.maybe():
            context["runAsUser"] = chance.choice([0, 1000])
        return context

    def container(self, name):
        chance, context = self.chance, self.shared_context()
        if self.maybe(0.6):
            context["allowPrivilegeEscalation"] = self.maybe(0.2)
        elif self.maybe():
            context["privileged"] = self.maybe(0.6)
        if self.maybe(0.7):
            context["capabilities"] = {"drop": chance.choice([["ALL"], ["ALL"], self.some(CAPABILITIES)]), "add": chance.choice([[], self.some(CAPABILITIES)])}
        if self.maybe(0.15):
            context["procMount"] = chance.choice(["Default", "Unmasked"])
        container = {"name": name, "image": "a"}
        if self.maybe(0.9):
            container["securityContext"] = context
        if self.maybe():
            container["ports"] = [{"containerPort": port, "hostPort": chance.choice([0, port])} for port in self.some([80, 443, 9090, 8080])]
        if self.maybe(0.2):
            handler = chance.choice([{"httpGet": {"port": 80, "host": chance.choice(["", "a.example.com"])}}, {"tcpSocket": {"port": 80, "host": chance.choice(["", "b.example.com"])}}])
            if self.maybe(0.7):
                container[chance.choice(["livenessProbe", "readinessProbe"])] = handler
            else:
                container["lifecycle"] = {"preStop": handler}
        return container

    def pod(self):
        chance = self.chance
        spec = {"containers": [self.container(f"c{n}") for n in range(chance.choice([1, 1, 2]))]}
        if self.maybe(0.2):
            spec["initContainers"] = [{key: value for key, value in self.container("i").items() if "Probe" not in key and key != "lifecycle"}]
        if self.maybe(0.9):
            spec["securityContext"] = self.shared_context()
            if self.maybe():
                spec["securityContext"]["sysctls"] = [{"name": name, "value": "1"} for name in self.some(SYSCTLS)]
        spec["volumes"] = [{"name": f"v{n}", **copy.deepcopy(volume)} for n, volume in enumerate(self.some(VOLUMES, 3))] if self.maybe() else []
        for field in ("hostPID", "hostIPC", "hostNetwork"):
            if self.maybe(0.1):
                spec[field] = self.maybe(0.8)
        if self.maybe(0.15):
            spec["hostUsers"] = self.maybe()
        if self.maybe(0.05):
            spec = {"containers": [{"name": "c", "image": "a"}], "os": {"name": "windows"}}
            if self.maybe():
                spec.update(hostNetwork=True, securityContext={"windowsOptions": {"hostProcess": True}, "runAsNonRoot": True})
        metadata = {"labels": {"a": "b"}}
        if self.maybe(0.15):
            metadata["annotations"] = {chance.choice(["seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/c0",
                                                      "container.apparmor.security.beta.kubernetes.io/c0"]): chance.choice(["runtime/default", "unconfined", "localhost/a", "docker/default", ""])}
        return {"metadata": metadata, "spec": spec}

    def object(self, kind):
        pod, selector = self.pod(), {"matchLabels": {"a": "b"}}
        if kind in ("Job", "CronJob"):
            pod["spec"]["restartPolicy"] = "Never"
        content = {
            "Pod": pod, "PodTemplate": {"template": pod}, "ReplicationController": {"spec": {"selector": {"a": "b"}, "template": pod}},
            "Job": {"spec": {"template": pod}}, "CronJob": {"spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": pod}}}},
            "StatefulSet": {"spec": {"selector": selector, "serviceName": "a", "template": pod}},
        }.get(kind, {"spec": {"selector": selector, "template": pod}})
        content.setdefault("metadata", {})["name"] = "a"
        return {"apiVersion": KINDS[kind][0], "kind": kind, **content}


def labels(chance):
    found = {}
    for mode in ("enforce", "warn", "audit"):
        if chance.random() < {"enforce": 0.9, "warn": 0.4, "audit": 0.2}[mode]:
            found[mode] = chance.choice(LEVELS[1:] if chance.random() < 0.85 else LEVELS)
        if chance.random() < 0.5:
            found[f"{mode}-version"] = chance.choice(VERSIONS)
    return {f"pod-security.kubernetes.io/{key}": value for key, value in found.items()}


def main():
    args = control_plane.random_parser(__doc__).parse_args()
    work, chance = tempfile.mkdtemp(prefix="pod-security-"), random.Random(args.seed)
    pods, counts, codes = Pods(chance), collections.Counter(), collections.Counter()
    with control_plane.real_and_simulated(args.folder, args.envtest, work) as servers:
        def both(method, path, given):
            headers = {"Content-Type": "application/json"}
            answers = [server.send(method, path, json.dumps(given), headers) for server in servers]
            return [(code, body.get("message") if code >= 300 else "", [text for text in found.get_all("Warning") or [] if "PodSecurity" in text]) for code, body, found in answers]

        namespaces = [f"n{number}" for number in range(60)]
        existing = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "old"}, "spec": {"containers": [{"name": "c", "image": "a", "securityContext": {"privileged": True}}], "hostPID": True}}
        for namespace in namespaces:
            both("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            both("POST", f"/api/v1/namespaces/{namespace}/pods", existing)
            both("PUT", f"/api/v1/namespaces/{namespace}", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels(chance)}})
        for number in range(args.count):
            kind, namespace = chance.choice(["Pod", "Pod", "Pod", *KINDS]), chance.choice(namespaces)
            given, (_, path, plural) = pods.object(kind), KINDS[kind]
            method, path = "POST", f"{path}/namespaces/{namespace}/{plural}"
            if kind == "Pod" and chance.random() < 0.1:
                given = copy.deepcopy(existing)
                given["metadata"]["labels"] = {"a": "b"}
                given["spec"]["containers"][0]["image"] = chance.choice("ab")
                method, path = "PUT", f"{path}/old"
            real, simulated = both(method, f"{path}?dryRun=All", given)
            counts[kind, real == simulated] += 1
            codes[kind, real[0], bool(real[2])] += 1
            if real != simulated:
                print(f"{method} {path}\n- {real}\n+ {simulated}\n  {json.dumps(given)}")
    print({f"{kind} {code}{' with warnings' if warns else ''}": count for (kind, code, warns), count in sorted(codes.items())})
    same = sum(count for (_, same), count in counts.items() if same)
    print(f"{same} of {args.count} answers are the same")
    sys.exit(same != args.count)


main()
