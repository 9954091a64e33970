#!/usr/bin/env python3
"""Measures many watches of many objects under constant writes, of `kubectl-crdx serve` and of the real server.

usage: watches.py --binary target/dist/kubectl-crdx [--apiserver PATH] [--clients N,N,…] [--objects 10000] [--writes 1000] [--seconds 10] [--json FILE]

Each row is a run with a new server: so many clients watch all objects in one namespace, while one client sends merge patches at the given rate, or as fast as they
are answered. The clients read in another process and share the processors of the machine with the server.

writes/s    the patches that were answered             delay    from the patch to its event at every 50th client, in ms: the median and 99 %
events/s    the events that all clients received       MiB      the resident memory of the server with the watches, before the writes and at most during them
apiserver is the real CRD server, as for serve.py.
"""
import argparse, json, multiprocessing, os, re, resource, selectors, statistics, threading, time

from serve import Connection, HERE, SPEC, creates, open_watch, rss, serving, version

SENT = re.compile(rb'"sent":"([0-9]+)"')
EVENT = b'"type":"MODIFIED"'


def read_watches(port, collection, at, clients, ready, stop, out):
    """Opens the watches and reads until `stop` is set."""
    chosen = selectors.EpollSelector()
    for number in range(clients):
        watch = open_watch(port, collection, at)
        watch.socket.setblocking(False)
        chosen.register(watch.socket, selectors.EVENT_READ, bytearray() if number % 50 == 0 else None)
    ready.set()
    delays, events, buffer = [], 0, bytearray(1 << 20)
    while not stop.is_set():
        for key, _ in chosen.select(0.2):
            try:
                got = key.fileobj.recv_into(buffer)
            except BlockingIOError:
                continue
            if key.data is None:
                continue
            now = time.monotonic_ns()
            key.data.extend(memoryview(buffer)[:got])
            end = key.data.rfind(b"\n") + 1
            delays.extend((now - int(sent)) / 1e6 for sent in SENT.findall(key.data[:end]))
            events += key.data.count(EVENT, 0, end)
            del key.data[:end]
    out.put((events, delays))


def run(command, clients, a):
    """The figures of one row."""
    sample = {"spec": SPEC}
    child, port, c, collection = serving(command, os.path.join(HERE, "gadgets.crd.yaml"), sample)
    try:
        creates(port, sample, collection, 2, "o", most=a.objects // 2)
        ready, stop, out = multiprocessing.Event(), multiprocessing.Event(), multiprocessing.Queue()
        reader = multiprocessing.Process(target=read_watches, args=(port, collection, version(c, collection), clients, ready, stop, out))
        reader.start()
        ready.wait()
        before, highest, over = rss(child.pid), 0, threading.Event()

        def look():
            nonlocal highest
            while not over.wait(0.1):
                highest = max(highest, rss(child.pid))

        looker = threading.Thread(target=look)
        looker.start()
        writer, begin, written = Connection(port), time.monotonic(), 0
        while (passed := time.monotonic() - begin) < a.seconds:
            if written > passed * a.writes:
                time.sleep(max(written / a.writes - passed, 0))
            patch = {"metadata": {"annotations": {"sent": str(time.monotonic_ns())}}}
            code, body = writer.call("PATCH", f"{collection}/o-{written % 2}-{written // 2 % (a.objects // 2)}", json.dumps(patch).encode(), "application/merge-patch+json")
            assert code == 200, body[:300]
            written += 1
        seconds = time.monotonic() - begin
        time.sleep(1)
        over.set()
        looker.join()
        stop.set()
        events, delays = out.get()
        reader.join()
    finally:
        child.kill()
        child.wait(30)
    sampled = -(-clients // 50)
    delays.sort()
    return {
        "clients": clients,
        "writes/s": round(written / seconds),
        "events/s": round(events / sampled * clients / seconds),
        "complete": events == written * sampled,
        "delay": [round(statistics.median(delays), 2), round(delays[len(delays) * 99 // 100], 2)],
        "MiB": [round(before / 2**20, 1), round(max(highest, before) / 2**20, 1)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--apiserver")
    parser.add_argument("--clients", default="1,100,1000")
    parser.add_argument("--objects", type=int, default=10000)
    parser.add_argument("--writes", type=float, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json")
    a = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    servers = {"serve": [a.binary, "serve", "--port", "0"]}
    if a.apiserver:
        servers["real"] = [a.apiserver, "-port", "0"]
    found = []
    print(f"{'server':8}{'clients':>8}{'writes/s':>10}{'events/s':>10}{'delay, ms (median, 99 %)':>26}{'MiB before, at most':>22}")
    for clients in map(int, a.clients.split(",")):
        for name, command in servers.items():
            row = {"server": name, **run(command, clients, a)}
            found.append(row)
            delay, memory = ("{} {}".format(*row[key]) for key in ("delay", "MiB"))
            lost = "" if row["complete"] else "  (events were late or lost)"
            print(f"{name:8}{clients:8}{row['writes/s']:10}{row['events/s']:10}{delay:>26}{memory:>22}{lost}", flush=True)
    if a.json:
        with open(a.json, "w") as out:
            json.dump(found, out, indent=1)


if __name__ == "__main__":
    main()
