#!/usr/bin/env python3
"""Record what a server answers to unusual request targets, sent as they are over a socket.

usage: request_targets.py URL > tests/facts/request-targets.jsonl

The server has the CRD below and one object; each line is {target, code, answer}: the message of a Status, the names of a
list, the name of an object, the number of events, or the text.
"""
import json, re, socket, sys, time, urllib.parse

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KITES = "/apis/toys.example.com/v1/namespaces/default/kites"
CRD = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "kites.toys.example.com"},
       "spec": {"group": "toys.example.com", "scope": "Namespaced", "names": {"plural": "kites", "kind": "Kite"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {"length": {"type": "integer", "minimum": 1}, "colour": {"type": "string", "default": "red"}}}}}}}]}}
KITE = {"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": "a", "labels": {"app": "x"}}, "spec": {"length": 1}}

SELECTORS = ["a%00b", "a%01b", "a=b%00", "app=x", "app=x,", ",app=x", "app>1", "app>a", "app{", "{", "\"", "app=\"x\"", "app==x", "app!=x", "!app", "!", "app in (x)", "app%20in%20(x)",
             "app%20in%20(x,y)", "app+in+(x)", "app in (x", "app%20notin%20(x)", "app|x", "a^b", "`", "\\", "<", ">", "app<5", "%zz", "%", "%2", "é", "app=é", "app=%C3%A9", "app=%ff", "app=x#y", "#", "app=x;y=z", "app=x%3By",
             "a/b/c", "/", "-a", "a-", "app=x%20", "%20app=x", "%09app", "%0aapp", "app%0a", "app=x%0d", "[", "]", "app[0]", "'app'", "app=(x)", "(app)", "app=*", "*", "@", "app:x", "app=x&labelSelector=app=y", "~", "app~x"]
FIELDS = ["metadata.name=a", "metadata.name=%22a%22", "metadata.name=\"a\"", "metadata.name!=a", "metadata.name=a%00", "metadata.name>a", "spec.length=1", "{", "metadata.name=a\\,b", "metadata.name=a\\", "metadata.name=a%5C%2Cb", "a%00b", "=", "a", "metadata.name=="]
TIMEOUTS = ["-1", "0", "1", "x", "1.5", "", "%20", "99999999999999999999", "+1", "-0", "1s", "0x1"]
LIMITS = ["-1", "0", "1", "x", "", "1.5", "99999999999999999999", "+1", "1%00"]
PATHS = ["/{", "/\"", "/<a>", "/a>b", "/`", "/^", "/|", "/\\", "/é", "/%ff", "/%zz", "/%", "/%2", "/%00", "/a%00b", "/%2f", "/a%2fb", "/a%2Fb", "//a", "/a/", "/./a", "/../kites/a", "/a#b", "/a;b", "/a%3Bb", "/a%20b", "/a+b", "/a:b", "/a,b", "/a=b", "/a@b", "/a'b",
         "/a*b", "/(a)", "/[a]", "/a~b", "/~a", "/A", "/a?", "/a??", "/a?#", "/a?%zz", "/a?pretty={", "/a?pretty=true;x=y", "/a?x=%zz&pretty=1", "/a?=", "/a?&&", "/a?é=é", "/a?x=\"<>\"", "/a?resourceVersion={", "/a?resourceVersion=\"1\"", "/a?resourceVersion=%00"]
WHOLE = ["*", "/", "//", "/?", "/?{", "/#", "/apis{", "/apis/{", "/apis/toys.example.com/{", "/apis/toys.example.com/v1/{", "/apis//v1", "/apis/toys.example.com//kites", "/apis/toys.example.com/v1/namespaces/{/kites", "/apis/toys.example.com/v1/namespaces/\"x\"/kites/a",
         "/apis/toys.example.com/v1/namespaces/%7B/kites", "/version?{", "/healthz>", "/openapi/v3?{", "/openapi/v3/apis/toys.example.com/v1?hash={", "apis", "http://localhost/apis/toys.example.com/v1?x={", "http://localhost/version>", "?x", "#", "{", "\"/apis\""]


def targets():
    for s in SELECTORS:
        yield f"{KITES}?labelSelector={s}"
    for s in FIELDS:
        yield f"{KITES}?fieldSelector={s}"
    for t in TIMEOUTS:
        yield f"{KITES}?timeoutSeconds={t}"
    for t in ["-1", "x", "1.5", "-99999999999", "99999999999999999999", "1", "0x1"]:
        yield f"{KITES}?watch=1&timeoutSeconds={t}"
    for w in ["{", "\"true\"", "TRUE", "True", "t", "x", "%00", "0", "false"]:
        yield f"{KITES}?limit=1&timeoutSeconds=1&watch={w}"
    for l in LIMITS:
        yield f"{KITES}?limit={l}"
    for c in ["{", "\"", "%00", "x", "%", ">"]:
        yield f"{KITES}?continue={c}"
    for r in ["{", "-1", "%00", "x", ">", "0"]:
        yield f"{KITES}?resourceVersion={r}"
        yield f"{KITES}?resourceVersionMatch={r}"
    for p in PATHS:
        yield KITES + p
    yield from WHOLE


def raw(address, target, method=b"GET", body=b""):
    s = socket.create_connection(address, 20)
    s.sendall(method + b" " + target.encode() + b" HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body)
    out = b""
    while True:
        try:
            more = s.recv(1 << 16)
        except (socket.timeout, ConnectionResetError):
            break
        if not more:
            break
        out += more
    head, _, rest = out.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" in head.lower():
        whole = b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            n = int(size, 16)
            whole, rest = whole + rest[:n], rest[n + 2:]
            if not n:
                break
        rest = whole
    return int(head.split(b" ")[1]) if head else 0, rest.decode("utf-8", "replace")


def answer(text):
    try:
        value = json.loads(text)
    except ValueError:
        lines = [line for line in text.split("\n") if line]
        if lines and all(line.startswith('{"type"') for line in lines):
            return [json.loads(line)["type"] for line in lines]
        return text
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "Status":
        return re.sub(r"too large resource version: \d+, current: \d+", "too large resource version: *, current: *", value.get("message", ""))
    if value.get("type"):
        return [value["type"]]
    if isinstance(value.get("items"), list):
        return [o["metadata"]["name"] for o in value["items"]]
    return value.get("metadata", {}).get("name") or value.get("kind") or "an object"


def main():
    url = urllib.parse.urlsplit(sys.argv[1])
    address = (url.hostname, url.port)
    raw(address, CRDS, b"POST", json.dumps(CRD).encode())
    for _ in range(500):
        if raw(address, KITES)[0] == 200:
            break
        time.sleep(0.02)
    time.sleep(1)
    raw(address, KITES, b"POST", json.dumps(KITE).encode())
    for target in targets():
        code, text = raw(address, target)
        print(json.dumps({"target": target, "code": code, "answer": answer(text)}, ensure_ascii=False), flush=True)
    raw(address, CRDS + "/kites.toys.example.com", b"DELETE")


main()
