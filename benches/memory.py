#!/usr/bin/env python3
"""Measures the peak memory of `get -f` and `serve --load` on many objects.

usage: memory.py --binary target/dist/kubectl-crdx [--megabytes N] [--json FILE]

get      `get gadgets -A -f FILE`: peak resident memory in MiB; the limit is 400 for 200 MB of YAML
sorted   the same with --sort-by
serve    `serve --load FILE`: peak resident memory, and resident memory when it is ready, in multiples of the objects' JSON; the limit is 2.5

The script generates the objects, 100 per file in one directory; the CRD is benches/gadgets.crd.yaml.
"""
import argparse, json, os, subprocess, sys, tempfile, threading

HERE = os.path.dirname(os.path.abspath(__file__))


def value(number):
    """An object of about 900 bytes of YAML, and its JSON."""
    env = [{"name": f"VARIABLE_{i}", "value": f"a value of {number} and {i}"} for i in range(8)]
    return {
        "apiVersion": "bench.example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": f"gadget-{number:07}", "namespace": f"team-{number % 40}", "labels": {"app": f"app-{number % 500}"}},
        "spec": {
            "replicas": number % 9 + 1,
            "schedule": "5 0 * * *",
            "template": {"image": f"registry.example.com/gadgets/{number}:1.{number % 30}", "command": ["run", "--number", str(number)], "env": env},
        },
    }


def yaml(node, indent=0):
    pad = "  " * indent
    if isinstance(node, dict):
        return "".join(f"{pad}{key}:" + (f"\n{yaml(child, indent + 1)}" if isinstance(child, (dict, list)) else f" {json.dumps(child)}\n") for key, child in node.items())
    return "".join(f"{pad}- {yaml(child, indent + 1).lstrip()}" if isinstance(child, dict) else f"{pad}- {json.dumps(child)}\n" for child in node)


def write_objects(directory, size):
    """Writes `size` bytes of YAML; gives the number of objects and the bytes of their JSON."""
    number, written, as_json = 0, 0, 0
    while written < size:
        with open(os.path.join(directory, f"{number:07}.yaml"), "w") as out:
            for number in range(number, number + 100):
                document = value(number)
                text = "---\n" + yaml(document)
                written += len(text)
                as_json += len(json.dumps(document, separators=(",", ":")))
                out.write(text)
        number += 1
    return number, as_json


def status(pid, field):
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))


def peak_of_get(binary, crd, objects, flags):
    """The peak of a child, or that of this script when it starts the child if that is larger."""
    child = subprocess.Popen([binary, "get", "gadgets", "-A", "-f", objects, "--crds", crd, "--offline", *flags], stdout=subprocess.PIPE)
    lines = sum(chunk.count(b"\n") for chunk in iter(lambda: child.stdout.read(1 << 16), b""))
    _, code, usage = os.wait4(child.pid, 0)
    if code:
        sys.exit(f"get ended with {os.waitstatus_to_exitcode(code)}")
    return usage.ru_maxrss * 1024, lines - 1


def memory_of_serve(binary, crd, objects):
    child = subprocess.Popen([binary, "serve", "--load", crd, "--load", objects, "--offline"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    messages = []
    reader = threading.Thread(target=lambda: messages.extend(child.stderr))
    reader.start()
    if not child.stdout.readline():
        child.wait()
        reader.join()
        sys.exit(b"".join(messages[:5]).decode())
    peak, now = status(child.pid, "VmHWM"), status(child.pid, "VmRSS")
    child.terminate()
    child.wait()
    reader.join()
    return peak, now


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--json")
    args = parser.parse_args()
    crd, found = os.path.join(HERE, "gadgets.crd.yaml"), {}
    with tempfile.TemporaryDirectory() as objects:
        count, as_json = write_objects(objects, args.megabytes * 10**6)
        print(f"{count} objects, {args.megabytes} MB of YAML, {as_json / 1e6:.0f} MB of JSON", flush=True)
        for name, flags in [("get", []), ("sorted", ["--sort-by=.spec.replicas"])]:
            peak, rows = peak_of_get(args.binary, crd, objects, flags)
            if rows != count:
                sys.exit(f"{rows} rows were printed")
            found[name] = round(peak / 2**20)
            print(f"{name:8} {found[name]} MiB", flush=True)
        peak, now = memory_of_serve(args.binary, crd, objects)
        found["serve"], found["serving"] = round(peak / as_json, 2), round(now / as_json, 2)
        print(f"serve    {found['serve']} times the JSON at its peak, {found['serving']} times once it serves")
    if args.json:
        with open(args.json, "w") as out:
            json.dump(found, out)


if __name__ == "__main__":
    main()
