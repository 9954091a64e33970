#!/usr/bin/env python3
"""Draws docs/terminal.svg: a terminal session with the program's real, coloured output.

usage: scripts/terminal-picture.py [--binary target/release/kubectl-crdx] [--output docs/terminal.svg]
"""
import argparse
import html
import os
import re
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# The commands shown, with the lines of their output that are kept (None: all).
SESSION = [
    ("validate examples/objects --crds examples/crds --offline", 17),
    ("diff examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline", 12),
]
CHARACTER, LINE, MARGIN = 8.4, 19, 18
COLORS = {"30": "#6e7681", "31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea", "37": "#c9d1d9"}
ESCAPE = re.compile(r"\x1b\[([0-9;]*)m")


def spans(line):
    """The runs of one line: text with its colour and weight."""
    color, bold, at = None, False, 0
    for match in ESCAPE.finditer(line):
        if match.start() > at:
            yield line[at:match.start()], color, bold
        for code in (match.group(1) or "0").split(";"):
            if code == "0":
                color, bold = None, False
            elif code == "1":
                bold = True
            elif code in COLORS:
                color = COLORS[code]
            elif len(code) == 2 and code[0] == "9" and "3" + code[1] in COLORS:
                color = COLORS["3" + code[1]]
        at = match.end()
    if at < len(line):
        yield line[at:], color, bold


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
    width = max(len(ESCAPE.sub("", line)) for line in lines) * CHARACTER + 2 * MARGIN
    height = len(lines) * LINE + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img" aria-label="A terminal session with kubectl crdx">',
           f'<rect width="{width:.0f}" height="{height}" rx="8" fill="#0d1117"/>',
           '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14" fill="#c9d1d9" xml:space="preserve">']
    for number, line in enumerate(lines):
        x, y = MARGIN, MARGIN + (number + 1) * LINE - 5
        for text, color, bold in spans(line):
            style = (f' fill="{color}"' if color else "") + (' font-weight="bold"' if bold else "")
            out.append(f'<text x="{x:.1f}" y="{y}" textLength="{len(text) * CHARACTER:.1f}"{style}>{html.escape(text)}</text>')
            x += len(text) * CHARACTER
    out += ["</g>", "</svg>", ""]
    with open(args.output, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    main()
