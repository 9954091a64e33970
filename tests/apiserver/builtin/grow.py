"""Random fields that an object does not have, from the schemas that the API server publishes: their values have the declared type and are often valid."""
import re

QUANTITIES = ["1", "100m", "1Gi", "2Gi", "0", "-1", "+1", "01", "1e0", "1E3", "0.5", "1.5Gi", "1.0001", "1.234", "500Mi", "1n", "x", 1, 0.5]
NUMBERS = [0, 1, 1, 2, 3, 5, 10, 30, 80, 100, 300, 443, 1000, 8080, 65535, 65536, 100000, -1]
KEYS = ["a", "b", "app", "cpu", "memory", "storage", "ephemeral-storage", "example.com/x", "kubernetes.io/hostname", "A_b", "a b", "hugepages-2Mi"]
TEXTS = ["a", "b", "web", "x.example.com", "example.com/x", "Always", "None", "A_B", "", "a b", "1", "v1"]
# The values of strings by the end of their field's name.
BY_NAME = [
    (r"[pP]ath$", ["/x", "/x/y", "x", "/", "/x/../y", "", "../x", "/x:y"]),
    (r"(image|reference)$", ["nginx:1.27", "nginx", "", " nginx", "registry.example.com/a/b@sha256:" + "0" * 64]),
    (r"(IP|ip|address|nameservers|addresses|IPs)$", ["10.0.0.1", "192.0.2.7", "::1", "fd00::1", "x", "10.0.0.01", "127.0.0.1", "0.0.0.0"]),
    (r"([cC]idr|CIDR|except|cidrs|podCIDRs|loadBalancerSourceRanges)$", ["10.0.0.0/8", "10.0.0.0/24", "0.0.0.0/0", "fd00::/64", "10.0.0.1", "x", "10.0.0.1/8"]),
    (r"(operator)$", ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "x"]),
    (r"(topologyKey|topologyKeys|key)$", ["kubernetes.io/hostname", "a", "example.com/a", "a b", ""]),
    (r"(apiGroup|apiGroups|group)$", ["", "apps", "rbac.authorization.k8s.io", "example.com", "*", "A"]),
    (r"(apiVersion|version)$", ["v1", "apps/v1", "example.com/v1", "", "a/b/c"]),
    (r"(kind)$", ["Pod", "Deployment", "User", "Group", "ServiceAccount", "ConfigMap", "PersistentVolumeClaim", ""]),
    (r"([eE]xpression|rule)$", ["true", "1 == 1", "object.metadata.name == 'a'", "'x'", "device.driver == 'a'", "x +", "", "has(object.spec)"]),
    (r"(url)$", ["https://example.com/x", "http://example.com", "x", "https://example.com:0/x?y#z"]),
    (r"(host|hostname|hostnames|hosts|subdomain)$", ["a", "x.example.com", "*.example.com", "A_b", "", "10.0.0.1", "*"]),
    (r"(schedule)$", ["* * * * *", "@daily", "x", "TZ=UTC 0 0 * * *", "0 0 31 2 *"]),
    (r"(timeZone)$", ["Etc/UTC", "Local", "", "Nowhere"]),
    (r"(fieldPath)$", ["metadata.name", "spec.nodeName", "status.podIP", "metadata.labels['a']", "metadata.x", "spec.host"]),
    (r"(resource)$", ["limits.cpu", "requests.memory", "limits.x", "pods", "deployments", ""]),
    (r"(defaultMode|mode|scope|type|policy|Policy|Mode|effect|protocol|phase|status|reason)$", ["TCP", "Delete", "Retain", "File", "Directory", "NoSchedule", "NoExecute", "Cluster", "Namespaced", "True", "RuntimeDefault", "Unconfined"]),
    (r"(uid|UID)$", ["u", "2f1c3f0e-0b5c-4f6e-9d0a-000000000001", ""]),
    (r"(Port|port)$", ["http", "a-b", "x_y", "80", ""]),
]
UNCHANGED = ("apiVersion", "kind", "status", "managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink")


class Fields:
    """The published types of built-in kinds."""

    def __init__(self, server, objects):
        self.schemas, self.kinds, self.known = {}, {}, {}
        for document in server.send("GET", "/openapi/v3")[1]["paths"].values():
            found = server.send("GET", document["serverRelativeURL"])[1]
            self.schemas.update((found.get("components") or {}).get("schemas") or {})
        for name, schema in self.schemas.items():
            for of in schema.get("x-kubernetes-group-version-kind", []):
                group = of["group"] + "/" if of["group"] else ""
                self.kinds[group + of["version"], of["kind"]] = name
        for given in objects:
            self.collect(given)

    def collect(self, value, name=""):
        """Notes the texts that given objects have in fields of each name."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self.collect(inner, key)
        elif isinstance(value, list):
            for inner in value:
                self.collect(inner, name)
        elif isinstance(value, str):
            self.known.setdefault(name, set()).add(value)

    def resolved(self, schema):
        """The schema to which references lead."""
        while schema:
            reference = schema.get("$ref") or ((schema.get("allOf") or [{}])[0].get("$ref"))
            if not reference:
                return schema
            name = reference.rsplit("/", 1)[-1]
            if name.endswith("api.resource.Quantity"):
                return {"quantity": True}
            schema = self.schemas.get(name, {})
        return {}

    def places(self, value, schema, path=()):
        """The objects, lists and maps of a value to which something may be added, each with its type and its path without indexes."""
        schema = self.resolved(schema)
        if isinstance(value, dict):
            if "properties" in schema or isinstance(schema.get("additionalProperties"), dict):
                yield value, schema, path
            for key, inner in value.items():
                if key not in UNCHANGED:
                    of = schema.get("properties", {}).get(key) or schema.get("additionalProperties")
                    if isinstance(of, dict):
                        yield from self.places(inner, of, (*path, key))
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            yield value, schema, path
            for inner in value:
                yield from self.places(inner, schema["items"], path)

    def grow(self, given, chance):
        """Adds a field, an item or an entry at a random place of an object."""
        name = self.kinds.get((str(given.get("apiVersion")), str(given.get("kind"))))
        places = list(self.places(given, self.schemas[name])) if name else []
        # Most of an object's metadata is the same for all kinds.
        places = [(*place, path) for *place, path in places if path[:1] != ("metadata",) or chance.random() < 0.1]
        if not places:
            return
        container, schema, path = chance.choice(places)
        last = path[-1] if path else ""
        if isinstance(container, list):
            container.append(self.value(schema["items"], last, chance, 1))
        elif "properties" in schema:
            absent = [key for key in schema["properties"] if key not in container and key not in UNCHANGED]
            if absent:
                key = chance.choice(absent)
                container[key] = self.value(schema["properties"][key], key, chance, 0)
        else:
            container[chance.choice(KEYS)] = self.value(schema["additionalProperties"], last, chance, 1)

    def value(self, schema, name, chance, depth):
        """A value of a type."""
        schema = self.resolved(schema)
        if schema.get("quantity"):
            return chance.choice(QUANTITIES)
        if schema.get("format") == "int-or-string" or "oneOf" in schema:
            return chance.choice([1, 80, 8080, 0, -1, "50%", "25%", "http", "0", "101%", "x_y"])
        kind = schema.get("type")
        if kind == "object" or "properties" in schema:
            if isinstance(schema.get("additionalProperties"), dict):
                return {chance.choice(KEYS): self.value(schema["additionalProperties"], name, chance, depth + 1) for _ in range(chance.choice([0, 1, 1, 2]))}
            properties, required = schema.get("properties", {}), schema.get("required", [])
            share = (0.5, 0.3, 0.15, 0.05)[min(depth, 3)]
            chosen = [key for key in properties if (key in required and chance.random() < 0.95) or chance.random() < share]
            if len(properties) > 8 and len(chosen) > 3:
                # Of many alternatives, such as the sources of a volume, more than one is seldom valid.
                chosen = [key for key in chosen if key in required] + chance.sample(chosen, chance.choice([1, 1, 2, 3]))
            # Some types contain themselves.
            return {key: self.value(properties[key], key, chance, depth + 1) for key in dict.fromkeys(chosen)} if depth < 8 else {}
        if kind == "array":
            return [self.value(schema["items"], name, chance, depth + 1) for _ in range(chance.choice([0, 1, 1, 1, 2]))]
        if kind == "boolean":
            return chance.choice([True, False])
        if kind in ("integer", "number"):
            return chance.choice(NUMBERS)
        if kind != "string":
            return chance.choice([{"a": 1}, [], "x", None])
        return self.text(schema, name, chance)

    def text(self, schema, name, chance):
        """A text of a field."""
        if schema.get("enum") and chance.random() < 0.85:
            return chance.choice(schema["enum"])
        if schema.get("format") == "date-time":
            return chance.choice(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000006Z", None])
        if schema.get("format") == "byte":
            return chance.choice(["YQ==", "", "bm9uZQ=="])
        # The alternatives that a description names.
        named = re.findall(r'"([A-Za-z][A-Za-z0-9.-]*)"', schema.get("description", ""))
        pools = [values for pattern, values in BY_NAME if re.search(pattern, name)] + [sorted(self.known.get(name, []))] * (name in self.known) + [named] * bool(named)
        pool = chance.choice(pools) if pools and chance.random() < 0.85 else TEXTS
        return chance.choice(pool)
