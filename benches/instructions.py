#!/usr/bin/env python3
"""Counts instructions with callgrind, independently of the load of the machine, and prints them with CPU seconds and peak memory.

usage: instructions.py [--binary target/dist/kubectl-crdx] [--reference OTHER] [--corpus ../shared/corpus] [--json FILE]

The cases are an empty program (`true`, what starting any process costs), the start of this program, one object, 300 objects with rules (those of rivals.py),
the CRDs and objects of two projects of the corpus, and `lint` of their CRDs and of the largest CRD of the corpus. With --reference, an earlier build, each line ends with the ratio to it.
Needs valgrind.
"""
import argparse, glob, json, os, random, shutil, sys, tempfile

from callgrind import instructions
from rivals import HERE, gadget, measure


def cases(work, corpus):
    """Yields the name and the arguments of each case."""
    rng = random.Random(1)
    objects = [gadget(i, rng) for i in range(300)]
    one, many = os.path.join(work, "one.yaml"), os.path.join(work, "many.yaml")
    for path, written in ((one, objects[:1]), (many, objects)):
        with open(path, "w") as out:
            out.write("---\n".join(written))
    validate = ["validate", "--offline", "--jobs", "1", "-o", "name"]
    crd = os.path.join(HERE, "gadgets.crd.yaml")
    yield "version", ["version"]
    yield "one object", [*validate, "--crds", crd, "-f", one]
    yield "300 objects with rules", [*validate, "--crds", crd, "-f", many]
    for project in ("cert-manager", "kueue"):
        crds, objects = (os.path.join(corpus, project, part) for part in ("crds", "objects"))
        if os.path.isdir(crds):
            yield f"{project}: CRDs and objects", [*validate, "--crds", crds, "-f", objects]
            yield f"lint {project}", ["lint", "--offline", "-f", crds]
    crds = [path for path in glob.glob(os.path.join(corpus, "*/crds/**"), recursive=True) if path.endswith((".yaml", ".yml"))]
    if crds:
        largest = max(crds, key=os.path.getsize)
        yield f"lint the largest CRD ({os.path.getsize(largest) / 1e6:.2f} MB)", ["lint", "--offline", "-f", largest]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "../target/dist/kubectl-crdx"))
    parser.add_argument("--reference")
    parser.add_argument("--corpus", default=os.path.join(HERE, "../../shared/corpus"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--json")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed")
    results = {}
    print(f"binary: {os.path.getsize(args.binary):,} bytes")
    print(f"{'case':34}{'M instructions':>16}{'CPU ms':>9}{'MiB':>7}" + ("  times the reference" if args.reference else ""))
    empty = shutil.which("true")
    cpu, _, memory, _ = measure([empty], args.runs)
    print(f"{'an empty program':34}{instructions([empty]) / 1e6:16.2f}{cpu * 1e3:9.2f}{memory:7.1f}", flush=True)
    with tempfile.TemporaryDirectory() as work:
        for name, flags in cases(work, args.corpus):
            count = instructions([args.binary, *flags])
            cpu, _, memory, _ = measure([args.binary, *flags], args.runs)
            results[name] = {"instructions": count, "cpu": cpu, "memory": memory}
            line = f"{name:34}{count / 1e6:16.2f}{cpu * 1e3:9.2f}{memory:7.1f}"
            if args.reference:
                before = instructions([args.reference, *flags])
                results[name]["reference"] = before
                line += f"  {count / before:.3f} ({before / 1e6:.2f} M)"
            print(line, flush=True)
    if args.json:
        with open(args.json, "w") as out:
            json.dump(results, out, indent=1)


if __name__ == "__main__":
    main()
