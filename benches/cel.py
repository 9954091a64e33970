#!/usr/bin/env python3
"""Compares the CEL implementation of this project with cel-go on the rules of real CRDs, in one run: CPU seconds for the same work, and the ratios.

usage: cel.py [--corpus ../../shared/corpus] [--runs 3] [--go BINARY] [--ours BINARY]

Both programs (`cel.rs` and `cel-go/main.go`; built here unless they are given) read the CRDs and samples of Gateway API, Kueue and Karpenter, then
- compile: parse, check and plan every rule, in an environment that is already built
- evaluate: every rule on every matching node of the samples (`oldSelf` is `self`)
- patterns: the same, for rules with regular expressions only
Both print the number of operations, which must be the same. The time of the preparation is measured separately and subtracted. The minimum
of the runs is reported, because the machines are noisy.
"""
import argparse, glob, os, resource, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# The number of rounds of each benchmark, for cel-go and for this project: enough to be measured.
ROUNDS = {"compile": (5, 50), "evaluate": (20, 400), "patterns": (200, 2000)}


def run(command):
    """Returns the CPU seconds and the output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def per_round(binary, corpus, what, rounds, runs):
    ready = min(run([binary, corpus, what, "0"])[0] for _ in range(runs))
    done = min(run([binary, corpus, what, str(rounds)])[0] for _ in range(runs))
    return (done - ready) / rounds, run([binary, corpus, what, "1"])[1]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--corpus", default=os.path.join(HERE, "../../shared/corpus"))
    ap.add_argument("--runs", type=int, default=3)
    ap.add_argument("--go")
    ap.add_argument("--ours")
    a = ap.parse_args()
    if not a.ours:
        build = ["cargo", "build", "--profile", "dist", "--bench", "cel", "--message-format", "short"]
        subprocess.run(build, check=True, cwd=HERE)
        built = glob.glob(os.path.join(HERE, "../target/dist/deps/cel-*"))
        a.ours = max((f for f in built if os.access(f, os.X_OK)), key=os.path.getmtime)
    with tempfile.TemporaryDirectory() as work:
        if not a.go:
            a.go = os.path.join(work, "cel-go")
            subprocess.run(["go", "build", "-o", a.go, "."], check=True, cwd=os.path.join(HERE, "cel-go"))
        print(f"{'work':10}{'cel-go ms':>11}{'ours ms':>9}{'ratio':>8}  what, once")
        same = True
        for what, (theirs_rounds, ours_rounds) in ROUNDS.items():
            theirs, theirs_said = per_round(a.go, a.corpus, what, theirs_rounds, a.runs)
            ours, ours_said = per_round(a.ours, a.corpus, what, ours_rounds, a.runs)
            same = same and theirs_said == ours_said
            print(f"{what:10}{theirs * 1e3:11.2f}{ours * 1e3:9.2f}{theirs / ours:7.1f}x  {ours_said}")
            if theirs_said != ours_said:
                print(f"{'':10}but cel-go: {theirs_said}")
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
