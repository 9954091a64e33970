#!/usr/bin/env python3
"""Sends the same requests for built-in kinds to the real kube-apiserver and to the simulated one, and shows the responses that differ.

usage: compare.py FOLDER [--envtest FOLDER] [--only KIND]

FOLDER has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh builds them), --envtest names the folder that `kubectl crdx envtest` printed. Each object
of objects.jsonl is created, read, patched, applied, updated, listed, printed as a Table and deleted in a dry run. Generated values are masked.
"""
import argparse, difflib, http.client, json, os, re, ssl, subprocess, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
MASKED = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r'"(creationTimestamp|deletionTimestamp|lastPhaseTransitionTime|time)": "[^"]*"', r'"\1": "TIME"'),
    (r'"resourceVersion": "[^"]*"', '"resourceVersion": "REVISION"'),
    (r'"10\.0\.[0-9]+\.[0-9]+"', '"ADDRESS"'),
    (r'"[0-9]+s"', '"AGE"'),
]


class Server:
    """A server that was started, and the revision of the last object it returned."""

    def __init__(self, program, port, etcd, work):
        key, tokens = os.path.join(work, "key.pem"), os.path.join(work, "tokens")
        if not os.path.exists(key):
            subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, stderr=subprocess.DEVNULL)
            with open(tokens, "w") as out:
                out.write('secret,admin,admin,"system:masters"\n')
        flags = {
            "etcd-servers": etcd, "secure-port": port, "cert-dir": os.path.join(work, str(port)), "token-auth-file": tokens,
            "service-account-issuer": "https://localhost", "service-account-key-file": key, "service-account-signing-key-file": key,
            "authorization-mode": "AlwaysAllow", "disable-admission-plugins": "ServiceAccount", "service-cluster-ip-range": "10.0.0.0/24", "allow-privileged": "true",
        }
        with open(os.path.join(work, f"{port}.log"), "w") as log:
            self.process = subprocess.Popen([program, *(f"--{name}={value}" for name, value in flags.items())], stdout=log, stderr=log)
        self.port, self.revision = port, ""
        for _ in range(240):
            try:
                self.connection = http.client.HTTPSConnection("127.0.0.1", port, context=ssl._create_unverified_context())
                if self.call("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.25)
        raise SystemExit(f"compare.py: {program} is not ready: see {work}")

    def call(self, method, path, body=None, content_type="application/json", accept="application/json"):
        """The status code, the body and the warnings of a response."""
        text = None if body is None else json.dumps(body).replace("{revision}", self.revision)
        headers = {"Authorization": "Bearer secret", "Content-Type": content_type, "Accept": accept, "User-Agent": "compare/1"}
        self.connection.request(method, path, text, headers)
        response = self.connection.getresponse()
        data = response.read()
        try:
            found = json.loads(data)
        except ValueError:
            found = data.decode(errors="replace")
        if isinstance(found, dict):
            self.revision = found.get("metadata", {}).get("resourceVersion") or self.revision
        return response.status, found, sorted(response.headers.get_all("Warning") or [])

    def resources(self):
        """The path, plural and scope of each apiVersion and kind."""
        versions = [version["groupVersion"] for group in self.call("GET", "/apis")[1]["groups"] for version in group["versions"]]
        found = {}
        for path, name in [("/api/v1", "v1")] + [(f"/apis/{name}", name) for name in versions]:
            for resource in self.call("GET", path)[1].get("resources", []):
                if "/" not in resource["name"]:
                    found[name, resource["kind"]] = (path, resource["name"], resource["namespaced"])
        return found


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--envtest", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    work = tempfile.mkdtemp(prefix="compare-")
    client, peer = "http://127.0.0.1:23790", "http://127.0.0.1:23800"
    with open(os.path.join(work, "etcd.log"), "w") as log:
        flags = ["--data-dir", os.path.join(work, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--unsafe-no-fsync"]
        started = [subprocess.Popen([os.path.join(args.folder, "etcd"), *flags], stdout=log, stderr=log)]
    try:
        time.sleep(2)
        servers = []
        for port, folder in [(16443, args.folder), (16444, args.envtest)]:
            servers.append(Server(os.path.join(folder, "kube-apiserver"), port, client, work))
            started.append(servers[-1].process)
        resources, comparison = servers[0].resources(), Comparison(servers)
        with open(os.path.join(HERE, "objects.jsonl")) as objects:
            for given in map(json.loads, objects):
                if args.only.lower() in given["kind"].lower():
                    comparison.object(given, *resources[given["apiVersion"], given["kind"]])
        print(f"{comparison.asked} requests, {comparison.differing} responses differ")
    finally:
        for process in reversed(started):
            process.kill()


if __name__ == "__main__":
    main()
