#!/usr/bin/env python3
"""Runs scenarios with real kubectl against `kubectl-crdx serve` and against the real server, and compares the output.

usage: compare.py --binary target/debug/kubectl-crdx --apiserver PATH [--port N] [--show] SCENARIO...

A scenario is a text file of steps, in order:

    == a section: names the steps below it
    <<< FILE        a file is written, up to the line >>>
    >>>
    <<< FILE FROM DOCUMENT N      the N-th manifest of a document in ../shared/documents (from 1; prefix of its name)
    $ COMMAND       a bash command is run; its output and its exit code are compared
    ~ COMMAND       the same, its output aside: only the exit code is compared
    # anything else is a comment

Every command has a KUBECONFIG for its server, `kubectl-crdx` in $CRDX, a directory of its own and an empty discovery cache. What differs from run to
run is masked: uids, times, ages, resourceVersions and ports. After a step that wrote a CRD the real server is given time to
serve and publish it; `serve` gets none.
"""
import argparse, difflib, os, re, subprocess, sys, tempfile, time

DOCUMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "shared", "documents")
MASKS = [
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uid>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>"),
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}", "<time>"),
    (r"127\.0\.0\.1:\d+", "<host>"),
    (r'("?resourceVersion"?: ?"?)\d+', r"\1<version>"),
    (r"(Resource Version:\s+)\d+", r"\1<version>"),
    (r"(?m)(?<=[ \t])(\d+m)?\d+(s|m)(?=\s|$)", "<age>"),
    (r"(?m)^([EWI])\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", r"\1 "),
    (r"<unknown>(?=\s*$)", "<age>"),
    (r"/tmp/[\w./-]*?/(?=[\w.-]+\.(yaml|json))", ""),
    (r"(?m)^(---|\+\+\+) \S+.*$", r"\1 <file>"),
    (r"(LIVE|MERGED)-\d+", r"\1"),
    (r'(kind-match-)\w+', r"\1*"),
]


def masked(text):
    for pattern, by in MASKS:
        text = re.sub(pattern, by, text)
    # The real server lists several errors in no fixed order.
    lines = text.splitlines()
    errors = sorted(line for line in lines if line.startswith("* "))
    text = "\n".join(errors.pop(0) if line.startswith("* ") else line for line in lines)
    # Ages are as wide as they are long: so are the columns around them.
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line).rstrip() for line in text.splitlines())


def manifest(document, number):
    names = [n for n in sorted(os.listdir(DOCUMENTS)) if n.startswith(document)]
    with open(os.path.join(DOCUMENTS, names[0])) as f:
        lines = f.read().splitlines()
    found = []
    for at, line in enumerate(lines):
        if not line.startswith("apiVersion: "):
            continue
        end = at
        while end < len(lines) and (lines[end].strip() or (end + 1 < len(lines) and lines[end + 1].startswith(" "))):
            end += 1
        found.append("\n".join(lines[at:end]) + "\n")
    return found[number - 1]


def read(path):
    section, steps, lines = "", [], open(path).read().splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith("== "):
            section = line[3:].strip()
        elif line.startswith("<<< "):
            words = line[4:].split()
            if words[1:2] == ["FROM"]:
                text = manifest(words[2], int(words[3]))
            else:
                end = lines.index(">>>", at)
                text = "\n".join(lines[at:end]) + "\n"
                at = end + 1
            steps.append((section, "file", words[0], text))
        elif line[:2] in ("$ ", "~ "):
            steps.append((section, line[0], line[2:], None))
    return steps


def start(command):
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    url = child.stdout.readline().strip()
    if not url.startswith("http"):
        sys.exit(f"compare: {command[0]} did not print its URL but {url!r}")
    return child, url


KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{name: crdx, cluster: {server: "URL"}}]
contexts: [{name: crdx, context: {cluster: crdx, user: crdx}}]
current-context: crdx
users: [{name: crdx, user: {}}]
"""


class Side:
    def __init__(self, url, root, real, binary):
        self.root, self.real, self.binary, self.count = root, real, binary, 0
        os.makedirs(root)
        with open(os.path.join(root, "kubeconfig"), "w") as f:
            f.write(KUBECONFIG.replace("URL", url))

    def run(self, command):
        self.count += 1
        env = {**os.environ, "KUBECONFIG": os.path.join(self.root, "kubeconfig"), "HOME": self.root,
               "CRDX": self.binary, "KUBECACHEDIR": os.path.join(self.root, f"cache-{self.count}"), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        try:
            done = subprocess.run(["bash", "-c", command], cwd=self.root, env=env, capture_output=True, text=True, timeout=120)
            return done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return -1, "no end after 120 s"

    def settle(self):
        if not self.real:
            return
        for _ in range(50):
            text = self.run("kubectl get crd -o jsonpath='{range .items[*]}{.status.conditions[?(@.type==\"Established\")].status}{\"\\n\"}{end}'")[1]
            if "False" not in text:
                break
            time.sleep(0.1)
        time.sleep(2.5)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", required=True), ap.add_argument("--apiserver", required=True)
    ap.add_argument("--port", default="0"), ap.add_argument("--show", action="store_true"), ap.add_argument("scenario", nargs="+")
    a = ap.parse_args()
    binary = os.path.abspath(a.binary)
    bad = total = 0
    for scenario in a.scenario:
        steps = read(scenario)
        with tempfile.TemporaryDirectory(prefix="crdx-kubectl-") as root:
            children = [start([binary, "serve", "--port", "0"]), start([a.apiserver, "-port", a.port])]
            try:
                ours, real = (Side(url, os.path.join(root, name), name == "real", binary) for (_, url), name in zip(children, ("ours", "real")))
                same = 0
                counted = 0
                for section, kind, what, text in steps:
                    if kind == "file":
                        for side in (ours, real):
                            with open(os.path.join(side.root, what), "w") as f:
                                f.write(text)
                        continue
                    counted += 1
                    got, want = ours.run(what), real.run(what)
                    written = any(re.search(rf"\b{re.escape(n)}\b", what) and "CustomResourceDefinition" in open(os.path.join(real.root, n)).read()
                                  for n in os.listdir(real.root) if n.endswith((".yaml", ".json")))
                    if written and re.search(r"\b(apply|create|replace|delete|patch|edit)\b", what) or "crd/" in what or " crd " in what:
                        real.settle()
                    g, w = ([x[0], masked(x[1])] for x in (got, want))
                    if kind == "~":
                        g, w = g[:1], w[:1]
                    if a.show:
                        print(f"[{section}] $ {what}\n{got[1].rstrip()}\n(exit {got[0]})\n")
                    # What never ends on both sides is no answer either.
                    if g == w and want[0] != -1:
                        same += 1
                        continue
                    bad += 1
                    print(f"DIFFERS {os.path.basename(scenario)} / {section}\n  $ {what}\n  exit: real {want[0]}, serve {got[0]}")
                    if kind == "$":
                        for line in difflib.unified_diff(w[1].splitlines(), g[1].splitlines(), "real", "serve", lineterm="", n=1):
                            print("  " + line[:400])
                total += counted
                print(f"{os.path.basename(scenario)}: {same} of {counted} commands print the same", flush=True)
            finally:
                for child, _ in children:
                    child.terminate()
                for child, _ in children:
                    child.wait(20)
    print(f"{total - bad} of {total} commands print the same")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
