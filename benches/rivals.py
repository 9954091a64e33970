#!/usr/bin/env python3
"""Compares `kubectl-crdx validate` with other validators on the same objects, in one run: CPU seconds, MB/s and peak memory, and the ratios.

usage: rivals.py [--binary target/dist/kubectl-crdx] [--objects 1000] [--runs 5] [--rules] [--builtin] [--bin-dir DIR]

The objects belong to the CRD in `gadgets.crd.yaml` next to this script. kubeconform v0.8.0 and kubectl-validate v0.0.4 must be in --bin-dir (or
`go env GOPATH`/bin), otherwise they are left out:
    go install sigs.k8s.io/kubectl-validate@v0.0.4 && go install github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
Without --rules, the CRD has no CEL rules for any of the programs. With --builtin the objects are Deployments of 2 KB, which kubectl-crdx validates as the API
server does and kubectl-validate with the schemas that it embeds; kubeconform, which embeds none, reads the schema of `serve --builtin`. The minimum of the runs is reported, because the machines are noisy.
Without GNU time (/usr/bin/time), the peak memory is at least that of this script.
"""
import argparse, json, os, random, re, shutil, subprocess, sys, tempfile, time, urllib.request

from callgrind import instructions

HERE = os.path.dirname(os.path.abspath(__file__))


def gadget(i, rng):
    env = "".join(f"    - name: SETTING_{j}\n      value: some value number {rng.randrange(10**6)}\n" for j in range(8))
    return f"""apiVersion: bench.example.com/v1
kind: Gadget
metadata:
  name: gadget-{i:06}
  labels:
    app: gadget
    shard: s{i % 7}
spec:
  replicas: {rng.randrange(1, 10)}
  schedule: "*/5 * * * {i % 7}"
  template:
    image: images.example.com/team/gadget:{i}.{rng.randrange(100)}
    command:
    - run
    - --verbose
    - --shard={i % 7}
    env:
{env}    ports:
    - port: {1024 + i % 60000}
    - name: metrics
      port: {2024 + i % 60000}
      protocol: TCP
  resources:
    cpu: {rng.randrange(1, 8)}
  labels:
    tier: backend
    owner: someone
"""


def deployment(i, rng):
    def container(name):
        env = "".join(f"        - name: SETTING_{j}\n          value: some value number {rng.randrange(10**6)}\n" for j in range(8))
        return f"""      - name: {name}
        image: images.example.com/team/{name}:{i}.{rng.randrange(100)}
        args: [run, --verbose, "--shard={i % 7}"]
        env:
{env}        ports:
        - name: http
          containerPort: {1024 + i % 60000}
        resources:
          requests: {{cpu: {rng.randrange(1, 8) * 100}m, memory: {rng.randrange(1, 8)}Gi}}
          limits: {{memory: {rng.randrange(8, 16)}Gi}}
        readinessProbe:
          httpGet: {{path: /ready, port: http}}
          periodSeconds: 5
        securityContext: {{allowPrivilegeEscalation: false, runAsNonRoot: true}}
        volumeMounts:
        - {{name: config, mountPath: /etc/config, readOnly: true}}
"""
    return f"""apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{i:06}
  namespace: team-{i % 7}
  labels: {{app: web, shard: s{i % 7}}}
spec:
  replicas: {rng.randrange(1, 10)}
  selector:
    matchLabels: {{app: web, shard: s{i % 7}}}
  strategy:
    type: RollingUpdate
    rollingUpdate: {{maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata:
      labels: {{app: web, shard: s{i % 7}}}
    spec:
      containers:
{container("main")}{container("proxy")}      volumes:
      - name: config
        configMap: {{name: web-{i:06}}}
"""


def deployment_schema(binary):
    """The schema of Deployments that `serve --builtin` publishes, as JSON Schema that allows no other fields (as kubeconform's own schemas)."""
    server = subprocess.Popen([binary, "serve", "--builtin", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = next(filter(None, (re.search(r"https?://[0-9.:]+[0-9]", line) for line in server.stdout))).group()
        document = json.load(urllib.request.urlopen(url + "/openapi/v3/apis/apps/v1"))
    finally:
        server.terminate()
        server.wait()
    found = json.loads(json.dumps(document["components"]["schemas"]).replace("#/components/schemas/", "#/definitions/"))
    for schema in found.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return {"$ref": "#/definitions/io.k8s.api.apps.v1.Deployment", "definitions": found}


def without_rules(text):
    out, skip = [], None
    for line in text.splitlines(True):
        indent = len(line) - len(line.lstrip())
        if skip is not None and (indent > skip or line.lstrip().startswith("- ") and indent == skip):
            continue
        skip = None
        if line.strip() == "x-kubernetes-validations:":
            skip = indent
            continue
        out.append(line)
    return "".join(out)


def measure(command, runs):
    """The smallest CPU time, wall time and peak memory of several runs."""
    best = None
    for _ in range(runs):
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        got = (usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))
        best = got if best is None else tuple(map(min, best, got))
    cpu, wall, memory, code = best
    return cpu, wall, peak(command) or memory, code


def peak(command):
    """The peak memory of a run in MiB; None without GNU time. It is started by a small process, because the peak of a child includes that of the process
    that starts it, and a Python script alone has 21 MiB."""
    if not shutil.which("time"):
        return None
    with tempfile.NamedTemporaryFile("r") as report:
        subprocess.run(["time", "--quiet", "-f", "%M", "-o", report.name, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return int(report.read()) / 1024


def counted(command):
    """The instructions of a run of this program, in millions; empty for a rival, which would take minutes, or without valgrind."""
    count = instructions(command) if "kubectl-crdx" in os.path.basename(command[0]) else None
    return f"{count / 1e6:.1f}" if count else ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", default=os.path.join(HERE, "../target/dist/kubectl-crdx"))
    ap.add_argument("--objects", type=int, default=1000)
    ap.add_argument("--runs", type=int, default=5)
    ap.add_argument("--rules", action="store_true")
    ap.add_argument("--builtin", action="store_true")
    ap.add_argument("--bin-dir")
    a = ap.parse_args()
    bin_dir = a.bin_dir or os.path.join(subprocess.run(["go", "env", "GOPATH"], capture_output=True, text=True).stdout.strip(), "bin")
    with tempfile.TemporaryDirectory() as work:
        crds, schemas, files = (os.path.join(work, d) for d in ("crds", "schemas", "files"))
        for d in (crds, schemas, files):
            os.mkdir(d)
        with open(os.path.join(HERE, "gadgets.crd.yaml")) as f:
            crd = f.read()
        if not a.rules:
            crd = without_rules(crd)
        crd_file = os.path.join(crds, "gadgets.yaml")
        with open(crd_file, "w") as f:
            f.write(crd)
        rng = random.Random(1)
        one, many = os.path.join(work, "one.yaml"), os.path.join(work, "many.yaml")
        objects = [(deployment if a.builtin else gadget)(i, rng) for i in range(a.objects)]
        with open(one, "w") as f:
            f.write(objects[0])
        with open(many, "w") as f:
            f.write("---\n".join(objects))
        megabytes = os.path.getsize(many) / 1e6
        # kubeconform wants JSON Schema: the schema of the CRD as it stands.
        schema_file = os.path.join(schemas, "gadget-v1.json")
        have_schema = a.builtin
        if a.builtin:
            with open(os.path.join(schemas, "deployment-v1.json"), "w") as f:
                json.dump(deployment_schema(a.binary), f)
        try:
            import yaml
            schema = yaml.safe_load(crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            with open(schema_file, "w") as f:
                json.dump(schema, f)
            have_schema = True
        except ImportError:
            if not a.builtin:
                print("(no PyYAML: kubeconform is left out)", file=sys.stderr)
        tools = {"kubectl-crdx": lambda f: [a.binary, "validate", "--offline", "--crds", crds, "-f", f, "-o", "name"],
                 "kubectl-crdx --jobs 1": lambda f: [a.binary, "validate", "--offline", "--jobs", "1", "--crds", crds, "-f", f, "-o", "name"]}
        kubeconform = os.path.join(bin_dir, "kubeconform")
        if have_schema and os.path.exists(kubeconform):
            tools["kubeconform 0.8.0"] = lambda f: [kubeconform, "-strict", "-schema-location", schemas + "/{{.ResourceKind}}-v1.json", f]
        validate = os.path.join(bin_dir, "kubectl-validate")
        if os.path.exists(validate):
            tools["kubectl-validate 0.0.4"] = lambda f: [validate, "--local-crds", crds, f]
        for title, f, size in ((f"{a.objects} objects in one file, {megabytes:.2f} MB", many, megabytes), ("one object", one, None)):
            rules = "Deployments" if a.builtin else f"CRD {'with' if a.rules else 'without'} its rules"
            print(f"\n{title}, {rules}, best of {a.runs}")
            print(f"{'tool':24}{'CPU s':>9}{'wall s':>9}{'MB/s':>8}{'MiB':>7}{'exit':>6}{'CPU ratio':>11}{'M instructions':>16}")
            base = None
            for name, command in tools.items():
                cpu, wall, memory, code = measure(command(f), a.runs)
                base = base or cpu
                print(f"{name:24}{cpu:9.3f}{wall:9.3f}{(size / cpu if size else 0):8.1f}{memory:7.1f}{code:6}{cpu / base:10.1f}x{counted(command(f)):>16}", flush=True)


if __name__ == "__main__":
    main()
