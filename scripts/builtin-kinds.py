#!/usr/bin/env python3
"""Writes src/simulation/builtin-kinds.txt: the kinds built into Kubernetes 1.30 to 1.37, one `GROUP/VERSION KIND` a line.

    scripts/builtin-kinds.py DIRECTORY…        the modules k8s.io/api of these releases, as `go mod download` keeps them

A kind counts if a release registers it (register.go) and does not remove it by then (zz_generated.prerelease-lifecycle.go).
"""
import pathlib
import re
import sys

# Of the aggregator, whose types are in another module.
kinds = {("apiregistration.k8s.io/v1", "APIService")}
for module in map(pathlib.Path, sys.argv[1:]):
    release = int(re.search(r"v0\.(\d+)", module.name).group(1))
    for register in sorted(module.glob("*/*/register.go")):
        text = register.read_text()
        group = re.search(r'const GroupName = "(.*)"', text).group(1)
        version = re.search(r'GroupVersion\{Group: GroupName, Version: "(.*)"\}', text).group(1)
        removed = {}
        lifecycle = register.parent / "zz_generated.prerelease-lifecycle.go"
        if lifecycle.exists():
            found = re.findall(r"func \(in \*(\w+)\) APILifecycleRemoved\(\)[^{]*\{\s*return \d+, (\d+)", lifecycle.read_text())
            removed = {kind: int(minor) for kind, minor in found}
        known = text[text.index("func addKnownTypes"):]
        for kind in re.findall(r"&(\w+)\{\}", known):
            if not kind.endswith(("List", "Options")) and removed.get(kind, release + 1) > release:
                kinds.add((f"{group}/{version}" if group else version, kind))
target = pathlib.Path(__file__).parent.parent / "src/simulation/builtin-kinds.txt"
target.write_text("".join(f"{version} {kind}\n" for version, kind in sorted(kinds)))
print(f"{len(kinds)} kinds")
