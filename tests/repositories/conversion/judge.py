#!/usr/bin/env python3
"""Compares conversions with those of the real kube-apiserver.

Usage: judge.py PROGRAM WEBHOOKS ASSETS [--operator kueue] [--file NAME] [--objects N]

The objects that a round trip sends are recorded by the webhook. Each is then created in its version on the real kube-apiserver and on
`serve --admission`, both with the webhook by its URL, read in every other version, written back, and read again. Codes, messages and
objects must be equal. The same follows with answers of the webhook that break the protocol.
"""
import argparse, base64, collections, copy, json, pathlib, re, subprocess, sys, tempfile, time, urllib.error, urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "apiserver"))
from control_plane import ControlPlane  # noqa: E402
import yaml  # noqa: E402
from webhook import definitions, webhook  # noqa: E402

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
FAULTS = ["", "number", "uid", "name", "apiVersion"]
MASKED = ["uid", "creationTimestamp", "resourceVersion", "managedFields", "selfLink"]


class Simulated:
    """The server of `serve`."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--admission"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def send(self, method, path, body=None, headers={}):
        request = urllib.request.Request(self.url + path, None if body is None else body.encode(), headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            return error.code, json.loads(text) if text.startswith("{") else {"message": text}


def send(server, method, path, body=None):
    text = None if body is None else json.dumps(body)
    return server.send(method, path, text, {"Content-Type": "application/json"})[:2]


def crd(text, url, certificate):
    definition = yaml.safe_load(text)
    definition["spec"]["conversion"]["webhook"]["clientConfig"] = {"url": url, "caBundle": base64.b64encode(pathlib.Path(certificate).read_bytes()).decode()}
    definition.pop("status", None)
    return definition


def collection(spec, version):
    return f"/apis/{spec['group']}/{version}{'/namespaces/default' if spec['scope'] == 'Namespaced' else ''}/{spec['names']['plural']}"


def masked(answer, url):
    """What must be equal: the code, and the object without what differs from server to server, or the message."""
    code, body = answer
    body = copy.deepcopy(body)
    if code >= 300:
        return code, body.get("message", "").replace(url, "URL")
    for name in MASKED:
        body.get("metadata", {}).pop(name, None)
    return code, body


def trip(server, spec, given, url):
    """The answers to the requests of a trip through every version."""
    version, name = given["apiVersion"].split("/")[1], given["metadata"]["name"]
    answers = [masked(send(server, "POST", collection(spec, version), given), url)]
    for other in [one["name"] for one in spec["versions"] if one["served"]]:
        path = f"{collection(spec, other)}/{name}"
        read = send(server, "GET", path)
        answers.append(masked(read, url))
        if read[0] == 200:
            answers.append(masked(send(server, "PUT", path, read[1]), url))
        answers.append(masked(send(server, "GET", f"{collection(spec, version)}/{name}"), url))
    send(server, "DELETE", f"{collection(spec, version)}/{name}")
    return answers


def without_random_values(answers):
    """Replaces what differs from server to server in messages: UIDs of reviews, and revisions."""
    text = re.sub(r"response\.uid=[^,]*,", "response.uid=UID,", json.dumps(answers))
    return json.loads(re.sub(r"revision=\d+", "revision=N", text))


def recorded(arguments, text):
    """Objects that a round trip sends, each with a name of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "crd.yaml").write_text(text)
        with webhook(arguments.webhooks, "-record", f"{folder}/objects") as (url, certificate):
            subprocess.run([arguments.program, "test", "--round-trip", f"{folder}/crd.yaml", "--webhook-url", url, "--webhook-ca", certificate, "--tries", str(arguments.objects)], stdout=subprocess.DEVNULL)
        lines = dict.fromkeys((pathlib.Path(folder) / "objects").read_text().splitlines())
    seen, found = set(), []
    for line in lines:
        given = json.loads(line)
        annotations = given["metadata"].get("annotations")
        given["metadata"] = {"name": "x", **({"annotations": annotations} if annotations else {})}
        key = json.dumps(given, sort_keys=True)
        if key not in seen:
            seen.add(key)
            given["metadata"]["name"] = f"x{len(seen)}"
            found.append(given)
    step = max(1, len(found) // arguments.objects)
    return found[::step][: arguments.objects]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("webhooks")
    parser.add_argument("assets")
    parser.add_argument("--operator", default="kueue")
    parser.add_argument("--file", default="kueue.x-k8s.io_clusterqueues.yaml")
    parser.add_argument("--objects", type=int, default=200)
    arguments = parser.parse_args()
    text = definitions(arguments.operator)[arguments.file]
    objects = recorded(arguments, text)
    counts, differences = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as work, ControlPlane(arguments.assets, work) as real:
        for fault in FAULTS:
            with webhook(arguments.webhooks, *(["-break", fault] if fault else [])) as (url, certificate), Simulated(arguments.program) as simulated:
                definition = crd(text, url, certificate)
                for server in (real, simulated):
                    send(server, "DELETE", f"{DEFINITIONS}/{definition['metadata']['name']}")
                time.sleep(2)
                for server in (real, simulated):
                    code, answer = send(server, "POST", DEFINITIONS, definition)
                    if code != 201:
                        sys.exit(answer["message"])
                time.sleep(6)
                for given in objects if not fault else objects[:20]:
                    first, second = (without_random_values(trip(server, definition["spec"], given, url)) for server in (real, simulated))
                    counts[fault or "no fault", "answers"] += len(first)
                    counts[fault or "no fault", "errors"] += sum(code >= 300 for code, _ in first)
                    if first != second:
                        differences += 1
                        counts[fault or "no fault", "objects with differences"] += 1
                        if differences <= 3:
                            for one, other in zip(first, second):
                                if one != other:
                                    print(f"real:      {json.dumps(one)[:1500]}\nsimulated: {json.dumps(other)[:1500]}\n")
    print(f"{len(objects)} objects")
    for key, number in counts.items():
        print(*key, number)
    sys.exit(1 if differences else 0)


main()
