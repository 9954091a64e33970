"""Random changes of objects: dropped, unknown and moved fields, values of other types, values at limits."""
import copy

VALUES = [
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, -2**63, 1.5, -0.0, 1e300, "", "x", "a b", "UPPER", "true", "1", "null", "1.5Gi", "-1s", "5m", "10.0.0.1",
    "2001-02-30", "2024-01-02T03:04:05Z", "https://example.com/%zz", "ü" * 40, "x" * 300, "bm9uZQ==", "a/b/c", "*", "{{x}}", [], [None], [1], ["x"], [[]],
    [{}], {}, {"x": None}, {"x": 1}, {"unknown": {"deeper": []}},
]
METADATA = [
    ("labels", {"a": "b c"}), ("labels", {"a/b/c": "d"}), ("labels", {"a": 1}), ("labels", {"a": None}), ("labels", []), ("labels", None),
    ("annotations", {"a b": "c"}), ("annotations", {"a": True}), ("annotations", {"a": "x" * 262145}), ("annotations", {"a": {"b": 1}}),
    ("finalizers", ["x"]), ("finalizers", ["example.com/x", "example.com/x"]), ("finalizers", [1]), ("finalizers", "x"), ("generation", -1), ("generation", "1"),
    ("ownerReferences", [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b"}]), ("ownerReferences", [{"kind": "Pod"}]), ("ownerReferences", {}),
    ("managedFields", [{"manager": "a"}]), ("managedFields", []), ("unknownField", 1), ("creationTimestamp", "null"), ("creationTimestamp", None),
    ("deletionTimestamp", "2024-01-02T03:04:05Z"), ("resourceVersion", "1"), ("resourceVersion", 1), ("uid", 7), ("uid", "u"), ("selfLink", "/a"),
    ("namespace", 1), ("namespace", "default"), ("name", "Upper"), ("name", ""), ("name", 1), ("name", None), ("name", "a" * 254), ("name", "a.b-c"), ("generateName", "a-"),
]


def places(value, path=()):
    """Every place inside of a value: the container and the key or index."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, inner in pairs:
        yield value, key, (*path, key)
        yield from places(inner, (*path, key))


def mutated(given, random):
    """A changed copy of an object, and what was changed."""
    given, changes = copy.deepcopy(given), []
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        changes.append(change(given, random))
    return given, ", ".join(changes)


def change(given, random):
    if random.random() < 0.15:
        key, value = random.choice(METADATA)
        if isinstance(given.get("metadata"), dict):
            given["metadata"][key] = copy.deepcopy(value)
            return f"metadata.{key}={str(value)[:30]}"
    top = [key for key in given if key not in ("apiVersion", "kind", "metadata")] or list(given)
    # Identity is seldom changed: most such objects have no kind that is served.
    top = random.choice([*given] if random.random() < 0.05 else top)
    found = [(given, top, (top,)), *places(given[top], (top,))]
    container, key, path = random.choice(found)
    path, value = ".".join(map(str, path)), container[key]
    how = random.choice(["drop", "drop", "value", "value", "value", "unknown", "repeat", "move", "nearby"])
    if how == "drop":
        del container[key]
    elif how == "unknown" and isinstance(value, dict):
        value["unknownField"] = copy.deepcopy(random.choice(VALUES))
    elif how == "repeat" and isinstance(value, list) and value:
        value.append(copy.deepcopy(random.choice(value)))
    elif how == "move" and isinstance(container, dict):
        other = random.choice(found)[0]
        if isinstance(other, dict) and path:
            other[key] = copy.deepcopy(value)
    elif how == "nearby" and isinstance(value, (int, float)) and not isinstance(value, bool):
        container[key] = random.choice([value + 1, value - 1, -value, value * 1000, str(value), value + 0.5])
    elif how == "nearby" and isinstance(value, str):
        container[key] = random.choice([value + "x", value.upper(), value[:-1], value * 3, " " + value, value.replace("a", "_")])
    else:
        how = "value"
        container[key] = copy.deepcopy(random.choice(VALUES))
    return f"{how} {path}"
