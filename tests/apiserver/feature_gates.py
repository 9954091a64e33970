#!/usr/bin/env python3
"""Extracts the feature gates of kube-apiserver from the sources of each release: names, stages, defaults, locks and dependencies.

    feature_gates.py FOLDER > tests/facts/feature-gates.jsonl      # FOLDER has the modules, such as $(go env GOMODCACHE)/k8s.io
    feature_gates.py --table < tests/facts/feature-gates.jsonl > crates/crdx-value/src/release/gate/table.rs

A line has the specifications of a gate that a range of releases shares, as in the source (`VersionedSpecs`): `[version, stage,
default, locked]`, and the minimum compatibility version if there is one. Releases before 1.32 have some without versions (0).
"""
import json, os, re, sys

MINORS = range(30, 39)
FILES = [
    "kubernetes pkg/features/kube_features.go", "kubernetes pkg/features/versioned_kube_features.go", "apiserver pkg/features/kube_features.go",
    "apiextensions-apiserver pkg/features/kube_features.go", "client-go features/known_features.go",
    "component-base logs/api/v1/kube_features.go", "component-base metrics/features/kube_features.go",
    "component-base zpages/features/kube_features.go", "controller-manager pkg/features/kube_features.go",
]
STAGES = {"PreAlpha": "PRE_ALPHA", "Alpha": "ALPHA", "Beta": "BETA", "GA": "GA", "Deprecated": "DEPRECATED"}
# `defaultFeatures` in component-base/featuregate/feature_gate.go.
SPECIAL = {"AllAlpha": "Alpha", "AllBeta": "Beta"}


def module(folder, name, minor):
    """The newest folder of a module for a release."""
    prefix = f"{name}@v{1 if name == 'kubernetes' else 0}.{minor}."
    found = [each for each in os.listdir(folder) if each.startswith(prefix)]
    if not found:
        raise SystemExit(f"no {prefix}* in {folder}")
    return os.path.join(folder, max(found, key=lambda each: [int(part) for part in re.findall(r"\d+", each[len(prefix):])]))


def entries(source):
    """The keys and the text of the values of all map literals whose keys start a line with one tab."""
    for match in re.finditer(r"^\t([\w.]+): +\{", source, re.MULTILINE):
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(source[at], 0)
            at += 1
        yield match[1].split(".")[-1], source[match.end():at - 1]


def specs(text):
    """The specifications in the value of a map entry; None if it has none."""
    found = []
    for body in re.findall(r"\{([^{}]*)\}", text) or [text]:
        field = lambda pattern: (re.search(pattern, body) or [None, None])[1]
        stage = field(r"PreRelease: +(?:featuregate\.)?(\w+)")
        if stage is None:
            return None
        version = lambda name: field(rf"\b{name}: +version\.\w+\(\"?([^)\"]+)\"?\)")
        minor = lambda text: int(re.split(r"[., ]+", text)[1]) if text else 0
        spec = [minor(version("Version")), STAGES[stage], field(r"Default: +(\w+)") == "true", field(r"LockToDefault: +(\w+)") == "true"]
        minimum = version("MinCompatibilityVersion")
        found.append(spec + [minor(minimum)] if minimum else spec)
    return found


def gates(folder, minor):
    """The gates of a release: their specifications and dependencies."""
    names, sources = {}, []
    for line in FILES:
        name, path = line.split(" ")
        path = os.path.join(module(folder, name, minor), path)
        if os.path.exists(path):
            with open(path) as file:
                sources.append(re.sub(r"//[^\n]*", "", file.read()))
            names.update(re.findall(r"(\w+)(?: +[\w.]*Feature)? += +[\w.]*(?:\(?)\"(\w+)\"", sources[-1]))
    found = {name: [[[0, STAGES[stage], False, False]], []] for name, stage in SPECIAL.items()}
    needs = {}
    for source in sources:
        for key, text in entries(source):
            value = specs(text)
            if value is not None:
                found[names[key]] = [value, []]
            elif key in names:
                needs[names[key]] = sorted(names[each.split(".")[-1]] for each in re.findall(r"[\w.]+", text.replace("featuregate.Feature(", "")))
    for name, each in needs.items():
        found[name][1] = each
    return found


def facts(folder):
    """Prints a line for each gate and range of releases."""
    rows = {}
    for minor in MINORS:
        for name, value in gates(folder, minor).items():
            ranges = rows.setdefault(name, [])
            if ranges and ranges[-1][2] == value and ranges[-1][1] == minor - 1:
                ranges[-1][1] = minor
            else:
                ranges.append([minor, minor, value])
    for name in sorted(rows):
        for first, last, (value, needs) in rows[name]:
            row = {"name": name, "first": first, "last": last, "specs": value}
            print(json.dumps(row | ({"needs": needs} if needs else {})))


def table():
    """Prints the table in Rust. A gate has a variant of `Gate` if the simulation depends on it."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../crates/crdx-value/src/release/gate")
    with open(os.path.join(folder, "names.rs")) as file:
        variants = set(re.findall(r"^    (\w+),$", file.read(), re.MULTILINE))
    print("//! All feature gates of kube-apiserver. Generated by `tests/apiserver/feature_gates.py`: do not edit.\n")
    print("use super::names::Gate;\nuse super::spec::Stage::{ALPHA, BETA, DEPRECATED, GA};\nuse super::spec::{GateRow, row, spec};\n")
    rows = [json.loads(line) for line in sys.stdin]
    print(f"/// The specifications of each gate, in the order of names; a gate has a row for each range of releases with the same ones.\npub(super) static GATES: [GateRow; {len(rows)}] = [")
    for each in rows:
        bool_text = lambda value: "true" if value else "false"
        items = ", ".join(
            f"spec({version}, {stage}, {bool_text(default)}, {bool_text(locked)})" + "".join(f".with_minimum({minimum})" for minimum in more)
            for version, stage, default, locked, *more in each["specs"])
        name = each["name"]
        gate = f"Some(Gate::{name})" if name in variants else "None"
        needs = ", ".join(json.dumps(need) for need in each.get("needs", []))
        print(f'    row("{name}", {gate}, {each["first"]}, {each["last"]}, &[{items}], &[{needs}]),')
    print("];")


if __name__ == "__main__":
    table() if sys.argv[1:] == ["--table"] else facts(sys.argv[1])
