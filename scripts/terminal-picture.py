#!/usr/bin/env python3
"""Draws docs/terminal.svg: a terminal session with the program's real, coloured output.

usage: scripts/terminal-picture.py [--binary target/release/kubectl-crdx] [--output docs/terminal.svg]
"""
import argparse
import os
import subprocess

from terminal_svg import svg

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# The commands shown, with the lines of their output that are kept (None: all).
SESSION = [
    ("validate examples/objects --crds examples/crds --offline", 17),
    ("diff examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline", 12),
]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", default=os.path.join(ROOT, "target/release/kubectl-crdx"))
    ap.add_argument("--output", default=os.path.join(ROOT, "docs/terminal.svg"))
    args = ap.parse_args()
    lines = []
    for command, keep in SESSION:
        environment = {**os.environ, "KUBECONFIG": "/nonexistent"}
        environment.pop("NO_COLOR", None)
        done = subprocess.run([os.path.abspath(args.binary), *command.split(), "--color", "always"], cwd=ROOT, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if lines:
            lines.append("")
        lines.append(f"\x1b[32m$\x1b[0m \x1b[1mkubectl crdx {command}\x1b[0m")
        output = done.stdout.rstrip("\n").split("\n")
        lines += output if keep is None else output[:keep]
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(svg(lines, "A terminal session with kubectl crdx"))


if __name__ == "__main__":
    main()
