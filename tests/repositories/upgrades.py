#!/usr/bin/env python3
"""Rehearses the upgrade of an operator, and carries it out on the real kube-apiserver.

Usage: upgrades.py PROGRAM ASSETS OLD NEW OBJECTS [--work FOLDER]

OLD and NEW are folders with CRDs of two releases, and their admission policies and bindings; OBJECTS is a folder or file with custom
resources; ASSETS has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh). The objects that the server stores under the old CRDs
are rehearsed as it returns them. Then the old policies are created, the CRDs and then the policies are replaced, a label is added to each
object, and each is created again in a dry run. The script prints the numbers of objects by the answers of both, and every difference, also
of the fields that the server no longer returns. Conversion webhooks are not called: CRDs keep only their storage version's conversion.
A policy that denies the next write before the upgrade, too, does not count, and creates are not compared if there are policies.
"""
import argparse, collections, json, os, pathlib, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "apiserver"))
from control_plane import ControlPlane  # noqa: E402
import yaml  # noqa: E402

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = {"Content-Type": "application/merge-patch+json"}


def documents(path):
    path = pathlib.Path(path)
    files = sorted(path.rglob("*.y*ml")) if path.is_dir() else [path]
    for file in files:
        try:
            yield from (one for one in yaml.safe_load_all(file.read_text()) if isinstance(one, dict))
        except yaml.YAMLError:
            continue


def definitions(path):
    found = {one["metadata"]["name"]: one for one in documents(path) if one.get("kind") == "CustomResourceDefinition"}
    for one in found.values():
        one["metadata"] = {"name": one["metadata"]["name"], "annotations": one["metadata"].get("annotations", {})}
        if one["spec"].get("conversion", {}).get("strategy") == "Webhook":
            one["spec"]["conversion"] = {"strategy": "None"}
    return found


PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "MutatingAdmissionPolicyBinding": "mutatingadmissionpolicybindings",
}


def policies(path):
    """The policies and bindings by their paths on the server."""
    found = [one for one in documents(path) if one.get("kind") in PLURALS]
    return {f"/apis/{one['apiVersion']}/{PLURALS[one['kind']]}/{one['metadata']['name']}": one for one in found}


def replace_policies(server, olds, news):
    """Creates, replaces and deletes policies, and waits until the server enforces them."""
    for path in olds.keys() - news.keys():
        send(server, "DELETE", path)
    for path, policy in news.items():
        status, existing = send(server, "GET", path)
        if status == 404:
            status, answer = send(server, "POST", path.rsplit("/", 1)[0], policy)
        else:
            metadata = {**policy["metadata"], "resourceVersion": existing["metadata"]["resourceVersion"]}
            status, answer = send(server, "PUT", path, {**policy, "metadata": metadata})
        if status >= 300:
            sys.exit(f"{path}: {answer['message']}")
    if olds or news:
        time.sleep(5)


def send(server, method, path, body=None, headers={"Content-Type": "application/json"}):
    return server.send(method, path, None if body is None else json.dumps(body), headers)[:2]


def install(server, crds):
    for crd in crds.values():
        status, answer = send(server, "POST", DEFINITIONS, crd)
        if status >= 300:
            sys.exit(f"{crd['metadata']['name']}: {answer['message']}")
    time.sleep(3)


def named(found):
    """The objects of the CRDs, each with a name of its own."""
    seen = set()
    for count, one in enumerate(found):
        metadata = one.setdefault("metadata", {})
        base = metadata.pop("generateName", None) or metadata.get("name") or "example"
        name = base.rstrip("-") if (one["kind"], base) not in seen else f"{base.rstrip('-')}-{count}"
        seen.add((one["kind"], name))
        one["metadata"] = {**metadata, "name": name, "namespace": "default"}
        yield one


def collection(crd, version):
    spec = crd["spec"]
    place = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
    return f"/apis/{spec['group']}/{version}{place}/{spec['names']['plural']}"


def served(crd):
    versions = [version for version in crd["spec"]["versions"] if version["served"]]
    return [version["name"] for version in sorted(versions, key=lambda version: not version["storage"])]


def store(server, crds, objects):
    """Creates the objects, and returns those that are stored, as the server returns them, with their CRDs."""
    kinds = {(crd["spec"]["group"], crd["spec"]["names"]["kind"]): crd for crd in crds.values()}
    mine = [one for one in objects if (one.get("apiVersion", "").split("/")[0], one.get("kind")) in kinds]
    stored, rejected = [], 0
    for one in named(mine):
        group, version = one["apiVersion"].split("/")
        crd = kinds[group, one["kind"]]
        if crd["spec"]["scope"] != "Namespaced":
            del one["metadata"]["namespace"]
        status, answer = send(server, "POST", collection(crd, version), one)
        if status < 300:
            stored.append((crd, answer))
        else:
            rejected += 1
    return stored, rejected


def rehearse(arguments, work, olds, stored):
    old = work / "old.json"
    old_items = [*olds.values(), *policies(arguments.old).values()]
    old.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": old_items}))
    objects = work / "objects.json"
    objects.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [one for _, one in stored]}))
    new = work / "new.json"
    new_items = [*definitions(arguments.new).values(), *policies(arguments.new).values()]
    new.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": new_items}))
    command = [arguments.program, "rehearse", str(new), "--old", str(old), "-f", str(objects), "--offline", "--tries", "0"]
    (work / "page.txt").write_text(subprocess.run(command, capture_output=True, text=True).stdout)
    report = json.loads(subprocess.run([*command, "-o", "json"], capture_output=True, text=True).stdout)
    items = {(one["kind"], one["name"]): one for one in report["items"]}
    verdicts = {one["definition"]["name"]: one["definition"]["verdict"] for one in report.get("definitions", [])}
    return items, verdicts


def upgrade(server, crds):
    """Replaces or creates the CRDs, and returns whether the server accepts each."""
    accepted = {}
    for name, crd in crds.items():
        status, existing = send(server, "GET", f"{DEFINITIONS}/{name}")
        if status == 404:
            accepted[name] = send(server, "POST", DEFINITIONS, crd)[0] < 300
            continue
        crd = {**crd, "metadata": {**crd["metadata"], "resourceVersion": existing["metadata"]["resourceVersion"]}}
        accepted[name] = send(server, "PUT", f"{DEFINITIONS}/{name}", crd)[0] < 300
    time.sleep(3)
    return accepted


def expected(item):
    """The answers that the rehearsal predicts: the next write, and a create of the object as it is."""
    if item is None:
        return True, True
    is_readable, is_denied = "unreadable" not in item, bool(item.get("policies", {}).get("denied"))
    is_written = item.get("unrelatedEdit") != "blocked" and is_readable and not is_denied
    return is_written, not item.get("errors") and is_readable


def missing(before, after, path=""):
    """The paths of the values that only the first reading has, without metadata."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before:
            if path or key not in ("metadata", "apiVersion"):
                yield from missing(before[key], after[key], f"{path}.{key}".lstrip(".")) if key in after else [f"{path}.{key}".lstrip(".")]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after)):
            yield from missing(one, other, f"{path}[{index}]")


def observed(server, crd, one):
    version = next(iter([v for v in served(crd) if one["apiVersion"].endswith("/" + v)] or served(crd)))
    path = collection(crd, version)
    status, now = send(server, "GET", f"{path}/{one['metadata']['name']}")
    if status >= 300:
        return (False, False), {}
    label = {"metadata": {"labels": {"crdx-rehearsal": "touched"}}}
    write = send(server, "PATCH", f"{path}/{one['metadata']['name']}?dryRun=All", label, MERGE)[0] < 300
    again = {key: value for key, value in now.items() if key != "metadata"}
    again["metadata"] = {"name": one["metadata"]["name"] + "-again", **{key: now["metadata"][key] for key in ("labels", "annotations") if key in now["metadata"]}}
    return (write, send(server, "POST", f"{path}?dryRun=All", again)[0] < 300), now


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["program", "assets", "old", "new", "objects"]:
        parser.add_argument(name)
    parser.add_argument("--work", default="target/upgrades", type=pathlib.Path)
    arguments = parser.parse_args()
    work = arguments.work
    os.makedirs(work, exist_ok=True)
    olds, news = definitions(arguments.old), definitions(arguments.new)
    with ControlPlane(arguments.assets, str(work / "server")) as server:
        install(server, olds)
        stored, rejected = store(server, olds, list(documents(arguments.objects)))
        read = {name: send(server, "GET", f"{DEFINITIONS}/{name}")[1] for name in olds}
        items, verdicts = rehearse(arguments, work, read, stored)
        old_policies, new_policies = policies(arguments.old), policies(arguments.new)
        replace_policies(server, {}, old_policies)
        has_policies = bool(old_policies or new_policies)
        denied = {one["metadata"]["uid"] for crd, one in stored if has_policies and not observed(server, crd, one)[0][0]}
        accepted = upgrade(server, news)
        replace_policies(server, old_policies, new_policies)
        counts, differences = collections.Counter(), []
        for name, is_accepted in accepted.items():
            counts[f"CRD {'accepted' if is_accepted else 'rejected'}"] += 1
            if verdicts and (verdicts[name] == "accepted") != is_accepted:
                differences.append(f"CRD {name}: {verdicts[name]}, the server {'accepts' if is_accepted else 'rejects'} it")
        for crd, one in stored:
            name = crd["metadata"]["name"]
            item = items.get((one["kind"], one["metadata"]["name"]))
            if name not in news:
                counts["of a CRD that disappears"] += 1
                if not (item or {}).get("deleted"):
                    differences.append(f"{name} {one['metadata']['name']}: its CRD disappears")
                continue
            if not accepted[name]:
                counts["of a CRD that is rejected"] += 1
                continue
            answers, now = observed(server, news[name], one)
            words = ["next write " + ("accepted" if answers[0] else "rejected"), "create " + ("accepted" if answers[1] else "rejected")]
            lost, foretold = set(missing(one, now)), {field["path"] for field in (item or {}).get("lost", [])}
            if now and lost != foretold:
                differences.append(f"{one['kind']} {one['metadata']['name']}: the server loses {sorted(lost)}, the rehearsal {sorted(foretold)}")
            predicted = expected(item)
            if has_policies:
                answers, predicted, words = answers[:1], predicted[:1], words[:1]
                if one["metadata"]["uid"] in denied:
                    # The rehearsal is about what the upgrade changes.
                    words, predicted = [f"{words[0]}, denied before the upgrade, too"], answers
            counts[", ".join(words + (["loses fields"] if lost else []))] += 1
            if answers != predicted:
                differences.append(f"{one['kind']} {one['metadata']['name']}: the server {words}, the rehearsal {json.dumps(item)[:600]}")
    print(f"{len(stored)} objects stored, {rejected} rejected under the old CRDs; {len(items)} in the report")
    for words, count in sorted(counts.items()):
        print(f"  {count} {words}")
    print(f"{len(differences)} differences", *differences, sep="\n  ")
    sys.exit(bool(differences))


main()
