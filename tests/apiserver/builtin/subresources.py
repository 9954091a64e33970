#!/usr/bin/env python3
"""Sends random requests for the subresources of Pods and ServiceAccounts to the real kube-apiserver and to that of envtest, and counts the responses that differ.

usage: subresources.py FOLDER --envtest FOLDER [--count 1000] [--seed 1] [--operations resize,eviction]

FOLDER has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh builds them), --envtest names the folder that `kubectl crdx envtest` printed. First the resources
that both servers list are compared. Then each request writes one of a few Pods in both servers: `resize` and `ephemeralcontainers` by PUT and by the four kinds of
patches, `eviction` with budgets whose status changes, `binding` and the collection `bindings`, `token` with bound objects, and writes of the Pod's status in between.
Half of the requests are dry runs. The responses, and after a write the Pods, differ in their verdict, code, errors, warnings or object; generated values are masked.
A Pod that was removed, or that differs, is created again. A policy that matches these requests warns about what admission sees.
"""
import base64, collections, copy, json, os, random, re, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../../repositories")]
import control_plane, mutate, random_requests

BASE = "/api/v1/namespaces/default"
PODS = f"{BASE}/pods"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
PATCHES = {"json": "json-patch+json", "merge": "merge-patch+json", "strategic": "strategic-merge-patch+json", "apply": "apply-patch+yaml"}
QUANTITIES = ["1", "2", "500m", "100m", "0", "1Gi", "64Mi", "1.5", "2Ki", "-1", "x"]
MASKED = [
    (r'"(expirationTimestamp|startedAt|lastTransitionTime|lastProbeTime)": "20[^"]*"', r'"\1": "TIME"'),
    (r'("disruptedPods": {\s*"[^"]*": )"20[^"]*"', r'\1"TIME"'),
    (r"(in precondition: [^,]*, [A-Za-z]* in object meta: )[0-9a-f-]+", r"\1X"),
    (r"(in record \()[0-9a-f-]+", r"\1X"),
]


def pod(name, chance):
    """A random Pod."""
    resources = lambda: chance.choice([{}, {}, {"requests": {"cpu": "1"}}, {"requests": {"cpu": "1", "memory": "1Gi"}}, {"limits": {"cpu": "1", "memory": "1Gi"}},
                                       {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi", "ephemeral-storage": "1Gi"}}])
    policy = lambda: chance.choice([{}, {}, {"resizePolicy": [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]}])
    container = lambda name: {"name": name, "image": "example.com/a:1", "resources": resources(), **policy()}
    spec = {"containers": [container(name) for name in "ab"[: chance.choice([1, 2])]], "terminationGracePeriodSeconds": chance.choice([0, 30])}
    if chance.random() < 0.4:
        spec["initContainers"] = [{**container("i"), **chance.choice([{}, {"restartPolicy": "Always"}])}]
    if chance.random() < 0.2:
        spec["resources"] = chance.choice([{"requests": {"cpu": "4"}}, {"limits": {"cpu": "4", "memory": "4Gi"}}, {}])
    if chance.random() < 0.3:
        spec["nodeName"] = chance.choice(["big", "small", "windows", "absent"])
    elif chance.random() < 0.15:
        spec["schedulingGates"] = [{"name": "example.com/gate"}]
    if chance.random() < 0.1:
        spec["os"] = {"name": chance.choice(["linux", "windows"])}
    if chance.random() < 0.2:
        spec["volumes"] = [{"name": "v", "emptyDir": {}}]
    metadata = {"name": name, "labels": {"app": chance.choice(["one", "two", "both", "none"])}}
    if chance.random() < 0.1:
        metadata["finalizers"] = ["example.com/keep"]
    if chance.random() < 0.1 and "nodeName" in spec:
        metadata["annotations"] = {"kubernetes.io/config.mirror": "m"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


class Requests:
    """Random requests about Pods, which `objects` has as the real server stores them."""

    def __init__(self, chance, operations, objects):
        self.chance, self.operations, self.objects = chance, operations, objects

    def next(self):
        """The method, path, content type and body of a request, and the name of the Pod that it may change."""
        operation = self.chance.choice(self.operations)
        name = self.chance.choice(list(self.objects))
        query = "fieldManager=random" + self.chance.choice(["", "&dryRun=All"]) + self.chance.choice(["", "", "&fieldValidation=Strict", "&fieldValidation=Ignore"])
        method, path, kind, body = getattr(self, operation)(name)
        if kind == PATCHES["apply"]:
            query += self.chance.choice(["", "&force=true", "&force=true"])
        return method, f"{path}?{query}" if method != "GET" else path, f"application/{kind}", body, name

    def written(self, name, subresource, change):
        """A write of a subresource that has the form of the whole Pod."""
        chance, old = self.chance, copy.deepcopy(self.objects[name])
        if chance.random() < 0.05:
            return "GET", f"{PODS}/{name}/{subresource}", "json", None
        for field in ["creationTimestamp", "managedFields", "generation"]:
            old["metadata"].pop(field, None)
        for field in ["resourceVersion", "uid"]:
            # They differ between the servers.
            old["metadata"].pop(field, None)
        new = copy.deepcopy(old)
        for _ in range(chance.choice([1, 1, 2, 3])):
            change(new)
        if chance.random() < 0.25:
            chance.choice([self.relabel, self.restate, self.disturb])(new)
        path, kind = f"{PODS}/{name}/{subresource}", chance.choice(["put", *PATCHES])
        if kind == "put":
            return "PUT", path, "json", new
        if kind == "json":
            operations = [{"op": "replace", "path": f"/{key}", "value": new[key]} for key in ("metadata", "spec", "status") if key in new and new[key] != old.get(key)]
            return "PATCH", path, PATCHES[kind], operations or [{"op": "test", "path": "/kind", "value": "Pod"}]
        patch = {key: new[key] for key in ("metadata", "spec", "status") if key in new and new[key] != old.get(key)}
        if "spec" in patch:
            wanted = {"resize": ("containers", "initContainers", "resources"), "ephemeralcontainers": ("ephemeralContainers",)}[subresource]
            if chance.random() < 0.8:
                patch["spec"] = {key: value for key, value in new["spec"].items() if key in wanted or value != old["spec"].get(key)}
            if "resources" in old["spec"] and "resources" not in new["spec"]:
                patch["spec"]["resources"] = None
        if kind == "apply":
            patch = {"apiVersion": "v1", "kind": "Pod", **patch, "metadata": {**{key: value for key, value in patch.get("metadata", {}).items() if key in ("labels", "annotations")}, "name": name}}
            if chance.random() < 0.7:
                patch.pop("status", None)
                for list_ in ("containers", "initContainers"):
                    if list_ in patch.get("spec", {}):
                        patch["spec"] = {list_: [{key: one[key] for key in ("name", "resources") if key in one} for one in patch["spec"][list_]]}
                        break
        return "PATCH", path, PATCHES[kind], patch

    def relabel(self, new):
        new["metadata"][self.chance.choice(["labels", "annotations"])] = {"changed": "yes"}
        if self.chance.random() < 0.3:
            new["metadata"]["finalizers"] = ["example.com/other"]

    def restate(self, new):
        new["status"] = {**new.get("status", {}), "phase": "Running", "message": "changed"}

    def disturb(self, new):
        mutate.change(new["spec"], self.chance)

    def resize(self, name):
        return self.written(name, "resize", self.change_resources)

    def change_resources(self, new):
        chance, spec = self.chance, new["spec"]
        lists = [spec[key] for key in ("containers", "initContainers") if spec.get(key)]
        if not lists:
            return
        container = chance.choice(chance.choice(lists))
        draw = chance.random()
        if draw < 0.7:
            holder = container if chance.random() < 0.85 else spec
            resources = holder.setdefault("resources", {})
            if not isinstance(resources, dict):
                return
            for key in chance.choice([["requests"], ["limits"], ["requests", "limits"]]):
                amounts = resources.setdefault(key, {})
                if isinstance(amounts, dict):
                    amounts[chance.choice(["cpu", "cpu", "memory", "ephemeral-storage", "hugepages-2Mi"])] = chance.choice(QUANTITIES)
        elif draw < 0.78:
            resources = container.get("resources") or {}
            if resources:
                key = chance.choice(list(resources))
                chance.choice([resources, resources[key] if isinstance(resources[key], dict) and resources[key] else resources]).popitem()
        elif draw < 0.86:
            container["resizePolicy"] = [{"resourceName": chance.choice(["cpu", "memory", "x"]), "restartPolicy": chance.choice(["NotRequired", "RestartContainer", ""])}]
        elif draw < 0.9:
            spec["resources"] = chance.choice([{}, None, {"requests": {"cpu": "8"}}, {"limits": {"cpu": "8", "memory": "8Gi"}}])
        elif draw < 0.95:
            chance.choice(lists).append({"name": "more", "image": "b"}) if chance.random() < 0.5 else chance.choice(lists).reverse()
        else:
            container["name"], container["image"] = chance.choice(["z", container["name"]]), "changed"

    def ephemeralcontainers(self, name):
        return self.written(name, "ephemeralcontainers", self.change_ephemeral)

    def change_ephemeral(self, new):
        chance, spec = self.chance, new["spec"]
        all_ = spec.get("ephemeralContainers") or []
        draw = chance.random()
        if draw < 0.6 or not all_:
            more = {"name": chance.choice("defgh"), "image": "example.com/debug:1"}
            for _ in range(chance.choice([0, 0, 1, 2])):
                key, value = chance.choice([
                    ("targetContainerName", chance.choice(["a", "b", "i", "no"])), ("stdin", True), ("ports", chance.choice([[], [{"containerPort": 80}]])), ("image", ""),
                    ("resources", chance.choice([{}, {"requests": {"cpu": "1"}}])), ("command", ["sh"]), ("args", []), ("imagePullPolicy", "Sometimes"), ("name", "a"),
                    ("volumeMounts", [{"name": "v", "mountPath": "/v", **chance.choice([{}, {"subPath": "s"}])}]), ("livenessProbe", {"exec": {"command": ["x"]}}),
                    ("securityContext", chance.choice([{}, {"privileged": True}, {"runAsUser": -1}])), ("env", [{"name": "E", "value": "1"}]), ("resizePolicy", []),
                ])
                more[key] = value
            all_.insert(chance.choice([0, len(all_)]), more)
        elif draw < 0.75:
            all_.pop(chance.randrange(len(all_)))
        elif draw < 0.95:
            mutate.change(chance.choice(all_), chance)
        else:
            all_.reverse()
        spec["ephemeralContainers"] = all_

    def eviction(self, name):
        chance = self.chance
        options = {}
        # The real server repeats an eviction whose UID differs for ten seconds, so only few have one.
        preconditions = {"uid": "x"} if chance.random() < 0.05 else chance.choice([{"resourceVersion": "1"}, {}])
        for key, value in [("gracePeriodSeconds", chance.choice([0, 5, -1])), ("propagationPolicy", chance.choice(["Background", "Orphan", "Other"])), ("dryRun", chance.choice([["All"], ["x"], []])),
                           ("preconditions", preconditions), ("orphanDependents", True), ("ignoreStoreReadErrorWithClusterBreakingPotential", chance.choice([True, False]))]:
            if chance.random() < 0.08:
                options[key] = value
        body = {"apiVersion": chance.choice(["policy/v1"] * 4 + ["policy/v1beta1", "policy/v2"]), "kind": "Eviction", "metadata": {"name": chance.choice([name] * 12 + ["other", ""])}}
        if options or chance.random() < 0.2:
            body["deleteOptions"] = options
        if chance.random() < 0.05:
            body["metadata"]["namespace"] = chance.choice(["default", "other"])
        return "POST", f"{PODS}/{name}/eviction", "json", body

    def budget(self, name):
        """Changes the status of a budget, which decides about later evictions."""
        chance = self.chance
        status = {"disruptionsAllowed": chance.choice([0, 0, 1, 2]), "currentHealthy": chance.choice([0, 1, 2]), "desiredHealthy": chance.choice([0, 1, 2]), "expectedPods": 2,
                  "observedGeneration": chance.choice([0, 1, 1, 1, 2])}
        if chance.random() < 0.3:
            status["conditions"] = [{"type": "DisruptionAllowed", "status": chance.choice(["False", "True"]), "reason": chance.choice(["SyncFailed", "InsufficientPods"]),
                                     "message": chance.choice(["", "detail"]), "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1}]
        return "PATCH", f"{BUDGETS}/{chance.choice(['one', 'two', 'both'])}/status", PATCHES["merge"], {"status": status}

    def binding(self, name):
        chance = self.chance
        target = {"kind": "Node", "name": chance.choice(["big", "small", "N_1", "absent", ""])}
        if chance.random() < 0.2:
            target["kind"] = chance.choice(["", "Rack", "node"])
        metadata = {"name": chance.choice([name] * 12 + ["other", ""])}
        for key, value in [("labels", {"bound": "yes"}), ("annotations", {"pod.beta.kubernetes.io/init-containers": "x", "a": "b"}), ("uid", "x"), ("resourceVersion", "1"), ("namespace", chance.choice(["default", "other"]))]:
            if chance.random() < 0.12:
                metadata[key] = value
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
        return "POST", chance.choice([f"{PODS}/{name}/binding", f"{BASE}/bindings"]), "json", body

    def token(self, name):
        chance = self.chance
        spec = {}
        if chance.random() < 0.5:
            spec["audiences"] = chance.choice([["a"], ["https://localhost"], [], ["a", "b"]])
        if chance.random() < 0.6:
            spec["expirationSeconds"] = chance.choice([600, 599, 3607, 3600, 0, -1, 1 << 32, (1 << 32) + 1])
        if chance.random() < 0.5:
            kind = chance.choice(["Pod", "Secret", "Node", "ConfigMap", ""])
            spec["boundObjectRef"] = {"kind": kind, "apiVersion": chance.choice(["v1", "v1", "v1", "apps/v1", ""]), "name": chance.choice({"Pod": [name], "Node": ["big"]}.get(kind, ["s"]) + ["absent"])}
            if chance.random() < 0.2:
                spec["boundObjectRef"]["uid"] = "x"
        metadata = {}
        for key, value in [("name", chance.choice(["account", "other"])), ("namespace", chance.choice(["default", "other"])), ("uid", "x")]:
            if chance.random() < 0.1:
                metadata[key] = value
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": metadata, "spec": spec}
        return "POST", f"{BASE}/serviceaccounts/{chance.choice(['account'] * 9 + ['absent'])}/token", "json", body

    def status(self, name):
        """Writes the status of a Pod, on which resizes and evictions depend."""
        chance = self.chance
        status = {"phase": chance.choice(["Pending", "Running", "Running", "Running", "Succeeded"])}
        if chance.random() < 0.6:
            status["conditions"] = [{"type": "Ready", "status": chance.choice(["True", "False"]), "lastTransitionTime": "2026-01-01T00:00:00Z"}]
        if chance.random() < 0.3:
            running = {"name": "a", "image": "i", "imageID": "", "ready": True, "restartCount": 0, "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}
            status["containerStatuses"] = [{**running, **chance.choice([{}, {"resources": {"requests": {"cpu": "1"}}}])}]
        return "PATCH", f"{PODS}/{name}/status", PATCHES["merge"], {"status": status}


OPERATIONS = ["resize", "ephemeralcontainers", "eviction", "budget", "binding", "token", "status"]


def masked(answer):
    """An answer without generated values; a token is decoded."""
    answer = copy.deepcopy(answer)
    token = answer.get("status", {}).get("token") if isinstance(answer, dict) and isinstance(answer.get("status"), dict) else None
    if token:
        part = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        for key in ("exp", "iat", "nbf"):
            claims[key] -= claims["iat"] if key != "iat" else 0
        claims["iat"] = 0
        answer["status"]["token"] = claims
    text = json.dumps(answer)
    for pattern, mask in MASKED:
        text = re.sub(pattern, mask, text)
    return json.loads(text)


def send(server, method, path, kind, body):
    code, answer, headers = server.send(method, path, None if body is None else json.dumps(body), {"Content-Type": kind, "User-Agent": "random/1"})
    return code, masked(answer), frozenset(headers.get_all("Warning") or []), headers.get("Retry-After")


def compare_discovery(servers):
    """Prints the resources that only one server lists, or that the servers list in different ways. Returns their number."""
    paths = ["/api/v1"] + [f"/apis/{version['groupVersion']}" for group in servers[0].send("GET", "/apis")[1]["groups"] for version in group["versions"]]
    differing = 0
    for path in paths:
        real, simulated = ({resource["name"]: resource for resource in server.send("GET", path)[1].get("resources", [])} for server in servers)
        for name in sorted(real.keys() | simulated.keys()):
            if real.get(name) != simulated.get(name):
                differing += 1
                print(f"{path} {name}: {real.get(name)} {simulated.get(name)}")
    return differing


def watch_admission(servers):
    """A policy that warns about every write of a subresource, with what admission sees of it."""
    group = "admissionregistration.k8s.io/v1"
    text = ("'op ' + request.operation + ' on ' + request.resource.resource + '/' + (has(request.subResource) ? request.subResource : '-') + ' ' + request.name + ' of ' + request.kind.kind + "
            "' dry ' + string(request.dryRun) + ' old ' + string(oldObject != null) + ' ' + request.options.kind + ' ' + object.metadata.?name.orValue('-') + ' ' + "
            "string(object.metadata.?generation.orValue(0))")
    rules = [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods/*", "bindings", "serviceaccounts/*"]}]
    policy = {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "subresources"},
              "spec": {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "false", "messageExpression": text}]}}
    binding = {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "subresources"}, "spec": {"policyName": "subresources", "validationActions": ["Warn"]}}
    for server in servers:
        for plural, body in [("validatingadmissionpolicies", policy), ("validatingadmissionpolicybindings", binding)]:
            code, answer, _ = server.send("POST", f"/apis/{group}/{plural}", json.dumps(body), {"Content-Type": "application/json"})
            assert code < 300, answer
        for _ in range(100):
            if server.send("POST", f"{BASE}/serviceaccounts/account/token?dryRun=All", json.dumps({"spec": {}}), {"Content-Type": "application/json"})[2].get("Warning"):
                break
            time.sleep(0.3)


def prepare(servers):
    """Creates the Nodes, budgets and accounts to which requests refer."""
    allocatable = {"big": {"cpu": "100", "memory": "100Gi"}, "small": {"cpu": "1200m", "memory": "1Gi"}, "windows": {"cpu": "100", "memory": "100Gi"}}
    features = {"big": ["InPlacePodLevelResourcesVerticalScaling", "InPlacePodVerticalScalingInitContainers"]}
    objects = [(BUDGETS, {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": {
        "selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": [name, "both"]}]}, "minAvailable": 1,
        **({"unhealthyPodEvictionPolicy": "AlwaysAllow"} if name == "two" else {})}}) for name in ("one", "two")]
    objects += [("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
        "topology.kubernetes.io/zone": "z", **({"kubernetes.io/os": "windows"} if name == "windows" else {})}},
        "status": {"allocatable": resources, **({"declaredFeatures": features[name]} if name in features else {})}}) for name, resources in allocatable.items()]
    objects += [(f"{BASE}/{plural}", {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}}) for plural, kind, name in
                [("serviceaccounts", "ServiceAccount", "account"), ("secrets", "Secret", "s")]]
    for path, body in objects:
        for server in servers:
            code, answer, _ = server.send("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            assert code < 300, answer


def recreate(servers, name, chance):
    """Removes a Pod from both servers and creates another one. Returns the Pod as the real server stores it."""
    while True:
        given = pod(name, chance)
        answers = []
        for server in servers:
            finalizers = json.dumps({"metadata": {"finalizers": None}})
            server.send("PATCH", f"{PODS}/{name}", finalizers, {"Content-Type": "application/merge-patch+json"})
            server.send("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0", None)
            answers.append(server.send("POST", PODS, json.dumps(given), {"Content-Type": "application/json", "User-Agent": "random/1"}))
        if all(code < 300 for code, *_ in answers):
            return answers[0][1]


def main():
    parser = control_plane.random_parser(__doc__)
    parser.add_argument("--operations", default=",".join(OPERATIONS))
    args = parser.parse_args()
    chance, counts, differing, examples = random.Random(args.seed), collections.Counter(), collections.Counter(), {}
    work = tempfile.mkdtemp(prefix="subresources-")
    with control_plane.real_and_simulated(args.folder, args.envtest, work) as servers:
        print(f"{compare_discovery(servers)} resources are listed in different ways")
        prepare(servers)
        watch_admission(servers)
        objects = {name: recreate(servers, name, chance) for name in ("p0", "p1", "p2", "p3")}
        requests = Requests(chance, args.operations.split(","), objects)
        for _ in range(args.count):
            method, path, kind, body, name = requests.next()
            answers = [send(server, method, path, kind, body) for server in servers]
            counts[path.split("?")[0].split("/")[-1], "accepted" if answers[0][0] < 300 else "rejected"] += 1
            counts["all", "with warnings"] += bool(answers[0][2])
            how, lines = random_requests.difference(path, *(answer[:3] for answer in answers))
            if not how and answers[0][3] != answers[1][3]:
                how, lines = "retry", [f"- {answers[0][3]}", f"+ {answers[1][3]}"]
            stored = [send(server, "GET", f"{PODS}/{name}", "application/json", None) for server in servers]
            if not how:
                how, lines = random_requests.difference(path, *(answer[:3] for answer in stored))
                how = how and f"stored {how}"
            if how:
                differing[how] += 1
                shape = re.sub(r"[0-9]+", "0", re.sub(r'"[^"]*"', '"…"', "\n".join(line[:120] for line in lines[:3])))
                key = how, path.split("?")[0].split("/")[-1], shape
                examples.setdefault(key, [0, method, path, json.dumps(body), lines, objects[name]])[0] += 1
            if how or stored[0][0] != 200 or chance.random() < 0.08 or stored[0][1]["metadata"].get("deletionTimestamp"):
                objects[name] = recreate(servers, name, chance)
            else:
                objects[name] = stored[0][1]
    for (how, part, _), (number, method, path, text, lines, old) in sorted(examples.items(), key=lambda item: (item[0][:2], -item[1][0])):
        print(f"{how}, {part}, {number} times: {method} {path}\n    {text[:1500]}\n    {json.dumps({key: old[key] for key in ('metadata', 'spec', 'status')})[:2500]}")
        print("\n".join("    " + line[:600] for line in lines[:12]))
    accepted = {f"{part} {verdict}": number for (part, verdict), number in sorted(counts.items())}
    print(f"{args.count} requests: " + (", ".join(f"{number} {how}" for how, number in sorted(differing.items())) or "no difference") + f"; {accepted}")


if __name__ == "__main__":
    main()
