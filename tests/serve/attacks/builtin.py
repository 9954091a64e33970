#!/usr/bin/env python3
"""Objects of built-in kinds of up to 2.9 MB with wrong values, for attacks.py.

    tests/serve/attacks/builtin.py BINARY ASSETS [PATTERN [DIVISOR]]    # compares `validate` with the kube-apiserver in ASSETS (KUBEBUILDER_ASSETS)

The comparison creates each object on the server in a dry run. It prints the code, the number of errors, and the first error that differs, and exits
with 1 if there is one. Where the server needs more than its 34 seconds (tens of thousands of errors), nothing is compared; with a DIVISOR, long lists and maps have only
their first part. An object that is too large for etcd passes a dry run of the server; `validate` knows the length of its Protobuf only within
bounds and may answer "cannot tell".
"""

import json
import os
import subprocess
import sys
import tempfile

BAD = "Not_Valid!"


def named(api_version, kind, **fields):
    metadata = {"name": "a", **fields.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def pod(*containers, **spec):
    return named("v1", "Pod", spec={"containers": list(containers) or [container(0)], **spec})


def container(number, **fields):
    return {"name": f"c{number}", "image": "i", **fields}


def deployment(**template):
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod(**template)["spec"]}}
    return named("apps/v1", "Deployment", spec=spec)


def objects():
    """Names and objects."""
    many = range(10_000)
    yield "containers", pod(*[container(i, args=["x" * 240]) for i in many])
    yield "containers-one-name", pod(*[container(0) for _ in many])
    yield "containers-wrong", pod(*[{"name": BAD, "imagePullPolicy": "Sometimes", "terminationMessagePolicy": "x"} for _ in many])
    yield "containers-ports", pod(*[container(i, ports=[{"containerPort": 80, "hostPort": 80}]) for i in many], hostNetwork=True)
    yield "containers-init", pod(initContainers=[container(i // 2 + 1, restartPolicy="Never") for i in many])
    yield "containers-mounts", pod(*[container(i, volumeMounts=[{"name": f"v{i}", "mountPath": "/a"}]) for i in many])
    yield "containers-deployment", named("apps/v1", "Deployment", spec={"selector": {}, "template": {"spec": pod(*[container(i, image="") for i in many])["spec"]}})
    yield "labels", named("v1", "ConfigMap", metadata={"labels": {f"l{i}": "v" for i in range(100_000)}})
    yield "labels-wrong", named("v1", "ConfigMap", metadata={"labels": {f"l{i}": "!" for i in range(100_000)}})
    yield "labels-keys-wrong", named("v1", "ConfigMap", metadata={"labels": {f"l!{i}": "v" for i in range(100_000)}})
    yield "labels-selector", named("apps/v1", "Deployment", spec={"selector": {"matchLabels": {f"l{i}": "!" for i in range(50_000)}}, "template": {"metadata": {"labels": {f"l{i}": "?" for i in range(50_000)}}, "spec": pod()["spec"]}})
    yield "annotations", named("v1", "ConfigMap", metadata={"annotations": {"a": "x" * (256 << 10)}})
    yield "annotations-many", named("v1", "Secret", metadata={"annotations": {f"a{i}": "x" * 20 for i in range(90_000)}})
    yield "annotations-template", named("v1", "PodTemplate", template={"metadata": {"annotations": {f"a!{i}": "x" * 20 for i in range(60_000)}}, "spec": pod()["spec"]})
    yield "env", pod(container(0, env=[{"name": f"E{i}", "value": "x"} for i in range(80_000)]))
    yield "env-wrong", pod(container(0, env=[{"name": f"E={i}", "value": "x", "valueFrom": {}} for i in range(50_000)]))
    yield "env-from", pod(container(0, envFrom=[{"prefix": "=", "configMapRef": {"name": BAD}, "secretRef": {"name": BAD}} for _ in range(25_000)]))
    yield "ports", pod(container(0, ports=[{"name": "p", "containerPort": 80 + i % 3} for i in range(60_000)]))
    yield "ports-wrong", pod(container(0, ports=[{"name": BAD, "containerPort": -1, "hostIP": "x", "protocol": "X"} for i in range(35_000)]))
    yield "service-ports", named("v1", "Service", spec={"ports": [{"name": f"p{i // 2}", "port": i % 70_000, "targetPort": "x" * 20} for i in range(40_000)]})
    yield "service-sources", named("v1", "Service", spec={"type": "LoadBalancer", "ports": [{"port": 1}], "loadBalancerSourceRanges": [f"10.0.0.{i}/99" for i in range(100_000)], "externalIPs": ["x"] * 50_000})
    term = {"key": BAD, "operator": "In", "values": []}
    yield "selectors", named("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {"matchExpressions": [term] * 40_000}})
    yield "selectors-affinity", pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [term]}] * 30_000}}})
    yield "selectors-node", pod(nodeSelector={f"l!{i}": "!" for i in range(100_000)})
    peers = [{"ipBlock": {"cidr": f"10.0.0.0/8{i % 10}", "except": ["11.0.0.0/16"]}} for i in range(30_000)]
    yield "network-peers", named("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "ingress": [{"from": peers}]})
    yield "rbac-rules", named("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[{"verbs": [], "apiGroups": [], "resources": []}] * 50_000)
    yield "rbac-verbs", named("rbac.authorization.k8s.io/v1", "Role", rules=[{"verbs": ["get"] * 300_000, "nonResourceURLs": ["/a"] * 100_000}])
    yield "rbac-subjects", named("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef={"kind": "X", "name": "%"}, subjects=[{"kind": "ServiceAccount", "name": BAD}] * 50_000)
    yield "endpoints-addresses", named("v1", "Endpoints", subsets=[{"addresses": [{"ip": f"10.0.0.{i}"} for i in range(100_000)], "ports": [{"port": 0, "name": BAD}]}])
    yield "endpoints-subsets", named("v1", "Endpoints", subsets=[{"addresses": [{"ip": "127.0.0.1", "hostname": BAD}]}] * 50_000)
    yield "endpoint-slice", named("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=[{"addresses": ["x"]}] * 100_000, ports=[{"name": BAD, "port": 1}] * 20_000)
    yield "endpoint-slice-addresses", named("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv6", endpoints=[{"addresses": ["x"] * 200_000}])
    yield "endpoint-slice-duplicates", named("discovery.k8s.io/v1", "EndpointSlice", addressType="FQDN", endpoints=[{"addresses": [f"{BAD}{i}" for i in range(80)]}] * 900)
    yield "config-map-keys", named("v1", "ConfigMap", data={f"k!{i}": "v" for i in range(80_000)}, binaryData={f"k!{i}": "dg==" for i in range(40_000)})
    yield "config-map-size", named("v1", "ConfigMap", data={"k": "x" * 1_100_000})
    yield "secret-size", named("v1", "Secret", data={f"k{i}": "eHh4" * 30 for i in range(20_000)})
    yield "volumes", pod(volumes=[{"name": "v", "emptyDir": {}, "hostPath": {"path": "../a"}} for i in range(40_000)])
    yield "volumes-projected", pod(volumes=[{"name": "v", "projected": {"sources": [{"configMap": {"name": "a", "items": [{"key": "k!", "path": "../p"}] * 20}}] * 2000}}])
    yield "tolerations", pod(tolerations=[{"key": BAD, "operator": "X", "effect": "Y"}] * 40_000)
    spread = [{"maxSkew": 0, "topologyKey": f"k{i % 2}", "whenUnsatisfiable": "DoNotSchedule"} for i in range(20_000)]
    yield "spread", pod(topologySpreadConstraints=spread)
    yield "host-aliases", pod(hostAliases=[{"ip": "x", "hostnames": [BAD] * 20}] * 8_000)
    yield "gates", pod(schedulingGates=[{"name": f"g{i // 2}!"} for i in range(60_000)])
    yield "resources", pod(container(0, resources={"limits": {f"example.com/r{i}": "-1" for i in range(40_000)}, "requests": {f"x{i}": "1m" for i in range(40_000)}}))
    yield "ingress-rules", named("networking.k8s.io/v1", "Ingress", spec={"rules": [{"host": "10.0.0.1", "http": {"paths": [{"path": "a", "backend": {}}]}}] * 30_000, "tls": [{"hosts": [BAD]}] * 20_000})
    yield "quota-scopes", named("v1", "ResourceQuota", spec={"scopes": ["x"] * 12_500})
    yield "quota-scopes-known", named("v1", "ResourceQuota", spec={"hard": {f"hugepages-{i}": "1" for i in range(50_000)}, "scopes": ["Terminating"] * 50_000})
    yield "topologies", named("storage.k8s.io/v1", "StorageClass", provisioner="a", allowedTopologies=[{}] * 3_200)
    yield "topologies-many", named("storage.k8s.io/v1", "StorageClass", provisioner="a", allowedTopologies=[{}] * 500_000)
    yield "quota", named("v1", "ResourceQuota", spec={"hard": {f"r{i}": "-1" for i in range(100_000)}, "scopes": ["x"] * 50_000})
    yield "limit-range", named("v1", "LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "2"}}] * 30_000})
    yield "owners", named("v1", "ConfigMap", metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "Event", "name": "", "uid": ""}] * 40_000})
    yield "finalizers", named("v1", "ConfigMap", metadata={"finalizers": [f"f{i}!" for i in range(100_000)]})
    yield "autoscaler-metrics", named("autoscaling/v2", "HorizontalPodAutoscaler", spec={"maxReplicas": 0, "scaleTargetRef": {}, "metrics": [{"type": "X", "resource": {"name": "", "target": {"type": "Y"}}}] * 30_000})
    yield "node-taints", named("v1", "Node", spec={"taints": [{"key": f"k{i // 2}", "effect": "NoSchedule"} for i in range(50_000)]})
    yield "flow-schema", named("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", spec={"priorityLevelConfiguration": {"name": ""}, "rules": [{"subjects": [{"kind": "X"}], "resourceRules": [{"verbs": []}]}] * 25_000})
    yield "job", named("batch/v1", "Job", spec={"podFailurePolicy": {"rules": [{"action": "X", "onExitCodes": {"operator": "In", "values": [0]}}] * 30_000}, "template": {"spec": pod()["spec"]}})
    yield "volume-claims", named("apps/v1", "StatefulSet", spec={"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod()["spec"]}, "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {"accessModes": ["x"]}}] * 20_000})
    yield "resource-claims", pod(resourceClaims=[{"name": "r", "resourceClaimName": BAD, "resourceClaimTemplateName": "x"}] * 30_000)
    yield "device-requests", named("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [{"name": BAD, "exactly": {"deviceClassName": BAD, "selectors": [{"cel": {"expression": "x"}}]}}] * 20_000}})
    yield "above-the-limit", named("v1", "ConfigMap", data={"k": "x" * (3 << 20)})


def updates():
    """Names, existing objects and new ones."""
    labels = {"a": "b"}

    def backwards(items):
        return list(reversed(items))

    def deployed(*containers, **spec):
        return deployment(containers=list(containers), **spec)

    def workload(count, image):
        return [container(i, image=image) for i in range(count)]

    env = [{"name": f"E{i}", "value": "x"} for i in range(50_000)]
    changed = [{**each, "value": "y"} for each in env]
    yield "apply-env-descending", deployed(container(0, env=env)), deployed(container(0, env=backwards(changed)))
    yield "apply-env-equal", deployed(container(0, env=env)), deployed(container(0, env=[{"name": "E", "value": f"{i}"} for i in range(50_000)]))
    yield "apply-containers-descending", deployed(*workload(20_000, "i")), deployed(*backwards(workload(20_000, "j")))
    yield "apply-containers", deployed(*workload(10_000, "i")), deployed(*workload(10_000, "j"))
    yield "apply-containers-equal", deployed(*[container(0) for _ in range(20_000)]), deployed(*[container(0, image="j") for _ in range(20_000)])
    ports = [{"port": i + 1, "name": f"p{i}"} for i in range(40_000)]
    yield "apply-service-ports", named("v1", "Service", spec={"ports": ports}), named("v1", "Service", spec={"ports": [{**each, "targetPort": 1} for each in backwards(ports)]})
    finalizers = [f"example.com/f{i}" for i in range(50_000)]
    yield "apply-finalizers-descending", named("v1", "ConfigMap", metadata={"finalizers": finalizers}), named("v1", "ConfigMap", metadata={"finalizers": backwards(finalizers)})
    yield "apply-finalizers-equal", named("v1", "ConfigMap", metadata={"finalizers": ["example.com/a"]}), named("v1", "ConfigMap", metadata={"finalizers": ["example.com/a"] * 100_000})
    yield "apply-pod-tolerations", pod(tolerations=[{"key": f"k{i}"} for i in range(40_000)]), pod(tolerations=[{"key": f"k{i}"} for i in range(60_000)])
    yield "update-labels-keys-wrong", named("v1", "ConfigMap", metadata={"labels": labels}), named("v1", "ConfigMap", metadata={"labels": {f"l!{i}": "v" for i in range(60_000)}})
    yield "update-labels-values-wrong", named("v1", "ConfigMap", metadata={"labels": labels}), named("v1", "ConfigMap", metadata={"labels": {f"l{i}": "!" for i in range(60_000)}})
    yield "update-owners", named("v1", "ConfigMap"), named("v1", "ConfigMap", metadata={"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": f"u{i // 2}"} for i in range(30_000)]})
    addresses = [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(100_000)]
    yield "update-service-addresses", named("v1", "Service", spec={"externalIPs": addresses, "ports": [{"port": 1}]}), named("v1", "Service", spec={"externalIPs": backwards(addresses), "ports": [{"port": 1}]})
    pods = lambda image: pod(*workload(10_000, image), initContainers=workload(5_000, image))
    yield "update-pod-containers", pods("i"), pods("j")
    claims = lambda size: named("apps/v1", "StatefulSet", spec={"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {**pod()["spec"], "volumes": [{"name": f"v{i}", "emptyDir": {}} for i in range(8_000)]}}, "volumeClaimTemplates": [{"metadata": {"name": f"v{i}"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}} for i in range(8_000)]})
    yield "update-volume-claims", claims("1Gi"), claims("2Gi")
    endpoints = lambda name: named("v1", "Endpoints", subsets=[{"addresses": [{"ip": address, "hostname": name} for address in addresses[:50_000]]}])
    yield "update-endpoints", endpoints(BAD), endpoints(BAD)
    rules = lambda verb: named("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[{"verbs": [verb], "apiGroups": [""], "resources": [f"r{i}"]} for i in range(30_000)])
    yield "update-rbac-rules", rules("get"), rules("list")
    data = lambda value: named("v1", "ConfigMap", data={f"k{i}": value for i in range(60_000)})
    yield "update-config-map", data("x"), data("y")
    quota = lambda scopes: named("v1", "ResourceQuota", spec={"hard": {f"hugepages-{i}": "1" for i in range(40_000)}, "scopes": scopes})
    yield "update-quota", quota(["Terminating"]), quota(["BestEffort"] * 40_000)


PLURALS = {"Endpoints": "endpoints", "NetworkPolicy": "networkpolicies", "Ingress": "ingresses", "StorageClass": "storageclasses"}
CLUSTER = {"ClusterRole", "Node", "FlowSchema", "StorageClass"}


def path_of(value):
    api_version, kind = value["apiVersion"], value["kind"]
    plural = PLURALS.get(kind, kind.lower() + "s")
    namespace = "" if kind in CLUSTER else "/namespaces/default"
    return f"/{'apis' if '/' in api_version else 'api'}/{api_version}{namespace}/{plural}?dryRun=All&fieldValidation=Strict"


def shortened(value, divisor):
    """The value with the first part of its long lists and maps."""
    if isinstance(value, (list, dict)) and len(value) > 100:
        count = max(100, len(value) // divisor)
        value = value[:count] if isinstance(value, list) else dict(list(value.items())[:count])
    if isinstance(value, list):
        return [shortened(each, divisor) for each in value]
    return {key: shortened(each, divisor) for key, each in value.items()} if isinstance(value, dict) else value


def main():
    from collections import Counter

    binary, assets = os.path.abspath(sys.argv[1]), sys.argv[2]
    pattern = sys.argv[3] if len(sys.argv) > 3 else ""
    divisor = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../apiserver"))
    from control_plane import ControlPlane

    failed = 0
    with tempfile.TemporaryDirectory() as work, ControlPlane(assets, work) as plane:
        for name, value in objects():
            if pattern not in name:
                continue
            value = shortened(value, divisor)
            body = json.dumps(value, separators=(",", ":"))  # as kubectl sends it
            with open(f"{work}/object.json", "w", encoding="utf-8") as file:
                file.write(body)
            try:
                code, answer = plane.send("POST", path_of(value), body, {"Content-Type": "application/json"})[:2]
            except OSError as error:
                code, answer = 0, {"message": str(error)}
            command = [binary, "validate", "--offline", "--create", "-f", f"{work}/object.json", "-o", "json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            item = json.loads(done.stdout)["items"][0] if done.stdout else {"verdict": done.stderr[:200]}
            if code in (0, 504):
                print(f"{name:26} {len(body) >> 10:6} KB  server {code}, not compared: {answer.get('message')}", flush=True)
                continue
            causes = [f"{c.get('field')}: {c.get('message')}" for c in answer.get("details", {}).get("causes", [])]
            theirs = Counter(causes or ([answer.get("message")] if code >= 300 else []))
            ours = Counter(error["message"] for error in item.get("errors", []))
            own_code = item.get("answer", {}).get("code")
            same = (own_code == code or (code == 201 and item["verdict"] == "cannotTell")) and theirs == ours
            failed += not same
            print(f"{name:26} {len(body) >> 10:6} KB  server {code} with {sum(theirs.values())} errors, validate {own_code} ({item['verdict']}) with {sum(ours.values())}{'' if same else '  !'}", flush=True)
            if not same:
                for title, left in (("server", theirs - ours), ("validate", ours - theirs)):
                    for text, count in list(left.items())[:3]:
                        print(f"    {title}: {count} x {str(text)[:300]}")
                if item.get("reason"):
                    print("    " + item["reason"])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
