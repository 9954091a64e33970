#!/usr/bin/env python3
"""Writes pairs of a CRD's states from the histories of git repositories: NAME.old.yaml and NAME.new.yaml.

Usage: histories.py OUTPUT REPOSITORY [REPOSITORY ...]

Of each file with one CRD, and of no other file with the same CRD, these pairs are taken: two random commits that follow each
other, and a random commit and one that is a third of the history younger. Pairs with equal specs, and files that are templates,
are left out.
"""

import pathlib
import random
import re
import subprocess
import sys

MAX_BYTES = 600_000


def git(repository, *arguments):
    done = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""


def is_usable(text):
    crds = re.findall(r"^kind: CustomResourceDefinition\s*$", text, re.MULTILINE)
    is_v1 = re.search(r"^apiVersion: apiextensions.k8s.io/v1\s*$", text, re.MULTILINE)
    return len(crds) == 1 and is_v1 and "{{" not in text and len(text) <= MAX_BYTES


def name_of(text):
    found = re.search(r"^  name: ([\w.-]+)\s*$", text, re.MULTILINE)
    return found.group(1) if found else None


def without_documentation(text):
    """A cheap comparison: descriptions and annotations do not count."""
    lines = [line.strip() for line in text.splitlines()]
    keys = re.compile(r"^(- )?['\"]?[\w$./-]+['\"]?:( |$)|^- ")
    return [line for line in lines if keys.match(line) and not re.match(r"description:|controller-gen|[\w./-]+/version:", line)]


def pairs(repository, path):
    commits = git(repository, "log", "--format=%H", "HEAD", "--", path).split()
    texts = []
    for commit in reversed(commits):
        text = git(repository, "show", f"{commit}:{path}")
        if is_usable(text) and (not texts or without_documentation(texts[-1][1]) != without_documentation(text)):
            texts.append((commit, text))
    rng = random.Random(path)
    if len(texts) >= 2:
        first = rng.randrange(len(texts) - 1)
        yield texts[first], texts[first + 1]
    if len(texts) >= 5:
        third = len(texts) // 3
        first = rng.randrange(len(texts) - third)
        yield texts[first], texts[min(first + max(third, 2), len(texts) - 1)]


def main():
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    seen, count = set(), 0
    for repository in sys.argv[2:]:
        files = git(repository, "grep", "-lE", "^kind: CustomResourceDefinition", "HEAD", "--", "*.yaml", "*.yml")
        for line in sorted(files.splitlines()):
            path = line.removeprefix("HEAD:")
            text = git(repository, "show", line)
            name = name_of(text)
            if name is None or not is_usable(text) or name in seen or "test" in path:
                continue
            seen.add(name)
            for index, (old, new) in enumerate(pairs(repository, path)):
                count += 1
                stem = f"{name}-{index}-{old[0][:8]}-{new[0][:8]}"
                (output / f"{stem}.old.yaml").write_text(old[1])
                (output / f"{stem}.new.yaml").write_text(new[1])
    print(f"{count} pairs of {len(seen)} CRDs")


main()
