#!/usr/bin/env python3
"""Injects faults into `serve --state` and checks that no acknowledged write is lost.

    tests/serve/faults/run.py BINARY [--writes 10000] [--seed 1]

Three clients create, patch and delete objects until the server is killed or answers 500. Then the server is started
again, and every object is compared with the last answer. Prints a table; the exit code is 1 if a write was lost or an
object is wrong. The faults:

- kill: `kill -9` at a random point, until WRITES writes were answered
- full: a tmpfs that fills up, and is enlarged before the next start (needs root)
- no space: for the new file at the start and for the tail of a compaction (needs cc and a dynamically linked BINARY), and /dev/full
  as the file of `--record`
- write, partial, fsync: a write that fails, that stores one half, and a failed fsync (needs cc and a dynamically linked BINARY)
"""

import argparse
import http.client
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
KITES = "/apis/toys.example.com/v1/kites"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "kites.toys.example.com"},
    "spec": {"group": "toys.example.com", "scope": "Cluster", "names": {"plural": "kites", "kind": "Kite"}, "versions": [
        {"name": "v1", "served": True, "storage": True,
         "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
CLIENTS = 3
# The most writes of a client while one fault of preload.c is injected.
MOST_WRITES = 10_000


class Serve:
    """A running server."""

    def __init__(self, binary, state, env=(), args=()):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([binary, "serve", "--state", state, *args], stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env={**os.environ, **dict(env)})
        line = self.process.stdout.readline().strip()
        self.address = line.removeprefix("http://") if line else None
        if not self.address:
            self.process.wait()

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def call(self, method, path, body=None, connection=None):
        """The status code and the object of an answer; raises OSError or HTTPException if there is none."""
        own = connection or http.client.HTTPConnection(self.address, timeout=60)
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        own.request(method, path, json.dumps(body) if body is not None else None, {"content-type": kind})
        answer = own.getresponse()
        text = answer.read()
        if not connection:
            own.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode(errors="replace")

    def install(self):
        code, answer = self.call("POST", CRDS, CRD)
        assert code in (201, 409), answer
        while self.call("GET", KITES)[0] != 200:
            time.sleep(0.01)


class Expected:
    """The objects as answered; None for a removed one."""

    def __init__(self):
        self.objects = {}
        self.doubts = set()  # names whose last write had no answer or failed
        self.acknowledged = 0
        self.refused = 0
        self.lock = threading.Lock()

    def client(self, serve, number, seed, most):
        """Writes until a request fails or `most` writes were answered. Returns the text of a refusal."""
        source = random.Random(seed)
        connection = http.client.HTTPConnection(serve.address, timeout=60)
        for _ in range(most):
            with self.lock:
                own = [n for n, o in self.objects.items() if o and n.startswith(f"k{number}-")]
                name = f"k{number}-{len(self.objects)}-{self.acknowledged}"
            action = source.choices(["POST", "PATCH", "DELETE"], [3, 5, 2])[0] if own else "POST"
            body = {"spec": {"text": "x" * source.choice([10, 100, 1000, 6000]), "number": source.randrange(1000)}}
            path = KITES
            if action == "POST":
                body |= {"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": name}}
            else:
                name = source.choice(own)
                path, body = f"{KITES}/{name}", body if action == "PATCH" else None
            with self.lock:
                self.doubts.add(name)
            try:
                code, answer = serve.call(action, path, body, connection)
            except (OSError, http.client.HTTPException):
                return None
            with self.lock:
                if code not in (200, 201):
                    self.refused += 1
                    return f"{code} {answer.get('message') if isinstance(answer, dict) else answer}"
                self.doubts.discard(name)
                self.objects[name] = None if action == "DELETE" else answer
                self.acknowledged += 1
        return None

    def write(self, serve, seed, most):
        """Runs the clients and returns the texts of refusals."""
        refusals = []
        threads = [threading.Thread(target=lambda n=n: refusals.append(self.client(serve, n, seed * CLIENTS + n, most)))
                   for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        return threads, refusals

    def check(self, serve):
        """The numbers of lost and of wrong objects of a server that was started again."""
        lost = wrong = 0
        code, answer = serve.call("GET", KITES)
        if code != 200:
            # The CRD was answered before any object.
            return len([o for o in self.objects.values() if o]), 0
        found = {item["metadata"]["name"]: item for item in answer["items"]}
        for name, item in found.items():
            item |= {"apiVersion": "toys.example.com/v1", "kind": "Kite"}
        for name in self.objects.keys() | found.keys() | self.doubts:
            here, wanted = found.get(name), self.objects.get(name)
            if here == wanted:
                continue
            if name in self.doubts:
                # The write without an answer took effect: it must be newer than the last answer.
                version = lambda o: int(o["metadata"]["resourceVersion"]) if o else 0
                if here is None or version(here) > version(wanted):
                    self.objects[name] = here
                    continue
            if here is None or wanted and int(here["metadata"]["resourceVersion"]) < int(wanted["metadata"]["resourceVersion"]):
                lost += 1
                print(f"lost: {name}", file=sys.stderr)
            else:
                wrong += 1
                print(f"wrong: {name}: {here}, not {wanted}", file=sys.stderr)
        self.doubts.clear()
        return lost, wrong


class Table:
    def __init__(self):
        self.rows = []

    def add(self, fault, injected, expected, lost, wrong):
        self.rows.append((fault, injected, expected.acknowledged, expected.refused, lost, wrong))
        print(f"{fault}: {injected} faults, {lost} lost, {wrong} wrong", file=sys.stderr)

    def show(self):
        print("| fault | injected | answered writes | refused with 500 | lost | wrong |")
        print("|---|---|---|---|---|---|")
        for row in self.rows:
            print("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in row) + " |")
        return any(row[4] or row[5] for row in self.rows)


def refused_with(refusals, text):
    """The refusals of a failed state file must all have this text."""
    refusals = [r for r in refusals if r]
    assert refusals, "no request was refused"
    for refusal in refusals:
        assert refusal.startswith("500 ") and text in refusal, refusal


def still_refused(serve, text):
    for method, path in ("GET", KITES), ("POST", KITES), ("GET", "/readyz"):
        code, answer = serve.call(method, path, {} if method == "POST" else None)
        assert code == 500 and text in answer["message"], (method, path, code, answer)


def kill(binary, directory, writes, source):
    state, expected, faults, lost, wrong = f"{directory}/state", Expected(), 0, 0, 0
    while expected.acknowledged < writes:
        serve = Serve(binary, state)
        assert serve.address, serve.stderr()
        l, w = expected.check(serve) if faults else (0, 0)
        lost, wrong = lost + l, wrong + w
        serve.install()
        threads, _ = expected.write(serve, source.randrange(1 << 30), writes)
        time.sleep(source.uniform(0, 0.6))
        serve.kill()
        faults += 1
        for thread in threads:
            thread.join()
    serve = Serve(binary, state)
    l, w = expected.check(serve)
    serve.kill()
    return faults, expected, lost + l, wrong + w


def tmpfs(binary, directory, rounds, source):
    state, expected, lost, wrong, size = f"{directory}/disk/state", Expected(), 0, 0, 512
    os.mkdir(f"{directory}/disk")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", f"{directory}/disk"], check=True)
    try:
        for _ in range(rounds):
            serve = Serve(binary, state)
            assert serve.address, serve.stderr()
            serve.install()
            threads, refusals = expected.write(serve, source.randrange(1 << 30), 1 << 30)
            for thread in threads:
                thread.join()
            refused_with(refusals, "No space left on device (os error 28): free disk space and start again")
            still_refused(serve, "free disk space and start again; acknowledged writes are kept")
            serve.kill()
            # A start rewrites the file in the free space, or ends with an error.
            while not (serve := Serve(binary, state)).address:
                assert serve.process.returncode == 2 and "No space left" in serve.stderr(), serve.stderr()
                size += source.randrange(100, 1000)
                subprocess.run(["mount", "-o", f"remount,size={size}k", f"{directory}/disk"], check=True)
            l, w = expected.check(serve)
            lost, wrong = lost + l, wrong + w
            serve.kill()
    finally:
        subprocess.run(["umount", f"{directory}/disk"], check=True)
    return rounds, expected, lost, wrong


def no_space(binary, directory, library, source):
    state, expected = f"{directory}/state", Expected()
    env = {"LD_PRELOAD": library, "FAULT": "full", "FAULT_DIRECTORY": f"{directory}/"}
    # The new file.
    serve = Serve(binary, state, env | {"FAULT_SUFFIX": ".new"})
    assert serve.process.returncode == 2 and f"cannot write {state}: No space left" in serve.stderr(), serve.stderr()
    assert os.path.getsize(state) == 0 and not os.path.exists(f"{state}.new")
    # The tail of a compaction, which starts at 4 MiB.
    serve = Serve(binary, state, env | {"FAULT_SUFFIX": ".tail"})
    serve.install()
    threads, refusals = expected.write(serve, source.randrange(1 << 30), 1 << 30)
    for thread in threads:
        thread.join()
    refused_with(refusals, "No space left on device")
    serve.kill()
    # The file of --record: requests are answered, with a warning.
    serve = Serve(binary, state, args=["--record", "/dev/full"])
    lost, wrong = expected.check(serve)
    threads, refusals = expected.write(serve, source.randrange(1 << 30), 20)
    for thread in threads:
        thread.join()
    assert refusals == [None] * CLIENTS, refusals
    assert "warning: an exchange could not be recorded" in serve.stderr(), serve.stderr()
    serve.kill()
    serve = Serve(binary, state)
    l, w = expected.check(serve)
    serve.kill()
    return 3, expected, lost + l, wrong + w


def preload(binary, directory, library, fault, rounds, source):
    state, expected, faults, lost, wrong = f"{directory}/state", Expected(), 0, 0, 0
    texts = {"write": "cannot be written: Input/output error (os error 5): check the disk and start again",
             "partial": "cannot be written: No space left on device (os error 28): free disk space and start again",
             "sync": "cannot be synced to disk: Input/output error (os error 5): check the disk and start again"}
    while faults < rounds:
        serve = Serve(binary, state)
        serve.install()
        serve.kill()
        at = source.randrange(1, 4) if fault == "sync" else source.randrange(1, 60)
        env = {"LD_PRELOAD": library, "FAULT": fault, "FAULT_DIRECTORY": f"{directory}/", "FAULT_AT": str(at)}
        serve = Serve(binary, state, env)
        faults += 1
        if serve.address:
            threads, refusals = expected.write(serve, source.randrange(1 << 30), MOST_WRITES)
            for thread in threads:
                thread.join()
            if fault == "sync" and "cannot be written anew and grows: Input/output error (os error 5)" in serve.stderr():
                # The fault hit the new file of a compaction: the old file and its tail are complete, and writes go on.
                assert not any(refusals), refusals
            else:
                refused_with(refusals, texts[fault])
                still_refused(serve, texts[fault])
            serve.kill()
        else:
            assert serve.process.returncode == 2 and f"cannot write {state}" in serve.stderr(), serve.stderr()
        serve = Serve(binary, state)
        assert serve.address, serve.stderr()
        l, w = expected.check(serve)
        lost, wrong = lost + l, wrong + w
        serve.kill()
    return faults, expected, lost, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--writes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    binary, source, table = os.path.abspath(options.binary), random.Random(options.seed), Table()
    with tempfile.TemporaryDirectory() as root:
        def fresh(name):
            os.mkdir(f"{root}/{name}")
            return f"{root}/{name}"
        table.add("`kill -9`", *kill(binary, fresh("kill"), options.writes, source))
        if os.geteuid() == 0:
            table.add("tmpfs fills up", *tmpfs(binary, fresh("tmpfs"), 10, source))
        else:
            print("skipped: tmpfs needs root", file=sys.stderr)
        library, code = f"{root}/preload.so", os.path.join(os.path.dirname(os.path.abspath(__file__)), "preload.c")
        if shutil.which("cc"):
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, code, "-ldl"], check=True)
            for fault, title in ("write", "`write` fails: EIO"), ("partial", "`write` stores one half, then ENOSPC"), ("sync", "`fsync` fails: EIO"):
                table.add(title, *preload(binary, fresh(fault), library, fault, 20, source))
            table.add("no space for a file beside it", *no_space(binary, fresh("full"), library, source))
        else:
            print("skipped: failing writes and fsync need cc", file=sys.stderr)
    sys.exit(table.show())


if __name__ == "__main__":
    main()
