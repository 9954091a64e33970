#!/usr/bin/env python3
"""Sends random requests for built-in kinds to the real kube-apiserver and to that of envtest, and counts the responses that differ.

usage: random_requests.py FOLDER --envtest FOLDER [--count 1000] [--seed 1] [--objects FILE]... [--only KIND] [--operations create,status] [--ranges CIDRS] [--grow 0.5]

FOLDER has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh builds them), --envtest names the folder that `kubectl crdx envtest` printed. The objects of
objects.jsonl, and of each FILE with one object per line (status-objects.jsonl has more of those whose status depends on the specification), are created in both servers. Then each request is a dry run of a create, an update or one of the four kinds of
patches with random changes of one of them (with --grow, this share of the changes adds a field that the object does not have, see grow.py), or writes a changed status from statuses.jsonl. One in five writes of a status is no dry run. The responses differ in their verdict, code, errors, warnings or object; generated values are masked. Answers that
show addresses of Go pointers are compared by their code only. --ranges is the --service-cluster-ip-range of both servers (with services.jsonl). One example of each difference is printed.
"""
import collections, copy, functools, http.client, json, os, random, re, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../../repositories")]
import control_plane, grow, mutate

OPERATIONS = {
    "create": ("POST", "application/json"),
    "update": ("PUT", "application/json"),
    "json": ("PATCH", "application/json-patch+json"),
    "merge": ("PATCH", "application/merge-patch+json"),
    "strategic": ("PATCH", "application/strategic-merge-patch+json"),
    "apply": ("PATCH", "application/apply-patch+yaml"),
    "status": ("PUT", "application/json"),
    "merge-status": ("PATCH", "application/merge-patch+json"),
}
STATUS_OPERATIONS = ("status", "merge-status")
MASKED = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID"),
    (r'"(creationTimestamp|deletionTimestamp|lastPhaseTransitionTime|time)": "20[^"]*"', r'"\1": "TIME"'),
    (r'"resourceVersion": "[^"]*"', '"resourceVersion": "REVISION"'),
    (r"\b(10\.[0-9]+\.[0-9]+\.[0-9]+|fd00::[0-9a-f:]*)", "ADDRESS"),
    (r'"nodePort": [0-9]+', '"nodePort": 0'),
    (r'"healthCheckNodePort": [0-9]+', '"healthCheckNodePort": 0'),
    # The identity of the client's certificate, which differs.
    (r' *"extra": {\s*"authentication.kubernetes.io/credential-id": \[[^\]]*\]\s*},\n', ""),
    (r' *"f:extra": {\s*"\.": {},\s*"f:authentication.kubernetes.io/credential-id": {}\s*},\n', ""),
    # Depends on how the server was built.
    (r"pkg/(api/legacyscheme|runtime)/scheme.go:[0-9]+", "scheme.go"),
]
# Controllers of the real server write the status of these objects.
CONTROLLED = ("flowschemas", "prioritylevelconfigurations", "apiservices", "servicecidrs", "ipaddresses")
# These would change what other requests do, which envtest does not simulate.
LIMITING = ("ResourceQuota", "LimitRange")
GENERATED = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|10\.[0-9]+\.[0-9]+\.[0-9]+|fd00::[0-9a-f:]+|\b3[0-2][0-9]{3}\b")
POINTER = re.compile(r"\(0x|0x[0-9a-f]{8}|\(\*[A-Za-z.]+\)|\[recursive\]")


def send(server, method, path, text, content_type):
    """The code, body and warnings of an answer; code 0 if the server closes the connection, because the handler panicked."""
    try:
        code, body, headers = server.send(method, path, text, {"Content-Type": content_type, "User-Agent": "random/1"})
        return code, body, frozenset(headers.get_all("Warning") or [])
    except http.client.RemoteDisconnected:
        server.connection.close()
        return 0, "", frozenset()


def encoded(body, kind):
    """A body as clients send it. The real server compares the bytes of the data of ControllerRevisions, which keep the white space and the order of the
    keys of the request."""
    return json.dumps(body, separators=(",", ":"), sort_keys=kind == "ControllerRevision")


def as_manifest(stored):
    """A stored object with the metadata that a manifest has."""
    return {**stored, "metadata": {key: value for key, value in stored["metadata"].items() if key in ("name", "namespace", "labels", "annotations")}}


def masked(value):
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    for pattern, mask in MASKED:
        text = re.sub(pattern, mask, text)
    return text


def errors(answer):
    """The set of errors of an answer that rejects a request."""
    if not isinstance(answer, dict):
        return frozenset([str(answer)])
    causes = (answer.get("details") or {}).get("causes")
    found = ["\t".join([cause.get("field") or "", cause.get("message") or ""]) for cause in causes or []] or [answer.get("message") or ""]
    # The patched object is shown with its keys in another order.
    found = [re.sub(r'^(patch\tInvalid value: )".*": ', r"\1…: ", text, flags=re.S) for text in found]
    return frozenset(json.loads(masked(found)))


def difference(path, real, simulated):
    """How two answers differ, and the lines that show it; (None, []) if they do not differ."""
    accepted = [code < 300 for code, *_ in (real, simulated)]
    if accepted == [True, True]:
        if any(f"/{plural}" in path for plural in CONTROLLED):
            return None, []
        one, other = (masked(answer).split("\n") for _, answer, _ in (real, simulated))
        if one == other and real[2] != simulated[2]:
            return "warnings", [f"- {text}" for text in sorted(real[2] - simulated[2])] + [f"+ {text}" for text in sorted(simulated[2] - real[2])]
        if one == other:
            return None, []
        return "object", [f"- {line.strip()}" for line in one if line not in other] + [f"+ {line.strip()}" for line in other if line not in one]
    one, other = (errors(answer) if code >= 300 else frozenset() for code, answer, _ in (real, simulated))
    lines = [f"- {real[0]} {text}" for text in sorted(one - other)] + [f"+ {simulated[0]} {text}" for text in sorted(other - one)]
    if accepted[0] != accepted[1]:
        return ("wrong accept" if accepted[1] else "wrong reject"), lines
    if real[0] != simulated[0]:
        return "code", lines or [f"- {real[0]}", f"+ {simulated[0]}"]
    if one != other and not any(POINTER.search(text) for text in one):
        return "errors", lines
    return None, []


class Requests:
    """Random requests about objects that exist in both servers."""

    def __init__(self, objects, chance, operations, fields, growth):
        self.objects, self.chance, self.operations, self.fields, self.growth = objects, chance, operations, fields, growth
        self.alike = collections.defaultdict(list)
        for given, *_ in objects:
            self.alike[given["kind"]].append(given)
        self.statuses = collections.defaultdict(list)
        for example in map(json.loads, open(os.path.join(HERE, "statuses.jsonl"))):
            self.statuses[example["kind"]].append(example["status"])

    def transplant(self, given, kind):
        """Replaces a part of an object by the part of another object of the kind that has the same name."""
        chance, parts = self.chance, collections.defaultdict(list)
        for container, key, path in mutate.places(chance.choice(self.alike[kind])):
            parts[path[-1]].append(container[key])
        found = [(container, key) for container, key, path in mutate.places(given) if path[0] not in ("apiVersion", "kind") and path[-1] in parts]
        if found:
            container, key = chance.choice(found)
            container[key] = copy.deepcopy(chance.choice(parts[key]))

    def changed(self, given, kind):
        given = copy.deepcopy(given)
        for _ in range(self.chance.choice([1, 1, 1, 2, 3])):
            if self.growth and self.chance.random() < self.growth:
                self.fields.grow(given, self.chance)
            elif self.chance.random() < 0.3:
                self.transplant(given, kind)
            elif given:
                mutate.change(given, self.chance)
        return given

    def change_status(self, status, kind):
        """Changes a status, or replaces a part of it by that of another example."""
        other = self.chance.choice(self.statuses[kind])
        if self.chance.random() < 0.4 and other:
            key = self.chance.choice(list(other))
            status[key] = copy.deepcopy(other[key])
        elif status:
            mutate.change(status, self.chance)

    def status(self, kind):
        """A status with random changes."""
        status = copy.deepcopy(self.chance.choice(self.statuses[kind]))
        for _ in range(self.chance.choice([0, 1, 1, 2, 3])):
            self.change_status(status, kind)
        return status

    def part(self, given):
        """A part of an object that a patch may have."""
        if not isinstance(given, dict):
            return copy.deepcopy(given)
        keys = [key for key in given if self.chance.random() < 0.5] or list(given)[:1]
        part = {key: self.part(given[key]) for key in keys}
        if self.chance.random() < 0.1 and keys:
            part[self.chance.choice(keys)] = None
        return part

    def directives(self, value):
        """Adds directives of strategic merge patches."""
        chance = self.chance
        if isinstance(value, list):
            for each in value:
                self.directives(each)
            if chance.random() < 0.15:
                value.append(copy.deepcopy(chance.choice([{"$patch": "replace"}, {"$patch": "delete"}, *value[:1]])))
        elif isinstance(value, dict):
            for each in list(value.values()):
                self.directives(each)
            if chance.random() < 0.08:
                key = chance.choice([*value, "containers", "finalizers", "ports"])
                value.update(copy.deepcopy(chance.choice([
                    {"$patch": "replace"}, {"$patch": "delete"}, {"$patch": "merge"}, {"$patch": "other"}, {"$retainKeys": list(value)}, {"$retainKeys": []},
                    {f"$setElementOrder/{key}": ["a", {"name": "a"}]}, {f"$deleteFromPrimitiveList/{key}": ["a"]}, {f"$deleteFromPrimitiveList/{key}": "a"},
                ])))

    def json_patch(self, given, new):
        chance, places = self.chance, [path for *_, path in mutate.places(given)]
        pointer = lambda: "/" + "/".join(str(key).replace("~", "~0").replace("/", "~1") for key in chance.choice(places)) + chance.choice([""] * 8 + ["/-", "/0", "/x"])
        operations = []
        for _ in range(chance.choice([1, 1, 2, 3])):
            container, key, path = chance.choice(list(mutate.places(new)) or list(mutate.places(given)))
            same = "/" + "/".join(str(key).replace("~", "~0").replace("/", "~1") for key in path)
            name = chance.choice(["add", "replace", "replace", "remove", "copy", "move", "test"])
            operation = {"op": name, "path": chance.choice([same, pointer()])}
            if name in ("add", "replace", "test"):
                operation["value"] = copy.deepcopy(chance.choice([container[key], container[key], chance.choice(mutate.VALUES)]))
            elif name in ("copy", "move"):
                operation["from"] = pointer()
            operations.append(operation)
        return operations

    def next(self):
        """An operation, the path and query of its request, the body, and the kind of the object that it is about."""
        chance = self.chance
        operation = chance.choice(self.operations)
        given, collection, stored = chance.choice([one for one in self.objects if one[0]["kind"] in self.statuses] if operation in STATUS_OPERATIONS else self.objects)
        query = chance.choice(["fieldValidation=Strict"] * 3 + ["fieldValidation=Ignore"]) + "&dryRun=All&fieldManager=random"
        if operation == "create":
            new = self.changed(given, given["kind"])
            # A new object, unless its name was changed to one that exists.
            if isinstance(new.get("metadata"), dict) and new["metadata"].get("name") == given["metadata"]["name"] and chance.random() < 0.95:
                new["metadata"]["name"] += "0"
            return operation, f"{collection}?{query}", new, given["kind"]
        one = f"{collection}/{given['metadata']['name']}"
        if operation in STATUS_OPERATIONS:
            status = self.status(given["kind"])
            if chance.random() < 0.2:
                query = query.replace("dryRun=All&", "")
            # A PUT of some kinds needs the resourceVersion, which differs between the servers.
            body = {"status": status} if operation == "merge-status" else {**as_manifest(stored), "status": status}
            return operation, f"{one}/status?{query}", body, given["kind"]
        if operation == "update":
            base = copy.deepcopy(chance.choice([given, stored]))
            for key in ("resourceVersion", "uid"):
                base["metadata"].pop(key, None)
            return operation, f"{one}?{query}", self.changed(base, given["kind"]), given["kind"]
        base = {key: value for key, value in stored.items() if key not in ("apiVersion", "kind") or chance.random() < 0.1}
        base["metadata"] = {key: value for key, value in stored["metadata"].items() if key not in ("resourceVersion", "uid", "managedFields", "creationTimestamp")}
        new = self.changed(chance.choice([base, {**base, **{key: value for key, value in given.items() if key in base}}]), given["kind"])
        if operation == "json":
            return operation, f"{one}?{query}", self.json_patch(base, new), given["kind"]
        patch = self.part(new)
        if operation == "strategic":
            self.directives(patch)
        if operation == "apply":
            # Apply patches have no mode `Ignore` for the fields of the patch, and need the identity of the object.
            patch = {**patch, "apiVersion": given["apiVersion"], "kind": given["kind"]}
            query += chance.choice(["", "&force=true", "&force=true"])
        return operation, f"{one}?{query}", patch, given["kind"]


def seeds(args, servers):
    """Creates the objects in both servers. Returns each with the path of its collection and as it is stored, and what the second server generated for each value
    that the first one generated."""
    resources, found, names, generated = servers[0].resources(), [], set(), {}
    for file in [os.path.join(HERE, "objects.jsonl"), *args.objects]:
        for given in map(json.loads, open(file)):
            known = resources.get((given["apiVersion"], given["kind"]))
            if not known or args.only.lower() not in given["kind"].lower():
                continue
            path, plural, namespaced = known
            given["metadata"] = {key: value for key, value in given["metadata"].items() if key in ("name", "labels", "annotations")}
            if not isinstance(given["metadata"].get("name"), str) or (given["kind"], given["metadata"]["name"]) in names:
                continue
            names.add((given["kind"], given["metadata"]["name"]))
            namespace = "kube-public" if given["kind"] in LIMITING else "default"
            collection = f"{path}/namespaces/{namespace}/{plural}" if namespaced else f"{path}/{plural}"
            answers = [server.send("POST", collection, encoded(given, given["kind"]), {"Content-Type": "application/json"})[:2] for server in servers]
            if all(code < 300 for code, _ in answers):
                given["metadata"].setdefault("labels", {})
                found.append((given, collection, answers[0][1]))
                generated.update(generated_values(*(answer for _, answer in answers)))
            elif answers[0][0] != answers[1][0]:
                print(f"{given['kind']} {given['metadata']['name']}: {[answer[0] for answer in answers]} {[answer[1].get('message') for answer in answers]}")
    return found, generated


def generated_values(real, simulated):
    """The pairs of UIDs, addresses and node ports that differ in two copies of an object."""
    if isinstance(real, dict) and isinstance(simulated, dict):
        for key in real.keys() & simulated.keys():
            yield from generated_values(real[key], simulated[key])
    elif isinstance(real, list) and isinstance(simulated, list):
        for pair in zip(real, simulated):
            yield from generated_values(*pair)
    elif type(real) is type(simulated) and real != simulated and GENERATED.fullmatch(str(real)):
        yield str(real), str(simulated)


def main():
    parser = control_plane.random_parser(__doc__)
    parser.add_argument("--objects", action="append", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--operations", default=",".join(OPERATIONS))
    parser.add_argument("--grow", type=float, default=0)
    parser.add_argument("--ranges", default="10.0.0.0/24")
    args = parser.parse_args()
    # The address of the API server must be of the first family.
    flags = {"service-cluster-ip-range": args.ranges, "advertise-address": "fd01::1" if ":" in args.ranges.split(",")[0] else "192.0.2.1"}
    work = tempfile.mkdtemp(prefix="random-")
    with control_plane.real_and_simulated(args.folder, args.envtest, work, functools.partial(control_plane.Server, more=flags)) as servers:
        objects, generated = seeds(args, servers)
        fields = grow.Fields(servers[0], [given for given, *_ in objects])
        requests, counts, differing, examples = Requests(objects, random.Random(args.seed), args.operations.split(","), fields, args.grow), collections.Counter(), collections.Counter(), {}
        for _ in range(args.count):
            operation, path, body, kind = requests.next()
            method, content_type = OPERATIONS[operation]
            text = encoded(body, kind)
            if "credential-id" in text:
                # The identity of the client's certificate, which the second server does not show.
                continue
            other = GENERATED.sub(lambda found: generated.get(found[0], found[0]), text)
            answers = [send(server, method, path, each, content_type) for server, each in zip(servers, (text, other))]
            if not answers[0][0]:
                counts["panics of the real server"] += 1
                continue
            counts[operation, "accepted" if answers[0][0] < 300 else "rejected"] += 1
            how, lines = difference(path, *answers)
            if how:
                differing[how] += 1
                plural = path.split("?")[0].split("/")[{"create": -1, **dict.fromkeys(STATUS_OPERATIONS, -3)}.get(operation, -2)]
                shape = re.sub(r"[0-9]+", "0", re.sub(r'"[^"]*"', '"…"', "\n".join(line[:120] for line in lines[:3])))
                key = how, plural, shape
                examples.setdefault(key, [0, operation, path, text, lines])[0] += 1
        for (how, plural, _), (number, operation, path, text, lines) in sorted(examples.items(), key=lambda item: (item[0][:2], -item[1][0])):
            print(f"{how}, {plural}, {number} times: {operation} {path}\n    {text[:1500]}")
            print("\n".join("    " + line[:600] for line in lines[:12]))
        print(f"{len(objects)} objects, {args.count} requests: " + ", ".join(f"{number} {how}" for how, number in sorted(differing.items())) + f"; {dict(counts)}")


if __name__ == "__main__":
    main()
