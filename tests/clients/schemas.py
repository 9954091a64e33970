#!/usr/bin/env python3
"""Checks the output of `schema` for the CRDs of a corpus: the schemas must be valid and accept the objects that `validate` accepts.

usage: schemas.py --binary target/debug/kubectl-crdx [--corpus ../shared/corpus] [--strict]

By hand; needs PyYAML and jsonschema. Prints every problem and the counts; ends with 1 if there is a problem.
"""
import argparse, collections, glob, json, os, subprocess, sys, tempfile
import jsonschema, yaml

ap = argparse.ArgumentParser()
ap.add_argument("--binary", required=True), ap.add_argument("--strict", action="store_true")
ap.add_argument("--corpus", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "corpus"))
a = ap.parse_args()
counts, problems = collections.Counter(), 0
for project in sorted(os.listdir(a.corpus)):
    root = os.path.join(a.corpus, project)
    crds = os.path.join(root, "crds")
    if not os.path.isdir(crds):
        continue
    home = tempfile.mkdtemp()
    # Files may hold variants of one CRD; the last one is kept, as by `validate`.
    done = subprocess.run([a.binary, "schema", crds, "--output-dir", home, *(["--strict"] if a.strict else [])], capture_output=True, text=True)
    if done.returncode:
        problems += 1
        print(project, done.stderr)
    schemas = {}
    for file in set(done.stdout.split("\n")) - {""}:
        schema = json.load(open(file))
        counts["schemas"] += 1
        try:
            jsonschema.Draft7Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            problems += 1
            print("INVALID SCHEMA", file, error.message)
        kinds = schema["properties"]
        schemas[kinds["apiVersion"]["enum"][0], kinds["kind"]["enum"][0]] = jsonschema.Draft7Validator(schema)
    objects = os.path.join(root, "objects")
    if not os.path.isdir(objects):
        continue
    out = subprocess.run([a.binary, "validate", "--offline", "--crds", crds, "-o", "json", objects], capture_output=True, text=True).stdout
    accepted = {(item["location"]["source"], item["location"]["line"]) for item in json.loads(out)["items"] if item["verdict"] == "accepted" and item.get("action") == "create"}
    for file in sorted(glob.glob(os.path.join(objects, "*.yaml"))):
        try:
            # The first document; `validate` names its first line.
            things = list(yaml.safe_load_all(open(file)))
        except (yaml.YAMLError, ValueError):
            continue
        lines = [line for source, line in accepted if source == file]
        if len(things) != 1 or not lines or not isinstance(things[0], dict):
            continue
        # Dates are strings in JSON.
        thing = json.loads(json.dumps(things[0], default=lambda date: date.isoformat()))
        schema = schemas.get((thing.get("apiVersion"), thing.get("kind")))
        if not schema:
            continue
        errors = list(schema.iter_errors(thing))
        counts["objects"] += 1
        if errors:
            problems += 1
            print("REJECTED", file, *(f"{'.'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in errors[:3]), sep="\n  ")
print(f"{counts['schemas']} schemas are checked, and {counts['objects']} objects that the server accepts; {problems} problems")
sys.exit(1 if problems else 0)
