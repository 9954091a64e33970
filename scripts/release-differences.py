#!/usr/bin/env python3
"""List what differs between two Kubernetes releases where kubectl-crdx follows the source by hand.

usage: release-differences.py [--area NAME] [--show TEXT] OLD NEW        1.37.2 1.38.0-beta.0

The modules are those of Go's proxy. Every area (AREAS) has the packages that one part of the simulation follows. A line is a file and a function, type or variable
that is added (+), removed (-) or changed (~, with the number of changed lines); comments, imports and tests are not compared. `gates` lists every feature gate whose
stages differ, `rules` the rules of declarative validation that the server enforces (all but those marked as alpha), by version, type and field. --area prints one area; --show prints the differences of the declarations whose file or name contains TEXT.
"""
import argparse, difflib, functools, json, os, re, subprocess, sys, tempfile

# Area: (module, folders below it; ** for all below, files that are compared).
GO = r"^(?!zz_generated\.(deepcopy|conversion|openapi|model_name)|generated\.pb|types_swagger_doc).*\.go$"
AREAS = {
    "gates": "gates",
    "rules": "rules",
    "defaults": [("k8s.io/kubernetes", "pkg/apis/**", r"^defaults\.go$|^zz_generated\.defaults\.go$")],
    "validation": [
        ("k8s.io/kubernetes", "pkg/apis/**/validation", GO), ("k8s.io/kubernetes", "pkg/apis/**/helper", GO), ("k8s.io/kubernetes", "pkg/apis/core/pods", GO), ("k8s.io/kubernetes", "pkg/api/**", GO),
        ("k8s.io/kubernetes", "pkg/util/**", r"^(?!.*(iptables|ipvs|nftables|mount|oom|procfs|goroutinemap|conntrack|ipset)).*\.go$"), ("k8s.io/kubernetes", "pkg/capabilities", GO), ("k8s.io/kubernetes", "pkg/security/**", GO),
        ("k8s.io/kubernetes", "pkg/apis/*", r"^(helpers|conversion|register|annotation_key_constants|toleration|taint|objectreference|json|resource)\.go$"),
        ("k8s.io/component-helpers", "**", GO), ("k8s.io/dynamic-resource-allocation", "**", GO), ("k8s.io/kube-aggregator", "pkg/apis/**", GO),
    ],
    "declarative": [("k8s.io/kubernetes", "pkg/apis/**", r"^zz_generated\.validations\.go$"), ("k8s.io/apimachinery", "pkg/api/validate/**", GO), ("k8s.io/apimachinery", "pkg/api/operation", GO)],
    "conversion": [("k8s.io/kubernetes", "pkg/apis/**", r"^conversion\.go$")],
    "strategies": [("k8s.io/kubernetes", "pkg/registry/**", r"^(?!storage_.*\.go).*\.go$")],
    "printers": [("k8s.io/kubernetes", "pkg/printers/**", GO)],
    "admission": [("k8s.io/kubernetes", "plugin/pkg/admission/**", GO), ("k8s.io/kubernetes", "pkg/kubeapiserver/options", r"^(plugins|admission)\.go$"), ("k8s.io/apiserver", "pkg/admission/**", GO), ("k8s.io/pod-security-admission", "**", GO)],
    "meta": [("k8s.io/apimachinery", "pkg/**", GO), ("k8s.io/kubernetes", "pkg/controlplane/**", GO), ("k8s.io/kubernetes", "pkg/quota/**", GO)],
    "server": [("k8s.io/apiserver", p, GO) for p in ("pkg/endpoints/**", "pkg/registry/**", "pkg/server", "pkg/server/**", "pkg/features", "pkg/storage", "pkg/sharding/**", "pkg/util/**", "pkg/warning", "pkg/apis/**", "pkg/authorization/**")],
    "cel": [("k8s.io/apiserver", "pkg/cel/**", GO)],
    "crd": [("k8s.io/apiextensions-apiserver", p, GO) for p in ("pkg/apis/**", "pkg/apiserver/**", "pkg/controller/**", "pkg/crdserverscheme/**", "pkg/features", "pkg/registry/**")],
    "kubectl": [("k8s.io/kubectl", "pkg/cmd/apply", GO), ("k8s.io/kubectl", "pkg/cmd/diff", GO), ("k8s.io/kubectl", "pkg/cmd/get", GO), ("k8s.io/kubectl", "pkg/validation", GO), ("k8s.io/kubectl", "pkg/util/**", GO), ("k8s.io/kubectl", "pkg/kuberc", GO)],
}
# Modules whose version is that of Kubernetes; cel-go and kube-openapi have versions of their own.
DEPENDENCIES = ["cel.dev/cel-go", "github.com/google/cel-go", "k8s.io/kube-openapi", "sigs.k8s.io/structured-merge-diff/v6", "sigs.k8s.io/structured-merge-diff/v7", "sigs.k8s.io/json", "sigs.k8s.io/yaml"]
SAME = {"cel.dev/cel-go": "cel-go", "github.com/google/cel-go": "cel-go", "sigs.k8s.io/structured-merge-diff/v6": "structured-merge-diff", "sigs.k8s.io/structured-merge-diff/v7": "structured-merge-diff"}


@functools.cache
def folder(module, version):
    """The folder of a module, downloaded if necessary; None if it is not served."""
    with tempfile.TemporaryDirectory() as d:
        run = subprocess.run(["go", "mod", "download", "-json", f"{module}@{version}"], capture_output=True, text=True, cwd=d, env={**os.environ, "GOTOOLCHAIN": "auto", "GOFLAGS": "-mod=mod"})
    try:
        return json.loads(run.stdout).get("Dir")
    except ValueError:
        return None


def served(module, release):
    """The folder of a module of a release; ends the program if it is not served."""
    version = "v" + of_kubernetes(module, release)
    return folder(module, version) or sys.exit(f"{module}@{version} is not served: name another patch release")


def of_kubernetes(module, release):
    return release if module == "k8s.io/kubernetes" else "0." + release.split(".", 1)[1]


def dependencies(release):
    """The versions of other modules that apiserver requires."""
    at = served("k8s.io/apiserver", release)
    text = open(os.path.join(at, "go.mod")).read()
    return {m: v for m in DEPENDENCIES for v in re.findall(r"^\s+" + re.escape(m) + r" (v\S+)", text, re.M)}


def below(root, pattern):
    """The folders that a pattern with * and ** selects, relative to the module."""
    parts = pattern.split("/")
    regex = "/".join(".*" if p == "**" else "[^/]*" if p == "*" else re.escape(p) for p in parts)
    regex = re.sub(r"/\.\*$", "(/.*)?", regex) if len(parts) > 1 else regex
    regex = regex.replace("/.*/", "/(.*/)?")
    for at, folders, _ in os.walk(root):
        folders[:] = [f for f in folders if f not in ("testdata", "testing", "test", "fuzzer", "vendor", "third_party", "fake")]
        relative = os.path.relpath(at, root)
        if re.fullmatch(regex, "" if relative == "." else relative):
            yield relative


def declarations(path):
    """The top-level declarations of a Go file by name, without comments."""
    found, name, lines, closing = {}, None, [], None
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        code = re.sub(r"^\s*//.*$|\s+//\s.*$", "", line)
        # Packages and variables that have other names in a release are not differences.
        code = re.sub(r"\b[a-z]\w*\.(?=[A-Z])", "", code)
        if closing is not None:
            if code.strip():
                lines.append(code)
            if code.startswith(closing):
                found[name], closing = lines, None
            continue
        head = re.match(r"func (?:\((?:\w+ )?\*?(\w+)(?:\[.*?\])?\) )?(\w+)|(type|var|const) (\w+|\()", code)
        if not head:
            continue
        if head.group(2):
            name = (head.group(1) + "." if head.group(1) else "") + head.group(2)
        else:
            name = head.group(3) + " " + head.group(4)
        while name in found:
            name += "'"
        lines = [code]
        if head.group(2):
            # The parameters may be in lines of their own.
            closing = "}" if not code.endswith("}") or code.count("{") > code.count("}") else None
        elif code.endswith("("):
            closing = ")"
        elif code.count("{") > code.count("}"):
            closing = "}"
        if closing is None:
            found[name] = lines
    return found


def module_declarations(root, pattern, files):
    found = {}
    for at in below(root, pattern) if root else ():
        for file in sorted(os.listdir(os.path.join(root, at))):
            if file.endswith("_test.go") or not re.match(files, file):
                continue
            for name, lines in declarations(os.path.join(root, at, file)).items():
                found[(os.path.normpath(os.path.join(at, file)), name)] = lines
    return found


def compare(title, old, new, show):
    # A declaration that only moved to another file of the same folder is not a difference.
    moved = {(os.path.dirname(f), n, tuple(v)) for (f, n), v in old.items()} & {(os.path.dirname(f), n, tuple(v)) for (f, n), v in new.items()}
    count = 0
    for key in sorted(set(old) | set(new)):
        a, b = old.get(key), new.get(key)
        if a == b or (os.path.dirname(key[0]), key[1], tuple(a or b)) in moved:
            continue
        diff = [line for line in difflib.unified_diff(a or [], b or [], lineterm="", n=3)][2:]
        changed = sum(line[0] in "+-" for line in diff)
        sign = "+" if a is None else "-" if b is None else "~"
        if show and not any(show in part for part in key):
            continue
        count += 1
        print(f"{sign} {title} {key[0]} {key[1]}" + (f" ({changed})" if sign == "~" else ""))
        if show:
            print("\n".join("    " + line for line in diff))
    return count


def gates(root, file):
    """The stages of each gate, by name."""
    found, name = {}, None
    for line in open(os.path.join(root, file)):
        head = re.match(r"\t(?:\w+\.)?(\w+): \{$", line)
        name = head.group(1) if head else name
        spec = re.match(r'\t\t\{Version: version\.MustParse\("([\d.]+)"\), (.*)\}', line)
        if spec and name:
            found.setdefault(name, []).append((spec.group(1), re.sub(r"featuregate\.", "", spec.group(2))))
    return found


def compare_gates(old, new):
    count = 0
    for module, file in (("k8s.io/kubernetes", "pkg/features/kube_features.go"), ("k8s.io/apiserver", "pkg/features/kube_features.go"), ("k8s.io/apiextensions-apiserver", "pkg/features/kube_features.go")):
        a, b = (gates(served(module, r), file) for r in (old, new))
        for name in sorted(set(a) | set(b)):
            if a.get(name) != b.get(name):
                count += 1
                last = lambda g: g[name][-1] if name in g else None
                print(f"{module} {name}: {last(a) and ' '.join(last(a))} -> {last(b) and ' '.join(last(b))}")
    return count


def rules(root):
    """The enforced rules of declarative validation by package, function and field."""
    found = {}
    for at, _, files in os.walk(os.path.join(root, "pkg/apis")):
        if "zz_generated.validations.go" not in files:
            continue
        function, pending = None, []
        for line in open(os.path.join(at, "zz_generated.validations.go")):
            head = re.match(r"func Validate_(\w+)\(", line)
            if head:
                function, pending = head.group(1), []
            if function is None:
                continue
            rule = re.search(r"(?:e := |errs = append\(errs, )((?:\w+\.)?\w+\(.*)", line)
            if rule and "alidate" in line and "append(errs, fn(" not in line and "append(errs, e...)" not in line:
                text = re.sub(r"ctx, op, fldPath, obj, oldObj,? ?|\.Mark\w+\(\)|; len\(e\).*|\b\w+\.(?=[A-Z])", "", rule.group(1)).strip()
                pending.append([text, "MarkAlpha" in line])
            elif pending and "Mark" in line:
                # The arguments of the rule are in lines of their own.
                pending[-1][1] = "MarkAlpha" in line
            field = re.search(r'errs = append\(errs, fn\((?:.*?Child\("([^"]+)"\)|fldPath)', line)
            if field or line.startswith("}"):
                name = field.group(1) or "" if field else ""
                key = (os.path.relpath(at, os.path.join(root, "pkg/apis")), function, name)
                found.setdefault(key, set()).update(text for text, is_alpha in pending if not is_alpha and not text.startswith("Optional"))
                pending = []
            if line.startswith("}"):
                function = None
    return found


def compare_rules(old, new):
    a, b = (rules(served("k8s.io/kubernetes", release)) for release in (old, new))
    count = 0
    for key in sorted(set(a) | set(b)):
        before, after = a.get(key, set()), b.get(key, set())
        for sign, texts in (("-", before - after), ("+", after - before)):
            for text in sorted(texts):
                count += 1
                print(f"{sign} {key[0]} {key[1]}.{key[2]}: {text}")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old"), parser.add_argument("new")
    parser.add_argument("--area", choices=[*AREAS, "dependencies"]), parser.add_argument("--show")
    args = parser.parse_args()
    for area, packages in AREAS.items():
        if args.area not in (None, area):
            continue
        print(f"## {area}")
        count = 0
        if isinstance(packages, str):
            count = {"gates": compare_gates, "rules": compare_rules}[packages](args.old, args.new)
        for module, pattern, files in packages if isinstance(packages, list) else ():
            roots = [folder(module, "v" + of_kubernetes(module, r)) for r in (args.old, args.new)]
            if None in roots:
                print(f"? {module}: not served in both releases")
                continue
            count += compare(module.removeprefix("k8s.io/"), *(module_declarations(root, pattern, files) for root in roots), args.show)
        print(f"## {area}: {count} differences\n")
    if args.area in (None, "dependencies"):
        print("## dependencies")
        old, new = dependencies(args.old), dependencies(args.new)
        for a, va in sorted(old.items()):
            b = next((m for m in new if SAME.get(m, m) == SAME.get(a, a)), None)
            print(f"{a} {va} -> {b} {new.get(b)}")
            if b and (a, va) != (b, new[b]):
                roots = folder(a, va), folder(b, new[b])
                if None in roots:
                    print(f"? {a}: not served in both releases")
                else:
                    compare(SAME.get(a, a), *(module_declarations(root, "**", r"^(?!.*(\.pb|gen)\.go).*\.go$") for root in roots), args.show)


if __name__ == "__main__":
    main()
