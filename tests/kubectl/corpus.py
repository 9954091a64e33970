#!/usr/bin/env python3
"""Compare `validate` with `kubectl apply --dry-run=server` on real manifests, object by object. By hand; needs kubectl and the real server.

usage: corpus.py --binary target/debug/kubectl-crdx --apiserver PATH [--corpus DIR] [--port N] [FOLDER…]

For every folder of the corpus (`crds`, `objects`, `invalid`) and every variant of its CRDs: the CRDs are applied to the real
server and given to `validate --crds`; every object of a kind they define is applied with --dry-run=server, from a file of its
own, and its verdict compared with that of `validate`. CRDs with a conversion webhook convert as strategy None on both sides.
Prints every difference and the counts; ends with 1 if there is a difference.
"""
import argparse, collections, glob, json, os, re, subprocess, sys, tempfile, time


def split(path):
    """The YAML documents of a file as texts."""
    text, out, current = open(path, encoding="utf-8", errors="surrogateescape").read(), [], []
    for line in text.split("\n"):
        if line == "---" or line.startswith("--- "):
            out.append("\n".join(current))
            current = [line[3:]]
        else:
            current.append(line)
    out.append("\n".join(current))
    return [t for t in out if any(l.strip() and not l.strip().startswith("#") for l in t.split("\n"))]


def variants(folder):
    """Sets of CRDs, each with one CRD of a name: the first set has the first file of each, the second the next, …"""
    found = collections.OrderedDict()
    for path in sorted(glob.glob(os.path.join(folder, "crds", "**", "*.y*ml"), recursive=True)):
        for text in split(path):
            name = re.search(r"^metadata:(?:\n[ #].*)*?\n +name: *[\"']?([^\s\"']+)", text, re.M)
            if "kind: CustomResourceDefinition" in text and name:
                found.setdefault(name[1], []).append(text)
    for number in range(max(map(len, found.values()), default=0)):
        yield number + 1, [texts[min(number, len(texts) - 1)] for texts in found.values()]


class Real:
    """The real server on a port, anew for each set of CRDs."""

    def __init__(self, program, port):
        self.url = f"http://127.0.0.1:{port}"
        self.child = subprocess.Popen([program, "-port", str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.child.stdout.readline()

    def kubectl(self, *args, text=None):
        env = {**os.environ, "KUBECONFIG": "/dev/null"}
        return subprocess.run(["kubectl", "--server", self.url, *args], input=text, capture_output=True, text=True, errors="replace", env=env)

    def stop(self):
        self.child.kill()
        self.child.wait()


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser()
    ap.add_argument("--binary", required=True), ap.add_argument("--apiserver", required=True), ap.add_argument("--port", type=int, default=18437)
    ap.add_argument("--corpus", default=os.path.join(here, "..", "..", "..", "shared", "corpus")), ap.add_argument("folders", nargs="*")
    a = ap.parse_args()
    folders = a.folders or sorted(f for f in os.listdir(a.corpus) if os.path.isdir(os.path.join(a.corpus, f)))
    total, differences = collections.Counter(), []
    for folder in folders:
        root = os.path.join(a.corpus, folder)
        for variant, crds in variants(root):
            counts = compare(a, root, f"{folder} ({variant})", crds, differences)
            total.update(counts)
            print(f"{folder} ({variant}): " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())), flush=True)
    for difference in differences:
        print("DIFFERENT " + difference)
    print("total: " + ", ".join(f"{n} {what}" for what, n in sorted(total.items())) + f", {len(differences)} different")
    sys.exit(1 if differences else 0)


def validate(binary, work, count):
    """The items of `validate` by file, each object as if it were the only one of its name; a text if it failed."""
    def run(folder):
        out = subprocess.run([binary, "validate", "--offline", "--crds", f"{work}/crds", "-o", "json", folder], capture_output=True, text=True)
        try:
            report = json.loads(out.stdout)
        except ValueError:
            return out.stderr.strip()[:300] or "no output"
        items = collections.defaultdict(list)
        for item in report["items"]:
            if item["location"]["source"].startswith(f"{work}/crds/"):
                # A CRD that the server refuses.
                continue
            items[int(os.path.basename(item["location"]["source"]).split(".")[0])].append(item)
        return items

    first = run(f"{work}/objects")
    if isinstance(first, str):
        return first
    seen, rounds = collections.Counter(), collections.defaultdict(list)
    for i in range(count):
        names = {(item.get("apiVersion", "").split("/")[0], item.get("kind"), item.get("namespace"), item.get("name")) for item in first.get(i, [])}
        rounds[max((seen[n] for n in names), default=0)].append(i)
        seen.update(names)
    # The second object of a name would be an update of the first.
    for number in range(1, len(rounds)):
        folder = f"{work}/round-{number}"
        os.mkdir(folder)
        for i in rounds[number]:
            os.symlink(f"{work}/objects/{i:05}.yaml", f"{folder}/{i:05}.yaml")
        again = run(folder)
        if isinstance(again, str):
            return again
        for i in rounds[number]:
            first[i] = again.get(i, [])
    return first


def errors(real, folder):
    """What kubectl says of each file of a folder that it does not accept; None where an error names no file."""
    found = collections.defaultdict(str)
    unplaced = False
    for line in real.kubectl("apply", "--dry-run=server", "-f", folder).stderr.split("\n"):
        place = re.search(r"objects/(\d{5})\.yaml", line)
        if place:
            found[int(place[1])] += line
        elif line.startswith(("error", "Error", "The ")):
            unplaced = True
    return None if unplaced else found


def compare(a, root, name, crds, differences):
    counts, real = collections.Counter(), Real(a.apiserver, a.port)
    try:
        with tempfile.TemporaryDirectory() as work:
            os.mkdir(f"{work}/crds"), os.mkdir(f"{work}/objects")
            for i, text in enumerate(crds):
                open(f"{work}/crds/{i:05}.yaml", "w", errors="surrogateescape").write(text)
            # Server-side: the annotation of a client-side apply may become too long.
            applied = real.kubectl("apply", "--server-side", "-f", f"{work}/crds")
            counts["CRDs"] = applied.stdout.count("serverside-applied")
            if applied.returncode:
                counts["CRDs refused"] = sum(1 for line in applied.stderr.split("\n") if line.strip())
                print(f"  {name}: {applied.stderr.strip()[:400]}")
            for line in real.kubectl("get", "crd", "-o", 'jsonpath={range .items[?(@.spec.conversion.strategy=="Webhook")]}{.metadata.name}{"\\n"}{end}').stdout.split():
                real.kubectl("patch", "crd", line, "--type=merge", "-p", '{"spec":{"conversion":{"strategy":"None","webhook":null}}}')
            real.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
            time.sleep(0.5)
            files = []
            for sub in ("objects", "invalid"):
                for path in sorted(glob.glob(os.path.join(root, sub, "**", "*.*"), recursive=True)):
                    if path.endswith((".yaml", ".yml", ".json")):
                        for j, text in enumerate(split(path) if not path.endswith(".json") else [open(path).read()]):
                            files.append((f"{os.path.relpath(path, root)}#{j}", text))
            for i, (_, text) in enumerate(files):
                open(f"{work}/objects/{i:05}.yaml", "w", errors="surrogateescape").write(text)
            if not files:
                return counts
            ours = validate(a.binary, work, len(files))
            if isinstance(ours, str):
                differences.append(f"{name}: validate: {ours}")
                return counts
            theirs = errors(real, f"{work}/objects")
            if theirs is None:
                # A single error is printed without its file.
                each = {i: real.kubectl("apply", "--dry-run=server", "-f", f"{work}/objects/{i:05}.yaml") for i in range(len(files))}
                theirs = {i: answer.stderr.strip() for i, answer in each.items() if answer.returncode}
            for i, (place, _) in enumerate(files):
                why = theirs.get(i, "")
                if any(text in why for text in ("no matches for kind", "unable to recognize", "apiVersion not set", "kind not set", "is missing")):
                    counts["not served"] += 1
                    continue
                if "cannot use generate name with apply" in why:
                    # validate sends these as kubectl create would.
                    counts["without a name"] += 1
                    continue
                if 'namespaces "' in why and "not found" in why:
                    counts["left out"] += 1
                    continue
                expected = "rejected" if why else "accepted"
                verdicts = {item["verdict"] for item in ours.get(i, [])}
                mine = "rejected" if "rejected" in verdicts else "accepted" if verdicts == {"accepted"} else "/".join(sorted(verdicts)) or "nothing"
                counts[expected] += 1
                if mine != expected:
                    why = why or json.dumps([item.get("errors") or item.get("reason") for item in ours.get(i, [])])
                    differences.append(f"{name} {place}: validate {mine}, kubectl {expected}: {why[:400]}")
            return counts
    finally:
        real.stop()


main()
