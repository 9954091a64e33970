#!/usr/bin/env python3
"""Renders the charts and kustomizations that `discover` finds, into folders that compare.py takes.

usage: rendered.py REPOSITORY… --out DIR --binary PATH [--crds DIR…]    (helm and kustomize on the PATH: render-tools.sh)

For each repository it prints what was rendered, and the verdicts of `validate --render` with the settings of `discover`.
"""
import argparse, collections, json, os, pathlib, re, shutil, subprocess, tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--crds", nargs="*", default=[], help="more CRDs, of kinds that the repositories do not define")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.binary)
    print("| repository | rendered | not rendered | accepted | rejected | skipped | cannot tell | causes |\n" + "|---" * 8 + "|")
    for repository in arguments.repositories:
        name = os.path.basename(os.path.abspath(repository))
        found = json.loads(subprocess.run([binary, "discover", repository, "-o", "json"], capture_output=True, text=True).stdout)
        out = pathlib.Path(arguments.out, name)
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        rendered, failed = render(found, repository, out)
        copy_definitions(found, repository, out)
        for index, more in enumerate(arguments.crds):
            shutil.copytree(more, out / f"more-{index}")
        verdicts, causes = validate(found, repository, binary, arguments.crds)
        cells = [name, rendered, failed, *(verdicts[each] for each in ("accepted", "rejected", "skipped", "cannotTell")), causes]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def render(found, repository, out):
    """Writes the output for each root as `--render` makes it. Returns how many were rendered, and how many were not."""
    rendered = failed = 0
    for root in found["found"]:
        if root["type"] not in ("kustomization", "chart"):
            continue
        chart = root["type"] == "chart"
        tests = sorted(pathlib.Path(repository, root["path"], "ci").glob("*-values.yaml")) if chart else []
        for index, values in enumerate(tests or [None]):
            command = ["helm", "template", root["path"], "--include-crds"] if chart else ["kustomize", "build", root["path"]]
            command += ["--values", os.path.relpath(values, repository)] if values else []
            result = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=120)
            if result.returncode:
                failed += 1
                continue
            rendered += 1
            file = re.sub(r"[^A-Za-z0-9.-]", "_", f"{root['type']}-{root['path']}-{index}.yaml")
            (out / file).write_text(result.stdout)
    return rendered, failed


def copy_definitions(found, repository, out):
    """Copies the sources of CRDs of the settings, so that the server has the same ones."""
    block = re.search(r"^crds:\n((?:- .*\n)*)", found.get("settings", ""), re.M)
    for index, source in enumerate(re.findall(r"- (.*)", block.group(1)) if block else []):
        path = pathlib.Path(repository, source.strip("'\""))
        if path.is_dir():
            shutil.copytree(path, out / f"crds-{index}")
        elif path.is_file():
            shutil.copy(path, out / f"crds-{index}.yaml")


def validate(found, repository, binary, more):
    """Validates a copy of the repository with the settings of `discover` and `--render`."""
    with tempfile.TemporaryDirectory() as place:
        copy = os.path.join(place, "repository")
        shutil.copytree(repository, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".crdx.yaml"))
        pathlib.Path(copy, ".git").mkdir()
        if "settings" not in found:
            return collections.Counter(), "nothing to validate"
        settings = found["settings"]
        if more:
            for index, directory in enumerate(more):
                shutil.copytree(directory, os.path.join(copy, "more-crds", str(index)))
            settings = settings.replace("crds:\n", "crds:\n- more-crds\n") if "\ncrds:\n" in settings else settings + "crds: more-crds\n"
        pathlib.Path(copy, ".crdx.yaml").write_text(settings)
        result = subprocess.run([binary, "validate", "--render", "-o", "json"], cwd=copy, capture_output=True, text=True)
    try:
        report = json.loads(result.stdout)
    except ValueError:
        return collections.Counter(), result.stderr.strip()[:200]
    verdicts = collections.Counter(item["verdict"] for item in report["items"])
    causes = collections.Counter()
    for item in report["items"]:
        if item["verdict"] == "cannotTell":
            reason = item.get("reason") or "; ".join(error["message"] for error in item.get("errors", [])) or "other"
            causes[re.sub(r"`[^`]*`|no CRD for .*", lambda text: "no CRD" if text[0].startswith("no CRD") else "…", reason.split("\n")[0])[:60]] += 1
    return verdicts, ", ".join(f"{count} × {cause}" for cause, count in causes.most_common(4))


if __name__ == "__main__":
    main()
