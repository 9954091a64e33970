#!/usr/bin/env python3
"""Compares `kubectl-crdx serve` with the real server, in the same run on the same machine.

usage: serve.py --binary target/dist/kubectl-crdx [--apiserver PATH] [--seconds N] [--objects N] [--watchers N] [--json FILE]

ready      from the start of the process to the first response          create    creates per second, 1, 2 and 4 connections
builtin    `serve --builtin`: ready, memory at the start, creates of Deployments per second on 1 connection, CPU of each
memory     resident memory of stored objects, in multiples of their JSON    watch     from the answer of a create to its event
The clients use plain sockets in separate processes; the CRD is benches/gadgets.crd.yaml. With the defaults, a run takes about
90 seconds; each line is printed as soon as it is measured.
"""
import argparse, json, multiprocessing, os, resource, select, socket, subprocess, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.held = b""

    def send(self, method, path, body=b"", kind="application/json"):
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

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


def load(port, sample, collection, prefix, seconds, most, out):
    c, n, size, end = Connection(port), 0, 0, time.perf_counter() + seconds
    while n < most and time.perf_counter() < end:
        code, body = c.call("POST", collection, gadget(sample, f"{prefix}-{n}"))
        if code != 201:
            raise SystemExit(f"a create was answered {code}: {body[:300]}")
        n, size = n + 1, size + len(body)
    out.put((n, size))


def creates(port, sample, collection, connections, tag, seconds=float("inf"), most=float("inf")):
    """How many objects were created, and the bytes of their JSON."""
    out = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=load, args=(port, sample, collection, f"{tag}-{i}", seconds, most, out)) for i in range(connections)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    counts = [out.get() for _ in workers]
    return sum(n for n, _ in counts), sum(size for _, size in counts)


def rss(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(l.split()[1]) * 1024 for l in f if l.startswith("VmRSS:"))


def start(command):
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    url = child.stdout.readline().strip()
    urllib.request.urlopen(url + "/healthz").read()
    return child, int(url.rsplit(":", 1)[1]), time.perf_counter() - begin


def serving(command, crd, sample):
    """A server with the CRD, and where its objects are."""
    child, port, _ = start(command)
    c = Connection(port)
    code, body = c.call("POST", CRDS, open(crd, "rb").read(), "application/yaml")
    assert code == 201, body
    spec = json.loads(body)["spec"]
    version = f"{spec['group']}/{spec['versions'][0]['name']}"
    sample["apiVersion"], sample["kind"] = version, spec["names"]["kind"]
    collection = f"/apis/{version}/namespaces/default/{spec['names']['plural']}"
    while c.call("GET", collection + "?limit=1")[0] != 200:
        time.sleep(0.02)
    # Nothing is left to settle when the clock runs.
    time.sleep(0.3)
    return child, port, c, collection


def measure(command, a, crd, ours):
    """Yields what was measured, line by line."""
    sample = {"spec": SPEC}
    yield "ready, ms (best)", round(min(once(command) for _ in range(a.starts if ours else 1)) * 1000, 1)
    child, port, c, collection = serving(command, crd, sample)
    try:
        for n in (1, 2, 4):
            yield f"creates/s on {n}", round(creates(port, sample, collection, n, f"c{n}", seconds=a.seconds)[0] / a.seconds)
        yield "watch event after the answer, ms (median, 99 %)", watch(port, c, sample, collection)
        if not ours:
            return
        yield "creates/s on 1 beside 900 silent or stuck clients", round(beside(port, sample, collection, a.seconds))
        if a.watchers:
            yield f"{a.watchers} watchers", watchers(port, child.pid, c, sample, collection, a.watchers)
    finally:
        child.kill()
        child.wait(30)
    yield from builtin(command, a)
    child, port, c, collection = serving(command, crd, sample)
    try:
        empty = rss(child.pid)
        count, size = creates(port, sample, collection, 4, "m", most=a.objects // 4)
        yield f"memory of {count} objects of {size // count} bytes, in times their JSON", round((rss(child.pid) - empty) / size, 2)
    finally:
        child.kill()
        child.wait(30)


def builtin(command, a):
    """Yields what was measured with all built-in kinds."""
    command = [*command, "--builtin"]
    yield "builtin: ready, ms (best)", round(min(once(command) for _ in range(a.starts)) * 1000, 1)
    child, port, _ = start(command)
    try:
        yield "builtin: memory at the start, MiB", round(rss(child.pid) / 2**20, 1)
        before = cpu(child.pid)
        count, _ = creates(port, DEPLOYMENT, "/apis/apps/v1/namespaces/default/deployments", 1, "d", seconds=a.seconds)
        yield "builtin: creates of Deployments/s on 1", round(count / a.seconds)
        yield "builtin: CPU of each, µs", round((cpu(child.pid) - before) / count * 1e6)
    finally:
        child.kill()
        child.wait(30)


def cpu(pid):
    """The user and system seconds of a process."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def once(command):
    child, _, seconds = start(command)
    child.kill()
    child.wait(30)
    return seconds


def version(c, collection):
    return json.loads(c.call("GET", collection + "?limit=1")[1])["metadata"]["resourceVersion"]


def open_watch(port, collection, version):
    w = Connection(port)
    w.send("GET", f"{collection}?watch=true&resourceVersion={version}")
    code, _ = w.head()
    assert code == 200, code
    return w


def watch(port, c, sample, collection):
    w = open_watch(port, collection, version(c, collection))
    delays = []
    for i in range(500):
        c.send("POST", collection, gadget(sample, f"w-{i}"))
        arrived = {}
        while len(arrived) < 2:
            for ready in select.select([s for s in (c.socket, w.socket) if s not in arrived], [], [], 10)[0]:
                arrived[ready] = time.perf_counter()
        assert c.answer()[0] == 201
        delays.append(max(arrived[w.socket] - arrived[c.socket], 0) * 1000)
        # The whole event, so that nothing of it is taken for the next one.
        while not w.held.endswith(b"\n\r\n"):
            w.held += w.socket.recv(1 << 16)
        w.held = b""
    delays.sort()
    return [round(delays[len(delays) // 2], 2), round(delays[len(delays) * 99 // 100], 2)]


def beside(port, sample, collection, seconds):
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(900)]
    for i, s in enumerate(held):
        if i % 2:
            s.sendall(b"POST " + collection.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n{")
    rate = creates(port, sample, collection, 1, "b", seconds=seconds)[0] / seconds
    for s in held:
        s.close()
    return rate


def watchers(port, pid, c, sample, collection, count):
    before, at = rss(pid), version(c, collection)
    held = [open_watch(port, collection, at) for _ in range(count)]
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
    assert code == 201
    return {"KiB each": round(grown / count / 1024, 1), "create answered, ms": round(answered * 1000, 1), "all told, ms": round(done * 1000)}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", required=True), ap.add_argument("--apiserver"), ap.add_argument("--seconds", type=float, default=3), ap.add_argument("--starts", type=int, default=5)
    ap.add_argument("--objects", type=int, default=100000), ap.add_argument("--watchers", type=int, default=10000), ap.add_argument("--json"), ap.add_argument("--port", default="0")
    a = ap.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    crd = os.path.join(HERE, "gadgets.crd.yaml")
    servers = {"serve": [a.binary, "serve", "--port", "0"]}
    if a.apiserver:
        servers["real"] = [a.apiserver, "-port", a.port]
    results = {}
    for name, command in servers.items():
        print(f"== {name}", flush=True)
        results[name] = {}
        for key, value in measure(command, a, crd, name == "serve"):
            results[name][key] = value
            print(f"{key:70} {value}", flush=True)
    if a.apiserver:
        print("== serve in times the real one")
        for n in (1, 2, 4):
            key = f"creates/s on {n}"
            print(f"{key:70} {results['serve'][key] / max(results['real'][key], 1):.1f}")
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

DEPLOYMENT = {
    "apiVersion": "apps/v1", "kind": "Deployment",
    "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{
                "name": "main", "image": "images.example.com/team/web:1.2", "args": ["run", "--verbose"],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}], "ports": [{"name": "http", "containerPort": 8080}],
                "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}, "limits": {"memory": "2Gi"}},
                "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}, "periodSeconds": 5}}]}}},
}

if __name__ == "__main__":
    main()
