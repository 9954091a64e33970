#!/usr/bin/env python3
"""Compares `validate` with the dry run of kubectl for random objects in a namespace with random ResourceQuotas.

usage: quotas.py FOLDER --binary target/debug/kubectl-crdx [--rounds 8] [--seed 1]

FOLDER has kube-apiserver, etcd and kubectl (see tests/repositories/README.md). Each round creates one or two quotas, writes their status, because no
controller does, and applies 40 new objects and an update of a Service in a dry run. Verdicts and the reasons of refusals are compared; which of two quotas is
named that both refuse a Pod is random on the server.
"""
import argparse, json, os, random, re, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import control_plane

AMOUNTS = ["cpu", "memory", "requests.cpu", "limits.cpu", "requests.memory", "limits.memory", "requests.ephemeral-storage", "requests.storage",
           "gold.storageclass.storage.k8s.io/requests.storage"]
COUNTS = ["pods", "requests.example.com/gpu", "hugepages-2Mi", "requests.hugepages-2Mi", "services", "services.nodeports", "services.loadbalancers",
          "persistentvolumeclaims", "gold.storageclass.storage.k8s.io/persistentvolumeclaims", "configmaps", "secrets", "resourcequotas",
          "replicationcontrollers", "count/configmaps", "count/deployments.apps", "count/pods", "count/services", "count/persistentvolumeclaims",
          "count/gadgets.bench.example.com", "count/jobs.batch"]
PRIORITIES = [{"operator": "In", "values": ["system-cluster-critical"]}, {"operator": "Exists"}, {"operator": "NotIn", "values": ["system-node-critical"]},
              {"operator": "DoesNotExist"}]
SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "existing", "namespace": "default"}, "spec": {"ports": [{"name": "a", "port": 80}]}}


def quota(chance, name):
    """A quota, and its status."""
    scope = chance.choice([None] * 5 + ["Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity"])
    names = AMOUNTS + COUNTS if not scope else ["pods"] if scope == "BestEffort" else ["pods", "cpu", "memory", "requests.cpu", "limits.memory"]
    hard = {name: chance.choice(["0", "1", "2", "1500m", "2Gi", "10"] if name in AMOUNTS else ["0", "1", "2", "5"])
            for name in chance.sample(names, chance.randrange(1, min(5, len(names) + 1)))}
    spec = {"hard": hard}
    if scope == "PriorityClass":
        spec["scopeSelector"] = {"matchExpressions": [{"scopeName": scope, **chance.choice(PRIORITIES)}]}
    elif scope:
        spec["scopes"] = [scope]
    used = {name: chance.choice(["0", "1", "500m", "1Gi"] if name in AMOUNTS and "storage" not in name else ["0", "1"]) for name in hard if chance.random() < 0.93}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec}, {"hard": hard, "used": used}


def resources(chance):
    choices = {"cpu": ["100m", "500m", "1", "2"], "memory": ["64Mi", "1Gi", "2Gi"], "ephemeral-storage": ["1Gi"]}
    found = {kind: {name: chance.choice(values) for name, values in choices.items() if chance.random() < 0.5} for kind in ("requests", "limits")}
    for name in found["requests"].keys() & found["limits"].keys():
        found["limits"][name] = found["requests"][name]
    if chance.random() < 0.15:
        for kind in found.values():
            kind["example.com/gpu"] = "2"
    return found


def pod_spec(chance):
    spec = {"containers": [{"name": name, "image": "i", "resources": resources(chance)} for name in ["a", "b"][:chance.randrange(1, 3)]]}
    if chance.random() < 0.4:
        spec["initContainers"] = [{"name": f"i{at}", "image": "i", "resources": resources(chance), **({"restartPolicy": "Always"} if chance.random() < 0.5 else {})}
                                  for at in range(chance.randrange(1, 3))]
    if chance.random() < 0.2:
        spec["activeDeadlineSeconds"] = 5
    if chance.random() < 0.25:
        spec["priorityClassName"] = chance.choice(["system-cluster-critical", "system-node-critical"])
    if chance.random() < 0.1:
        term = {"topologyKey": "z", "labelSelector": {"matchLabels": {"a": "b"}}, "namespaces": ["other"]}
        spec["affinity"] = {chance.choice(["podAffinity", "podAntiAffinity"]): {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if chance.random() < 0.1:
        spec["resources"] = {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}}
    return spec


def new_object(chance, name):
    kind = chance.choice(["Pod"] * 5 + ["Service"] * 2 + ["PersistentVolumeClaim"] * 2 + ["ConfigMap", "Secret", "Deployment", "Job", "Gadget"])
    container = {"containers": [{"name": "a", "image": "i"}]}
    api_version, spec = {
        "Pod": lambda: ("v1", pod_spec(chance)),
        "Service": lambda: ("v1", {"type": chance.choice(["ClusterIP", "NodePort", "LoadBalancer"]),
                                   "ports": [{"name": f"p{at}", "port": 80 + at} for at in range(chance.randrange(1, 4))]}),
        "PersistentVolumeClaim": lambda: ("v1", {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": chance.choice(["1Gi", "2Gi", "1", "1500m"])}},
                                                 **({"storageClassName": chance.choice(["gold", "iron"])} if chance.random() < 0.6 else {})}),
        "ConfigMap": lambda: ("v1", None),
        "Secret": lambda: ("v1", None),
        "Deployment": lambda: ("apps/v1", {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": container}}),
        "Job": lambda: ("batch/v1", {"template": {"spec": {"restartPolicy": "Never", **container}}}),
        "Gadget": lambda: ("bench.example.com/v1", {"replicas": 1, "schedule": "* * * * *", "template": {"image": "a:1"}}),
    }[kind]()
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **({"spec": spec} if spec else {})}


def reason(text):
    """The reason of a refusal; of other errors only that there is one."""
    return text.split(" is forbidden: ", 1)[1].strip() if " is forbidden: " in text else bool(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    chance, counts = random.Random(args.seed), {"objects": 0, "rejected": 0, "differ": 0}
    with tempfile.TemporaryDirectory() as work, control_plane.ControlPlane(args.folder, work) as plane:
        def kubectl(*line, given=None):
            command = [os.path.join(args.folder, "kubectl"), "--kubeconfig", plane.kubeconfig, *line]
            return subprocess.run(command, input=given and json.dumps(given), capture_output=True, text=True)

        kubectl("apply", "-f", os.path.join(HERE, "../../../benches/gadgets.crd.yaml"))
        kubectl("apply", "-f", "-", given=SERVICE)
        kubectl("wait", "--for=condition=Established", "crd/gadgets.bench.example.com")
        for _ in range(args.rounds):
            kubectl("delete", "resourcequota", "--all")
            for at in range(chance.randrange(1, 3)):
                new, status = quota(chance, f"q{at}")
                kubectl("create", "-f", "-", given=new)
                kubectl("patch", "resourcequota", f"q{at}", "--subresource=status", "--type=merge", "-p", json.dumps({"status": status}))
            # The server reads quotas from a cache.
            time.sleep(0.5)
            objects = [new_object(chance, f"o{at}") for at in range(40)]
            objects.append({**SERVICE, "spec": {"type": chance.choice(["NodePort", "LoadBalancer"]), "ports": [{"name": name, "port": port} for name, port in (("a", 80), ("b", 81))]}})
            path = os.path.join(work, "objects.json")
            with open(path, "w") as out:
                out.write("\n".join(map(json.dumps, objects)))
            run = subprocess.run([args.binary, "validate", "-f", path, "--kubeconfig", plane.kubeconfig, "-o", "json"], capture_output=True, text=True)
            for given, item in zip(objects, json.loads(run.stdout)["items"], strict=True):
                real = kubectl("apply", "--dry-run=server", "-f", "-", given=given)
                real = re.sub(r"^Warning:.*\n", "", real.stderr, flags=re.M) if real.returncode else ""
                simulated = "" if item["verdict"] == "accepted" else (item.get("answer") or {}).get("message") or item["verdict"]
                counts["objects"] += 1
                counts["rejected"] += bool(real)
                if reason(real) != reason(simulated):
                    counts["differ"] += 1
                    print(f"{json.dumps(given)}\n- {real.strip()}\n+ {simulated}")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
