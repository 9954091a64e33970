#!/usr/bin/env python3
"""Starts `serve`, attacks it with slow clients or hostile requests, and measures its memory and the time of a request.

    tests/serve/attacks/clients.py BINARY [READERS] [SENDERS]

READERS (100) clients request a list of 30 MB and do not read the answer; SENDERS (500) clients send a body of 1 MB a few
bytes at a time. Meanwhile, an object is created every half second. The program exits with 1 if the process ever needs
more than 500 MB (the stored objects included), or a POST takes more than 5 s.
"""

import contextlib
import http.client
import json
import os
import re
import resource
import socket
import subprocess
import sys
import threading
import time

from inputs import crd, foo
from limits import MEMORY, SECONDS

PATH = "/apis/example.com/v1/namespaces/default/foos"
OBJECTS, SIZE = 30, 1_000_000
SECONDS_OF_ATTACK = float(os.environ.get("ATTACK_SECONDS", 20))
JSON = {"Content-Type": "application/json"}


def send(port, method, path, body=None, headers=JSON):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status


def memory(process):
    """The resident memory of a process and the largest one so far, in MB."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        found = dict(re.findall(r"(VmRSS|VmHWM):\s*(\d+) kB", file.read()))
    return int(found["VmRSS"]) >> 10, int(found["VmHWM"]) >> 10


# The list in all forms, and a watch that begins with all objects.
LISTS = [("", "application/json"), ("", "application/json;as=Table;v=v1;g=meta.k8s.io"), ("", "application/yaml"), ("?watch=true&resourceVersion=0", "application/json")]


def read_nothing(port, query, accept):
    """A client that requests the list and does not read it."""
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(f"GET {PATH}{query} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\n\r\n".encode())
    return client


def send_slowly(port):
    """A client that announces a body of 1 MB and sends its beginning."""
    client = socket.create_connection(("127.0.0.1", port))
    head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {SIZE}\r\n\r\n"
    client.sendall(head.encode() + b'{"apiVersion":"example.com/v1",' + b" " * 20_000)
    return client


def answers(clients):
    """The number of clients that have received the beginning of an answer to their request."""
    found = 0
    for client, is_sender in clients:
        if not is_sender:
            client.settimeout(0.01)
            try:
                found += client.recv(15) == b"HTTP/1.1 200 OK"
            except OSError:
                pass
    return found


def attack(process, port, readers, senders, lists):
    begun, clients, times, problems = time.monotonic(), [], [], []

    def connect():
        for number in range(readers):
            clients.append((read_nothing(port, *lists[number % len(lists)]), False))
        for _ in range(senders):
            clients.append((send_slowly(port), True))

    def keep_sending():
        while time.monotonic() - begun < SECONDS_OF_ATTACK:
            for client, is_sender in list(clients):
                if is_sender:
                    try:
                        client.send(b" " * 100)
                    except OSError:
                        pass
            time.sleep(0.2)

    threads = [threading.Thread(target=work, daemon=True) for work in (connect, keep_sending)]
    for thread in threads:
        thread.start()
    number = 0
    while time.monotonic() - begun < SECONDS_OF_ATTACK:
        number += 1
        # A large object needs a share of the memory for bodies.
        spec = {"text": "x" * (SIZE if number % 4 == 0 else 1)}
        before = time.monotonic()
        try:
            code = send(port, "POST", f"{PATH}?dryRun=All", json.dumps(foo(spec, name=f"post-{number}")))
        except OSError as error:
            code = error
        times.append(time.monotonic() - before)
        if code != 201:
            problems.append(f"POST {number}: {code} after {times[-1]:.1f} s")
        time.sleep(0.5)
    answered = answers(clients)
    if readers and not answered:
        problems.append("no client received the beginning of a list")
    for client, _ in clients:
        client.close()
    return times, problems


@contextlib.contextmanager
def started(binary):
    """A server: its process and its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([binary, "serve", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                if send(port, "GET", "/readyz") == 200:
                    break
            except OSError:
                time.sleep(0.1)
        yield process, port
    finally:
        process.kill()
        process.wait()


def cpu(process):
    """The CPU time of a process in seconds."""
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def answer(binary, requests):
    """Sends requests one after the other; returns the worst code, the peak memory in MB, the CPU time and the size of the bodies."""
    with started(binary) as (process, port):
        code, size = 0, 0
        try:
            for method, path, value in requests:
                body = json.dumps(value)
                size += len(body)
                answered = send(port, method, path, body)
                code = max(code, answered)
                if path.endswith("/customresourcedefinitions") and answered == 201:
                    names = value["spec"]["names"]["plural"]
                    while len(requests) < 10 and send(port, "GET", f"/apis/example.com/v1/{names}") == 404:
                        time.sleep(0.1)
            return code, memory(process)[1], cpu(process), size
        except (OSError, http.client.HTTPException) as error:
            return repr(error), 0, 0, size


def attacks(binary, readers=100, senders=500):
    """The attacks of slow clients: name, peak memory in MB, the time of the slowest POST, and problems."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with started(binary) as (process, port):
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        assert send(port, "POST", crds, json.dumps(crd())) == 201
        while send(port, "GET", PATH) != 200:
            time.sleep(0.1)
        for number in range(OBJECTS):
            body = json.dumps(foo({"text": "x" * SIZE}, name=f"large-{number}"))
            code = send(port, "POST", PATH, body)
            assert code == 201, code
        for name, counts in [("unread-lists", (readers, 0, LISTS[:1])), ("all-forms", (readers, 0, LISTS)), ("watches", (readers, 0, LISTS[3:])), ("slow-bodies", (0, senders, LISTS)), ("both", (readers, senders, LISTS[:1]))]:
            times, problems = attack(process, port, *counts)
            yield name, memory(process)[1], max(times), problems


def main():
    binary = os.path.abspath(sys.argv[1])
    readers, senders = [int(word) for word in (sys.argv[2:] + ["100", "500"][len(sys.argv) - 2 :])][:2]
    failed = False
    for name, most, seconds, problems in attacks(binary, readers, senders):
        bad = most > MEMORY or seconds > SECONDS or bool(problems)
        failed |= bad
        print(f"{name:14} {most} MB, slowest POST {seconds:.2f} s{'  !' if bad else ''}", flush=True)
        for problem in problems[:5]:
            print("    " + problem)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
