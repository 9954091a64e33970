#!/usr/bin/env python3
"""Measures the cost of admission policies: CPU time of `validate` with policies, in multiples of the same run without them.

usage: policies.py --binary target/release/kubectl-crdx [--objects 1000] [--policies 20] [--json FILE]

Every policy matches every object: half of them read a param, and all have a match condition, a variable and two validations. The limit is
3 times the user and system time of the run without policies, each the minimum of five runs; instructions (callgrind, where valgrind is installed) show the same
ratio without the noise of the machine. The objects are those of memory.py.
"""
import argparse, json, os, resource, subprocess, sys, tempfile

from callgrind import instructions
from memory import HERE, value

LIMIT = 3.0


def policy(number):
    """A policy with its binding."""
    spec = {
        "matchConstraints": {"resourceRules": [{"apiGroups": ["bench.example.com"], "apiVersions": ["*"], "resources": ["gadgets"], "operations": ["CREATE", "UPDATE"]}]},
        "matchConditions": [{"name": "has-template", "expression": "has(object.spec.template)"}],
        "variables": [{"name": "names", "expression": "object.spec.template.env.map(e, e.name)"}],
        "validations": [
            {"expression": f"object.spec.replicas < {number + 20}", "messageExpression": "'too many: ' + string(object.spec.replicas)"},
            {"expression": "variables.names.all(n, n.startsWith('VARIABLE_'))", "message": "name the variables"},
        ],
    }
    binding = {"policyName": f"policy-{number}", "validationActions": ["Deny"]}
    if number % 2:
        spec["paramKind"] = {"apiVersion": "v1", "kind": "ConfigMap"}
        spec["validations"].append({"expression": "object.spec.replicas <= int(params.data.max)"})
        binding["paramRef"] = {"name": "limits", "namespace": "default", "parameterNotFoundAction": "Deny"}
    group = "admissionregistration.k8s.io/v1"
    named = {"name": f"policy-{number}"}
    return [
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": named, "spec": spec},
        {"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": named, "spec": binding},
    ]


def write(path, documents):
    with open(path, "w") as out:
        for document in documents:
            out.write("---\n" + json.dumps(document) + "\n")


def command(binary, flags):
    return [binary, "validate", "--offline", "--jobs", "1", "-q", *flags]


def seconds(binary, flags):
    """The CPU seconds of a run that accepts everything."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command(binary, flags), capture_output=True, text=True, env={**os.environ, "KUBECONFIG": "/nonexistent"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--objects", type=int, default=1000)
    parser.add_argument("--policies", type=int, default=20)
    parser.add_argument("--json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        objects, policies = os.path.join(directory, "objects.yaml"), os.path.join(directory, "policies.yaml")
        write(objects, (value(number) for number in range(args.objects)))
        limits = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "limits", "namespace": "default"}, "data": {"max": "10"}}
        write(policies, [limits, *(document for number in range(args.policies) for document in policy(number))])
        flags = ["-f", objects, "--crds", os.path.join(HERE, "gadgets.crd.yaml")]
        without = min(seconds(args.binary, flags) for _ in range(5))
        with_policies = min(seconds(args.binary, [*flags, "--policies", policies]) for _ in range(5))
        counts = [instructions(command(args.binary, more)) for more in (flags, [*flags, "--policies", policies])]
    ratio = with_policies / without
    print(f"{args.objects} objects: {without:.3f} s of CPU, with {args.policies} policies {with_policies:.3f} s: {ratio:.2f} times (limit {LIMIT})")
    if all(counts):
        print(f"instructions: {counts[0] / 1e6:.1f} M, with policies {counts[1] / 1e6:.1f} M: {counts[1] / counts[0]:.2f} times")
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"objects": args.objects, "policies": args.policies, "without": without, "with": with_policies, "ratio": ratio, "instructions": counts}, out)
    sys.exit(0 if ratio <= LIMIT else 1)


if __name__ == "__main__":
    main()
