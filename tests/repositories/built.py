#!/usr/bin/env python3
"""Compares the verdicts of `validate --render` on a repository with those on what Flux's own code builds for it (flux/main.go).

usage: built.py REPOSITORY BUILT --binary PATH [--crds DIR…]

REPOSITORY has a .crdx.yaml, and a crdx.lock if charts were fetched; compare.py compares BUILT with kube-apiserver. Prints each object of
BUILT that `validate --render` does not have, or has with another verdict or other errors. Exit code 1 if there is one.
"""
import argparse, collections, glob, json, os, re, subprocess, sys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("built")
    parser.add_argument("--binary", required=True)
    parser.add_argument("--crds", nargs="*", default=[])
    arguments = parser.parse_args()
    binary, crds = os.path.abspath(arguments.binary), [part for crd in arguments.crds for part in ("--crds", os.path.abspath(crd))]
    files = [os.path.abspath(file) for file in sorted(glob.glob(os.path.join(arguments.built, "*.yaml")))]
    built = report(binary, ["validate", "--offline", "--no-config", "--create", *files, *crds], arguments.repository)
    rendered = report(binary, ["validate", "--render", *crds], arguments.repository)
    known = collections.defaultdict(set)
    for item in rendered["items"]:
        known[key(item)].add(answer(item))
    count, differing = collections.Counter(), 0
    for item in built["items"]:
        count[item["verdict"]] += 1
        if answer(item) not in known[key(item)]:
            differing += 1
            print(key(item), answer(item), "but", sorted(known[key(item)]) or "nothing")
    print(f"{sum(count.values())} objects built by Flux: {dict(count)}; {differing} differ")
    sys.exit(differing > 0)


def report(binary, line, directory):
    return json.loads(subprocess.run([binary, *line, "-o", "json"], cwd=directory, capture_output=True, text=True).stdout)


def key(item):
    """Kind and name; names that charts make of random characters count as equal."""
    return item.get("kind", ""), re.sub(r"-[a-z0-9]{5}$", "", item.get("name", ""))


def answer(item):
    return item["verdict"], "; ".join(sorted(error["message"] for error in item.get("errors", [])))


if __name__ == "__main__":
    main()
