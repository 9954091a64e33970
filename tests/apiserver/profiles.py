#!/usr/bin/env python3
"""Compares `validate --profile` with `validate` and a connection to the same kube-apiserver, and measures a large profile.

    profiles.py ASSETS KUBECTL_CRDX FOLDER...

ASSETS has kube-apiserver and etcd (kube-apiserver.sh builds them). The server gets CRDs until it has 600 of them, the first CRD of each name in the folders
among them, and 2,000 Namespaces with a LimitRange and a ResourceQuota each. `fetch` saves its profile, and the files of each folder are validated with the
profile and with a connection to the server. Prints a row for each folder: objects, and those whose verdict, reason or errors differ; then the time and the
memory of a Pod with the profile and without one.
"""
import argparse, collections, concurrent.futures, glob, json, os, subprocess, sys, tempfile, time

import yaml

import control_plane

CRDS, NAMESPACES = 600, 2000
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JSON = {"Content-Type": "application/json"}


def documents(folder):
    """The objects in the files of a folder that are plain YAML."""
    for path in sorted(glob.glob(f"{folder}/**/*.y*ml", recursive=True)):
        try:
            with open(path) as file:
                yield from (each for each in yaml.safe_load_all(file) if isinstance(each, dict))
        except (yaml.YAMLError, UnicodeDecodeError, ValueError, OSError):
            pass


def definitions(folders):
    """The first CRD of each name, without conversion webhooks, which nobody runs."""
    found = {}
    for folder in folders:
        for each in documents(folder):
            name = (each.get("metadata") or {}).get("name")
            is_definition = (each.get("apiVersion"), each.get("kind")) == ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
            if is_definition and name and isinstance(each.get("spec"), dict):
                each["spec"].pop("conversion", None)
                found.setdefault(name, each)
    return list(found.values())


def made_definition(number):
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {f"field{at}": {"type": "string", "maxLength": at + 1} for at in range(100)}}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"made{number}s.made.example.com"},
            "spec": {"group": "made.example.com", "scope": "Namespaced", "names": {"plural": f"made{number}s", "kind": f"Made{number}"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def created(plane, path, value):
    """Creates an object. Returns whether the server accepted it: it closes the connection if the body is too large."""
    try:
        return plane.send("POST", path, json.dumps(value, default=str), JSON)[0] == 201
    except OSError:
        plane.connection.close()
        return False


def fill(plane, folders):
    """Creates CRDs, Namespaces, LimitRanges and ResourceQuotas. Returns the numbers of CRDs and Namespaces."""
    crds = 0
    for each in definitions(folders) + [made_definition(number) for number in range(CRDS)]:
        if crds < CRDS:
            crds += created(plane, DEFINITIONS, each)
    for number in range(NAMESPACES):
        name = f"team-{number}"
        created(plane, "/api/v1/namespaces", {"metadata": {"name": name, "labels": {"team": str(number % 50)}}})
        limits = {"metadata": {"name": "l"}, "spec": {"limits": [{"type": "Container", "min": {"cpu": "10m"}, "default": {"memory": "1Gi"}}]}}
        created(plane, f"/api/v1/namespaces/{name}/limitranges", limits)
        created(plane, f"/api/v1/namespaces/{name}/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "10"}}})
    return crds, NAMESPACES


def measured(words):
    """Runs a command. Returns its output, the seconds and the MB that it needed."""
    with tempfile.TemporaryFile("w+") as out:
        begin = time.time()
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        seconds = time.time() - begin
        out.seek(0)
        return out.read(), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def items(program, folder, words):
    text, *_ = measured([program, "validate", "-f", folder, "-R", "-o", "json", *words])
    try:
        return json.loads(text)["items"]
    except (ValueError, KeyError):
        raise SystemExit(f"validate -f {folder} {' '.join(words)}: {text[:500]}")


def outcome(item):
    """What must be equal. Live errors name the server."""
    return item["verdict"], json.dumps(item.get("errors", []), sort_keys=True), (item.get("answer") or {}).get("code")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("assets")
    arguments.add_argument("program")
    arguments.add_argument("folders", nargs="+")
    given = arguments.parse_args()
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as work:
        os.environ["CRDX_CACHE"] = os.path.join(work, "cache")
        with control_plane.ControlPlane(given.assets, os.path.join(work, "plane")) as plane:
            crds, namespaces = fill(plane, given.folders)
            profile, kubeconfig = os.path.join(work, "profile"), ["--kubeconfig", plane.kubeconfig]
            subprocess.run([given.program, "fetch", "--from-cluster", "--profile", profile, *kubeconfig], check=True, capture_output=True)
            size = sum(os.path.getsize(path) for path in glob.glob(f"{profile}/**/*", recursive=True) if os.path.isfile(path))
            print(f"{crds} CRDs, {namespaces} Namespaces, a profile of {size / 1e6:.1f} MB\n")
            print("| folder | objects | differ |\n|---|---|---|")
            for folder in given.folders:
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    live, saved = pool.map(lambda words: items(given.program, folder, words), (kubeconfig, ["--profile", profile]))
                differ = [pair for pair in zip(live, saved) if outcome(pair[0]) != outcome(pair[1])]
                for one, other in differ:
                    print(f"{one.get('location')}: live {outcome(one)} {one.get('reason')}; profile {outcome(other)} {other.get('reason')}", file=sys.stderr)
                if len(live) != len(saved):
                    raise SystemExit(f"{folder}: {len(live)} and {len(saved)} objects")
                total.update(objects=len(live), differ=len(differ))
                print(f"| {os.path.basename(os.path.abspath(folder))} | {len(live)} | {len(differ)} |", flush=True)
            print(f"| all | {total['objects']} | {total['differ']} |\n")
            pod = os.path.join(work, "pod.yaml")
            with open(pod, "w") as out:
                json.dump({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "team-7"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}, out)
            for name, words in {"with the profile": ["--profile", profile], "without": ["--offline", "--kubernetes-version", "1.37"]}.items():
                text, seconds, cpu, megabytes = measured([given.program, "validate", "-f", pod, "-o", "json", *words])
                print(f"a Pod {name}: {json.loads(text)['items'][0]['verdict']}, {seconds:.1f} s, {cpu:.1f} s of CPU, {megabytes:.0f} MB")
    sys.exit(total["differ"] > 0)


if __name__ == "__main__":
    main()
