#!/usr/bin/env python3
"""Writes a random upgrade of an operator for upgrades.py: FOLDER/old, FOLDER/new and FOLDER/objects.yaml.

Usage: random_upgrade.py SEED FOLDER

Both sides have a CRD and admission policies with bindings. The new CRD has random limits, defaults, list types and rules, among them
transition rules; policies are kept, changed, added and removed.
"""
import copy
import pathlib
import random
import sys

import yaml

GROUP = "pottery.example.com"
PROPERTIES = {
    "heat": {"type": "integer"},
    "fuel": {"type": "string"},
    "shelves": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 20}},
    "owner": {"type": "string"},
    "tags": {"type": "object", "maxProperties": 10, "additionalProperties": {"type": "string", "maxLength": 20}},
    "parts": {
        "type": "array",
        "maxItems": 10,
        "items": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}, "n": {"type": "integer"}}},
    },
    "mode": {"type": "string", "enum": ["a", "b", "c"]},
}
RULES = [
    "!has(self.heat) || self.heat != 7 || oldSelf.heat != self.heat",
    "!has(self.fuel) || self.fuel != 'oil'",
    "!has(self.shelves) || self.shelves.all(s, s != 'x')",
    "!has(self.mode) || !has(oldSelf.mode) || self.mode == oldSelf.mode",
    "has(self.fuel) || has(self.mode)",
    "!has(self.parts) || self.parts.exists_one(p, has(p.n) && p.n == 1)",
    "!has(oldSelf.tags) || has(self.tags) && self.tags.size() != oldSelf.tags.size()",
]
VALIDATIONS = [
    "!has(object.spec.fuel) || object.spec.fuel != 'oil'",
    "!has(object.spec.heat) || object.spec.heat < 900",
    "object.spec.heat > 4",
    "!has(object.spec.shelves) || !('x' in object.spec.shelves)",
    "has(object.spec.owner)",
    "!has(object.spec.parts) || object.spec.parts.all(p, has(p.name))",
    "object.metadata.name.startsWith('k')",
    "request.operation != 'UPDATE' || object.spec == oldObject.spec",
    "!has(object.spec.mode) || object.spec.mode != 'c'",
    "request.operation != 'UPDATE' || has(oldObject.metadata.labels)",
    "!has(object.status)",
    "object.spec.tags.size() < 2",
]
MUTATIONS = [
    "has(object.spec.heat) && object.spec.heat == 9 ? Object{spec: Object.spec{heat: 9000}} : Object{}",
    "!has(object.spec.mode) ? Object{spec: Object.spec{mode: 'c'}} : Object{}",
    "Object{metadata: Object.metadata{labels: {'seen': 'yes'}}}",
    "Object{spec: Object.spec{fuel: 'plutonium'}}",
]
CONDITIONS = [None, None, "!has(object.metadata.labels) || !('exempt' in object.metadata.labels)", "object.spec.heat != 5"]
EXEMPT = {"objectSelector": {"matchExpressions": [{"key": "exempt", "operator": "DoesNotExist"}]}}
VALUES = {
    "heat": [3, 5, 7, 9, 950, 2000],
    "fuel": ["wood", "oil", "coal"],
    "shelves": [["a"], ["a", "b"], ["a", "a"], ["x", "y", "z"]],
    "owner": ["me"],
    "tags": [{"a": "b"}, {"a": "bbb", "c": "d"}, {}],
    "parts": [[{"name": "p", "n": 1}], [{"name": "p"}, {"name": "p"}], [{"n": 1}], [{"name": "q", "n": 1}, {"name": "r", "n": 1}]],
    "mode": ["a", "b", "c"],
}


def rules(operations):
    return {"resourceRules": [{"apiGroups": [GROUP], "apiVersions": ["*"], "resources": ["kilns"], "operations": operations}]}


def object_of(kind, name, spec):
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


class Upgrade:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.scope = self.random.choice(["Namespaced", "Cluster"])
        self.has_status_subresource = self.may(0.5)

    def may(self, probability):
        return self.random.random() < probability

    def crd(self, properties, validations=()):
        spec = {"type": "object", "properties": properties}
        if validations:
            spec["x-kubernetes-validations"] = [{"rule": rule} for rule in validations]
        status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1", "served": True, "storage": True}
        version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}}
        if self.has_status_subresource:
            version["subresources"] = {"status": {}}
        names = {"plural": "kilns", "singular": "kiln", "kind": "Kiln", "listKind": "KilnList"}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"kilns.{GROUP}"},
            "spec": {"group": GROUP, "scope": self.scope, "names": names, "versions": [version]},
        }

    def new_properties(self):
        new = copy.deepcopy(PROPERTIES)
        changes = [
            ("heat", {"maximum": self.random.choice([5, 1000])}),
            ("heat", {"default": 3}),
            ("fuel", {"maxLength": 4}),
            ("fuel", {"default": "wood"}),
            ("shelves", {"x-kubernetes-list-type": "set"}),
            ("shelves", {"maxItems": 2}),
            ("mode", {"enum": ["a", "b"]}),
            ("parts", {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
        ]
        for name, change in changes:
            if self.may(0.4):
                new[name].update(change)
        if "x-kubernetes-list-type" in new["parts"]:
            new["parts"]["items"]["required"] = ["name"]
        if self.may(0.4):
            del new["owner"]
        return new

    def binding(self):
        update = rules(["UPDATE"])
        return self.random.choice([{}, {}, {"matchResources": EXEMPT}, {"matchResources": update}])

    def validating(self, name):
        operations = self.random.choice([["CREATE", "UPDATE"], ["UPDATE"], ["*"], ["CREATE"]])
        expressions = self.random.sample(VALIDATIONS, self.random.choice([1, 1, 2]))
        spec = {"matchConstraints": rules(operations), "validations": [{"expression": one} for one in expressions]}
        condition = self.random.choice(CONDITIONS)
        if condition:
            spec["matchConditions"] = [{"name": "some", "expression": condition}]
        if self.may(0.3):
            spec["failurePolicy"] = "Ignore"
        action = self.random.choice(["Deny", "Deny", "Deny", "Warn", "Audit"])
        bound = {"policyName": name, "validationActions": [action], **self.binding()}
        return [object_of("ValidatingAdmissionPolicy", name, spec), object_of("ValidatingAdmissionPolicyBinding", name, bound)]

    def mutating(self, name, mutations):
        expression = self.random.choice(mutations)
        mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
        spec = {"reinvocationPolicy": "Never", "matchConstraints": rules(["CREATE", "UPDATE"]), "mutations": [mutation]}
        bound = {"policyName": name, **self.binding()}
        return [object_of("MutatingAdmissionPolicy", name, spec), object_of("MutatingAdmissionPolicyBinding", name, bound)]

    def policies(self):
        """The policies of both sides: some of the old ones are kept, others changed or removed."""
        old = {f"old-{number}": self.validating(f"old-{number}") for number in range(self.random.randint(0, 2))}
        new = {}
        for name, policy in old.items():
            chance = self.random.random()
            if chance < 0.7:
                new[name] = policy if chance < 0.4 else self.validating(name)
        new.update({f"new-{number}": self.validating(f"new-{number}") for number in range(self.random.randint(0, 2))})
        if self.may(0.5):
            new["mutating"] = self.mutating("mutating", MUTATIONS)
        if self.may(0.3):
            old["mutating"] = self.mutating("mutating", MUTATIONS[:3])
        return [sum(side.values(), []) for side in (old, new)]

    def kiln(self, number):
        spec = {name: self.random.choice(values) for name, values in VALUES.items() if self.may(0.5)}
        labels = self.random.choice([{}, {"exempt": "yes"}])
        metadata = {"name": f"{self.random.choice('kz')}-{number}", "labels": labels}
        if self.scope == "Namespaced":
            metadata["namespace"] = "default"
        kiln = {"apiVersion": f"{GROUP}/v1", "kind": "Kiln", "metadata": metadata, "spec": spec}
        if self.may(0.2) and not self.has_status_subresource:
            kiln["status"] = {"ready": True}
        return kiln


def main():
    upgrade, folder = Upgrade(int(sys.argv[1])), pathlib.Path(sys.argv[2])
    old, new = upgrade.policies()
    old.insert(0, upgrade.crd(PROPERTIES))
    new.insert(0, upgrade.crd(upgrade.new_properties(), [rule for rule in RULES if upgrade.may(0.35)]))
    kilns = [upgrade.kiln(number) for number in range(70)]
    for name, documents in (("old/all.yaml", old), ("new/all.yaml", new), ("objects.yaml", kilns)):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump_all(documents))


main()
