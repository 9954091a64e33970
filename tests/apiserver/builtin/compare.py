#!/usr/bin/env python3
"""Sends the same requests for built-in kinds to the real kube-apiserver and to the simulated one, and shows the responses that differ.

usage: compare.py FOLDER [--envtest FOLDER] [--only KIND]

FOLDER has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh builds them), --envtest names the folder that `kubectl crdx envtest` printed. Each object
of objects.jsonl is created, read, patched, applied, updated, listed, printed as a Table and deleted in a dry run. Generated values are masked.
"""
import difflib, json, os, re, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import control_plane

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MASKED = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r'"(creationTimestamp|deletionTimestamp|lastPhaseTransitionTime|time)": "[^"]*"', r'"\1": "TIME"'),
    (r'"resourceVersion": "[^"]*"', '"resourceVersion": "REVISION"'),
    (r'"10\.0\.[0-9]+\.[0-9]+"', '"ADDRESS"'),
    (r'"[0-9]+s"', '"AGE"'),
]


class Server(control_plane.Server):
    """A server that was started, and the revision of the last object it returned."""

    revision = ""

    def call(self, method, path, body=None, content_type="application/json", accept="application/json"):
        """The status code, the body and the warnings of a response."""
        text = None if body is None else json.dumps(body).replace("{revision}", self.revision)
        code, found, headers = self.send(method, path, text, {"Content-Type": content_type, "Accept": accept, "User-Agent": "compare/1"})
        if isinstance(found, dict):
            self.revision = found.get("metadata", {}).get("resourceVersion") or self.revision
        return code, found, sorted(headers.get_all("Warning") or [])


class Comparison:
    def __init__(self, servers):
        self.servers, self.asked, self.differing = servers, 0, 0

    def ask(self, what, method, path, body=None, content_type="application/json", accept="application/json"):
        """Sends a request to both servers. Returns true if both accepted it."""
        answers = [server.call(method, path, body, content_type, accept) for server in self.servers]
        texts = [json.dumps(answer, indent=1, sort_keys=True) for answer in answers]
        for pattern, mask in MASKED:
            texts = [re.sub(pattern, mask, text) for text in texts]
        self.asked += 1
        if texts[0] != texts[1]:
            self.differing += 1
            print(f"{what}: {method} {path}")
            lines = [text.split("\n") for text in texts]
            print("\n".join("    " + line for line in difflib.unified_diff(*lines, "real", "simulated", n=2, lineterm="")))
        return all(code < 300 for code, _, _ in answers)

    def object(self, given, path, plural, is_namespaced):
        kind, name = given["kind"], given["metadata"]["name"]
        namespace = given["metadata"].get("namespace", "default")
        collection = f"{path}/namespaces/{namespace}/{plural}" if is_namespaced else f"{path}/{plural}"
        one, what = f"{collection}/{name}", f"{kind} {name}"
        for server in self.servers:
            server.revision = ""
        if not self.ask(what, "POST", f"{collection}?fieldManager=creator&fieldValidation=Strict", given):
            return
        self.ask(what, "GET", one)
        merge = {"metadata": {"labels": {"merged": "1"}, "annotations": {"merged": "1"}}}
        self.ask(what, "PATCH", f"{one}?fieldManager=patcher", merge, "application/merge-patch+json")
        strategic = {"metadata": {"labels": {"strategic": "1"}, "finalizers": None}}
        self.ask(what, "PATCH", f"{one}?fieldManager=patcher", strategic, "application/strategic-merge-patch+json")
        applied = {"apiVersion": given["apiVersion"], "kind": kind, "metadata": {"name": name, "labels": {"applied": "1"}}}
        self.ask(what, "PATCH", f"{one}?fieldManager=applier", applied, "application/apply-patch+yaml")
        updated = json.loads(json.dumps(given))
        updated["metadata"]["resourceVersion"] = "{revision}"
        updated["metadata"].setdefault("labels", {})["updated"] = "1"
        self.ask(what, "PUT", f"{one}?fieldManager=creator", updated)
        status = {"status": {"conditions": []}, "metadata": {"labels": {"status": "1"}}}
        self.ask(what, "PATCH", f"{one}/status?fieldManager=reporter", status, "application/merge-patch+json")
        self.ask(what, "GET", f"{collection}?fieldSelector=metadata.name={name}")
        self.ask(what, "GET", one, accept=TABLE)
        self.ask(what, "DELETE", f"{one}?dryRun=All")


def main():
    parser = control_plane.parser(__doc__)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    work = tempfile.mkdtemp(prefix="compare-")
    with control_plane.real_and_simulated(args.folder, args.envtest, work, Server) as servers:
        resources, comparison = servers[0].resources(), Comparison(servers)
        with open(os.path.join(HERE, "objects.jsonl")) as objects:
            for given in map(json.loads, objects):
                if args.only.lower() in given["kind"].lower():
                    comparison.object(given, *resources[given["apiVersion"], given["kind"]])
        print(f"{comparison.asked} requests, {comparison.differing} responses differ")


if __name__ == "__main__":
    main()
