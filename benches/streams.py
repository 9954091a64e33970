#!/usr/bin/env python3
"""Measures large streams of custom resources: MB per CPU second and peak memory, for several outputs, commands and numbers of threads.

usage: streams.py [--binary target/dist/kubectl-crdx] [--objects 20000] [--runs 3]

The objects are those of rivals.py, with the rules and defaults of gadgets.crd.yaml. `diff --old` and `rehearse` compare the stream with itself, so every object
exists. The commands take turns, so that all of them run in fast and slow phases of the machine, and the minimum of each is reported. "times" compares the CPU time
with that of the first line, "speed" the wall time. The last line is a bound for `--jobs 2`: two processes at once that share nothing, each with the whole stream.
If valgrind is installed, instructions (callgrind, 1,000 objects) are printed, too.
"""
import argparse, os, random, subprocess, tempfile, time

from callgrind import instructions
from rivals import HERE, gadget, measure, without_rules


def once(command):
    return measure(command, 1)


def two_at_once(command):
    """The CPU time, wall time, memory and exit code for one of two equal processes; the wall time is halved."""
    start = time.perf_counter()
    children = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
    ended = [os.wait4(child.pid, 0) for child in children]
    wall = (time.perf_counter() - start) / 2
    cpu = sum(usage.ru_utime + usage.ru_stime for _, _, usage in ended) / 2
    return cpu, wall, max(usage.ru_maxrss for _, _, usage in ended) / 1024, max(os.waitstatus_to_exitcode(status) for _, status, _ in ended)


def write(path, count, rng):
    # The peak memory of a child includes that of this script when it starts it.
    with open(path, "w") as out:
        for i in range(count):
            out.write("---\n" if i else "")
            out.write(gadget(i, rng))
    return os.path.getsize(path) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=os.path.join(HERE, "../target/dist/kubectl-crdx"))
    parser.add_argument("--objects", type=int, default=20000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        ruled = os.path.join(HERE, "gadgets.crd.yaml")
        plain = os.path.join(work, "plain.crd.yaml")
        with open(ruled) as crd, open(plain, "w") as out:
            out.write(without_rules(crd.read()))
        many, few = os.path.join(work, "many.yaml"), os.path.join(work, "few.yaml")
        megabytes = write(many, args.objects, random.Random(1))
        write(few, 1000, random.Random(1))
        validate = ["validate", "--offline", "-q"]
        kinds = [
            ("with rules, --jobs 1", lambda f: [*validate, "--jobs", "1", "--crds", ruled, "-f", f]),
            ("with rules, --jobs 2", lambda f: [*validate, "--jobs", "2", "--crds", ruled, "-f", f]),
            ("without rules, --jobs 1", lambda f: [*validate, "--jobs", "1", "--crds", plain, "-f", f]),
            ("-o json, --jobs 1", lambda f: ["validate", "--offline", "-o", "json", "--jobs", "1", "--crds", ruled, "-f", f]),
            ("diff --old, --jobs 1", lambda f: ["diff", "--offline", "--jobs", "1", "--crds", ruled, "--old", f, "-f", f]),
            ("rehearse, --jobs 1", lambda f: ["rehearse", "--offline", "--jobs", "1", "--old", ruled, "-f", f, ruled]),
        ]
        runs = [(name, flags, once) for name, flags in kinds]
        runs.append(("two processes at once", kinds[0][1], two_at_once))
        best = {}
        for _ in range(args.runs):
            for name, flags, take in runs:
                got = take([args.binary, *flags(many)])
                best[name] = tuple(map(min, best.get(name, got), got))
        print(f"{args.objects} objects, {megabytes:.1f} MB of YAML, best of {args.runs}")
        print(f"{'run':26}{'CPU s':>8}{'wall s':>8}{'MB/CPU s':>10}{'MiB':>7}{'exit':>6}{'times':>7}{'speed':>7}{'M instructions of 1,000':>25}")
        first_cpu, first_wall, _, _ = best[kinds[0][0]]
        for name, flags, take in runs:
            cpu, wall, memory, code = best[name]
            count = instructions([args.binary, *flags(few)]) if take is once else None
            shown = f"{count / 1e6:25.1f}" if count else ""
            figures = f"{cpu:8.2f}{wall:8.2f}{megabytes / cpu:10.1f}{memory:7.1f}{code:6}{cpu / first_cpu:7.2f}{first_wall / wall:7.2f}"
            print(f"{name:26}{figures}{shown}", flush=True)


if __name__ == "__main__":
    main()
