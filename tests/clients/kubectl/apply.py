#!/usr/bin/env python3
"""Compares `validate` with the real kubectl on a real API server, for objects that kubectl changes before it sends them.

    tests/clients/kubectl/apply.py --server http://127.0.0.1:PORT [--kubectl kubectl] [--binary target/debug/kubectl-crdx]

For each object of apply-cases.yaml and each request (apply, create, apply --server-side) the verdict of
`kubectl … --dry-run=server` must be that of `kubectl crdx validate --offline`, and so must the object that would be stored,
without the values that the server sets differently in each run. Prints each difference and the counts; exit code 1 if there is a difference.
"""
import argparse
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REQUESTS = {"apply": ["apply"], "create": ["create"], "server-side": ["apply", "--server-side"]}
FLAGS = {"apply": [], "create": ["--create"], "server-side": ["--server-side"]}


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "KUBECONFIG": "/dev/null"})
    return done.returncode, done.stdout, done.stderr


def comparable(stored):
    metadata = stored["metadata"]
    for key in ("creationTimestamp", "managedFields", "resourceVersion", "uid"):
        metadata.pop(key, None)
    if "generateName" in metadata:
        metadata.pop("name", None)
    return stored


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--kubectl", default="kubectl")
    parser.add_argument("--binary", default="target/debug/kubectl-crdx")
    args = parser.parse_args()
    crd, *cases = open(os.path.join(HERE, "apply-cases.yaml")).read().split("\n---\n")
    asked = refused = differing = 0
    with tempfile.TemporaryDirectory() as folder:
        def write(name, text):
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(text)
            return path

        definition = write("crd.yaml", crd)
        run(args.kubectl, "--server", args.server, "apply", "-f", definition)
        run(args.kubectl, "--server", args.server, "wait", "--for=condition=established", "-f", definition)
        for number, case in enumerate(cases):
            path = write(f"{number}.yaml", case.replace("LONG", "x" * 262144))
            for request, words in REQUESTS.items():
                if "generateName" in case and request != "create":
                    continue
                asked += 1
                code, out, error = run(args.kubectl, "--server", args.server, *words, "--dry-run=server", "-o", "json", "-f", path)
                real = comparable(json.loads(out)) if code == 0 else "refused"
                _, ours, _ = run(args.binary, "validate", "--offline", "--crds", definition, "-o", "json", "--show-last-applied",
                                 *FLAGS[request], path)
                item = json.loads(ours)["items"][0]
                here = comparable(item["result"]) if item["verdict"] == "accepted" else "refused"
                refused += real == "refused"
                if real != here:
                    differing += 1
                    print(f"{request}: {case.strip()[:300]}\n  real {json.dumps(real, sort_keys=True)[:600]} {error.strip()[:400]}"
                          f"\n  here {json.dumps(here, sort_keys=True)[:600]} {json.dumps(item.get('errors'))[:400]}")
    print(f"{asked} requests, {refused} refused by the server, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
