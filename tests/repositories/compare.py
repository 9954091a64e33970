#!/usr/bin/env python3
"""Compares `validate` with `kubectl apply --dry-run=server` against the real kube-apiserver, for every object of repositories.

usage: compare.py FOLDER… --assets DIR --binary PATH [--mutations N] [--updates N] [--seed N] [--show N] [--json FILE] [--other-version 1.N] [--sets N] [--offline] [--manifests]

README.md in this folder describes what is compared. Exit code 1 if a verdict about a custom resource or a CRD is wrong.
"""
import argparse, collections, dataclasses, difflib, itertools, json, os, random, re, signal, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apiserver"))
from control_plane import ControlPlane
import documents, kubectl, mutate, verdicts

# A dry run does not meet the limit of etcd for a request; the last-applied annotation and defaults are added to an object.
LARGEST = 1_000_000
CRD = "CustomResourceDefinition"
CLASSES = ["CRD", "custom resource", "built-in kind", "not served", "unreadable"]
COUNTED = ["wrong", "text", "object", "cannotTell", "nothing", "decodes"]


@dataclasses.dataclass
class Found:
    """What was compared for one document."""

    repository: str
    place: str
    kind: str
    pass_: str
    error: str
    outcomes: dict
    words: dict
    # The verdict on another release and its words, if they differ from those on the release of the server.
    other: tuple | None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--assets", required=True, help="the folder with kube-apiserver, etcd and kubectl")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--mutations", type=int, default=0, help="random changes of objects and of CRDs to compare, too, for each folder")
    parser.add_argument("--updates", type=int, default=0, help="random updates of existing objects and CRDs to compare, too, for each folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=20, help="differences to print")
    parser.add_argument("--other-version", help="also validate the documents for this version, and print those with another verdict")
    parser.add_argument("--sets", type=int, help="sets of CRDs to compare at most, for each folder")
    parser.add_argument("--offline", action="store_true", help="leave out the run with a connection")
    parser.add_argument("--manifests", action="store_true", help="give the manifests of existing objects by --old, not the objects that the server stores")
    parser.add_argument("--json", help="a file for all differences and counts")
    arguments = parser.parse_args()
    # The servers and temporary files are removed, too, when the script is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    found, shown = [], 0
    print("| repository | " + " | ".join(header()) + " |\n|" + "---|" * (len(header()) + 1), flush=True)
    for folder in arguments.folders:
        everything = documents.documents(folder)
        name = os.path.basename(os.path.abspath(folder))
        for number, crds in enumerate(itertools.islice(variants(everything, folder, arguments), arguments.sets)):
            label = name if number == 0 else f"{name} ({number + 1})"
            repository = Repository(arguments, label, everything, crds, number == 0)
            added = repository.compare()
            found += added
            print(f"| {label} | " + " | ".join(row(added)) + " |", flush=True)
    print("| all | " + " | ".join(row(found)) + " |")
    worth_showing = {**dict.fromkeys(CLASSES, {"wrong"}), **dict.fromkeys(CLASSES[:3], {"wrong", "text", "object"}), **dict.fromkeys(CLASSES[:2], set(COUNTED) - {"decodes"})}
    differing = [each for each in found if set(each.outcomes.values()) & worth_showing[each.kind]]
    differing.sort(key=lambda each: "wrong" not in each.outcomes.values())
    for each in differing[:arguments.show]:
        print(f"\n{each.kind} {each.repository} {each.place} ({each.pass_})\n  kubectl: {(each.error or 'accepted')[:600]}")
        for mode, outcome in each.outcomes.items():
            print(f"  {mode}: {outcome}: {each.words[mode][:600]}")
    changed = [each for each in found if each.other]
    if arguments.other_version:
        print_changed(changed, arguments.other_version)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"differences": [dataclasses.asdict(each) for each in differing], "counts": counts(found), "changed": [dataclasses.asdict(each) for each in changed]}, file, indent=1)
    sys.exit(any("wrong" in each.outcomes.values() and each.kind in CLASSES[:2] for each in found))


def print_changed(changed, version):
    """Prints the documents that another release judges otherwise, and counts those with other words only."""
    other_verdicts = [each for each in changed if (each.other[0] == "rejected") != (each.error is not None)]
    print(f"\non {version}: {len(other_verdicts)} other verdicts, {len(changed) - len(other_verdicts)} with the same verdict and other words")
    for each in other_verdicts:
        outcome = each.outcomes["offline"]
        print(f"\n{each.kind} {each.repository} {each.place} ({each.pass_}), {outcome}\n  kubectl: {(each.error or 'accepted')[:600]}\n  {version}: {each.other[0]}: {each.other[1][:600]}")


def counts(found):
    """For each class: the objects, those that the server rejects, and the outcomes of each mode."""
    result = {}
    for kind in CLASSES:
        of_kind = [each for each in found if each.kind == kind]
        result[kind] = {"objects": len(of_kind), "rejected": sum(each.error is not None for each in of_kind)}
        for mode in ("offline", "live"):
            outcomes = collections.Counter(each.outcomes[mode] for each in of_kind if mode in each.outcomes)
            result[kind][mode] = {name: outcomes[name] for name in COUNTED}
            result[kind][mode]["decodes, rejected by the server"] = sum(each.outcomes.get(mode) == "decodes" and each.error is not None for each in of_kind)
    return result


def header():
    shared = ["wrong verdicts", "other texts or objects", "cannot tell"]
    return ["CRDs", "rejected", *shared, "custom resources", "rejected", *shared, "built-in kinds", "rejected", "decode, but are rejected", "wrong verdicts", "other texts or objects", "other documents", "wrong verdicts"]


def row(found):
    """A row of the table. Two numbers are those of the offline and of the live run."""
    of, cells = counts(found), []

    def both(kind, *names):
        return " / ".join(str(sum(of[kind][mode][name] for name in names)) for mode in ("offline", "live"))

    for kind in CLASSES[:2]:
        cells += [of[kind]["objects"], of[kind]["rejected"], both(kind, "wrong"), both(kind, "text", "object"), both(kind, "cannotTell", "nothing")]
    kind = "built-in kind"
    cells += [of[kind]["objects"], of[kind]["rejected"], both(kind, "decodes, rejected by the server"), both(kind, "wrong"), both(kind, "text", "object")]
    others = CLASSES[3:]
    cells.append(sum(of[kind]["objects"] for kind in others))
    cells.append(" / ".join(str(sum(of[kind][mode]["wrong"] + of[kind][mode]["decodes"] for kind in others)) for mode in ("offline", "live")))
    return map(str, cells)


def renamed(given, number, is_definition):
    """Gives an object a name of its own, so that many of them need few runs of `validate`: it would apply one to the one before it."""
    metadata, spec = given.get("metadata"), given.get("spec")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not 0 < len(name) < 100:
        return
    if not is_definition:
        metadata["name"] += f"-{number}"
    elif isinstance(spec, dict) and isinstance(spec.get("group"), str) and name.endswith("." + spec["group"]):
        plural = name.removesuffix(spec["group"])
        spec["group"] = f"m{number}.{spec['group']}"
        metadata["name"] = plural + spec["group"]


def is_crd(document):
    return any(each.get("kind") == CRD and str(each.get("apiVersion")).startswith("apiextensions.k8s.io/") for each in document.objects)


def identities(document):
    """The identities that an object can have, namespaced or cluster-scoped: its scope is not known here."""
    metadata = document.object().get("metadata") or {}
    return {(metadata.get("namespace") or "default", metadata.get("name")), ("", metadata.get("name"))}


def variants(everything, folder, arguments):
    """Sets of CRDs with one CRD of a name: the first set has the first document of each name, the second the next one, …"""
    with tempfile.TemporaryDirectory() as work:
        numbered = dict(enumerate(everything))
        documents.write(os.path.join(work, "all"), numbered)
        kubectl.Kubectl(os.path.join(arguments.assets, "kubectl"), "/dev/null", work).read(os.path.join(work, "all"), numbered)
    names = collections.OrderedDict()
    for document in everything:
        if is_crd(document):
            for each in document.objects:
                if each.get("kind") == CRD:
                    alone = document if len(document.objects) == 1 else documents.Document(document.place, json.dumps(each), [each])
                    names.setdefault(documents.identity(each), []).append(alone)
    for number in range(max(map(len, names.values()), default=1)):
        yield [each[min(number, len(each) - 1)] for each in names.values()]


class Repository:
    """The comparison of the documents of a folder with one set of its CRDs, on a server of its own."""

    def __init__(self, arguments, name, everything, crds, is_first):
        self.arguments, self.name, self.crds = arguments, name, crds
        self.random, self.found = random.Random(f"{arguments.seed} {name}"), []
        # The CRDs of all variants are compared once.
        self.definitions = [each for each in everything if is_crd(each)] if is_first else []
        self.objects = [each for each in everything if not is_crd(each) and len(each.text) < LARGEST]

    def compare(self):
        with tempfile.TemporaryDirectory(prefix="repositories-") as work, ControlPlane(self.arguments.assets, os.path.join(work, "plane")) as plane:
            self.work, self.plane, self.served, self.defined = work, plane, plane.resources(), set()
            version = plane.send("GET", "/version")[1]
            self.version = f"{version['major']}.{version['minor'].rstrip('+')}"
            self.kubectl = kubectl.Kubectl(os.path.join(self.arguments.assets, "kubectl"), plane.kubeconfig, work)
            self.pass_("created", self.definitions + self.mutated(self.definitions, self.arguments.mutations), [])
            self.install()
            objects = self.objects + self.mutated(self.objects, self.arguments.mutations)
            self.create_namespaces(objects)
            self.pass_("created", objects, self.crd_flags())
            if self.arguments.updates:
                self.updates()
        return self.found

    def install(self):
        """Really creates the CRDs, and waits until they are served."""
        folder = os.path.join(self.work, "crds")
        documents.write(folder, dict(enumerate(self.crds)))
        if self.crds:
            # Server-side: the annotation of a client-side apply may become too long.
            self.kubectl.run("apply", "--server-side", "--filename", folder)
        expected = set()
        for _ in range(300):
            created = self.plane.send("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")[1]["items"]
            conditions = [{each["type"]: each["status"] for each in (crd.get("status", {}).get("conditions") or [])} for crd in created]
            if all(each.get("Established") == "True" or each.get("NamesAccepted") == "False" for each in conditions):
                served = [crd for crd, each in zip(created, conditions) if each.get("Established") == "True"]
                expected = {(f"{crd['spec']['group']}/{each['name']}", crd["spec"]["names"]["kind"]) for crd in served for each in crd["spec"]["versions"] if each["served"]}
                if expected <= self.plane.resources().keys():
                    break
            time.sleep(0.1)
        else:
            raise SystemExit(f"{self.name}: not all CRDs are served: {expected - self.plane.resources().keys()}")
        for crd in created:
            if crd["spec"].get("conversion", {}).get("strategy") == "Webhook":
                # No webhook runs. `validate` converts as with the strategy None, too.
                path, patch = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd['metadata']['name']}", {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
                self.plane.send("PATCH", path, json.dumps(patch), {"Content-Type": "application/merge-patch+json"})
        self.served = self.plane.resources()
        self.defined = {(crd["spec"]["group"], crd["spec"]["names"]["kind"]) for crd in created}
        for version, kind in expected:
            path, plural, _ = self.served[version, kind]
            # The storage of a new CRD is initialized by the first requests.
            while self.plane.send("GET", f"{path}/{plural}?limit=1")[0] == 429:
                time.sleep(0.1)

    def crd_flags(self):
        """The CRDs for offline runs. A folder without CRDs would be an error."""
        crds = os.path.join(self.work, "crds")
        return ["--crds", crds] if os.path.isdir(crds) and os.listdir(crds) else []

    def create_namespaces(self, objects):
        metadata = [given.get("metadata") for each in objects for given in each.objects]
        for name in sorted({str(each["namespace"]) for each in metadata if isinstance(each, dict) and each.get("namespace")}):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self.plane.send("POST", "/api/v1/namespaces", json.dumps(body), {"Content-Type": "application/json"})

    def mutated(self, given, count, rename=True):
        """Documents with randomly changed objects."""
        found, given = [], [each for each in given if len(each.objects) == 1]
        for number in range(count if given else 0):
            original = self.random.choice(given)
            changed, how = mutate.mutated(original.object(), self.random)
            if rename:
                renamed(changed, number, is_crd(original))
            found.append(documents.Document(f"{original.place} changed: {how}", json.dumps(changed, indent=1), [changed]))
        return found

    def updates(self):
        """Really creates the objects, and compares updates of these and of the CRDs."""
        numbered = documents.rounds({number: each for number, each in enumerate(self.objects) if len(each.objects) == 1 and self.class_of(each) == "custom resource"})
        folder = os.path.join(self.work, "existing")
        if numbered:
            documents.write(folder, numbered[0])
            self.kubectl.run("apply", "--filename", folder)
        crds = self.mutated(self.crds, self.arguments.updates // 2, False)
        objects = self.mutated([*numbered[0].values()], self.arguments.updates, False) if numbered else []
        old = os.path.join(self.work, "old")
        os.makedirs(old)
        old_manifests, manifests = [], [*(numbered[0].values() if numbered else []), *(each for each in self.crds if len(each.objects) == 1)]
        # An object is served in every version of its kind; it is written once.
        chosen = {(version.split("/")[0], kind): version for version, kind in sorted(self.served)}
        for (group, kind), version in chosen.items():
            if (group, kind) in self.defined | {("apiextensions.k8s.io", CRD)}:
                path, plural, _ = self.served[version, kind]
                stored = self.plane.send("GET", f"{path}/{plural}")[1]
                if self.arguments.manifests:
                    exists = {(each["metadata"].get("namespace", ""), each["metadata"]["name"]) for each in stored["items"]}
                    of_kind = [each for each in manifests if each.object().get("kind") == kind and str(each.object().get("apiVersion")).split("/")[0] == group and identities(each) & exists]
                    old_manifests += of_kind
                    continue
                with open(os.path.join(old, f"{kind}.{version.replace('/', '_')}.json"), "w") as file:
                    json.dump({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": version, "kind": kind, **each} for each in stored["items"]]}, file)
        if old_manifests:
            old = os.path.join(self.work, "manifests")
            documents.write(old, dict(enumerate(old_manifests)))
        self.create_namespaces(objects)
        self.pass_("updated", objects, [*self.crd_flags(), "--old", old])
        self.pass_("updated", crds, ["--old", old])

    def class_of(self, document):
        given = document.object()
        version, kind = str(given.get("apiVersion")), str(given.get("kind"))
        if not given:
            return "unreadable"
        if is_crd(document):
            return "CRD"
        if (version.split("/")[0], kind) in self.defined:
            return "custom resource"
        return "built-in kind" if (version, kind) in self.served else "not served"

    def pass_(self, name, given, offline):
        """Compares documents in the current state of the server."""
        if not given:
            return
        numbered, folder = dict(enumerate(given)), tempfile.mkdtemp(dir=self.work)
        folder = os.path.join(folder, "documents")
        documents.write(folder, numbered)
        self.kubectl.read(folder, numbered)
        rejected = self.kubectl.apply(folder, numbered)
        results = self.kubectl.results(folder, [number for number, each in numbered.items() if number not in rejected and len(each.objects) == 1 and not kubectl.is_generated(each)])
        modes = {
            "offline": verdicts.Validate(self.arguments.binary, "--offline", "--kubernetes-version", self.version, *offline),
            "live": verdicts.Validate(self.arguments.binary, "--kubeconfig", self.plane.kubeconfig, "--no-cache"),
        }
        if self.arguments.offline:
            del modes["live"]
        if self.arguments.other_version:
            modes["other"] = verdicts.Validate(self.arguments.binary, "--offline", "--kubernetes-version", self.arguments.other_version, *offline)
        items = {mode: validate.items(folder, numbered) for mode, validate in modes.items()}
        others = items.pop("other", items["offline"])
        for number, document in numbered.items():
            error = rejected.get(number)
            outcomes = {mode: verdicts.compare(error, results.get(number), items[mode][number]) for mode in items}
            words = {mode: self.described(outcomes[mode], results.get(number), items[mode][number]) for mode in items}
            judged = [(verdicts.verdict(each[number]), re.sub(r'\S*/(\d{6}\.yaml)', r'\1', verdicts.words(each[number]))) for each in (items["offline"], others)]
            self.found.append(Found(self.name, document.place, self.class_of(document), name, error and re.sub(r'"[^"\n]*/(\d{6}\.yaml)"', r'"\1"', error), outcomes, words, judged[1] if judged[0] != judged[1] else None))

    def described(self, outcome, result, items):
        if outcome != "object":
            return verdicts.words(items)
        pair = [json.dumps(verdicts.comparable(each), indent=1, sort_keys=True).split("\n") for each in (verdicts.without_allocated(result, items[0]["result"]), items[0]["result"])]
        return "\n".join(difflib.unified_diff(*pair, "kubectl", "validate", n=1, lineterm=""))


if __name__ == "__main__":
    main()
