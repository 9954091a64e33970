#!/usr/bin/env python3
"""Copies a part of ../shared/conformance into tests/conformance/collection, so that a clone has it: tests/conformance/collection.py.

Kept are the recorded writes of built-in kinds (record_writes.sh records them). Taken are all tables, half of the policies, every eighth scenario of real CRDs, and every 25th answer about built-in kinds; collection.rs replays them.
The CRDs that the recordings keep in files of their own are written into the requests.
"""
import gzip
import json
import pathlib
import shutil

TOP = pathlib.Path(__file__).resolve().parents[2]
SHARED = TOP.parent / "shared/conformance"
OUT = TOP / "tests/conformance/collection"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    # Without the time and the name of the file, so that equal contents are equal files.
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as out:
        out.write(text.encode())


def scenarios(path, inlined):
    recorded = json.loads(gzip.open(path).read())
    found = recorded.get("scenarios", [recorded])
    for exchange in (e for s in found for e in s["exchanges"]):
        if name := exchange["request"].pop("bodyFile", None):
            exchange["request"]["body"] = json.loads((inlined / name).read_text())
        request = exchange["request"]
        # Some errors quote the text of the request.
        if isinstance(request.get("body"), (dict, list)) and not (request["method"] == "PUT" and "/customresourcedefinitions/" in request["path"]):
            request["body"] = json.dumps(request["body"])
        # The recorder read the bytes of warnings, which are UTF-8, as Latin-1.
        if warnings := exchange["response"].get("warnings"):
            exchange["response"]["warnings"] = [w.encode("latin-1").decode() for w in warnings]
    return json.dumps(found, separators=(",", ":"))


def main():
    for name in ["projects", "tables", "policies"]:
        shutil.rmtree(OUT / name, ignore_errors=True)
    projects = SHARED / "data/projects"
    for path in sorted(projects.rglob("*.json.gz"))[::8]:
        write(OUT / "projects" / f"{path.parent.name}-{path.name}", scenarios(path, projects))
    for path in sorted((SHARED / "data/tables").glob("*.json.gz")):
        write(OUT / "tables" / path.name, scenarios(path, projects))
    for path in sorted((SHARED / "policies").glob("*.json.gz"))[::2]:
        write(OUT / "policies" / path.name, scenarios(path, projects))
    for path in sorted((SHARED / "builtin").glob("*.jsonl.gz")):
        write(OUT / "builtin" / path.name, "".join(gzip.open(path, "rt").readlines()[::25]))
    for name in ["authorizer.yaml", "serve.args"]:
        (OUT / "policies" / name).write_bytes((SHARED / "policies" / name).read_bytes())
    used = {path.name.split("-")[0] for path in (OUT / "projects").iterdir()}
    notice = (SHARED / "NOTICE.md").read_text().splitlines(keepends=True)
    (OUT / "NOTICE.md").write_text("".join(line for line in notice if not line.startswith("| ") or line.split()[1].split("-")[0] in used | {"folder"}))


main()
