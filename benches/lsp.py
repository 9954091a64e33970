#!/usr/bin/env python3
"""Measures how long the language server takes to respond to an edit, with a file of 1,000 lines and a CRD of 1.5 MB in the workspace,
and its memory with 500 open files of 200 lines.

usage: benches/lsp.py BINARY [EDITS]
"""
import json, os, subprocess, sys, tempfile, time

binary = os.path.abspath(sys.argv[1])
edits = int(sys.argv[2]) if len(sys.argv) > 2 else 500
LINES = 1000
FILES, FILE_LINES = 500, 200


def definition():
    """A CRD of about 1.5 MB: many documented fields beside those of the file, and some rules."""
    fields = {f"field{n}": {"type": "string", "maxLength": 100, "description": "A field that is not used. " * 8} for n in range(5200)}
    items = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "maxLength": 64}, "port": {"type": "integer", "minimum": 1, "maximum": 65535}},
             "x-kubernetes-validations": [{"rule": "self.port != 22 || self.name == 'ssh'"}]}
    spec = {"type": "object", "properties": {**fields, "items": {"type": "array", "maxItems": 1000, "items": items}},
            "x-kubernetes-validations": [{"rule": "!has(self.items) || self.items.all(i, i.name.size() > 0)"}]}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}
    names = {"plural": "larges", "singular": "large", "kind": "Large", "listKind": "LargeList"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "larges.bench.example.com"},
            "spec": {"group": "bench.example.com", "scope": "Namespaced", "names": names, "versions": [version]}}


class Server:
    def __init__(self, folder):
        self.process = subprocess.Popen([binary, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        root = {"uri": f"file://{folder}", "name": "w"}
        self.send({"id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}, "workspaceFolders": [root]}})
        while self.receive().get("id") != 1:
            pass
        self.send({"method": "initialized", "params": {}})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.startswith(b"Content-Length: "):
                length = int(line[16:])
        return json.loads(self.process.stdout.read(length))

    def diagnostics(self):
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                return message["params"]["diagnostics"]

    def open(self, uri, text):
        document = {"uri": uri, "languageId": "yaml", "version": 0, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def memory(self, name):
        """VmRSS or VmHWM, the highest so far, in MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return int(next(line.split()[1] for line in status if line.startswith(name))) / 1024

    def processor(self):
        """The processor time used so far, in seconds. Unlike the time that passes, it does not depend on other programs."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.kill()
        self.process.wait()


HEAD = "apiVersion: bench.example.com/v1\nkind: Large\nmetadata: {name: a}\nspec:\n  items:\n"


def items(lines):
    return "".join(f"  - name: item{n}\n    port: {n + 1000}\n" for n in range((lines - HEAD.count("\n")) // 2))


def port_line(edit, lines):
    """The edits are spread over the ports of a file."""
    count = (lines - HEAD.count("\n")) // 2
    return HEAD.count("\n") + 2 * (edit // 2 * 7 % count) + 1


def edited(server, uri, line, edit):
    """The time of one edit: the port becomes 0000, an invalid value, and 1234 in turns."""
    at = {"start": {"line": line, "character": 10}, "end": {"line": line, "character": 14}}
    change = {"range": at, "text": "0000" if edit % 2 == 0 else "1234"}
    start = time.perf_counter()
    server.send({"method": "textDocument/didChange", "params": {"textDocument": {"uri": uri, "version": edit + 1}, "contentChanges": [change]}})
    found = server.diagnostics()
    taken = time.perf_counter() - start
    assert len(found) == (1 if edit % 2 == 0 else 0), found
    return taken


def percentiles(times):
    times.sort()
    return f"median {times[len(times) // 2] * 1000:.1f} ms, p99 {times[len(times) * 99 // 100] * 1000:.1f} ms"


with tempfile.TemporaryDirectory() as folder:
    crd = json.dumps(definition())
    with open(f"{folder}/crd.json", "w", encoding="utf-8") as file:
        file.write(crd)
    text, uri = HEAD + items(LINES), f"file://{folder}/large.yaml"
    server = Server(folder)
    start = time.perf_counter()
    server.open(uri, text)
    assert server.diagnostics() == []
    opened = time.perf_counter() - start
    before = server.processor()
    times = [edited(server, uri, port_line(edit, LINES), edit) for edit in range(edits)]
    each = (server.processor() - before) / edits
    print(f"CRD {len(crd) / 1e6:.2f} MB, file {text.count(chr(10))} lines, {edits} edits")
    print(f"open {opened * 1000:.1f} ms; edit {percentiles(times)}, {each * 1000:.1f} ms of processor time; peak memory {server.memory('VmHWM'):.0f} MiB")
    server.end()

    server = Server(folder)
    uris = [f"file://{folder}/{n}.yaml" for n in range(FILES)]
    start = time.perf_counter()
    for uri in uris:
        server.open(uri, HEAD + items(FILE_LINES))
        assert server.diagnostics() == []
    opened = time.perf_counter() - start
    times = [edited(server, uris[edit // 2 % FILES], port_line(edit // 2, FILE_LINES), edit) for edit in range(edits)]
    print(f"{FILES} open files of {FILE_LINES - 1} lines, opened in {opened:.1f} s; edit {percentiles(times)}; "
          f"memory {server.memory('VmRSS'):.0f} MiB, at most {server.memory('VmHWM'):.0f} MiB")
    server.end()
