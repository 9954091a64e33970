#!/usr/bin/env python3
"""Writes inputs for the fuzz targets, made from the repository's tests and examples: fuzz/seeds.py FOLDER.

FOLDER gets one folder per target, and a dictionary of the words that are common in it. Recorded exchanges are used, too, if ../shared/conformance exists. Needs PyYAML.
"""
import collections
import gzip
import hashlib
import itertools
import json
import pathlib
import re
import sys

import yaml

TOP = pathlib.Path(__file__).resolve().parent.parent
FACTS = TOP / "tests/facts"
SHARED = TOP.parent / "shared/conformance"
# The order of KINDS in checks/builtin_decode.rs.
KINDS = ["v1/Pod", "v1/Secret", "v1/Event", "apps/v1/Deployment", "autoscaling/v2/HorizontalPodAutoscaler",
         "networking.k8s.io/v1/Ingress", "resource.k8s.io/v1/ResourceSlice", "scheduling.k8s.io/v1alpha3/CompositePodGroup"]
CRONTAB = """apiVersion: stable.example.com/v1
kind: CronTab
metadata: {name: a, labels: {l: x}}
spec: {cronSpec: '* * * * */5', image: b, replicas: 3, env: [{name: A, value: b}]}
"""
RULES = {"resourceRules": [{"apiGroups": ["stable.example.com"], "apiVersions": ["*"], "operations": ["*"],
                            "resources": ["crontabs"]}]}


def lines(name):
    path = FACTS / name
    text = gzip.open(path, "rt").read() if name.endswith(".gz") else path.read_text()
    return json.loads(text) if name.removesuffix(".gz").endswith(".json") else [json.loads(line) for line in text.split("\n") if line]


def every(values, number):
    values = list(values)
    return values[::max(1, len(values) // number)]


def expressions():
    for name in ["cel-cost.jsonl", "cel-functions.jsonl"]:
        yield from (line["expr"] for line in lines(name) if "expr" in line)
    yield from re.findall(r'"expr": "((?:[^"\\]|\\.)*)"', gzip.open(FACTS / "cel-parse.json.gz", "rt").read())


def regexp():
    data = lines("go-regexp.json")
    for pattern in data["patterns"]:
        # Subjects that match, and one that does not.
        subjects = [s for s, matched in zip(data["subjects"], pattern.get("m", "")) if matched == "1"][:2]
        yield pattern["p"] + "\n" + "".join(subjects)


def jsonpath():
    for path in itertools.chain(TOP.glob("crates/crdx-value/src/jsonpath/**/*.rs"), TOP.glob("crates/crdx-value/src/jsonpath.rs"), TOP.glob("tests/*/kubectl*.rs")):
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text()):
            if re.match(r"[{.\[$]", text):
                yield text.replace('\\"', '"').replace("\\\\", "\\").replace("metadata.name", "name")


def texts():
    yield from (line["in"] for line in lines("yaml.jsonl"))
    yield from (line["in"] for line in every(lines("yaml-fuzz.jsonl.gz"), 3000))
    yield from (line["in"] for line in every(lines("yaml-strict.jsonl"), 300))
    yield from (line["yaml"] for line in every(lines("yaml-write.jsonl"), 300))


def json_read():
    yield from (line["json"] if isinstance(line["json"], str) else json.dumps(line["json"]) for line in every(lines("yaml-write.jsonl"), 300))
    for line in every(lines("builtin-decode.jsonl.gz"), 500):
        yield line.get("body") or ""
    yield from every(texts(), 300)


def builtin_decode():
    for line in lines("builtin-decode.jsonl.gz"):
        if line["kind"] in KINDS and line.get("body"):
            yield bytes([7, KINDS.index(line["kind"])]) + line["body"].encode()


def builtin_validation():
    """Recorded creates and updates of built-in kinds, and the objects of tests/apiserver/builtin."""
    for line in (TOP / "tests/apiserver/builtin/objects.jsonl").read_text().splitlines():
        yield bytes([7]) + line.encode()
    for minor in (31, 34, 37):
        path = SHARED / f"builtin/1.{minor}.jsonl.gz"
        for line in gzip.open(path, "rt") if path.exists() else ():
            record = json.loads(line)
            bodies = [record["body"], *([record["old"]] if record.get("old") else [])]
            yield bytes([minor - 30]) + "\n".join(map(json.dumps, bodies)).encode()


def exchanges(folder):
    for path in sorted(SHARED.glob(f"{folder}/*.json.gz")):
        for scenario in json.load(gzip.open(path, "rt"))["scenarios"]:
            yield scenario["exchanges"]


def requests():
    for scenario in exchanges("data/tables"):
        records = []
        for exchange in scenario:
            request = exchange["request"]
            body = request.get("body", "")
            body = body if isinstance(body, str) else json.dumps(body)
            kind = request.get("contentType", "application/json")
            records.append(f"{request['method']} {request['path'].replace(' ', '%20')} {kind}\n{body}")
        # Short sequences are faster: the CRD and a few of the following requests.
        for start in range(1, min(len(records), 60), 6):
            text = "\n%%\n".join(records[:1] + records[start:start + 6])
            if len(text) < 6000:
                yield text
    for line in every(lines("request-targets.jsonl"), 60):
        target = line["target"].replace("toys.example.com", "stable.example.com").replace("kites", "crontabs")
        yield "POST /apis/stable.example.com/v1/namespaces/default/crontabs application/yaml\n" + CRONTAB + "\n%%\nGET " + target


def policies():
    specs = [(case["kind"], case["spec"]) for case in yaml.safe_load((FACTS / "policy-validation.yaml").read_text())["cases"]]
    for scenario in exchanges("policies"):
        for exchange in scenario:
            body = exchange["request"].get("body")
            if isinstance(body, dict) and str(body.get("kind", "")).endswith("AdmissionPolicy"):
                specs.append((body["kind"], body.get("spec") or {}))
    for kind, spec in every(specs, 150):
        if "Policy" in kind and "Binding" not in kind:
            constraints = spec.get("matchConstraints")
            if isinstance(constraints, dict):
                spec = {**spec, "matchConstraints": {**constraints, **RULES}}
            policy = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "p"}, "spec": spec}
            yield yaml.safe_dump(policy, sort_keys=False) + "\n%%\n" + CRONTAB


def suites():
    for path in TOP.glob("examples/suites/**/*.testsuite.yaml"):
        document = yaml.safe_load(path.read_text())
        if not isinstance(document, dict) or "tests" not in document:
            continue
        for name, cases in document["tests"].items():
            for case in cases:
                yield yaml.safe_dump({"name": "s", "crdName": "kites.toys.example.com", "tests": {name: [case]}}, sort_keys=False)


TARGETS = {"regexp": regexp, "jsonpath": jsonpath, "yaml_read": texts, "json_read": json_read, "cel_syntax": expressions,
           "cel_run": expressions, "requests": requests, "builtin_decode": builtin_decode, "builtin_validation": builtin_validation, "policies": policies, "suites": suites}


def dictionary(texts):
    """The common words of texts, in libFuzzer's format."""
    words = collections.Counter(word for text in texts for word in set(re.findall(r"[A-Za-z_$][\w.$-]{2,40}|[^\w\s]{2,3}", text)))
    quoted = (re.sub(r"\W", lambda c: f"\\x{ord(c[0]):02x}", word) for word, _ in words.most_common(400) if word.isascii())
    return "".join(f'"{word}"\n' for word in quoted)


def main():
    top = pathlib.Path(sys.argv[1])
    for target, inputs in TARGETS.items():
        folder = top / target
        folder.mkdir(parents=True, exist_ok=True)
        texts = []
        for text in inputs():
            data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
            if len(data) <= 8192:
                (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
                texts.append(data.decode(errors="replace"))
        (top / f"{target}.dict").write_text(dictionary(texts))
        print(target, len(list(folder.iterdir())))
    (top / "lsp.dict").write_text(dictionary([(TOP / "tests/cli/lsp/fuzzed.rs").read_text(), *map(str, suites())]))


main()
