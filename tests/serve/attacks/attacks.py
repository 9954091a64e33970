#!/usr/bin/env python3
"""Runs hostile inputs of at most a few megabytes and measures the memory and time of each.

    tests/serve/attacks/attacks.py BINARY [AREA or PATTERN]

Each attack prints its exit code, peak memory (MB) and CPU time (s). At the end, a table has the attacks of each area that were tried
and that were within the limits, and the most time and memory. The program exits with 1 if an attack needs more than 500 MB
or 5 s. tests/serve/attacks/README.md describes what bounds them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import clients
from inputs import AREAS, SERVED
from limits import MEMORY, SECONDS


def limited(memory, seconds):
    """Limits a process and its children, which outlive `time` when it is killed."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def content_of(value):
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def run(binary, command, files):
    """Runs a command with files; returns the exit code, the memory in MB, the CPU time, the size of the files and the output."""
    with tempfile.TemporaryDirectory() as folder:
        size, stdin = 0, b""
        for path, value in files.items():
            content = content_of(value)
            size += len(content)
            if path == "-":
                stdin = content
                continue
            path = os.path.join(folder, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content)
        timeout = float(os.environ.get("ATTACK_TIMEOUT", 60))
        limit = int(os.environ.get("ATTACK_MEMORY_MB", 3000)) << 20
        with tempfile.NamedTemporaryFile() as measured:
            started = time.monotonic()
            try:
                done = subprocess.run(
                    ["/usr/bin/time", "-o", measured.name, "-f", "%M %U %S", binary, *command],
                    cwd=folder, input=stdin, capture_output=True, timeout=timeout, check=False,
                    preexec_fn=lambda: limited(limit, int(timeout)),
                )
                code, out = done.returncode, (done.stdout[:300] + done.stderr[:300]).decode(errors="replace")
            except subprocess.TimeoutExpired:
                code, out = "timeout", ""
            seconds = time.monotonic() - started
            words = measured.read().decode().split()[-3:]
        if len(words) == 3 and words[0].isdigit():
            return code, int(words[0]) >> 10, float(words[1]) + float(words[2]), size, out
        return code, 0, seconds, size, out


class Table:
    """The attacks that were tried, by area."""

    def __init__(self):
        self.rows = {}

    def add(self, area, name, code, memory, seconds, size, is_expected):
        held = is_expected and memory <= MEMORY and seconds <= SECONDS
        self.rows.setdefault(area, []).append((name, memory, seconds, held))
        print(f"{name:36} {size >> 10:8} {code!s:>8} {memory:6} {seconds:7.2f}{'' if held else '  !'}", flush=True)

    def failed(self):
        return [name for rows in self.rows.values() for name, _, _, held in rows if not held]

    def print(self):
        print(f"\n{'area':16} {'tried':>6} {'held':>6} {'most MB':>8} {'most s':>8}  of")
        for area, rows in self.rows.items():
            memory, seconds = max(rows, key=lambda row: row[1]), max(rows, key=lambda row: row[2])
            held = sum(row[3] for row in rows)
            print(f"{area:16} {len(rows):6} {held:6} {memory[1]:8} {seconds[2]:8.2f}  {memory[0]}, {seconds[0]}")


def main():
    binary, pattern = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    verbose = bool(os.environ.get("VERBOSE"))
    # Without the name of an area, all inputs are generated.
    area_only = pattern if pattern in {*AREAS, *SERVED, "clients"} else None
    pattern = "" if area_only else pattern
    table = Table()
    print(f"{'attack':36} {'input KB':>8} {'exit':>8} {'MB':>6} {'s':>7}")
    for area, attacks in AREAS.items():
        if area_only not in (None, area):
            continue
        for name, command, files in attacks():
            if pattern not in name:
                continue
            code, memory, seconds, size, out = run(binary, command, files)
            table.add(area, name, code, memory, seconds, size, code in (0, 1, 2))
            if verbose:
                print("    " + out.replace("\n", "\n    ")[:500])
    for area, attacks in SERVED.items():
        if area_only not in (None, area):
            continue
        for name, requests in attacks():
            if pattern in name:
                code, memory, seconds, size = clients.answer(binary, requests)
                table.add(area, name, code, memory, seconds, size, isinstance(code, int) and (code < 500 or code == 504))
    if area_only in (None, "clients") and pattern in "clients":
        for name, memory, seconds, problems in clients.attacks(binary):
            table.add("clients", f"clients-{name}", problems[0] if problems else 200, memory, seconds, 0, not problems)
    table.print()
    sys.exit(1 if table.failed() else 0)


if __name__ == "__main__":
    main()
