#!/usr/bin/env python3
"""Measures how `validate` reads existing objects from the real kube-apiserver: with a list of each kind and namespace, and with one request for each
object, which is what remains for a user without the right to list.

usage: live.py --assets DIR --binary PATH [--latency MS] [--objects N,N,…] [--others N,N,…] [--json FILE]

assets    the folder with kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh)
latency   the time that a small proxy adds to each round trip (20)
objects   the numbers of existing objects that are validated: Gadgets of gadgets.crd.yaml in one namespace
others    the numbers of further objects in that namespace

Each row is the minimum of three runs, with the requests for Gadgets. Both users read in all other respects the same; the script fails if the verdicts of
a row differ. Before the table it prints how long requests of each sort take, from which the constants in crates/crdx-runner/src/simulation/lookahead/lists.rs follow.
"""
import argparse, asyncio, http.client, json, os, ssl, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "apiserver"))
from control_plane import ControlPlane
from memory import value

GADGETS = "/apis/bench.example.com/v1/namespaces/{}/gadgets"
USERS = {"lists": ["get", "list"], "requests": ["get"]}


class Delay:
    """A proxy on a port of its own, which passes each byte on after half of the latency."""

    def __init__(self, port, latency):
        self.to, self.half, ready = port, latency / 2, threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True).start()
        ready.wait()

    async def serve(self, ready):
        server = await asyncio.start_server(self.connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await server.serve_forever()

    async def connected(self, reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.to)
            await asyncio.gather(self.copy(reader, far_writer), self.copy(far_reader, writer))
        except OSError:
            writer.close()

    async def copy(self, reader, writer):
        """Chunks leave in order, each as long after its arrival as the others."""
        chunks = asyncio.Queue()

        async def send():
            while True:
                at, data = await chunks.get()
                await asyncio.sleep(max(0, at - time.monotonic()))
                if not data:
                    break
                writer.write(data)
                await writer.drain()
            writer.close()

        async def receive():
            while True:
                data = await reader.read(1 << 16)
                chunks.put_nowait((time.monotonic() + self.half, data))
                if not data:
                    break

        await asyncio.gather(send(), receive(), return_exceptions=True)


def prepare(plane, sizes):
    """Creates the CRD, the users, and a namespace for each number of objects."""
    def post(path, body):
        code, answer, _ = plane.send("POST", path, body if isinstance(body, bytes) else json.dumps(body), {"Content-Type": "application/yaml" if isinstance(body, bytes) else "application/json"})
        if code != 201:
            sys.exit(f"POST {path}: {code} {answer}")

    with open(os.path.join(HERE, "gadgets.crd.yaml"), "rb") as crd:
        post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd.read())
    for user, verbs in USERS.items():
        rules = [{"apiGroups": ["bench.example.com"], "resources": ["gadgets"], "verbs": verbs}, {"apiGroups": ["", "apiextensions.k8s.io"], "resources": ["namespaces", "customresourcedefinitions"], "verbs": ["get"]}]
        post("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": user}, "rules": rules})
        post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {"metadata": {"name": user}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": user}, "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}]})
    while plane.send("GET", GADGETS.format("default"))[0] != 200:
        time.sleep(0.2)
    for namespace, size in sizes.items():
        post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        for number in range(size):
            gadget = value(number)
            gadget["metadata"]["namespace"] = namespace
            post(GADGETS.format(namespace), gadget)


def speeds(plane, port, namespace):
    """Prints how long a page takes, and each of many requests for one object, 16 at a time."""
    context = ssl.create_default_context(cafile=f"{plane.folder}/ca.crt")
    context.load_cert_chain(f"{plane.folder}/admin.crt", f"{plane.folder}/admin.key")

    def read(connection, path):
        connection.request("GET", path, headers={"Accept": "application/json"})
        return connection.getresponse().read()

    def seconds(work):
        start = time.monotonic()
        work()
        return time.monotonic() - start

    path = GADGETS.format(namespace)
    connections = [http.client.HTTPSConnection("127.0.0.1", port, context=context) for _ in range(16)]
    for connection in connections:
        read(connection, "/version")
    for limit in (40, 500):
        page = len(read(connections[0], f"{path}?limit={limit}"))
        shortest = min(seconds(lambda: read(connections[0], f"{path}?limit={limit}")) for _ in range(5))
        print(f"a page of {limit} objects, {page} bytes: {shortest * 1000:.1f} ms")

    def some(number):
        for each in range(number, 320, 16):
            read(connections[number], f"{path}/gadget-{each:07}")

    def all_of_them():
        threads = [threading.Thread(target=some, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    print(f"an object, 16 at a time: {min(seconds(all_of_them) for _ in range(3)) / 320 * 1000:.2f} ms\n")


def run(binary, kubeconfig, user, file, cache):
    """The requests and seconds of a run, and its verdicts."""
    command = [binary, "validate", "-f", file, "--kubeconfig", kubeconfig, "--as", user, "--cache-dir", cache, "-v", "6", "-o", "json"]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - start
    if done.returncode not in (0, 1):
        sys.exit(f"exit {done.returncode}: {done.stderr[-2000:]}")
    objects = [line for line in done.stderr.splitlines() if line.startswith("GET ") and "/gadgets" in line]
    return len(objects), seconds, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--latency", type=float, default=20)
    parser.add_argument("--objects", default="16,30,40,50,100,250,500")
    parser.add_argument("--others", default="0,500,5000")
    parser.add_argument("--json")
    args = parser.parse_args()
    counts, others = ([int(number) for number in text.split(",")] for text in (args.objects, args.others))
    rows = []
    with tempfile.TemporaryDirectory() as work, ControlPlane(args.assets, work, {"authorization-mode": "RBAC"}) as plane:
        # A namespace has the objects of all rows that are at most as large, spread over its names.
        namespaces = {f"others-{more}": max(counts) + more for more in others}
        prepare(plane, namespaces)
        delayed = os.path.join(work, "delayed.kubeconfig")
        port = Delay(plane.port, args.latency / 1000).port
        with open(plane.kubeconfig) as given, open(delayed, "w") as out:
            out.write(given.read().replace(f":{plane.port}", f":{port}"))
        speeds(plane, port, next(iter(namespaces)))
        print(f"{'objects':>8}{'others':>8}{'':4}{'with lists':>22}{'one request each':>22}")
        for namespace, size in namespaces.items():
            for count in counts:
                file = os.path.join(work, "objects.yaml")
                with open(file, "w") as out:
                    for index in range(count):
                        gadget = value(index * size // count)
                        gadget["metadata"]["namespace"] = namespace
                        gadget["spec"]["replicas"] = 3
                        out.write("---\n" + json.dumps(gadget) + "\n")
                cells, verdicts = {}, set()
                for user in USERS:
                    runs = [run(args.binary, delayed, user, file, os.path.join(work, "cache")) for _ in range(4)][1:]
                    cells[user] = {"requests": runs[0][0], "seconds": round(min(seconds for _, seconds, _ in runs), 3)}
                    verdicts |= {text for _, _, text in runs}
                if len(verdicts) != 1:
                    sys.exit(f"{count} objects in {namespace}: the verdicts differ")
                rows.append({"objects": count, "others": size - count, **cells})
                texts = (f"{cells[user]['requests']} in {cells[user]['seconds']:.3f} s" for user in USERS)
                print(f"{count:>8}{size - count:>8}{'':4}" + "".join(f"{text:>22}" for text in texts), flush=True)
    if args.json:
        with open(args.json, "w") as out:
            json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main()
