#!/usr/bin/env python3
"""Creates DeviceClasses with random CEL expressions on the real kube-apiserver and on that of envtest, and counts the responses that differ.

usage: device_expressions.py FOLDER --envtest FOLDER [--count 1000] [--seed 1]

FOLDER has kube-apiserver and etcd (tests/apiserver/kube-apiserver.sh builds them), --envtest names the folder that `kubectl crdx envtest` printed. Every
request is a dry run. The responses differ in their code or message. The expressions nest loops, so that about half of those that compile are too costly.
"""
import collections, json, os, random, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]
import control_plane

STRINGS = ["device.driver", "'a.b'", "device.attributes['a.b'].model", "device.attributes['a.b']['model']", "'a' + device.driver"]
MAPS = ["device.attributes['a.b']", "device.attributes", "device.capacity", "device.capacity['a.b']"]
CALLS = ["lowerAscii()", "trim()", "replace('a', 'bb')", "substring(1)"]
TESTS = ["size() > 1", "isSorted()", "indexOf('a') > 0", "join(',') == ''"]


class Expressions:
    """Random expressions. `names` are the variables in scope, with their types as in the methods."""

    def __init__(self, chance):
        self.chance, self.last = chance, 0

    def name(self):
        self.last += 1
        return f"v{self.last}"

    @staticmethod
    def known(names, kind):
        return [name for name, its_kind in names if its_kind == kind]

    def text(self, depth, names):
        pick, chance, known = self.chance.random(), self.chance, self.known(names, "text")
        if known and pick < 0.4:
            return chance.choice(known)
        if depth > 0 and pick < 0.5:
            return f"{self.text(depth - 1, names)}.{chance.choice(CALLS)}"
        if depth > 0 and pick < 0.6:
            return f"({self.condition(depth - 1, names)} ? {self.text(depth - 1, names)} : {self.text(depth - 1, names)})"
        return chance.choice(STRINGS)

    def list(self, depth, names):
        pick, chance, known = self.chance.random(), self.chance, self.known(names, "list")
        if known and pick < 0.3:
            return chance.choice(known)
        if depth > 0 and pick < 0.5:
            name = self.name()
            return f"{self.range(depth - 1, names)}.map({name}, {self.text(depth - 1, [*names, (name, 'text')])})"
        if depth > 0 and pick < 0.6:
            name = self.name()
            return f"{self.list(depth - 1, names)}.filter({name}, {self.condition(depth - 1, [*names, (name, 'text')])})"
        if pick < 0.7:
            return f"{self.text(depth - 1, names)}.split(',')"
        return "[" + ", ".join(self.text(depth - 1, names) for _ in range(chance.randint(1, 3))) + "]"

    def range(self, depth, names):
        return self.chance.choice(MAPS) if self.chance.random() < 0.6 else self.list(depth, names)

    def condition(self, depth, names):
        pick, chance = self.chance.random(), self.chance
        if depth <= 0 or pick < 0.15:
            return chance.choice([
                f"{self.text(0, names)} == {self.text(0, names)}", f"{self.text(0, names)}.contains({self.text(0, names)})", "device.attributes['a.b'].flag",
                f"{self.text(0, names)}.matches('{chance.choice(['^a+$', 'a', '(x|y)*z', '['])}')", f"{self.text(0, names)} in {chance.choice(MAPS)}",
                f"{chance.choice(MAPS)}.size() > 1", "device.allowMultipleAllocations", "has(device.attributes['a.b'].model)",
                "device.capacity['a.b'].memory.compareTo(quantity('1Gi')) >= 0", "device.attributes['a.b'].version.isGreaterThan(semver('1.0.0'))",
                "device.capacity['a.b'].memory.isGreaterThan(device.capacity['c.d'].memory)", f"device.attributes[{self.text(0, names)}].n > 3",
                f"'a' in device.attributes[{self.text(0, names)}]", f"{self.text(0, names)}.startsWith('a')", "device.attributes['a.b'].n", "device.other", "1",
                f"semver({self.text(0, names)}).major() > 1", "device.attributes['a.b'].?model.orValue('') == ''",
            ])
        if pick < 0.35:
            return f"({self.condition(depth - 1, names)} {chance.choice(['&&', '||'])} {self.condition(depth - 1, names)})"
        if pick < 0.4:
            return f"!{self.condition(depth - 1, names)}"
        if pick < 0.7:
            name = self.name()
            return f"{self.range(depth - 1, names)}.{chance.choice(['all', 'exists', 'exists_one'])}({name}, {self.condition(depth - 1, [*names, (name, 'text')])})"
        if pick < 0.76:
            one, two = self.name(), self.name()
            return f"{self.range(depth - 1, names)}.all({one}, {two}, {self.condition(depth - 1, [*names, (one, 'text'), (two, 'text')])})"
        if pick < 0.9:
            name, kind = self.name(), chance.choice(["text", "list"])
            value = self.text(depth - 1, names) if kind == "text" else self.list(depth - 1, names)
            target = chance.choices(["cel", "device"], [20, 1])[0]
            name = name if chance.random() < 0.97 else f"{name}.a"
            return f"{target}.bind({name}, {value}, {self.condition(depth - 1, [*names, (name, kind)])})"
        return f"{self.list(depth - 1, names)}.{chance.choice(TESTS)}"


def main():
    args = control_plane.random_parser(__doc__).parse_args()
    work, chance = tempfile.mkdtemp(prefix="device-expressions-"), random.Random(args.seed)
    codes, same = collections.Counter(), 0
    with control_plane.real_and_simulated(args.folder, args.envtest, work) as servers:
        for _ in range(args.count):
            expression = Expressions(chance).condition(chance.randint(1, 5), [])
            given = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "a"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
            answers = []
            for server in servers:
                code, body, _ = server.send("POST", "/apis/resource.k8s.io/v1/deviceclasses?dryRun=All", json.dumps(given), {"Content-Type": "application/json"})
                answers.append((code, body.get("message") if code >= 300 else ""))
            real, simulated = answers
            codes[real[0], "too costly" if "cost limit" in real[1] else ""] += 1
            same += real == simulated
            if real != simulated:
                print(f"{expression}\n- {real}\n+ {simulated}")
    print({f"{code} {what}".strip(): count for (code, what), count in sorted(codes.items())})
    print(f"{same} of {args.count} answers are the same")
    sys.exit(same != args.count)


main()
