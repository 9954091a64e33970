#!/usr/bin/env python3
"""Runs openshift/api suites against a real API server, and compares the answers with those of `kubectl crdx test -o json`.

usage: real.py URL REPORT.json

REPORT.json is what `kubectl crdx test DIR --kubernetes-version 1.N -o json` printed. Every case of the report is run with the
requests of openshift/api's runner; a difference is an outcome that is not the same, or an error message or a stored object of a failure
that is not the same. Needs PyYAML.
"""
import copy, json, re, sys, time, urllib.error, urllib.request
import yaml

IGNORED = ("creationTimestamp deletionGracePeriodSeconds deletionTimestamp generateName generation managedFields name namespace "
           "resourceVersion selfLink uid").split()
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
URL = sys.argv[1]


def send(method, path, body=None):
    data = None if body is None else json.dumps(body, default=str).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        text = error.read().decode()
        try:
            return error.code, json.loads(text)
        except ValueError:
            return error.code, {"message": "the server could not find the requested resource" if error.code == 404 else text.strip()}


def comparable(thing):
    thing = copy.deepcopy(thing)
    metadata = thing.get("metadata") or {}
    for key in IGNORED:
        metadata.pop(key, None)
    thing["metadata"] = metadata
    if not metadata:
        del thing["metadata"]
    return thing


def read(text):
    thing = yaml.safe_load(text)
    thing["metadata"] = {**(thing.get("metadata") or {}), "generateName": "test-", "namespace": "default"}
    return thing


def install(crd, version):
    crd = copy.deepcopy(crd)
    crd["spec"]["versions"] = [{**v, "served": True, "storage": True} for v in crd["spec"]["versions"] if v["name"] == version]
    name = crd["metadata"]["name"]
    send("DELETE", f"{CRDS}/{name}")
    while send("GET", f"{CRDS}/{name}")[0] != 404:
        time.sleep(0.05)
    code, answer = send("POST", CRDS, crd)
    assert code == 201, answer["message"]
    path = f"/apis/{crd['spec']['group']}/{version}" + ("/namespaces/default" if crd["spec"]["scope"] == "Namespaced" else "")
    path += "/" + crd["spec"]["names"]["plural"]
    while send("GET", path)[0] != 200:
        time.sleep(0.05)
    return path, crd


def redefine(crd, spec, sentinel):
    name = crd["metadata"]["name"]
    stored = send("GET", f"{CRDS}/{name}")[1]
    stored["spec"] = copy.deepcopy(spec)
    if sentinel:
        stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["sentinel"] = {"type": "string", "enum": [sentinel]}
    code, answer = send("PUT", f"{CRDS}/{name}", stored)
    assert code == 200, answer


def patched(crd, patches):
    crd = copy.deepcopy(crd)
    for patch in patches:
        *parents, last = patch["path"].split("/")[1:]
        at = crd
        for step in parents:
            at = at[int(step)] if isinstance(at, list) else at[step]
        if patch["op"] == "remove":
            del at[int(last) if isinstance(at, list) else last]
        else:
            at[int(last) if isinstance(at, list) else last] = patch["value"]
    return crd


def eventually(attempt):
    for _ in range(100):
        code, answer = attempt()
        if code < 300:
            return code, answer
        time.sleep(0.05)
    return code, answer


def verdict(code, answer, expected):
    """None to go on, else the outcome."""
    if code >= 400:
        message = answer["message"]
        return ("passed", None) if expected and expected in message else ("failed", message)
    return ("failed", "accepted") if expected else None


def compare(path, case):
    code, stored = send("GET", path)
    if not (case.get("expected") or "").strip():
        return "passed", None
    expected, stored = comparable(read(case["expected"])), comparable(stored)
    return ("passed", None) if expected == stored else ("failed", stored)


def run(case, action, path, crd, file):
    initial, patches = read(case["initial"]), case.get("initialCRDPatches")
    if action == "onCreate":
        code, answer = send("POST", path, initial)
        return verdict(code, answer, case.get("expectedError")) or compare(f"{path}/{answer['metadata']['name']}", case)
    if patches:
        redefine(crd, patched(file, patches)["spec"], "+patched")
        initial["sentinel"] = "+patched"
    code, thing = (eventually if patches else lambda f: f())(lambda: send("POST", path, initial))
    if code >= 400:
        return "failed", thing["message"]
    here = f"{path}/{thing['metadata']['name']}"
    if initial.get("status") is not None:
        code, thing = send("PUT", here + "/status", {**thing, "status": initial["status"]})
        if code >= 400:
            return "failed", thing["message"]
    if patches:
        sentinel = thing["metadata"]["uid"] + "+restored"
        redefine(crd, crd["spec"], sentinel)
        code, answer = eventually(lambda: send("PUT", here, {**thing, "sentinel": sentinel}))
        if code >= 400:
            return "failed", answer["message"]
        redefine(crd, crd["spec"], None)
        time.sleep(0.5)
        thing = send("GET", here)[1]
    updated = read(case["updated"])
    status = updated.get("status")
    for key in ("name", "namespace", "resourceVersion"):
        if key in thing["metadata"]:
            updated["metadata"][key] = thing["metadata"][key]
    code, answer = send("PUT", here, updated)
    done = verdict(code, answer, case.get("expectedError"))
    if done:
        return done
    if status is not None:
        code, answer = send("PUT", here + "/status", {**answer, "status": status})
        done = verdict(code, answer, case.get("expectedStatusError"))
        if done:
            return done
    return compare(here, case)


def without_names(text):
    return re.sub(r'"test-[a-z0-9]{5}"', '"test-"', text) if isinstance(text, str) else text


def planned(items):
    """Each item with its suite and case, ordered by CRD, so that each is installed once."""
    suites, counts, all_ = {}, {}, []
    for item in items:
        source, key = item["location"]["source"], (item["location"]["source"], item["crd"], item["action"])
        suite = suites.get(source) or suites.setdefault(source, yaml.load(open(source), yaml.CSafeLoader))
        case = suite["tests"][item["action"]][counts.get(key, 0)]
        counts[key] = counts.get(key, 0) + 1
        assert case["name"] == item["name"], (case["name"], item["name"])
        all_.append((item["crd"], suite, case, item))
    return sorted(all_, key=lambda one: one[0])


items = json.load(open(sys.argv[2]))["items"]
installed, same, counts, different, began = None, 0, {"passed": 0, "failed": 0}, [], time.time()
for file, suite, case, item in planned(items):
    if installed != file:
        crd = yaml.load(open(file), yaml.CSafeLoader)
        path, reduced = install(crd, suite.get("version") or crd["spec"]["versions"][0]["name"])
        installed = file
    outcome, answer = run(case, item["action"], path, reduced, crd)
    counts[outcome] += 1
    failure = item.get("failure", {})
    ours = failure.get("answer") or failure.get("stored") or ("accepted" if failure.get("type") == "accepted" else None)
    if outcome == item["outcome"] and without_names(answer) == without_names(ours):
        same += 1
    else:
        different.append((item["location"]["source"], file, item["name"], outcome, answer, item["outcome"], ours))
for one in different:
    print(*one, sep="\n  ")
print(f"{counts['passed']} passed, {counts['failed']} failed on the real server in {time.time() - began:.1f} s; "
      f"{same} of {len(items)} answers are the same")
sys.exit(1 if different else 0)
