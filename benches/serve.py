#!/usr/bin/env python3
"""Measures `kubectl-crdx serve` next to the real server, in the same run on the same machine.

usage: serve.py --binary target/release/kubectl-crdx [--apiserver PATH] [--seconds N] [--objects N] [--watchers N] [--json FILE]

ready      from the start of the process to the first answer           create    creates per second, 1, 2 and 4 connections
memory     resident memory of stored objects, in multiples of their JSON    watch     from the answer of a create to its event
The clients are bare sockets in processes of their own; the CRD is benches/gadgets.crd.yaml.
"""
import argparse, json, multiprocessing, os, socket, statistics, subprocess, sys, threading, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.held = b""

    def send(self, method, path, body=b"", kind="application/json"):
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    def head(self):
        while b"\r\n\r\n" not in self.held:
            more = self.socket.recv(65536)
            if not more:
                raise EOFError("closed")
            self.held += more
        head, self.held = self.held.split(b"\r\n\r\n", 1)
        return int(head.split(b" ", 2)[1]), head.lower()

    def line(self):
        while b"\n" not in self.held:
            self.held += self.socket.recv(65536)
        line, self.held = self.held.split(b"\n", 1)
        return line

    def answer(self):
        code, head = self.head()
        length = 0
        if b"transfer-encoding: chunked" in head:
            out = b""
            while True:
                size = int(self.line(), 16)
                while len(self.held) < size + 2:
                    self.held += self.socket.recv(1 << 20)
                out, self.held = out + self.held[:size], self.held[size + 2:]
                if not size:
                    return code, out
        for field in head.split(b"\r\n"):
            if field.startswith(b"content-length:"):
                length = int(field.split(b":")[1])
        while len(self.held) < length:
            self.held += self.socket.recv(1 << 20)
        body, self.held = self.held[:length], self.held[length:]
        return code, body

    def call(self, *request):
        self.send(*request)
        return self.answer()


def gadget(sample, name):
    return json.dumps({**sample, "metadata": {"name": name}}).encode()


def load(port, sample, collection, prefix, seconds, out):
    c, n, end = Connection(port), 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        code, body = c.call("POST", collection, gadget(sample, f"{prefix}-{n}"))
        if code != 201:
            raise SystemExit(f"a create was answered {code}: {body[:300]}")
        n += 1
    out.put(n)


def creates(port, sample, collection, connections, seconds, tag):
    out = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=load, args=(port, sample, collection, f"{tag}-{i}", seconds, out)) for i in range(connections)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    return sum(out.get() for _ in workers) / seconds


def rss(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(l.split()[1]) * 1024 for l in f if l.startswith("VmRSS:"))


def start(command):
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    url = child.stdout.readline().strip()
    urllib.request.urlopen(url + "/healthz").read()
    return child, int(url.rsplit(":", 1)[1]), time.perf_counter() - begin


def measure(name, command, a, crd, sample):
    result = {"ready ms": round(min(once(command) for _ in range(a.starts)) * 1000, 1)}
    child, port, _ = start(command)
    try:
        c = Connection(port)
        code, body = c.call("POST", CRDS, open(crd, "rb").read(), "application/yaml")
        assert code == 201, body
        spec = json.loads(body)["spec"]
        collection = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/" + ("namespaces/default/" if spec["scope"] == "Namespaced" else "") + spec["names"]["plural"]
        sample["apiVersion"], sample["kind"] = f"{spec['group']}/{spec['versions'][0]['name']}", spec["names"]["kind"]
        for _ in range(300):
            if c.call("GET", collection + "?limit=1")[0] == 200:
                break
            time.sleep(0.02)
        time.sleep(0.3)
        for n in (1, 2, 4):
            result[f"creates/s on {n}"] = round(creates(port, sample, collection, n, a.seconds, f"c{n}"))
        result["watch ms (median, worst)"] = watch(port, c, sample, collection)
        if name == "serve":
            result["bad clients: creates/s on 1 beside 900 silent ones"] = round(beside(port, sample, collection, a.seconds))
            if a.watchers:
                result[f"{a.watchers} watchers"] = watchers(port, child.pid, c, sample, collection, a.watchers)
    finally:
        child.terminate()
        child.wait(30)
    if name == "serve":
        result.update(memory(command, a, crd, sample, collection))
    return result


def once(command):
    child, _, seconds = start(command)
    child.kill()
    child.wait(30)
    return seconds


def open_watch(port, collection, version):
    w = Connection(port)
    w.send("GET", f"{collection}?watch=true&resourceVersion={version}")
    code, _ = w.head()
    assert code == 200, code
    return w


def watch(port, c, sample, collection):
    version = json.loads(c.call("GET", collection + "?limit=1")[1])["metadata"]["resourceVersion"]
    w = open_watch(port, collection, version)
    delays = []
    for i in range(200):
        arrived = []
        reader = threading.Thread(target=lambda: (w.socket.recv(1 << 16), arrived.append(time.perf_counter())))
        reader.start()
        code, _ = c.call("POST", collection, gadget(sample, f"w-{i}"))
        answered = time.perf_counter()
        assert code == 201
        reader.join(10)
        delays.append((arrived[0] - answered) * 1000 if arrived else float("inf"))
    return [round(max(statistics.median(delays), 0), 2), round(max(delays), 2)]


def beside(port, sample, collection, seconds):
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(900)]
    for i, s in enumerate(held):
        if i % 2:
            s.sendall(b"POST " + collection.encode() + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n{")
    rate = creates(port, sample, collection, 1, seconds, "b")
    for s in held:
        s.close()
    return rate


def watchers(port, pid, c, sample, collection, count):
    version = json.loads(c.call("GET", collection + "?limit=1")[1])["metadata"]["resourceVersion"]
    before = rss(pid)
    held = [open_watch(port, collection, version) for _ in range(count)]
    grown = rss(pid) - before
    begin = time.perf_counter()
    code, _ = c.call("POST", collection, gadget(sample, "many"))
    answered = time.perf_counter() - begin
    for w in held:
        if not w.held:
            w.held = w.socket.recv(1 << 16)
    done = time.perf_counter() - begin
    for w in held:
        w.socket.close()
    return {"KiB each": round(grown / count / 1024, 1), "create answered ms": round(answered * 1000, 1), "all told s": round(done, 2), "code": code}


def memory(command, a, crd, sample, collection):
    child, port, _ = start(command)
    try:
        c = Connection(port)
        c.call("POST", CRDS, open(crd, "rb").read(), "application/yaml")
        empty, size = rss(child.pid), 0
        for i in range(a.objects):
            code, body = c.call("POST", collection, gadget(sample, f"m-{i}"))
            size += len(body)
        used = rss(child.pid) - empty
        return {f"memory of {a.objects} objects, in times their JSON": round(used / size, 2), "JSON bytes each": size // a.objects}
    finally:
        child.kill()
        child.wait(30)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", required=True), ap.add_argument("--apiserver"), ap.add_argument("--seconds", type=float, default=5), ap.add_argument("--starts", type=int, default=5)
    ap.add_argument("--objects", type=int, default=100000), ap.add_argument("--watchers", type=int, default=0), ap.add_argument("--json"), ap.add_argument("--port", default="0")
    a = ap.parse_args()
    crd = os.path.join(HERE, "gadgets.crd.yaml")
    sample = {"spec": SPEC}
    results = {"serve": measure("serve", [a.binary, "serve", "--port", "0"], a, crd, dict(sample))}
    if a.apiserver:
        a.starts = 1
        results["real"] = measure("real", [a.apiserver, "-port", a.port], a, crd, dict(sample))
        real = max(results["real"]["creates/s on 1"], 1)
        results["serve"]["times the real one on 1 connection"] = round(results["serve"]["creates/s on 1"] / real, 1)
    for name, result in results.items():
        print(f"== {name}")
        for key, value in result.items():
            print(f"{key:60} {value}")
    if a.json:
        with open(a.json, "w") as f:
            json.dump(results, f, indent=1)


SPEC = {
    "replicas": 3, "minReplicas": 1, "maxReplicas": 10, "schedule": "*/5 * * * *", "strategy": "Recreate",
    "template": {
        "image": "images.example.com/team/gadget:1.2", "command": ["run", "--fast"],
        "env": [{"name": "A", "value": "1"}, {"name": "B"}], "ports": [{"port": 80, "name": "http"}, {"port": 443}]},
    "resources": {"memory": "256Mi"}, "labels": {"a": "b"}, "owner": {"mail": "team@example.com"},
}

if __name__ == "__main__":
    main()
