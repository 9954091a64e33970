"""The hostile inputs that attacks.py runs, by area.

Each function yields the name of an attack, the command and its files: texts, bytes, or values that are written as JSON. The
file "-" is standard input. The areas of SERVED have requests to a server instead of a command and files.
"""

import gzip
import io
import json
import sys
import tarfile

import builtin

sys.setrecursionlimit(20_000)  # for schemas that nest deeply

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


UNKNOWN = {f"unknownfield{i}": 1 for i in range(80_000)}
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


VALIDATE = ["validate", "--offline", "--crds", "crd.json", "-f"]


def yaml():
    """YAML as kubectl reads it."""
    validate = VALIDATE
    one = {"crd.json": crd()}
    y = "object.yaml"
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
    yield "yaml-tags", [*validate, y], {**one, y: "".join(f"%TAG !a{i}! b\n" for i in range(130_000)) + "---\n" + HEAD}
    yield "yaml-long-plain", [*validate, y], {**one, y: HEAD + "spec:\n  a: " + "x\n    " * 200_000 + "\n"}
    yield "yaml-quoted", [*validate, y], {**one, y: HEAD + "spec:\n  a: \"" + "\\x41\\\n   " * 100_000 + "\"\n"}
    yield "yaml-many-quoted-flow", [*validate, y], {**one, y: HEAD + "spec: [" + '"a", ' * 200_000 + "]\n"}
    yield "yaml-unclosed-flow", [*validate, y], {**one, y: HEAD + "spec: " + "[" * 200_000}
    yield "yaml-question-marks", [*validate, y], {**one, y: HEAD + "spec:\n" + "? " * 200_000}
    yield "yaml-dashes", [*validate, y], {**one, y: HEAD + "spec:\n" + "- " * 9_000 + "a\n"}
    yield "yaml-list-of-objects", [*validate, y], {**one, y: "apiVersion: v1\nkind: List\nitems:\n" + "- {apiVersion: example.com/v1, kind: Foo, metadata: {name: a%s, namespace: default}}\n" * 1 % 1 * 10_000}


def json_texts():
    """JSON as kubectl reads it."""
    validate = VALIDATE
    one = {"crd.json": crd()}
    j = "object.json"
    body = json.dumps(foo({}))[:-2]
    yield "json-duplicate-keys", [*validate, j], {**one, j: body + ",".join('"a%d":1' % (i % 40_000) for i in range(80_000)) + "}}"}
    yield "json-duplicate-deep", [*validate, j], {**one, j: body + '"a":' + '{"b":' * 5000 + "{" + ",".join(['"k":1'] * 150_000) + "}" + "}" * 5000 + "}}"}
    yield "json-deep-errors", [*validate, j], {"crd.json": crd({"type": "object", "additionalProperties": {"type": "string"}}), j: foo({"k" * 1000 + str(i): i for i in range(2000)})}


def schemas():
    """Objects and their schemas."""
    validate = VALIDATE
    one = {"crd.json": crd()}
    y = "object.yaml"
    j = "object.json"
    known = {f"knownfields{i}": {"type": "integer"} for i in range(20_000)}
    yield "unknown-fields", [*validate, j], {"crd.json": crd({"type": "object", "properties": known}), j: foo(UNKNOWN)}
    yield "unknown-fields-yaml", [*validate, y], {"crd.json": crd({"type": "object", "properties": known}), y: HEAD + "spec:\n" + "".join(f"  {k}: 1\n" for k in UNKNOWN)}
    yield "unknown-fields-warn", [*validate, j, "--field-validation", "Warn"], {"crd.json": crd({"type": "object", "properties": known}), j: foo(UNKNOWN)}
    yield "unknown-fields-json", [*validate, j, "-o", "json"], {"crd.json": crd({"type": "object", "properties": known}), j: foo(UNKNOWN)}
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


def lists():
    """Lists, which kubectl validates on the client."""
    validate = VALIDATE
    one = {"crd.json": crd()}
    j = "object.json"
    items = lambda *found: {"apiVersion": "v1", "kind": "List", "items": list(found)}
    yield "list-unknown-fields", [*validate, j], {"crd.json": crd({"type": "object", "properties": {"a": {"type": "string"}}}), j: items(foo(UNKNOWN))}
    yield "list-items-with-errors", [*validate, j], {"crd.json": crd({"type": "object", "properties": {"a": {"type": "string"}}}), j: items(*[foo({"b": 1}, name=f"a{i}") for i in range(20_000)])}
    nulls = crd({"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}}})
    yield "list-long-paths", [*validate, j], {"crd.json": nulls, j: items(foo({"k" * 400_000: {f"a{i}": None for i in range(20_000)}}))}
    yield "list-long-paths-json", [*validate, j, "-o", "json"], {"crd.json": nulls, j: items(foo({"k" * 400_000: {f"a{i}": None for i in range(20_000)}}))}
    labels = ",".join(f'"l{i % 30_000}":"x"' for i in range(60_000))
    yield "list-duplicate-labels", [*validate, j], {**one, j: '{"apiVersion":"v1","kind":"List","metadata":{"labels":{' + labels + '}},"items":[' + json.dumps(foo({})) + "]}"}
    yield "list-many-kinds", [*validate, j], {**one, j: items(*[{"apiVersion": f"g{i}.com/v1", "kind": f"K{i}", "metadata": {"name": "a"}} for i in range(20_000)])}
    yield "list-of-crds", [*validate, j], {**one, j: items(*[crd(name=f"a{i}s", kind=f"A{i}") for i in range(1000)], {"apiVersion": "x.com/v1", "kind": "X", "metadata": {"name": "x"}})}


def defaults():
    """Defaults of schemas."""
    validate = VALIDATE
    j = "object.json"
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


def cel():
    """Rules, and the command `cel`."""
    validate = VALIDATE
    j = "object.json"
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


def policies():
    """Admission policies."""
    j = "object.json"
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


def examples():
    """The command `example`."""
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


def builtin_kinds():
    """Objects of built-in kinds."""
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


def patterns():
    """Regular expressions in schemas and rules."""
    j = "object.json"
    of = lambda pattern, **more: {"crd.json": crd({"type": "object", "properties": {"s": {"type": "string", "pattern": pattern}}}), **more}
    yield "pattern-groups", [*VALIDATE, j], of("(a)" * 6000, **{j: foo({"s": "a" * 6000})})
    yield "pattern-groups-lint", ["lint", "crd.json"], of("(a)" * 100_000)
    yield "pattern-groups-example", ["example", "crd.json"], of("(a)" * 6000)
    for function in ("matches", "find", "findAll"):
        test = {"matches": "", "find": " != ''", "findAll": ".size() > 0"}[function]
        rule = f"self.s.{function}('{'(a)' * 6000}'){test}"
        definition = crd({"type": "object", "properties": {"s": {"type": "string"}}, "x-kubernetes-validations": [{"rule": rule}]})
        yield f"pattern-groups-{function}", [*VALIDATE, j], {"crd.json": definition, j: foo({"s": "a" * 6000})}
    yield "pattern-groups-cel", ["cel", f"'a'.matches('{'(a)' * 6000}')"], {}
    # Nodes that are moved or measured again at every level.
    yield "pattern-nested-counts", ["lint", "crd.json"], of("(?:" * 100_000 + "a{2}" + "b{2})" * 100_000)
    yield "pattern-nested-left", ["lint", "crd.json"], of("(?:" * 160_000 + "a" + "b)" * 160_000)
    yield "pattern-nested-right", ["lint", "crd.json"], of("a.(?:" * 100_000 + "b" + ")" * 100_000)
    yield "pattern-nested-alternatives", ["lint", "crd.json"], of("(?:a.|" * 100_000 + "b" + ")" * 100_000)
    yield "pattern-nested-one", ["lint", "crd.json"], of("(?:" * 900 + "(?:a{2}b)" * 100_000 + "){1}" * 900)
    yield "pattern-nested-repeats", ["lint", "crd.json"], of("(" * 900 + "(?:a{2}b)" * 80_000 + "){1,1}" * 900 + "{2}")
    yield "pattern-nested-repeats-many", ["lint", "crd.json"], of(("(?:" * 200 + "a" + "{1}){1}" * 100 + "{2}){1}" * 100) * 500)
    yield "pattern-common-prefix", ["lint", "crd.json"], of("|".join("a." * 900 + "[bc]." * 3000 for _ in range(40)))
    yield "pattern-common-prefix-deep", ["lint", "crd.json"], of("|".join("ab"[i % 2] * i for i in range(1400)))
    yield "pattern-common-classes", ["lint", "crd.json"], of("|".join("[xy]" * i + "z" for i in range(700)))
    yield "pattern-many-classes", ["lint", "crd.json"], of("\\pL" * 300_000)
    yield "pattern-one-class", ["lint", "crd.json"], of("[" + "\\pL" * 300_000 + "]")
    yield "pattern-one-class-folded", ["lint", "crd.json"], of("(?i)[" + "\\pL" * 300_000 + "]")
    yield "pattern-class-alternatives", ["lint", "crd.json"], of("|".join("[a-cx]" for _ in range(150_000)))
    yield "pattern-letters-alternatives", ["lint", "crd.json"], of("|".join(chr(0x4E00 + i % 20_000) for i in range(400_000)))
    yield "pattern-literal", ["lint", "crd.json"], of("a" * 2_000_000)
    yield "pattern-alternatives", [*VALIDATE, j], of("|".join(f"x{i}y" for i in range(200_000)), **{j: foo({"s": "x77y" * 1000})})
    # Programs that are large, or many.
    yield "pattern-large-program", [*VALIDATE, j], of("(?:" + "a" * 3000 + "){1000}", **{j: foo({"s": "a" * 100_000})})
    yield "pattern-large-optional", [*VALIDATE, j], of("(?:" + "a?" * 1500 + "){1000}b", **{j: foo({"s": "a" * 100_000})})
    yield "pattern-large-text", [*VALIDATE, j], of("(?:(?:a?){30}\\pL?){30}b", **{j: foo({"s": "a" * 2_000_000})})
    yield "pattern-classes-text", [*VALIDATE, j], of("(?:\\pL?\\pN?){500}b", **{j: foo({"s": "a" * 2_000_000})})
    for name, pattern, count in (("large", "(?:" + "a" * 500 + "){1000}", 2_000), ("classes", "^\\pL{150}", 20_000), ("small", "^[a-z]{1,60}x", 20_000)):
        properties = {f"p{i}": {"type": "string", "pattern": f"{pattern}{i}"} for i in range(count)}
        definition = crd({"type": "object", "properties": properties})
        yield f"pattern-many-{name}", [*VALIDATE, j], {"crd.json": definition, j: foo({f"p{i}": "a" for i in range(count)})}
        objects = [foo({f"p{i}": "a" * 200}, name=f"o{i}") for i in range(min(count, 4_000))]
        yield f"pattern-many-{name}-objects", [*VALIDATE, j], {"crd.json": definition, j: "\n".join(map(json.dumps, objects))}
        yield f"pattern-many-{name}-example", ["example", "crd.json"], {"crd.json": definition}
    texts = crd({"type": "object", "properties": {"s": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "lists.range(50).all(i, !self.s.matches('(a|b)*a(a|b){900}c'))"}]})
    yield "pattern-rule-many-texts", [*VALIDATE, j], {"crd.json": texts, j: foo({"s": "abb" * 200_000})}
    rules = with_rules(*[f"''.matches('\\\\pL{{150}}{i}') || true" for i in range(20_000)])
    yield "pattern-rules", [*VALIDATE, j], {"crd.json": rules, j: foo({})}


def schema_below(levels, name, leaf):
    """A schema with `leaf` below this number of objects, each the only field of the one above it."""
    for _ in range(levels):
        leaf = {"type": "object", "properties": {name: leaf}}
    return leaf


def deep_definitions():
    """Many nodes, each with a long path."""
    name = "n" * 76
    wide = lambda count, node: schema_below(550, name, {"type": "object", "properties": {f"p{i}": node for i in range(count)}})
    kinds = {
        "lists": wide(20_000, {"type": "array", "items": {"type": "string"}}),
        "defaults": wide(15_000, {"type": "string", "default": "a"}),
        "formats": wide(15_000, {"type": "string", "format": "nope"}),
        "rules": wide(500, {"type": "string", "x-kubernetes-validations": [{"rule": "self.x"}]}),
        "wrong-types": wide(15_000, {"type": "strin"}),
        "unknown": wide(15_000, {"type": "string", "nope": 1}),
        "required": schema_below(550, name, {"type": "object", "required": [f"p{i}" for i in range(20_000)]}),
    }
    commands = {
        "": [*VALIDATE, "object.json"],
        "-json": [*VALIDATE, "object.json", "-o", "json"],
        "-sarif": [*VALIDATE, "object.json", "-o", "sarif"],
        "-diff": ["diff", "--offline", "--crds", "crd.json", "-f", "object.json"],
        "-lint": ["lint", "crd.json"],
        "-breaking": ["lint", "--old", "crd.json", "crd.json"],
        "-schema": ["schema", "crd.json"],
        "-openapi": ["openapi", "crd.json"],
        "-explain": ["explain", "--crds", "crd.json", "foos", "--recursive"],
        "-example": ["example", "crd.json"],
    }
    value = {f"p{i}": 1 for i in range(20_000)}
    for _ in range(550):
        value = {name: value}
    for kind, schema in kinds.items():
        for suffix, command in commands.items():
            yield f"deep-{kind}{suffix}", command, {"crd.json": crd(schema), "object.json": foo(value)}


def definitions():
    """CustomResourceDefinitions: their rules, bounds and number."""
    j = "object.json"
    files = lambda definition, **more: {"crd.json": definition, **more}
    commands = [("", [*VALIDATE, j]), ("-lint", ["lint", "crd.json"])]
    rules = with_rules(*[f"self.a{i} == {i}" for i in range(8_000)])
    messages = with_rules(*["true"] * 1, message="m")
    messages = crd({**ANY, "x-kubernetes-validations": [{"rule": f"{i} == {i}", "messageExpression": f"'message number {i} of ' + string({i})"} for i in range(12_000)]})
    typed = {"type": "object", "properties": {f"a{i}": {"type": "integer"} for i in range(5_000)}}
    typed_rules = crd({**typed, "x-kubernetes-validations": [{"rule": f"self.a{i % 5_000} == {i}"} for i in range(5_000)]})
    each = {"type": "object", "properties": {f"a{i}": {"type": "integer", "x-kubernetes-validations": [{"rule": f"self == {i}"}]} for i in range(12_000)}}
    for name, definition in (("rules", rules), ("messages", messages), ("typed-rules", typed_rules), ("rules-each", crd(each))):
        for suffix, command in commands:
            yield f"crd-{name}{suffix}", command, files(definition, **{j: foo({"a1": 1})})
    deep = {"type": "object", "x-kubernetes-validations": [{"rule": "true"}]}
    for _ in range(180):
        deep = {"type": "array", "items": deep}
    bounds = {"type": "string", "x-kubernetes-validations": [{"rule": "self.size() < 10 && self.contains('a')"}]}
    for level in range(1_200):
        bounds = {"type": "array", "items": bounds} if level % 2 else {"type": "object", "additionalProperties": bounds}
    nested_rules = {"type": "object", "x-kubernetes-validations": [{"rule": "size(self.a) < 3"}], "properties": {"a": {"type": "string"}}}
    for level in range(800):
        nested_rules = {"type": "object", "x-kubernetes-validations": [{"rule": "size(self.a) < 3"}], "properties": {"a": {"type": "array", "items": nested_rules}}}
    for name, schema in (("bounds", bounds), ("bounds-rules", nested_rules)):
        for suffix, command in commands:
            yield f"crd-{name}{suffix}", command, files(crd(schema), **{j: foo({})})
        yield f"crd-{name}-breaking", ["lint", "crd.json", "--old", "old.json"], files(crd(schema), **{"old.json": crd(schema)})
    group = "\n".join(json.dumps(crd(name=f"a{i}s", kind=f"A{i}")) for i in range(4_000))
    yield "crd-many", [*VALIDATE, j], files(group, **{j: foo({})})
    yield "crd-many-lint", ["lint", "crd.json"], files(group)
    yield "crd-many-of-input", ["validate", "--offline", "-f", "crd.json"], files(group)
    yield "crd-many-openapi", ["openapi", "crd.json"], files(group)
    yield "crd-many-schema", ["schema", "crd.json"], files(group)
    yield "crd-many-rbac", ["rbac", "--crds", "crd.json"], files(group)
    yield "crd-many-rehearse", ["rehearse", "crd.json", "--old", "crd.json", "-f", j], files(group, **{j: foo({})})
    versions = crd()
    one = versions["spec"]["versions"][0]
    versions["spec"]["versions"] = [{**one, "name": f"v{i}", "storage": i == 1} for i in range(1, 12_000)]
    names = crd()
    names["spec"]["names"].update(shortNames=[f"s{i}" for i in range(100_000)], categories=[f"c{i}" for i in range(100_000)])
    columns = crd(additionalPrinterColumns=[{"name": f"c{i}", "type": "string", "jsonPath": f".spec.a{i}"} for i in range(30_000)])
    selectable = crd(typed, selectableFields=[{"jsonPath": f".spec.a{i}"} for i in range(5_000)])
    for name, definition in (("versions", versions), ("names", names), ("columns", columns), ("selectable", selectable)):
        for suffix, command in commands:
            yield f"crd-{name}{suffix}", command, files(definition, **{j: foo({})})
        yield f"crd-{name}-get", ["get", "--offline", "--crds", "crd.json", "-f", j], files(definition, **{j: foo({})})
    branches = {"oneOf": [{"required": [f"a{i}"], "properties": {f"a{i}": {"type": "string"}}} for i in range(600)], "type": "object", "properties": {f"a{i}": {"type": "string"} for i in range(600)}}
    yield "example-one-of", ["example", "crd.json"], files(crd(branches))
    pairs = {"type": "object", "properties": {f"a{i}": {"type": "string"} for i in range(300)}, "oneOf": [{"not": {"required": [f"a{i}"]}} for i in range(300)]}
    yield "example-one-of-not", ["example", "crd.json"], files(crd(pairs))
    inner = {"type": "object", "properties": {f"b{i}": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}, "oneOf": [{"required": ["x"]}, {"required": ["y"]}]} for i in range(250)}}
    yield "example-one-of-many", ["example", "crd.json"], files(crd(inner))


def more_policies():
    """Policies with many parts, and many policies."""
    j = "object.json"
    admit = ["validate", "--offline", "--crds", "crd.json", "--policies", "policies.json", "-f", j]
    files = lambda found: {"crd.json": crd(), "policies.json": "\n".join(map(json.dumps, found)), j: foo({"a": 1})}
    variables = [{"name": f"v{i}", "expression": f"variables.v{i - 1} + 1" if i else "0"} for i in range(20_000)]
    separate = [{"name": f"v{i}", "expression": "1"} for i in range(20_000)]
    used = [{"expression": f"variables.v{i} == 1"} for i in range(0, 20_000, 10)]
    many = policy("ValidatingAdmissionPolicy", variables=variables, validations=[{"expression": "variables.v9 >= 0"}])
    apart = policy("ValidatingAdmissionPolicy", variables=separate, validations=used)
    conditions = policy("ValidatingAdmissionPolicy", validations=[{"expression": f"{i} >= 0", "messageExpression": f"'m' + string({i})"} for i in range(15_000)])
    rule = {"apiGroups": ["example.com"], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["foos"]}
    rules = policy("ValidatingAdmissionPolicy", validations=[{"expression": "true"}])
    rules[0]["spec"]["matchConstraints"]["resourceRules"] = [{**rule, "resources": [f"a{i}"]} for i in range(20_000)] + [rule]
    alone, binding = policy("ValidatingAdmissionPolicy", validations=[{"expression": "object.spec.a == 1"}])
    bindings = [alone, *[{**binding, "metadata": {"name": f"b{i}"}} for i in range(8_000)]]
    with_params = json.loads(json.dumps(bindings))
    with_params[0]["spec"]["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
    for item in with_params[1:]:
        item["spec"]["paramRef"] = {"name": "p", "namespace": "default", "parameterNotFoundAction": "Allow"}
    selectors = [alone, *[{**binding, "metadata": {"name": f"b{i}"}, "spec": {**binding["spec"], "matchResources": {"objectSelector": {"matchLabels": {f"l{i}": "x"}}}}} for i in range(8_000)]]
    pairs = [item for i in range(4_000) for item in policy("ValidatingAdmissionPolicy", validations=[{"expression": "true"}], name=f"p{i}")]
    twins = [item for i in range(2_000) for item in policy("MutatingAdmissionPolicy", [{"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/spec/b', value: 1}]"}}], name=f"p{i}", reinvoke="IfNeeded")]
    for name, found in (("variables-chain", many), ("variables", apart), ("validations", conditions), ("resource-rules", rules), ("bindings", bindings), ("bindings-params", with_params), ("bindings-selectors", selectors), ("many", pairs), ("many-mutating", twins)):
        yield f"policies-{name}", admit, files(found)
        yield f"policies-{name}-lint", ["lint", "policies.json", "crd.json"], files(found)


def tarball(members):
    """A packed archive of pairs of a name and bytes."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.GNU_FORMAT, compresslevel=9) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def archives():
    """CRDs in packed archives and charts."""
    y = "object.yaml"
    command = ["validate", "--offline", "--crds", "crds.tgz", "-f", y]
    files = lambda content: {"crds.tgz": content, y: HEAD + "spec: {}\n"}
    text = json.dumps(crd()).encode()
    yield "archive-comments", command, files(tarball([("a/c.yaml", text + b"\n" + b"#\n" * 49_000_000)]))
    yield "archive-comment", command, files(tarball([("a/c.yaml", text + b"\n#" + b"x" * 99_000_000)]))
    yield "archive-documents", command, files(tarball([("a/c.yaml", text + b"\n" + b"---\n" * 24_000_000)]))
    yield "archive-blank", command, files(tarball([("a/c.yaml", text + b"\n" * 99_000_000)]))
    yield "archive-spaces", command, files(tarball([("a/c.yaml", text + b" " * 99_000_000)]))
    yield "archive-list", command, files(tarball([("a/c.yaml", text + b"\n---\nkind: CustomResourceDefinition\nx:\n" + b"- a\n" * 24_000_000)]))
    yield "archive-list-json", command, files(tarball([("a/c.json", text + b'\n{"kind":"CustomResourceDefinition","x":[' + b"1," * 45_000_000 + b"1]}")]))
    yield "archive-text", command, files(tarball([("a/c.yaml", text + b"\n---\nkind: CustomResourceDefinition\nx: " + b"x" * 99_000_000)]))
    yield "archive-text-lines", command, files(tarball([("a/c.yaml", text + b"\n---\nkind: CustomResourceDefinition\nx: |\n" + b"  x\n" * 24_000_000)]))
    yield "archive-json-lines", command, files(tarball([("a/c.json", text + b"\n" + b'{}\n' * 30_000_000)]))
    yield "archive-not-text", command, files(tarball([("a/c.yaml", text + b"\n" + b"\xff" * 99_000_000)]))
    charts = [(f"x/charts/c{i}/{name}", content) for i in range(8_000) for name, content in (("Chart.yaml", b"name: c\n"), ("crds/c.yaml", text if i == 0 else b""))]
    yield "archive-charts", command, files(tarball([("x/Chart.yaml", b"name: x\n"), *charts]))
    files_of = [(f"x/charts/c{i}/Chart.yaml", b"name: c\n") for i in range(4_000)] + [(f"x/crds/c{i}.yaml", text if i == 0 else b"") for i in range(30_000)]
    yield "archive-charts-files", command, files(tarball([("x/Chart.yaml", b"name: x\n"), *files_of]))
    nested = [(f"x{'/charts/c' * i}/Chart.yaml", b"name: c\n") for i in range(600)] + [("x/crds/c.yaml", text)]
    yield "archive-charts-deep", command, files(tarball(nested))
    inner = tarball([("c/Chart.yaml", b"name: c\n"), ("c/crds/c.yaml", text)])
    yield "archive-packed-charts", command, files(tarball([("x/Chart.yaml", b"name: x\n"), *[(f"x/charts/c{i}.tgz", inner) for i in range(8_000)]]))
    yield "archive-crds", command, files(tarball([("a/c.yaml", b"\n---\n".join([json.dumps(crd(name=f"a{i}s", kind=f"A{i}")).encode() for i in range(40_000)]))]))
    yield "archive-crds-files", command, files(tarball([(f"a/c{i}.json", json.dumps(crd(name=f"a{i}s", kind=f"A{i}")).encode()) for i in range(40_000)]))
    yield "archive-crds-equal", command, files(tarball([("a/c.yaml", b"\n---\n".join([text] * 100_000))]))
    yield "archive-crds-one-name", command, files(tarball([("a/c.yaml", b"\n---\n".join([json.dumps(crd({"type": "object", "description": f"d{i}"})).encode() for i in range(40_000)]))]))
    long = "n" * 100_000
    yield "archive-long-names", command, files(tarball([(f"{long}{i}/c{i}.yaml", text if i == 0 else b"") for i in range(900)]))
    yield "archive-long-names-crds", command, files(tarball([(f"{long}{i}/c{i}.yaml", text) for i in range(900)]))
    yield "archive-long-names-charts", command, files(tarball([("x/Chart.yaml", b"name: x\n"), ("x/crds/c.yaml", text), *[(f"x/charts/{long}{i}/Chart.yaml", b"name: c\n") for i in range(900)]]))
    yield "archive-long-names-parts", command, files(tarball([("a/" * 50_000 + f"c{i}.yaml", text) for i in range(900)]))
    yield "archive-long-names-directories", command, files(tarball([(f"{long}{i}/", b"") for i in range(900)] + [("a/c.yaml", text)]))
    yield "archive-empty-files", command, files(tarball([(f"a/c{i}.yaml", b"") for i in range(150_000)] + [("a/c.yaml", text)]))
    yield "archive-members", command, files(gzip.compress(gzip.decompress(tarball([("a/c.yaml", text)])), 9) + gzip.compress(b"", 9) * 50_000)


def paths():
    """Patterns of paths, on the command line and in `.crdx.yaml`."""
    tree = {f"d{i}/e{j}/x.yaml": crd(name=f"a{i}{j}s", kind=f"A{i}{j}") for i in range(6) for j in range(6)}
    up, any_depth = "*/.." + "/*/.." * 40, "**/" * 40 + "*.yaml"
    found = {
        "up": up + "/d0",
        "any-depth": any_depth,
        "up-any-depth": "**/../" * 30 + "d0",
        "braces": "{" * 30 + "a" + ",b}" * 30,
        "braces-product": "{a,b,c,d}" * 4_000,
        "stars": "*a" * 4_000,
        "long": "*/" * 100_000 + "x.yaml",
        "parts": "d*/e*/" + "./" * 10_000 + "*.yaml",
        "literal-up": "d*/e*/../../" * 12 + "d0",
        "class": "[" + "a-z" * 20_000 + "]",
    }
    for name, pattern in found.items():
        for key in ("crds", "policies", "old"):
            if key != "crds" and name not in ("up", "any-depth"):
                continue
            yield f"path-config-{key}-{name}", ["validate", "--offline", "-f", "object.yaml"], {**tree, "object.yaml": HEAD, ".crdx.yaml": f"{key}: ['{pattern}']\n"}
        if len(pattern) > 100_000:  # longer than an argument may be
            continue
        yield f"path-flag-{name}", ["validate", "--offline", "--crds", pattern, "-f", "object.yaml"], {**tree, "object.yaml": HEAD}
        yield f"path-input-{name}", ["validate", "--offline", "-f", pattern], {**tree}
    yield "path-config-many", ["validate", "--offline", "-f", "object.yaml"], {**tree, "object.yaml": HEAD, ".crdx.yaml": "crds:\n" + "- '**/**/*.yaml'\n" * 3_000}
    for name, pattern in {**{k: v for k, v in found.items() if k not in ("parts",)}, "ignored": "!**/a", "nested": "**/a/" * 8_000}.items():
        yield f"path-ignore-{name}", ["validate", "--offline", "-f", "."], {**tree, "object.yaml": HEAD, ".crdx.yaml": f"ignore: ['{pattern}']\n"}
    yield "path-ignore-many", ["validate", "--offline", "-f", "."], {**tree, "object.yaml": HEAD, ".crdx.yaml": "ignore: [" + ",".join(f"'a{i}*b*'" for i in range(5_000)) + "]\n"}


def message(body):
    return f"Content-Length: {len(body)}\r\n\r\n{body}".encode()


def language_server():
    """Messages to the language server."""
    call = lambda method, params, **more: message(json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}))
    start = call("initialize", {"capabilities": {}, "rootUri": None}, id=1) + call("initialized", {})
    end = call("shutdown", None, id=2) + call("exit", None)
    yield "lsp-length", ["lsp"], {"-": start + b"Content-Length: 99999999999\r\n\r\n{}"}
    yield "lsp-length-first", ["lsp"], {"-": b"Content-Length: 99999999999\r\n\r\n{}"}
    yield "lsp-length-gigabytes", ["lsp"], {"-": start + b"Content-Length: 2900000000\r\n\r\n{}"}
    yield "lsp-header", ["lsp"], {"-": start + b"X: " + b"x" * 3_000_000}
    yield "lsp-headers", ["lsp"], {"-": start + b"X: x\r\n" * 400_000 + message("{}")}
    yield "lsp-deep", ["lsp"], {"-": start + message("[" * 1_000_000) + end}
    opened = call("textDocument/didOpen", {"textDocument": {"uri": "file:///work/a.yaml", "languageId": "yaml", "version": 1, "text": HEAD}})
    change = lambda i: call("textDocument/didChange", {"textDocument": {"uri": "file:///work/a.yaml", "version": i}, "contentChanges": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "#"}]})
    yield "lsp-changes", ["lsp"], {"-": start + opened + b"".join(change(i) for i in range(8_000)) + end}
    many = call("textDocument/didChange", {"textDocument": {"uri": "file:///work/a.yaml", "version": 2}, "contentChanges": [{"range": {"start": {"line": 99, "character": 0}, "end": {"line": 99, "character": 0}}, "text": "#"}] * 20_000})
    yield "lsp-one-change", ["lsp"], {"-": start + opened + many + end}


def serve():
    """Requests to a server: method, path and body."""
    crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    foos = "/apis/example.com/v1/namespaces/default/foos"
    post = lambda definition, *bodies: [("POST", crds, definition), *[("POST", foos, body) for body in bodies]]
    of = lambda pattern: crd({"type": "object", "properties": {"s": {"type": "string", "pattern": pattern}}})
    yield "serve-pattern-groups", post(of("(a)" * 4_000), foo({"s": "a" * 4_000}))
    yield "serve-pattern-large", post(of("(?:" + "a?" * 1500 + "){1000}b"), foo({"s": "a" * 100_000}))
    yield "serve-rules", post(with_rules(*[f"self.a{i} == {i}" for i in range(8_000)]), foo({"a1": 1}))
    yield "serve-crds", [("POST", crds, crd(name=f"a{i}s", kind=f"A{i}")) for i in range(4_000)]


AREAS = {
    "YAML": yaml,
    "JSON": json_texts,
    "schemas": schemas,
    "lists": lists,
    "defaults": defaults,
    "patterns": patterns,
    "CEL": cel,
    "definitions": definitions,
    "deep definitions": deep_definitions,
    "policies": policies,
    "many policies": more_policies,
    "examples": examples,
    "built-in kinds": builtin_kinds,
    "archives": archives,
    "paths": paths,
    "language server": language_server,
}
SERVED = {"serve": serve}
