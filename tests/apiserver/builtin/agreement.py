#!/usr/bin/env python3
"""Sends random writes of built-in kinds with kubectl, and compares the answers with those of `validate` and of the simulated server.

usage: agreement.py --binary FILE --kubectl FILE [--real FOLDER] [--count 1000] [--seed 1] [--version 1.37] [--ways apply,replace,…] [--only KIND] [--grow 0.3] [--record FILE]

Every way that `validate` can express (WAYS) writes random changes of the objects in objects.jsonl, status-objects.jsonl and services.jsonl, new or existing, in every served version. kubectl sends them as dry runs
to the simulated server of `kubectl-crdx envtest`, or, with --real, to the kube-apiserver of FOLDER (kube-apiserver.sh builds it), and the same requests then go to the simulated server. `validate --offline` reads the
same files, and the stored objects (--old) in any served version. Compared are verdicts, codes, errors, warnings and the objects that would be stored; generated values are masked. Answers that depend on other objects of the
cluster are counted apart, because `validate --offline` cannot know them. One example of each difference is printed, and the number of wrong verdicts.
--record writes the answers, compressed, for tests/conformance/collection/builtin: a line with the existing objects, then a line for each run of `validate`, whose documents name the existing objects by their index. `changes` is the
JSON merge patch from the existing object to the one that is stored afterwards, without what differs in every run.
"""
import argparse, collections, contextlib, gzip, json, os, random, re, subprocess, sys, tempfile, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), HERE]
import control_plane, grow, kubectl_proxy
from random_requests import CONTROLLED, GENERATED, LIMITING, POINTER, Requests, as_manifest, encoded, generated_values, masked

Way = collections.namedtuple("Way", "kubectl validate exists")
WAYS = {
    "create": Way(["create"], ["--create"], False),
    "create-existing": Way(["create"], ["--create"], True),
    "apply-new": Way(["apply"], [], False),
    "apply": Way(["apply"], [], True),
    "server-side-new": Way(["apply", "--server-side"], ["--server-side"], False),
    "server-side": Way(["apply", "--server-side"], ["--server-side"], True),
    "server-side-forced": Way(["apply", "--server-side", "--force-conflicts"], ["--server-side", "--force-conflicts"], True),
    "replace": Way(["replace"], ["--replace"], True),
    "status": Way(["replace", "--subresource=status"], ["--replace", "--subresource", "status"], True),
    "status-server-side": Way(["apply", "--server-side", "--subresource=status"], ["--server-side", "--subresource", "status"], True),
    # `validate --subresource scale` reads the replicas from the object, kubectl from a flag.
    "scale": Way(None, ["--subresource", "scale"], True),
}
LEVELS = ["Strict"] * 5 + ["Warn", "Ignore"]
FILES = ["objects.jsonl", "status-objects.jsonl", "services.jsonl"]
SCALED = ("Deployment", "ReplicaSet", "StatefulSet", "ReplicationController")
# A new object of these kinds has an effect on the objects that `validate` reads after it, but not on other dry runs.
INFLUENTIAL = (
    "Namespace", "LimitRange", "ResourceQuota", "PriorityClass", "RuntimeClass", "StorageClass", "IngressClass", "ServiceAccount", "ServiceCIDR", "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
)
# The cluster has (or lacks) another object, which `validate --offline` cannot know; notes of `validate` say so.
ENVIRONMENT = re.compile(
    r"no PriorityClass with name|RuntimeClass \"[^\"]*\" not found|namespaces \"[^\"]*\" not found|provided (IP|port) is |is not in the valid range|is forbidden: exceeded quota|range is full|failed to allocate"
    r"|the namespace of the provided object does not match|minimum (cpu|memory)|maximum (cpu|memory)|the object has been modified|error looking up service account|only dynamically provisioned pvc can be resized|unable to find .* policy"
)
# Chosen or written by the server.
ASSIGNED = ("uid", "creationTimestamp", "managedFields", "resourceVersion", "selfLink")
ALLOCATED = ("clusterIP", "clusterIPs", "healthCheckNodePort")
# Labels with the UID of a Job, and its name.
JOB_LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")
GENERATED_FIELDS = re.compile(r'"(username|timeAdded|lastUpdateTime|lastPhaseTransitionTime)": "[^"]*"')
# The volumes of the templates of a StatefulSet have a random order; the difference that go-cmp prints before 1.34 is not simulated.
RANDOM = re.compile(r"core\.[A-Z][A-Za-z]+\{|identical fields|spec\.template\.spec\.volumes\[[0-9]+\]\.(name|persistentVolumeClaim\.claimName): Required")
UNDECLARED = ": field not declared in schema"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Stored(collections.namedtuple("Stored", "given collection versions plural")):
    """An object that exists: its manifest, the path of its collection in each version and its plural."""

    @property
    def kind(self):
        return self.given["kind"]

    @property
    def name(self):
        return self.given["metadata"]["name"]


# A document for kubectl and `validate`, and the answer to it.
class Document:
    def __init__(self, way, body, stored, old, level):
        self.way, self.body, self.stored, self.old, self.level = way, body, stored, old, level
        self.exchange, self.simulated, self.refusal, self.unchanged, self.live = None, None, "", False, None
        self.is_unasked = False


def served_versions(server):
    """The path, plural and scope of each apiVersion and kind, and the versions of each kind. Events are in two groups."""
    resources, versions = server.resources(), collections.defaultdict(list)
    for (version, kind), _ in sorted(resources.items()):
        group = version.rpartition("/")[0]
        versions[kind, "" if kind == "Event" else group].append(version)
    return resources, versions


class Cluster:
    """The servers, and the objects that exist in all of them."""

    def __init__(self, servers, chance, args):
        self.servers, self.chance, self.stored, self.generated = servers, chance, [], {}
        self.resources, self.versions = served_versions(servers[0])
        for file in FILES:
            for given in map(json.loads, open(os.path.join(HERE, file))):
                if (given["apiVersion"], given["kind"]) in self.resources and args.only.lower() in given["kind"].lower():
                    # Services of services.jsonl have addresses of their own.
                    for copy in range(args.copies if file == "objects.jsonl" else 1):
                        self.create(given, copy)

    def create(self, given, copy):
        given = {**given, "metadata": {key: value for key, value in given["metadata"].items() if key in ("name", "labels", "annotations")}}
        if copy:
            given["metadata"]["name"] += f"-{copy}"
        path, plural, namespaced = self.resources[given["apiVersion"], given["kind"]]
        if any((one.plural, one.name) == (plural, given["metadata"]["name"]) for one in self.stored):
            return
        if given["kind"] in LIMITING:
            # They would change what other writes do.
            given["metadata"]["namespace"] = "kube-public"
        namespace = f"/namespaces/{'kube-public' if given['kind'] in LIMITING else 'default'}" if namespaced else ""
        group = given["apiVersion"].rpartition("/")[0]
        collections_of = {version: self.resources[version, given["kind"]][0] + f"{namespace}/{plural}" for version in self.versions[given["kind"], "" if given["kind"] == "Event" else group]}
        collection = collections_of[given["apiVersion"]]
        method, where, kind_of_body, body = "POST", f"{collection}?fieldManager=kubectl-create", "application/json", given
        how = self.chance.choice(["create", "apply", "server-side"])
        if how == "apply":
            annotated = {**given, "metadata": {**given["metadata"], "annotations": {**given["metadata"].get("annotations", {}), LAST_APPLIED: json.dumps(given, separators=(",", ":"), sort_keys=True) + "\n"}}}
            where, body = f"{collection}?fieldManager=kubectl-client-side-apply", annotated
        elif how == "server-side":
            method, where, kind_of_body = "PATCH", f"{collection}/{given['metadata']['name']}?fieldManager=kubectl", "application/apply-patch+yaml"
        answers = [server.send(method, where, encoded(body, given["kind"]), {"Content-Type": kind_of_body})[:2] for server in self.servers]
        if all(code < 300 for code, _ in answers):
            given["metadata"].setdefault("labels", {})
            self.stored.append(Stored(given, collection, collections_of, plural))
            if len(answers) > 1:
                self.generated.update(generated_values(*(answer for _, answer in answers)))
        elif len({code for code, _ in answers}) > 1:
            print(f"not stored in both servers: {given['kind']} {given['metadata']['name']}: {[(code, answer.get('message')) for code, answer in answers if isinstance(answer, dict)]}")

    def read(self, stored, version, server=0):
        """The object in a version."""
        code, answer, _ = self.servers[server].send("GET", f"{stored.versions[version]}/{stored.name}")
        return answer if code == 200 else None


class Writes:
    """Random documents."""

    def __init__(self, cluster, chance, args):
        self.cluster, self.chance, self.number = cluster, chance, 0
        fields = grow.Fields(cluster.servers[0], [one.given for one in cluster.stored])
        self.requests = Requests([(one.given, one.collection, one.given) for one in cluster.stored], chance, ["create"], fields, args.grow)

    def base(self, stored, live):
        """The manifest of an object, in one of its versions."""
        if live["apiVersion"] == stored.given["apiVersion"] and self.chance.random() < 0.7:
            return stored.given
        base = as_manifest(live)
        if self.chance.random() < 0.8:
            base.pop("status", None)
        elif self.chance.random() < 0.5:
            base["metadata"].update({key: value for key, value in live["metadata"].items() if key in ("uid", "generation", "creationTimestamp", "managedFields")})
        if self.chance.random() < 0.7:
            base["metadata"].get("annotations", {}).pop(LAST_APPLIED, None)
        return base

    def document(self, name, level):
        """A document for a way, and the name of its object."""
        way, chance = WAYS[name], self.chance
        candidates = self.cluster.stored
        if name == "scale":
            candidates = [one for one in candidates if one.kind in SCALED]
        elif name.startswith("status"):
            candidates = [one for one in candidates if one.kind in self.requests.statuses]
        if not candidates:
            return None
        # Some kinds have many more objects than others, and few have several versions.
        several = {one.kind for one in candidates if len(one.versions) > 1}
        kind = chance.choice(sorted(several if several and chance.random() < 0.15 else {one.kind for one in candidates}))
        stored = chance.choice([one for one in candidates if one.kind == kind])
        version = chance.choice(sorted(stored.versions))
        live = self.cluster.read(stored, version)
        if live is None:
            return None
        if name == "scale":
            body = as_manifest(live)
            body["spec"] = {**body["spec"], "replicas": chance.choice([0, 1, 2, 5, 100, -1, 2**31 - 1, -5])}
        elif name.startswith("status"):
            body = as_manifest(live)
            body["status"] = self.requests.status(kind)
            body["metadata"].get("annotations", {}).pop(LAST_APPLIED, None)
            if name == "status-server-side":
                body = {key: value for key, value in body.items() if key != "spec" or chance.random() < 0.3}
            if chance.random() < 0.2:
                body = self.requests.changed(body, kind)
        else:
            body = self.requests.changed(self.base(stored, live), kind)
        if not way.exists:
            self.number += 1
            if isinstance(body.get("metadata"), dict) and body["metadata"].get("name") == stored.name:
                # A number would be a namesake of a copy.
                body["metadata"]["name"] += f"-n{self.number}"
        elif way.kubectl and "--server-side" in way.kubectl and chance.random() < 0.5:
            body = {**self.requests.part(body), **{key: body[key] for key in ("apiVersion", "kind") if key in body}}
        old = None
        if way.exists:
            old = version if chance.random() < 0.5 else chance.choice(sorted(stored.versions))
        return Document(name, body, stored, old, level)

    def batch(self, name, size):
        """Documents whose objects have different names, by the influence that they have on others."""
        level, batches, names = self.chance.choice(LEVELS), collections.defaultdict(list), set()
        existing = {(one.plural, one.name) for one in self.cluster.stored}
        for _ in range(size * 2):
            document = self.document(name, level)
            if document is None:
                continue
            key = identity(self.cluster.resources, document.body)
            own = (document.stored.plural, document.stored.name)
            used = {key[1:], own} if WAYS[name].exists else {key[1:]}
            # A name that was changed may be that of another object.
            if used & names or (key[1:] in existing and (key[1:] != own or not WAYS[name].exists)):
                continue
            names |= used
            kind = document.stored.kind
            batches[kind if kind in INFLUENTIAL and not WAYS[name].exists else ""].append(document)
            if len(names) >= size:
                break
        return batches


def identity(resources, body):
    """The path of the API, the plural and the name of an object."""
    kind = (body.get("apiVersion"), body.get("kind")) if isinstance(body.get("apiVersion"), str) and isinstance(body.get("kind"), str) else None
    path, plural, _ = resources.get(kind) or ("", str(kind), False)
    metadata = body.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return path, plural, name if isinstance(name, str) else ""


def identity_of(exchange):
    """The same of the object of a write."""
    _, prefix, *rest = map(urllib.parse.unquote, exchange.path.split("?")[0].split("/"))
    api, rest = (f"/{prefix}/{rest[0]}", rest[1:]) if prefix == "api" else (f"/{prefix}/{rest[0]}/{rest[1]}", rest[2:])
    # An odd namespace or name may leave nothing of the path.
    rest = rest or [""]
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        rest = rest[2:]
    if exchange.method == "POST":
        metadata = (json.loads(exchange.body) or {}).get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        return api, rest[0], name if isinstance(name, str) else ""
    # A name with a slash, or an empty one, is in no path that the server knows.
    return api, rest[0], rest[1] if len(rest) > 1 else ""


class Agreement:
    def __init__(self, args, cluster, proxy, work):
        self.args, self.cluster, self.proxy, self.work = args, cluster, proxy, work
        self.counts, self.examples, self.number, self.runs, self.olds = collections.Counter(), {}, 0, [], {}

    def run(self, documents):
        """Lets kubectl and `validate` read the documents of one way, and compares the answers."""
        self.number += 1
        folder = os.path.join(self.work, str(self.number))
        for name in ("new", "old"):
            os.makedirs(os.path.join(folder, name))
        for index, document in enumerate(documents):
            # kubectl reads the files in the order of their names.
            with open(os.path.join(folder, "new", f"{index:04}.json"), "w") as out:
                json.dump(document.body, out)
            if document.old:
                document.live = self.cluster.read(document.stored, document.old)
                with open(os.path.join(folder, "old", f"{index:04}.json"), "w") as out:
                    json.dump(document.live, out)
        way, level = WAYS[documents[0].way], documents[0].level
        if way.kubectl:
            self.ask_kubectl(way, level, folder, documents)
        else:
            self.scale(documents)
        if len(self.cluster.servers) > 1:
            for document in documents:
                self.replay(document)
        for document, item in zip(documents, self.validate(way, level, folder, documents)):
            self.compare(document, item)
        if self.args.record:
            self.record(way, level, documents)

    def ask_kubectl(self, way, level, folder, documents):
        result, exchanges = self.proxy.run(*way.kubectl, "--dry-run=server", f"--validate={level.lower()}", "-f", os.path.join(folder, "new"))
        by_identity = {identity(self.cluster.resources, document.body): document for document in documents}
        for exchange in exchanges:
            document = by_identity.get(identity_of(exchange))
            if document is None:
                print(f"a write that belongs to no document: {exchange.method} {exchange.path} {exchange.body[:500]}", file=sys.stderr)
                continue
            # Later writes of a server-side apply are those of a migration from client-side apply: their errors are warnings of kubectl.
            if document.exchange is None or "--server-side" not in way.kubectl:
                document.exchange = exchange
        for index, document in enumerate(documents):
            if document.exchange:
                continue
            metadata = document.body.get("metadata")
            name = metadata.get("name") if isinstance(metadata, dict) else None
            group = str(document.body.get("apiVersion")).rpartition("/")[0]
            resource = f"{str(document.body.get('kind')).lower()}{'.' * bool(group)}{group}/{name} "
            document.unchanged = f"{resource}unchanged" in result.stdout
            if not document.unchanged:
                lines = [line for line in result.stderr.split("\n") if f"/{index:04}.json" in line]
                document.refusal = lines[0] if lines else "kubectl sent nothing"
                # A panic of kubectl says nothing about this document, and leaves out those after it.
                document.is_unasked = not lines and "goroutine " in result.stderr
        if not exchanges and not any(document.unchanged or document.refusal.startswith("error") for document in documents) and len(documents) > 20:
            raise SystemExit(f"kubectl failed: {result.stderr[-1000:]}")

    def scale(self, documents):
        """The request of `kubectl scale --replicas`."""
        for document in documents:
            path = f"{document.stored.versions[document.body['apiVersion']]}/{document.stored.name}/scale?dryRun=All&fieldValidation={document.level}"
            body = json.dumps({"spec": {"replicas": document.body["spec"]["replicas"]}})
            headers = {"Content-Type": "application/merge-patch+json", "User-Agent": "kubectl"}
            code, answer, found = self.cluster.servers[0].send("PATCH", path, body, headers)
            document.exchange = kubectl_proxy.Exchange("PATCH", path, headers["Content-Type"], body.encode(), code, json.dumps(answer).encode(), found.get_all("Warning") or [])

    def replay(self, document):
        """Sends the request of a document to the simulated server, with the values that this one generated."""
        exchange = document.exchange
        if exchange is None:
            return
        text = exchange.body.decode()
        text = GENERATED.sub(lambda found: self.cluster.generated.get(found[0], found[0]), text)
        revisions = [((self.cluster.read(document.stored, document.body["apiVersion"], server) or {}).get("metadata") or {}).get("resourceVersion") for server in (0, 1)] if '"resourceVersion"' in text and document.old and document.body.get("apiVersion") in document.stored.versions else []
        if all(revisions) and revisions:
            text = text.replace(f'"resourceVersion":"{revisions[0]}"', f'"resourceVersion":"{revisions[1]}"')
        code, answer, headers = self.cluster.servers[1].send(exchange.method, exchange.path, text.encode(), {"Content-Type": exchange.content_type, "User-Agent": "kubectl"})
        document.simulated = code, answer, headers.get_all("Warning") or []

    def validate(self, way, level, folder, documents):
        flags = [*way.validate, "--field-validation", level, "--kubernetes-version", self.args.version]
        if any(document.old for document in documents):
            flags += ["--old", os.path.join(folder, "old")]
        command = [self.args.binary, "validate", os.path.join(folder, "new"), "--offline", "--no-config", "-o", "json", *flags]
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "KUBECONFIG": "/dev/null"})
        try:
            items = json.loads(result.stdout)["items"]
        except ValueError:
            raise SystemExit(f"{' '.join(command)}: {result.stderr[-1000:]}")
        of_file = {os.path.basename(item["location"]["source"]): item for item in items}
        return [of_file.get(f"{index:04}.json") for index in range(len(documents))]

    def compare(self, document, item):
        if document.is_unasked:
            self.counts["kubectl crashed"] += 1
            return None
        self.counts["writes"] += 1
        truth = Answer.of_document(document)
        # Controllers of the real server write the status of some objects.
        if document.simulated and document.stored.plural not in CONTROLLED:
            self.compare_answers(document, "serve", truth, Answer(*document.simulated))
        if item is None:
            return self.differ(document, "validate", "no item", truth.lines(), [])
        if truth.code >= 300 and ENVIRONMENT.search(truth.text):
            self.counts["depends on other objects"] += 1
            return None
        verdict = item["verdict"]
        if verdict == "cannotTell":
            self.counts["validate: cannot tell"] += 1
            reason = item.get("reason") or ""
            if truth.refusal:
                return None
            return self.differ(document, "validate", "cannot tell", [reason], truth.lines())
        if verdict in ("decodes", "skipped"):
            return self.differ(document, "validate", verdict, truth.lines(), [])
        if truth.refusal:
            # kubectl sends nothing, and validate has its own words.
            return self.differ(document, "validate", "wrong accept", truth.lines(), ["accepted"]) if verdict == "accepted" else None
        ours = Answer.of_item(item, truth)
        if truth.code < 300 and ours.code < 300 and document.way == "scale":
            replicas = (item["result"].get("spec") or {}).get("replicas"), truth.body["spec"].get("replicas", 0)
            return self.differ(document, "validate", "object", [str(replicas[1])], [str(replicas[0])]) if replicas[0] != replicas[1] else None
        return self.compare_answers(document, "validate", truth, ours)

    def compare_answers(self, document, of, truth, ours):
        accepted = truth.code < 300, ours.code < 300
        if accepted[0] != accepted[1]:
            return self.differ(document, of, "wrong accept" if accepted[1] else "wrong reject", truth.lines(), ours.lines())
        if truth.code != ours.code:
            return self.differ(document, of, "code", truth.lines(), ours.lines())
        if not accepted[0]:
            if set(truth.errors) == set(ours.errors):
                # Before 1.37, strategies validate some parts of an update twice.
                self.counts[f"{of}: only repeated errors differ"] += truth.errors != ours.errors
            elif not RANDOM.search(truth.text) and not any(POINTER.search(text) for text in truth.errors):
                return self.differ(document, of, "errors", sorted((truth.errors - ours.errors).elements()), sorted((ours.errors - truth.errors).elements()))
            return None
        if truth.stored is not None and ours.stored is not None and truth.stored != ours.stored:
            one, other = truth.stored.split("\n"), ours.stored.split("\n")
            return self.differ(document, of, "object", [line for line in one if line not in other], [line for line in other if line not in one])
        if truth.warnings != ours.warnings:
            return self.differ(document, of, "warnings", sorted(truth.warnings - ours.warnings), sorted(ours.warnings - truth.warnings))
        return None

    def differ(self, document, of, how, truth, ours):
        self.counts[f"{of}: {how}"] += 1
        lines = [f"- {line.strip()[:600]}" for line in truth[:8]] + [f"+ {line.strip()[:600]}" for line in ours[:8]]
        shape = re.sub(r"[0-9]+", "0", re.sub(r'"[^"]*"', '"…"', "\n".join(line[:120] for line in lines[:3])))
        key = of, how, document.way, document.stored.kind, shape
        example = self.examples.setdefault(key, [0, document, lines])
        example[0] += 1

    def record(self, way, level, documents):
        """Keeps a run of `validate`: its flags, and the documents with their answers."""
        writes = [found for found in map(recorded, documents) if found]
        for write in writes:
            if "old" in write:
                # Several writes are about the same object.
                text = json.dumps(write["old"], separators=(",", ":"))
                write["old"] = self.olds.setdefault(text, len(self.olds))
        if writes:
            self.runs.append({"flags": [*way.validate, "--field-validation", level], "writes": writes})

    def write_record(self):
        # Without the time and the name of the file, so that equal contents are equal files.
        with open(self.args.record, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as out:
            out.write(f"[{','.join(self.olds)}]\n".encode())
            for run in self.runs:
                out.write(json.dumps(run, separators=(",", ":")).encode() + b"\n")

    def report(self):
        shown = collections.Counter()
        for (of, how, way, kind, _), (number, document, lines) in sorted(self.examples.items(), key=lambda item: (item[0][:3], -item[1][0])):
            shown[of, how, way] += 1
            if shown[of, how, way] > self.args.examples:
                continue
            print(f"{of}: {how}, {way}, {kind}, {number} times, {document.level}")
            print(f"    new {json.dumps(document.body)[:1500]}")
            if self.args.show_old and document.live:
                print(f"    old {json.dumps(document.live)[:1500]}")
            if document.exchange and document.exchange.method == "PATCH":
                print(f"    sent {document.exchange.content_type.split('/')[1].split('-')[0]} {document.exchange.body.decode()[:600]}")
            print("\n".join("    " + line for line in lines))
        wrong = sum(number for name, number in self.counts.items() if "wrong" in name)
        print(f"seed {self.args.seed}: " + ", ".join(f"{name} {number}" for name, number in sorted(self.counts.items())) + f"; {wrong} wrong verdicts")


class Answer:
    """An answer to a write: its code, errors, warnings and the object that would be stored."""

    def __init__(self, code, body, warnings):
        self.code, self.body, self.refusal = code, body, ""
        self.text = body.get("message", "") if isinstance(body, dict) else str(body)
        self.errors = errors_of(body) if code >= 300 else collections.Counter()
        self.warnings = frozenset(re.sub(r'\\(.)', r"\1", re.sub(r'^299 - "(.*)"$', r"\1", text)) for text in warnings)
        self.stored = shown(body) if code < 300 and isinstance(body, dict) else None

    @classmethod
    def of_document(cls, document):
        if document.refusal:
            found = cls(499, {"message": document.refusal}, [])
            found.refusal = document.refusal
            return found
        if document.unchanged:
            return cls(200, document.live if document.old == document.body["apiVersion"] else None, [])
        exchange = document.exchange
        try:
            body = json.loads(exchange.answer)
        except ValueError:
            body = exchange.answer.decode(errors="replace")
        return cls(exchange.code, body, exchange.warnings)

    @classmethod
    def of_item(cls, item, truth):
        warnings = [warning["message"] for warning in item.get("warnings", []) if warning["type"] == "Warning"]
        answer = item.get("answer") or {}
        found = cls(answer.get("code", 200 if item["verdict"] == "accepted" else 422), None, [])
        found.warnings = frozenset(warnings)
        if item["verdict"] == "accepted":
            result = item.get("result")
            if result is not None:
                found.stored = shown({**result, **({"status": item["status"]} if "status" in item else {})})
            return found
        found.text = answer.get("message") or ""
        if not causes_of(truth.body):
            found.errors = collections.Counter(texts([f"\t{found.text}"]))
            return found
        if causes_of(truth.body)[0].get("field") == "patch":
            # The errors of an item name what is wrong with a patch; the answer has the server's words.
            found.errors = collections.Counter(texts(["patch\t" + found.text.partition(" is invalid: patch: ")[2]]))
            return found
        found.errors = collections.Counter()
        for error in item.get("errors") or []:
            field, message = error.get("field") or "", error["message"]
            if field and message.startswith(field + ": "):
                message = message[len(field) + 2:]
            else:
                field = ""
            found.errors.update(texts([f"{field}\t{message}"]))
        return found

    def lines(self):
        if self.refusal:
            return [f"refused: {self.refusal}"]
        return [f"{self.code}"] + (sorted(self.errors) or ([self.text] if self.code >= 300 else []))


def recorded(document):
    """The record of a document and of its answer; None if the answer depends on other objects or is random."""
    truth = Answer.of_document(document)
    if document.refusal or truth.code == 0 or (truth.code >= 300 and (ENVIRONMENT.search(truth.text) or RANDOM.search(truth.text) or POINTER.search(truth.text))):
        return None
    found = {"new": document.body, "code": truth.code}
    if document.live:
        found["old"] = document.live
    if truth.code >= 300:
        found["message"] = truth.text
        found.update({"causes": causes_of(truth.body)} if causes_of(truth.body) else {})
    elif document.live and document.way != "scale" and document.stored.kind != "Job" and document.live["apiVersion"] == truth.body["apiVersion"]:
        patch = merge_patch(without_assigned(document.live), without_assigned(truth.body))
        if not is_generated(document.stored.kind, json.dumps(patch)):
            found["changes"] = patch
    return found


def is_generated(kind, text):
    """Whether a text has values of fields that the server may set itself."""
    return GENERATED_FIELDS.search(text) or kind == "CertificateSigningRequest" and "lastTransitionTime" in text


def without_assigned(stored):
    metadata = {key: value for key, value in stored["metadata"].items() if key not in ASSIGNED}
    annotations = {key: value for key, value in (metadata.pop("annotations", None) or {}).items() if key != LAST_APPLIED}
    return {**stored, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}


def merge_patch(before, after):
    """The JSON merge patch from one object to another."""
    patch = {key: None for key in before.keys() - after.keys()}
    for key, value in after.items():
        if key not in before:
            patch[key] = value
        elif isinstance(value, dict) and isinstance(before[key], dict):
            inner = merge_patch(before[key], value)
            if inner:
                patch[key] = inner
        elif value != before[key] or type(value) is not type(before[key]):
            patch[key] = value
    return patch


def errors_of(answer):
    """The errors of an answer that rejects a request, each as often as it is in the answer."""
    if not isinstance(answer, dict):
        return collections.Counter([str(answer)])
    found = ["\t".join([cause.get("field") or "", cause.get("message") or ""]) for cause in causes_of(answer)] or ["\t" + (answer.get("message") or "")]
    return collections.Counter(texts(found))


def without_job_labels(metadata):
    return {**metadata, "labels": {key: value for key, value in (metadata.get("labels") or {}).items() if key not in JOB_LABELS}}


def causes_of(answer):
    """The causes of an answer that are errors of fields. The message of a conflict has all that its causes have."""
    if not isinstance(answer, dict) or answer.get("reason") == "Conflict":
        return []
    return (answer.get("details") or {}).get("causes") or []


def texts(errors):
    """Errors without generated values, and without patched objects, whose keys have a random order."""
    return [in_order(re.sub(r'^(patch\tInvalid value: )".*": ', r"\1…: ", text, flags=re.S)) for text in json.loads(masked(errors))]


def in_order(text):
    """Removes the random parts of a text: the order of the errors of an apply patch (an unknown field hides some of them), and spaces in the output of go-cmp. The keys of objects in etcd have no
    prefix in a dry run."""
    if UNDECLARED in text:
        return text.split("): ")[0] + UNDECLARED
    first, *rest = text.replace("Key: /registry/", "Key: /").split("\n")
    return "\n".join([first, *sorted(re.sub(r"\s+", " ", line) for line in rest)])


def shown(stored):
    """The parts of a stored object that `validate` shows, as lines."""
    found = without_assigned(stored)
    if stored.get("kind") == "Service":
        found["spec"] = {key: value for key, value in (stored.get("spec") or {}).items() if key not in ALLOCATED}
        if isinstance(found["spec"].get("ports"), list):
            found["spec"]["ports"] = [{key: value for key, value in port.items() if key != "nodePort"} for port in found["spec"]["ports"]]
    if stored.get("kind") == "Job" and isinstance(stored.get("spec"), dict):
        found["spec"] = {key: value for key, value in stored["spec"].items() if key != "selector"}
        template = found["spec"].get("template") or {}
        found["spec"]["template"] = {**template, "metadata": without_job_labels(template.get("metadata") or {})}
        found["metadata"] = without_job_labels(found["metadata"])
    text = GENERATED_FIELDS.sub(r'"\1": "…"', masked(found))
    return re.sub(r'"lastTransitionTime": "[^"]*"', '"lastTransitionTime": "…"', text) if stored.get("kind") == "CertificateSigningRequest" else text


@contextlib.contextmanager
def started(args, work):
    """The kube-apiserver of --real, if it is given, and the simulated one."""
    printed = subprocess.run([args.binary, "envtest", "--kubernetes-version", args.version, "--dir", os.path.join(work, "envtest")], capture_output=True, text=True, check=True).stdout
    simulated = printed.strip().split("\n")[-1]
    if args.real:
        with control_plane.real_and_simulated(args.real, simulated, work) as servers:
            yield servers
    else:
        with control_plane.ControlPlane(simulated, work) as server:
            yield [server]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--kubectl", required=True)
    parser.add_argument("--real")
    parser.add_argument("--version", default="1.37")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=150)
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--only", default="")
    parser.add_argument("--grow", type=float, default=0.3)
    parser.add_argument("--record")
    parser.add_argument("--examples", type=int, default=15, help="of each difference in each way")
    parser.add_argument("--show-old", action="store_true")
    args = parser.parse_args()
    args.binary, args.kubectl = os.path.abspath(args.binary), os.path.abspath(args.kubectl)
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="agreement-") as work, started(args, work) as servers, kubectl_proxy.KubectlProxy(args.kubectl, servers[0], os.path.join(work, "kubectl")) as proxy:
        cluster = Cluster(servers, chance, args)
        writes, agreement = Writes(cluster, chance, args), Agreement(args, cluster, proxy, work)
        ways = args.ways.split(",")
        while agreement.counts["writes"] < args.count:
            before = agreement.counts["writes"]
            for name in ways:
                for _, documents in sorted(writes.batch(name, min(args.batch, args.count - agreement.counts["writes"])).items()):
                    agreement.run(documents)
                if agreement.counts["writes"] >= args.count:
                    break
            if agreement.counts["writes"] == before:
                break
        agreement.report()
        if args.record:
            agreement.write_record()


if __name__ == "__main__":
    main()
