#!/usr/bin/env python3
"""Measures `validate` and `lint` on the folder of a project with many CRDs: CPU seconds, peak memory and, on request, instructions.

usage: folder.py --crds DIR --objects DIR [--binary target/dist/kubectl-crdx] [--reference OTHER] [--runs 3] [--instructions]

For example the folders config/crds/resources and config/samples of GoogleCloudPlatform/k8s-config-connector, with 613 CRDs. The minimum of the runs is reported; the builds take turns, so that
both run in fast and slow phases of the machine. --instructions counts instructions with valgrind, which takes minutes.
"""
import argparse, os

from callgrind import instructions
from rivals import HERE, measure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crds", required=True)
    parser.add_argument("--objects", required=True)
    parser.add_argument("--binary", default=os.path.join(HERE, "../target/dist/kubectl-crdx"))
    parser.add_argument("--reference")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()
    validate = ["validate", "--offline", "-q", "-R", "--jobs", "1", "--crds", args.crds, "-f"]
    builds = [build for build in (args.binary, args.reference) if build]
    print(f"{'run':24}{'build':>12}{'CPU s':>8}{'MiB':>8}" + f"{'M instructions':>16}" * args.instructions)
    for name, flags in (
        ("CRDs and objects", [*validate, args.objects]),
        ("CRDs alone", [*validate, os.path.join(HERE, "gadgets.crd.yaml")]),
        ("lint", ["lint", "--offline", "-f", args.crds]),
    ):
        best = {}
        for _ in range(args.runs):
            for build in builds:
                cpu, _, memory, _ = measure([build, *flags], 1)
                best[build] = tuple(map(min, best.get(build, (cpu, memory)), (cpu, memory)))
        for build in builds:
            cpu, memory = best[build]
            count = instructions([build, *flags]) if args.instructions else None
            label = "binary" if build == args.binary else "reference"
            print(f"{name:24}{label:>12}{cpu:8.2f}{memory:8.1f}" + (f"{count / 1e6:16.1f}" if count else ""), flush=True)


if __name__ == "__main__":
    main()
