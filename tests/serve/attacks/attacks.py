#!/usr/bin/env python3
"""Runs hostile inputs of at most a few megabytes and measures the memory and time of each.

    tests/serve/attacks/attacks.py BINARY [PATTERN]

Each attack prints its exit code, peak memory (MB) and time (s). The program exits with 1 if an attack needs more than
500 MB or 5 s. tests/serve/attacks/README.md describes what bounds them.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import builtin

MEMORY, SECONDS = 500, 5
# Objects of built-in kinds that are also updated.
UPDATES = ("containers", "containers-wrong", "labels", "env", "rbac-rules", "endpoints-addresses", "config-map-keys")
ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def crd(spec=None, status=None, name="foos", kind="Foo", **version):
    """A CRD whose schema of `spec` is given."""
    schema = {"type": "object", "properties": {"spec": spec or ANY}}
    if status is not None:
        schema["properties"]["status"] = status
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": name, "kind": kind},
            "versions": [
                {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **version}
            ],
        },
    }


def with_rules(*rules, **more):
    return crd({**ANY, "x-kubernetes-validations": [{"rule": rule, **more} for rule in rules]})


def foo(spec, **metadata):
    return {
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "a", "namespace": "default", **metadata},
        "spec": spec,
    }


HEAD = "apiVersion: example.com/v1\nkind: Foo\nmetadata: {name: a, namespace: default}\n"
TWINS = "[[1]]" + ".map(v, [v, v])" * 26
MAPS = "[{'a': 1}]" + ".map(v, {'a': v, 'b': v})" * 26
BIG = "'xxxxxxxxxxxxxxxx'"
for _ in range(22):
    BIG = f"[{BIG}].map(s, '%s%s'.format([s, s]))[0]"
HUGE = f"[{BIG}]"


def policy(kind, mutations=None, validations=None, name="p", variables=None, reinvoke="Never"):
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": ["example.com"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["*"]}
            ]
        },
    }
    if variables:
        spec["variables"] = variables
    if kind == "MutatingAdmissionPolicy":
        spec.update(reinvocationPolicy=reinvoke, mutations=mutations)
    else:
        spec["validations"] = validations
    binding = {"policyName": name}
    if kind == "ValidatingAdmissionPolicy":
        binding["validationActions"] = ["Deny"]
    return [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": f"{kind}Binding", "metadata": {"name": name}, "spec": binding},
    ]


def patches(expressions, **more):
    mutations = [{"patchType": "JSONPatch", "jsonPatch": {"expression": e}} for e in expressions]
    return policy("MutatingAdmissionPolicy", mutations, **more)


def applies(expressions, **more):
    mutations = [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": e}} for e in expressions]
    return policy("MutatingAdmissionPolicy", mutations, **more)


def nested(levels, leaf, **each):
    """A schema of nested lists."""
    schema = leaf
    for _ in range(levels):
        schema = {"type": "array", "items": schema, **each}
    return schema


def nested_objects(levels, leaf, names):
    schema = leaf
    for _ in range(levels):
        schema = {"type": "object", "required": names, "properties": {name: schema for name in names}}
    return schema


def binds(levels):
    """A type that doubles with each level."""
    text = f"x{levels} == x{levels}"
    for level in range(levels, 0, -1):
        inner = "{1: 1}" if level == 1 else "{'a': x%d}" % (level - 1)
        if level > 1:
            inner = "[{x%d: x%d}]" % (level - 1, level - 1)
        text = f"cel.bind(x{level}, {inner}, {text})"
    return text


def duplicate_keys(count):
    return "".join(f"  a{i % (count // 2)}: 1\n" for i in range(count))


def attacks():
    """Name, command, files."""
    validate = ["validate", "--offline", "--crds", "crd.json", "-f"]
    one = {"crd.json": crd()}
    y = "object.yaml"
    # YAML
    long = "x" * 300_000
    yield "yaml-alias-scalar", [*validate, y], {**one, y: HEAD + f"spec:\n  a: &a {long}\n  l: [{', '.join(['*a'] * 60_000)}]\n"}
    yield "yaml-alias-scalar-output", [*validate, y, "-o", "yaml"], {**one, y: HEAD + f"spec:\n  a: &a {long}\n  l: [{', '.join(['*a'] * 60_000)}]\n"}
    yield "yaml-alias-scalar-diff", ["diff", "--offline", "--crds", "crd.json", "-f", y], {**one, y: HEAD + f"spec:\n  a: &a {long}\n  l: [{', '.join(['*a'] * 60_000)}]\n"}
    yield "yaml-alias-list", [*validate, y], {**one, y: HEAD + f"spec:\n  a: &a [{', '.join(['xxxxxxxxxxxxxxxx'] * 3000)}]\n  l: [{', '.join(['*a'] * 120)}]\n"}
    yield "yaml-alias-key", [*validate, y], {**one, y: HEAD + f"spec:\n  ? &a {long}\n  : 1\n  l: [{', '.join(['{*a : 1}'] * 20_000)}]\n"}
    yield "yaml-alias-merge", [*validate, y], {**one, y: HEAD + f"spec:\n  a: &a {{k: {long}}}\n  l: [{', '.join(['{<<: *a}'] * 20_000)}]\n"}
    yield "yaml-alias-lint", ["lint", y], {y: json.dumps(crd())[:-1] + f", x: &a {long}, l: [{', '.join(['*a'] * 60_000)}]}}"}
    yield "yaml-duplicate-keys", [*validate, y], {**one, y: HEAD + "spec:\n" + duplicate_keys(80_000)}
    yield "yaml-duplicate-keys-json-output", [*validate, y, "-o", "json"], {**one, y: HEAD + "spec:\n" + duplicate_keys(80_000)}
    yield "yaml-null-keys", [*validate, y], {**one, y: HEAD + f"spec:\n  a: &a {long}\n  m:\n" + "    ~: *a\n" * 20_000}
    yield "yaml-flow-lines", [*validate, y], {**one, y: HEAD + "spec: {" + ",\n ".join(f"a{i}: [1]" for i in range(80_000)) + "}\n"}
    yield "yaml-anchors", [*validate, y], {**one, y: HEAD + "spec:\n" + "".join(f"  a{i}: &a{i} 1\n" for i in range(80_000))}
    yield "yaml-deep", [*validate, y], {**one, y: HEAD + "spec: {a: " + "[" * 9000 + "]" * 9000 + "}\n"}
    yield "yaml-documents", [*validate, y], {**one, y: "---\n" * 300_000}
    yield "yaml-comments", [*validate, y], {**one, y: HEAD + "spec:\n" + "  a: 1 # x\n" + "# x\n" * 400_000}
    yield "yaml-long-plain", [*validate, y], {**one, y: HEAD + "spec:\n  a: " + "x\n    " * 200_000 + "\n"}
    yield "yaml-quoted", [*validate, y], {**one, y: HEAD + "spec:\n  a: \"" + "\\x41\\\n   " * 100_000 + "\"\n"}
    yield "yaml-many-quoted-flow", [*validate, y], {**one, y: HEAD + "spec: [" + '"a", ' * 200_000 + "]\n"}
    yield "yaml-unclosed-flow", [*validate, y], {**one, y: HEAD + "spec: " + "[" * 200_000}
    yield "yaml-question-marks", [*validate, y], {**one, y: HEAD + "spec:\n" + "? " * 200_000}
    yield "yaml-dashes", [*validate, y], {**one, y: HEAD + "spec:\n" + "- " * 9_000 + "a\n"}
    yield "yaml-list-of-objects", [*validate, y], {**one, y: "apiVersion: v1\nkind: List\nitems:\n" + "- {apiVersion: example.com/v1, kind: Foo, metadata: {name: a%s, namespace: default}}\n" * 1 % 1 * 10_000}
    # JSON
    j = "object.json"
    body = json.dumps(foo({}))[:-2]
    yield "json-duplicate-keys", [*validate, j], {**one, j: body + ",".join('"a%d":1' % (i % 40_000) for i in range(80_000)) + "}}"}
    yield "json-duplicate-deep", [*validate, j], {**one, j: body + '"a":' + '{"b":' * 5000 + "{" + ",".join(['"k":1'] * 150_000) + "}" + "}" * 5000 + "}}"}
    yield "json-deep-errors", [*validate, j], {"crd.json": crd({"type": "object", "additionalProperties": {"type": "string"}}), j: foo({"k" * 1000 + str(i): i for i in range(2000)})}
    # Schemas
    unknown = {f"unknownfield{i}": 1 for i in range(80_000)}
    known = {f"knownfields{i}": {"type": "integer"} for i in range(20_000)}
    yield "unknown-fields", [*validate, j], {"crd.json": crd({"type": "object", "properties": known}), j: foo(unknown)}
    yield "unknown-fields-yaml", [*validate, y], {"crd.json": crd({"type": "object", "properties": known}), y: HEAD + "spec:\n" + "".join(f"  {k}: 1\n" for k in unknown)}
    yield "unknown-fields-warn", [*validate, j, "--field-validation", "Warn"], {"crd.json": crd({"type": "object", "properties": known}), j: foo(unknown)}
    yield "unknown-fields-json", [*validate, j, "-o", "json"], {"crd.json": crd({"type": "object", "properties": known}), j: foo(unknown)}
    yield "unknown-fields-long", [*validate, j], {"crd.json": crd({"type": "object", "properties": {"k" * 100_000 + str(i): {"type": "integer"} for i in range(8)}}), j: foo({"k" * 99_990 + str(i): 1 for i in range(8)})}
    yield "unknown-crd-fields", ["lint", "crd.json"], {"crd.json": crd({"type": "object", **{f"unknownfield{i}": 1 for i in range(60_000)}})}
    strings = {"type": "object", "additionalProperties": {"type": "string"}}
    yield "type-errors", [*validate, j], {"crd.json": crd(strings), j: foo({f"a{i}": i for i in range(80_000)})}
    yield "type-errors-yaml", [*validate, y], {"crd.json": crd(strings), y: HEAD + "spec:\n" + "".join(f"  a{i}: 1\n" for i in range(80_000))}
    yield "type-errors-json-output", [*validate, y, "-o", "json"], {"crd.json": crd(strings), y: HEAD + "spec:\n" + "".join(f"  a{i}: 1\n" for i in range(80_000))}
    yield "type-errors-sarif", [*validate, y, "-o", "sarif"], {"crd.json": crd(strings), y: HEAD + "spec:\n" + "".join(f"  a{i}: 1\n" for i in range(80_000))}
    yield "type-errors-list-yaml", [*validate, y], {"crd.json": crd({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string"}}}}), y: HEAD + "spec:\n  l:\n" + "  - 1\n" * 80_000}
    yield "type-errors-one-line", [*validate, y], {"crd.json": crd({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string"}}}}), y: HEAD + "spec: {l: [" + "1," * 80_000 + "]}\n"}
    enum = [f"value{i}" for i in range(10_000)]
    enums = crd({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string", "enum": enum}}}})
    yield "enum", [*validate, j], {"crd.json": enums, j: foo({"l": [f"value{i + 5000}" for i in range(10_000)]})}
    yield "enum-no-match", [*validate, j], {"crd.json": enums, j: foo({"l": [f"other{i}" for i in range(10_000)]})}
    yield "enum-match", [*validate, j], {"crd.json": enums, j: foo({"l": [f"value{i}" for i in range(10_000)]})}
    sets = crd({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}}})
    yield "set-duplicates", [*validate, j], {"crd.json": sets, j: foo({"l": [f"value{i // 2}" for i in range(100_000)]})}
    maps = crd({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": {"type": "integer"}}}}}})
    yield "list-map-duplicates", [*validate, j], {"crd.json": maps, j: foo({"l": [{"k": f"value{i // 2}"} for i in range(60_000)]})}
    yield "list-map-update", [*validate, j, "--old", "old.json"], {"crd.json": maps, j: foo({"l": [{"k": f"value{i}", "v": 2} for i in range(40_000)]}), "old.json": foo({"l": [{"k": f"value{i}", "v": 1} for i in reversed(range(40_000))]})}
    yield "list-map-diff", ["diff", "--offline", "--crds", "crd.json", "--old", "old.json", "-f", j], {"crd.json": maps, j: foo({"l": [{"k": f"value{i}", "v": 2} for i in range(40_000)]}), "old.json": foo({"l": [{"k": f"value{i}", "v": 1} for i in reversed(range(40_000))]})}
    unique = crd({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "additionalProperties": True}}}})
    yield "list-update", [*validate, j, "--old", "old.json"], {"crd.json": unique, j: foo({"l": [{"k": i} for i in range(60_000)]}), "old.json": foo({"l": [{"k": i + 1} for i in range(60_000)]})}
    yield "required", [*validate, j], {"crd.json": crd({"type": "object", "additionalProperties": {"type": "object", "required": [f"r{i}" for i in range(1000)]}}), j: foo({f"a{i}": {} for i in range(1000)})}
    yield "metadata-labels", [*validate, j], {**one, j: foo({}, labels={f"l{i}": "!" for i in range(60_000)})}
    yield "metadata-finalizers", [*validate, j], {**one, j: foo({}, finalizers=[f"example.com/f{i}" for i in range(60_000)])}
    yield "metadata-owners", [*validate, j], {**one, j: foo({}, ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": f"a{i}", "uid": f"u{i}"} for i in range(20_000)])}
    yield "metadata-owners-duplicate", [*validate, j], {**one, j: foo({}, ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": f"u{i // 2}"} for i in range(20_000)])}
    fields = {f"f:f{i}": {} for i in range(80_000)}
    yield "metadata-managed", [*validate, j], {**one, j: foo({}, managedFields=[{"manager": f"m{i}", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {f"f:a{i}": {}}}} for i in range(8_000)])}
    yield "many-objects-one-name", [*validate, j], {**one, j: "\n".join(json.dumps(foo({"a": i})) for i in range(5_000))}
    # Lists, which kubectl validates on the client
    items = lambda *found: {"apiVersion": "v1", "kind": "List", "items": list(found)}
    yield "list-unknown-fields", [*validate, j], {"crd.json": crd({"type": "object", "properties": {"a": {"type": "string"}}}), j: items(foo(unknown))}
    yield "list-items-with-errors", [*validate, j], {"crd.json": crd({"type": "object", "properties": {"a": {"type": "string"}}}), j: items(*[foo({"b": 1}, name=f"a{i}") for i in range(20_000)])}
    nulls = crd({"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}}})
    yield "list-long-paths", [*validate, j], {"crd.json": nulls, j: items(foo({"k" * 400_000: {f"a{i}": None for i in range(20_000)}}))}
    yield "list-long-paths-json", [*validate, j, "-o", "json"], {"crd.json": nulls, j: items(foo({"k" * 400_000: {f"a{i}": None for i in range(20_000)}}))}
    labels = ",".join(f'"l{i % 30_000}":"x"' for i in range(60_000))
    yield "list-duplicate-labels", [*validate, j], {**one, j: '{"apiVersion":"v1","kind":"List","metadata":{"labels":{' + labels + '}},"items":[' + json.dumps(foo({})) + "]}"}
    yield "list-many-kinds", [*validate, j], {**one, j: items(*[{"apiVersion": f"g{i}.com/v1", "kind": f"K{i}", "metadata": {"name": "a"}} for i in range(20_000)])}
    yield "list-of-crds", [*validate, j], {**one, j: items(*[crd(name=f"a{i}s", kind=f"A{i}") for i in range(1000)], {"apiVersion": "x.com/v1", "kind": "X", "metadata": {"name": "x"}})}
    # Defaults
    default = {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"d": {"type": "string", "default": "x" * 40_000}}}}}}
    yield "defaults-string", [*validate, j], {"crd.json": crd(default), j: foo({"l": [{} for _ in range(13_000)]})}
    yield "defaults-string-yaml", [*validate, j, "-o", "yaml"], {"crd.json": crd(default), j: foo({"l": [{} for _ in range(13_000)]})}
    default = {"type": "object", "properties": {"l": {"type": "array", "items": {"type": "object", "properties": {"d": {**ANY, "default": {f"a{i}": 1 for i in range(4_000)}}}}}}}
    yield "defaults-object", [*validate, j], {"crd.json": crd(default), j: foo({"l": [{} for _ in range(13_000)]})}
    chain = {"type": "integer", "default": 1}
    for _ in range(16):
        chain = {"type": "object", "default": {}, "properties": {"a": chain, "b": chain}}
    yield "defaults-doubling", [*validate, j], {"crd.json": crd(chain), j: foo({})}
    yield "defaults-lint", ["lint", "crd.json"], {"crd.json": crd(default)}
    yield "defaults-existing", [*validate, j, "--old", "old.json"], {"crd.json": crd(default), j: foo({"l": [{} for _ in range(13_000)]}), "old.json": foo({"l": [{} for _ in range(13_000)]})}
    # CEL
    for name, rule in {
        "equal": f"{TWINS}.all(z, z == z)",
        "not-equal": f"{TWINS}.all(z, !(z != z))",
        "in": f"{TWINS}.all(z, z in [z])",
        "index-of": f"{TWINS}.all(z, [z].indexOf(z) == 0)",
        "sets-contains": f"sets.contains({TWINS}, {TWINS})",
        "sets-intersects": f"sets.intersects({TWINS}, {TWINS})",
        "sets-equivalent": f"sets.equivalent({TWINS}, {TWINS})",
        "distinct": f"({TWINS} + {TWINS}).distinct().size() == 1",
        "format": f"{TWINS}.all(z, '%s'.format([z]) != '')",
        "format-map": f"{MAPS}.all(z, '%s'.format([z]) != '')",
        "maps-equal": f"{MAPS}.all(z, z == z)",
        "map-key": f"{TWINS}.all(z, {{dyn(z): 1}}.size() == 1)",
        "error-text": f"{TWINS}.all(z, {{'a': 1}}[dyn(z)] == 1 || true)",
        "join-error": f"dyn({TWINS}).join(',') == ''",
        "doubled-format": f"{BIG}.size() > 0",
        "doubled-format-list": f"{HUGE}.map(s, [s, s]).map(l, '%s'.format([l])).size() > 0",
        "replace": "lists.range(1000).all(i, lists.range(8000).map(x, 'x').join().replace('', lists.range(8000).map(x, 'x').join()) != '')",
        "union-sets": "lists.range(10000).all(i, (self.l + self.l).size() > 0)",
        "joined-lists": "cel.bind(l, [1], [" + "+".join(["l"] * 20_000) + "].all(m, lists.range(100).all(i, m.all(x, x == 1))))",
        "doubled-lists": "[[1]]" + ".map(v, v + v)" * 40 + "[0].size() > 0",
        "flatten": f"{TWINS}.flatten(26).size() > 0",
        "regex-computed": "lists.range(10000).all(i, ''.matches('[\\\\p{L}]{900}' + string(i)) || true)",
        "regex-text": "self.s.matches('(a|b)*a(a|b){900}c') || true",
        "regex-find-all": "self.s.findAll('(a|b)*a(a|b){900}c').size() >= 0",
        "split": "self.s.split('').size() >= 0 && self.s.split('').size() >= 0",
        "types": binds(40),
    }.items():
        o = foo({"l": [1], "s": "a"})
        definition = with_rules(rule)
        if name == "union-sets":
            definition = crd({"type": "object", "properties": {"l": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "maxItems": 100000}}, "x-kubernetes-validations": [{"rule": rule}]})
            o = foo({"l": [f"v{i}" for i in range(50_000)]})
        elif name in ("regex-text", "regex-find-all", "split"):
            definition = crd({"type": "object", "properties": {"s": {"type": "string"}}, "x-kubernetes-validations": [{"rule": rule}]})
            o = foo({"s": "ab" * 200_000})
        yield f"cel-{name}", [*validate, j, "--create"], {"crd.json": definition, j: o}
    yield "cel-many-rules", [*validate, j], {"crd.json": with_rules(*[f"{TWINS}.all(z, z == z) && {i} == {i}" for i in range(50)]), j: foo({})}
    yield "cel-lint", ["lint", "crd.json"], {"crd.json": with_rules(*[f"{TWINS}.all(z, z == z) && {i} == {i}" for i in range(50)])}
    yield "cel-lint-default", ["lint", "crd.json"], {"crd.json": crd({**ANY, "default": {}, "x-kubernetes-validations": [{"rule": f"{TWINS}.all(z, z == z)"}]})}
    yield "cel-lint-types", ["lint", "crd.json"], {"crd.json": with_rules(binds(60))}
    yield "cel-command", ["cel", f"{TWINS}.all(z, z == z)"], {}
    yield "cel-command-value", ["cel", TWINS], {}
    yield "cel-command-value-json", ["cel", TWINS, "-o", "json"], {}
    yield "cel-command-maps", ["cel", MAPS], {}
    yield "cel-message", [*validate, j], {"crd.json": with_rules("false", messageExpression=f"'%s'.format([{TWINS}])"), j: foo({})}
    yield "pattern", [*validate, j], {"crd.json": crd({"type": "object", "properties": {"s": {"type": "string", "pattern": "(a|b)*a(a|b){900}c"}}}), j: foo({"s": "abb" * 400_000})}
    yield "pattern-many", [*validate, j], {"crd.json": crd({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "string", "pattern": "^(a|b)*a(a|b){900}c$"}}}}), j: foo({"l": ["abb" * 300 for _ in range(1000)]})}
    classes = {f"p{i}": {"type": "string", "pattern": "^[\\p{L}\\p{N}]{1,990}" + str(i)} for i in range(300)}
    yield "pattern-compile", [*validate, j], {"crd.json": crd({"type": "object", "properties": classes}), j: foo({f"p{i}": "a" for i in range(300)})}
    yield "pattern-lint", ["lint", "crd.json"], {"crd.json": crd({"type": "object", "properties": {f"p{i}": {"type": "string", "pattern": "^[\\p{L}\\p{N}]{1,990}" + str(i)} for i in range(5000)}})}
    # Policies
    admit = ["validate", "--offline", "--crds", "crd.json", "--policies", "policies.json", "-f", j]

    def with_policies(*found, spec=None):
        items = [item for group in found for item in group]
        return {"crd.json": crd(), "policies.json": "\n".join(map(json.dumps, items)), j: foo(spec or {"a": "x" * 1000, "l": [1]})}

    add = lambda value, path="/spec/n": f"[JSONPatch{{op: 'add', path: '{path}', value: {value}}}]"
    yield "policy-twins", admit, with_policies(patches([add(TWINS)]))
    yield "policy-maps", admit, with_policies(patches([add(MAPS)]))
    yield "policy-big-string", admit, with_policies(patches([add(BIG)]))
    yield "policy-apply-twins", admit, with_policies(applies([f"Object{{spec: Object.spec{{n: {TWINS}}}}}"]))
    copies = ", ".join("JSONPatch{op: 'copy', from: '/spec', path: '/spec/c%d'}" % i for i in range(30))
    yield "policy-copies", admit, with_policies(patches([f"[{copies}]"]))
    yield "policy-copies-chained", admit, with_policies(*[patches([f"[JSONPatch{{op: 'copy', from: '/spec', path: '/spec/c{i}'}}]"], name=f"p{i}") for i in range(60)])
    yield "policy-doubles-list", admit, with_policies(*[patches([add("object.spec.l + object.spec.l", "/spec/l")], name=f"p{i}", reinvoke="IfNeeded") for i in range(60)])
    yield "policy-doubles-string", admit, with_policies(*[patches([add("object.spec.a + object.spec.a", "/spec/a")], name=f"p{i}", reinvoke="IfNeeded") for i in range(60)])
    yield "policy-apply-doubles-string", admit, with_policies(*[applies(["Object{spec: Object.spec{a: object.spec.a + object.spec.a}}"], name=f"p{i}", reinvoke="IfNeeded") for i in range(60)])
    yield "policy-validations", admit, with_policies(*[policy("ValidatingAdmissionPolicy", validations=[{"expression": f"{TWINS}.all(z, z == z)"}], name=f"p{i}") for i in range(60)])
    yield "policy-expensive", admit, with_policies(*[policy("ValidatingAdmissionPolicy", validations=[{"expression": "lists.range(800).all(i, lists.range(250).all(j, i + j >= 0))"}] * 10, name=f"p{i}") for i in range(60)])
    yield "policy-message", admit, with_policies(policy("ValidatingAdmissionPolicy", validations=[{"expression": "false", "messageExpression": f"'%s'.format([{TWINS}])"}]))
    yield "policy-variables", admit, with_policies(policy("ValidatingAdmissionPolicy", variables=[{"name": f"v{i}", "expression": f"'%s%s'.format([variables.v{i - 1}, variables.v{i - 1}])" if i else "'xxxxxxxx'"} for i in range(60)], validations=[{"expression": "variables.v59.size() > 0"}]))
    # Examples
    for name, schema in {
        "min-items": nested(7, {"type": "string"}, minItems=60),
        "min-items-wide": nested(3, {"type": "string"}, minItems=1_000_000),
        "required": nested_objects(4, {"type": "string"}, [f"f{i}" for i in range(9)]),
        "min-properties": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1_000_000_000},
        "min-length": {"type": "object", "properties": {"s": {"type": "string", "minLength": 1_000_000_000}}, "required": ["s"]},
        "min-length-nested": nested(4, {"type": "string", "minLength": 4000}, minItems=60),
        "pattern": {"type": "object", "properties": {"s": {"type": "string", "pattern": "^((a{1000}){1000})$"}}, "required": ["s"]},
        "pattern-nested": nested(2, {"type": "string", "pattern": "^([a-z]{1000})+$", "minLength": 4000}, minItems=60),
        "default": nested(4, {"type": "string", "default": "x" * 400}, minItems=60),
        "all-of": {"type": "object", "properties": {"a": {"type": "string"}}, "allOf": [{"anyOf": [{"required": [f"r{i}" for i in range(300)]}] * 300}] * 3},
    }.items():
        schema = {"type": "object", "required": ["a"], "properties": {"a": schema}}
        yield f"example-{name}", ["example", "crd.json"], {"crd.json": crd(schema)}
        yield f"example-{name}-minimal", ["example", "crd.json", "--minimal"], {"crd.json": crd(schema)}
    # Built-in kinds
    for name, value in builtin.objects():
        yield f"builtin-{name}", ["validate", "--offline", "-f", "object.json"], {"object.json": value}
        if name in UPDATES:
            update = ["--offline", "-f", "object.json", "--old", "object.json"]
            yield f"builtin-{name}-update", ["validate", *update, "--server-side"], {"object.json": value}
            yield f"builtin-{name}-json", ["validate", "--offline", "-f", "object.json", "-o", "json"], {"object.json": value}
            yield f"builtin-{name}-diff", ["diff", *update], {"object.json": value}
    for name, old, new in builtin.updates():
        files, update = {"object.json": new, "old.json": old}, ["--offline", "-f", "object.json", "--old", "old.json"]
        yield f"builtin-{name}", ["validate", *update], files
        yield f"builtin-{name}-server-side", ["validate", *update, "--server-side"], files
        yield f"builtin-{name}-replace", ["validate", *update, "--replace"], files


def limited(memory, seconds):
    """Limits a process and its children, which outlive `time` when it is killed."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def run(binary, name, command, files):
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files.items():
            with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                file.write(content if isinstance(content, str) else json.dumps(content))
        size = sum(os.path.getsize(os.path.join(folder, path)) for path in files)
        timeout = float(os.environ.get("ATTACK_TIMEOUT", 60))
        limit = int(os.environ.get("ATTACK_MEMORY_MB", 3000)) << 20
        measured = os.path.join(folder, "time")
        started = time.monotonic()
        try:
            done = subprocess.run(
                ["/usr/bin/time", "-o", measured, "-f", "%M %U %S", binary, *command],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False,
                preexec_fn=lambda: limited(limit, int(timeout)),
            )
            code, out = done.returncode, (done.stdout[:300] + done.stderr[:300]).decode(errors="replace")
        except subprocess.TimeoutExpired:
            code, out = "timeout", ""
        seconds = time.monotonic() - started
        memory = 0
        if os.path.exists(measured):
            with open(measured, encoding="utf-8") as file:
                words = file.read().split()[-3:]
                memory = int(words[0]) >> 10 if len(words) == 3 and words[0].isdigit() else 0
        return code, memory, seconds, size, out


def main():
    binary, pattern = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    verbose = bool(os.environ.get("VERBOSE"))
    failed = 0
    print(f"{'attack':34} {'input KB':>8} {'exit':>8} {'MB':>6} {'s':>7}")
    for name, command, files in attacks():
        if pattern not in name:
            continue
        code, memory, seconds, size, out = run(binary, name, command, files)
        bad = code not in (0, 1, 2) or memory > MEMORY or seconds > SECONDS
        failed += bad
        print(f"{name:34} {size >> 10:8} {code!s:>8} {memory:6} {seconds:7.2f}{'  !' if bad else ''}", flush=True)
        if verbose:
            print("    " + out.replace("\n", "\n    ")[:500])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
