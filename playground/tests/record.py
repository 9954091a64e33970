#!/usr/bin/env python3
"""Records what a real kube-apiserver answers to the examples of the page, into recorded.json, which engine/tests/recorded.rs reads.

usage: record.py ASSETS      a folder with kube-apiserver and etcd of 1.37 (tests/apiserver/kube-apiserver.sh builds them); needs PyYAML
"""
import glob, json, os, re, sys, tempfile, time
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "apiserver"))
from control_plane import ControlPlane  # noqa: E402

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WRITTEN = ("uid", "resourceVersion", "creationTimestamp", "managedFields")
# How long a server needs to use a changed CRD or a new policy, in seconds.
SETTLE, POLICIES = 1.5, 3


class Loader(yaml.SafeLoader):
    """Reads times as texts, as kubectl does."""


Loader.yaml_implicit_resolvers = {
    key: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for key, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read(file):
    """The options and the texts of an example."""
    head, *parts = re.split(r"^--- # (\w+)\n", open(file).read(), flags=re.M)
    options = dict(line.split(": ", 1) for line in head.splitlines())
    texts = {pane: [d for d in yaml.load_all(text, Loader) if d] for pane, text in zip(parts[::2], parts[1::2])}
    return {**options, **texts}


def headers(example, content_type="application/json"):
    user = {"Impersonate-User": example["user"]} if "user" in example else {}
    return {"Content-Type": content_type, **user}


def refusal(pane, code, status, answer_headers):
    causes = (status.get("details") or {}).get("causes") or [] if isinstance(status, dict) else []
    return {
        "refused": pane, "code": code, "message": status.get("message", "") if isinstance(status, dict) else status,
        "causes": sorted([cause.get("field", ""), cause.get("message", "")] for cause in causes),
        "warnings": warnings(answer_headers),
    }


def warnings(answer_headers):
    return [json.loads(re.match(r'299 - (".*")', value).group(1)) for key, value in answer_headers.items() if key.lower() == "warning"]


class Recorder:
    def __init__(self, plane):
        self.plane = plane

    def send(self, method, path, body=None, headers=None):
        return self.plane.send(method, path, None if body is None else json.dumps(body), headers or {"Content-Type": "application/json"})

    def wait(self, path, wanted):
        for _ in range(300):
            if self.send("GET", path)[0] == wanted:
                return
            time.sleep(0.05)
        raise SystemExit(f"{path} does not become {wanted}")

    def install(self, crd):
        """Creates or replaces a CRD; returns the refusal."""
        path = f"{CRDS}/{crd['metadata']['name']}"
        code, existing, _ = self.send("GET", path)
        if code == 200:
            crd = {**crd, "metadata": {**crd["metadata"], "resourceVersion": existing["metadata"]["resourceVersion"]}}
            code, answer, answer_headers = self.send("PUT", path, crd)
        else:
            code, answer, answer_headers = self.send("POST", CRDS, crd)
        if code >= 300:
            return refusal("crd", code, answer, answer_headers)
        self.wait(self.collection(crd), 200)
        time.sleep(SETTLE)
        return None

    def collection(self, crd):
        spec = crd["spec"]
        version = next(v["name"] for v in spec["versions"] if v["served"])
        namespace = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
        return f"/apis/{spec['group']}/{version}{namespace}/{spec['names']['plural']}"

    def store(self, example, crd, old):
        """Stores an object under a CRD that accepts everything, as if it had been stored before today's CRD."""
        anything = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        self.install({**crd, "spec": {**crd["spec"], "versions": [{**v, "schema": anything} for v in crd["spec"]["versions"]]}})
        managers = old["metadata"].pop("managedFields", None)
        path = self.collection(crd)
        if managers:
            path = f"{path}/{old['metadata']['name']}?fieldManager={managers[0]['manager']}"
            code, answer, _ = self.send("PATCH", path, old, headers({}, "application/apply-patch+yaml"))
        else:
            code, answer, _ = self.send("POST", path, old)
        assert code in (200, 201), answer

    def write(self, example, crd, item):
        operation, path = example.get("operation", "create"), self.collection(crd)
        query = f"?fieldManager=kubectl&fieldValidation={example.get('fieldValidation', 'Strict')}"
        if operation == "create":
            return self.send("POST", path + query, item, headers(example))
        path += "/" + item["metadata"]["name"]
        if operation == "apply":
            return self.send("PATCH", path + query, item, headers(example, "application/apply-patch+yaml"))
        if operation == "scale":
            replicas = {"spec": {"replicas": item["spec"]["replicas"]}}
            code, answer, answer_headers = self.send("PATCH", f"{path}/scale{query}", replicas, headers(example, "application/merge-patch+json"))
            return (code, self.send("GET", path)[1], answer_headers) if code == 200 else (code, answer, answer_headers)
        existing = self.send("GET", path)[1]
        item = {**item, "metadata": {**item["metadata"], "resourceVersion": existing["metadata"]["resourceVersion"]}}
        return self.send("PUT", path + ("/status" if operation == "status" else "") + query, item, headers(example))

    def run(self, example):
        (crd,) = example["crd"]
        if crd["apiVersion"].endswith("v1beta1"):
            return None
        try:
            if "oldObject" in example:
                self.store(example, crd, *example["oldObject"])
            refused = self.install(crd)
            if refused or "object" not in example:
                return refused or {"code": 201}
            for policy in example.get("policies", []):
                plural = {"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings"}
                code, answer, _ = self.send("POST", f"/apis/{policy['apiVersion']}/{plural[policy['kind']]}", policy)
                assert code == 201, answer
                time.sleep(POLICIES)
            (item,) = example["object"]
            items = item["items"] if item["kind"] == "List" else [item]
            code, answer, answer_headers = self.write(example, crd, items[0])
            if code >= 300:
                return refusal("object", code, answer, answer_headers)
            for key in WRITTEN:
                answer["metadata"].pop(key, None)
            return {"code": code, "stored": answer, "warnings": warnings(answer_headers)}
        finally:
            self.remove(crd)

    def remove(self, crd):
        name = crd["metadata"]["name"]
        if self.send("GET", f"{CRDS}/{name}")[0] == 404:
            return
        for item in self.send("GET", self.collection(crd))[1].get("items", []):
            path = f"{self.collection(crd)}/{item['metadata']['name']}"
            if item["metadata"].get("finalizers"):
                self.send("PATCH", path, {"metadata": {"finalizers": None}}, headers({}, "application/merge-patch+json"))
        self.send("DELETE", f"{CRDS}/{name}")
        self.wait(f"{CRDS}/{name}", 404)


def main():
    with tempfile.TemporaryDirectory() as work, ControlPlane(sys.argv[1], work) as plane:
        recorder, recorded = Recorder(plane), {}
        for file in sorted(glob.glob(os.path.join(HERE, "..", "examples", "*.yaml"))):
            name = os.path.basename(file).removesuffix(".yaml")
            recorded[name] = recorder.run(read(file))
            print(name, recorded[name] and recorded[name]["code"], flush=True)
    with open(os.path.join(HERE, "recorded.json"), "w") as out:
        json.dump(recorded, out, indent=1, sort_keys=True)
        out.write("\n")


if __name__ == "__main__":
    main()
