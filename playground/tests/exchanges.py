#!/usr/bin/env python3
"""Sends 500 recorded requests of ../shared/conformance to the native build of the engine, and writes every request with the engine's
answer to a file, for browser.js, which sends the same requests to the engine in the page. Prints how many answers equal those of
the real server.

usage: exchanges.py ANSWERS OUT      ANSWERS is target/debug/examples/answers
"""
import glob, gzip, json, os, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.join(HERE, "..", "..", "..", "shared", "conformance")
sys.path.insert(0, CONFORMANCE)
from replay import replay  # noqa: E402

WANTED = 500
# Every seventh CRD, and the beginning of each scenario: later exchanges need the earlier ones.
STEP, LONGEST = 7, 14


class Engine:
    """The engine as the server of `replay`; remembers what it was asked."""

    def __init__(self, program):
        self.child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.calls = []

    def send(self, exchange):
        self.child.stdin.write(json.dumps({"action": "exchange", "exchanges": [exchange]}) + "\n")
        self.child.stdin.flush()
        answer = json.loads(self.child.stdout.readline())["responses"][0]
        self.calls.append([exchange, answer])
        return answer

    def call(self, method, path, body=None, content_type=None, accept="application/json"):
        exchange = {"method": method, "path": path, "accept": accept}
        if body is not None:
            exchange["contentType"] = content_type or "application/json"
            exchange["body"] = body if isinstance(body, str) else json.dumps(body)
        answer = self.send(exchange)
        try:
            parsed = json.loads(answer["body"])
        except ValueError:
            parsed = answer["body"]
        return answer["code"], answer["warnings"], parsed


def scenarios():
    """The exchanges of each scenario, and the folder that their files are named from."""
    for kind, step in (("projects", STEP), ("tables", 1)):
        for file in sorted(glob.glob(f"{CONFORMANCE}/data/{kind}/**/*.json.gz", recursive=True))[::step]:
            recorded = json.load(gzip.open(file))
            for scenario in recorded.get("scenarios", [recorded]):
                yield scenario["exchanges"], os.path.dirname(os.path.dirname(file))


def main():
    program, out = sys.argv[1:]
    engine, count, same = Engine(program), 0, 0
    for exchanges, folder in scenarios():
        exchanges = exchanges[: min(LONGEST, WANTED - count)]
        engine.send({"reset": True})
        # The clean-up at the end of `replay` is not needed: it runs only if the generator is exhausted.
        replayed = replay(engine, exchanges + [None], folder, 0)
        for _ in exchanges:
            _, _, is_same = next(replayed)
            count, same = count + 1, same + is_same
        replayed.close()
        if count == WANTED:
            break
    with open(out, "w") as file:
        json.dump(engine.calls, file)
    print(f"recorded exchanges: {count}, answered as the real server: {same}, requests sent: {len(engine.calls)}")


if __name__ == "__main__":
    main()
