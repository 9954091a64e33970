#!/usr/bin/env python3
"""Compares `explain` with `kubectl explain`, byte for byte: every field of some CRDs, in both formats, and each CRD with --recursive.

usage: explain.py --binary target/debug/kubectl-crdx --apiserver PATH [--kubectl PATH] [--port N] [CRD…]

By default the CRDs are ten of ../shared/corpus. kubectl asks the real server, `explain` reads the file. kubectl before 1.34 prints no
external documents; its text is otherwise the same. Needs PyYAML. Prints every difference and the counts; ends with 1 if there is
a difference.
"""
import argparse, concurrent.futures, difflib, os, subprocess, sys, tempfile, time
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "..", "..", "..", "shared", "corpus")
TEN = """argo-cd/crds/appprojects.argoproj.io cert-manager/crds/certificates.cert-manager.io cloudnative-pg/crds/backups.postgresql.cnpg.io
flux-source-controller/crds/gitrepositories.source.toolkit.fluxcd.io gateway-api/crds/gateways.gateway.networking.k8s.io
istio/crds/authorizationpolicies.security.istio.io karpenter-aws/crds/ec2nodeclasses.karpenter.k8s.aws keda/crds/scaledobjects.keda.sh
kueue/crds/clusterqueues.kueue.x-k8s.io velero/crds/restores.velero.io""".split()


def paths(schema, path=()):
    yield path
    while schema.get("items") or isinstance(schema.get("additionalProperties"), dict):
        schema = schema.get("items") or schema["additionalProperties"]
    for name, below in sorted(schema.get("properties", {}).items()):
        yield from paths(below, path + (name,))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--binary", required=True), ap.add_argument("--apiserver", required=True), ap.add_argument("--kubectl", default="kubectl")
    ap.add_argument("--port", type=int, default=18463), ap.add_argument("crds", nargs="*")
    a = ap.parse_args()
    files = a.crds or [os.path.join(CORPUS, name + ".yaml") for name in TEN]
    server = subprocess.Popen([a.apiserver, "-port", str(a.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    server.stdout.readline()
    url, home = f"http://127.0.0.1:{a.port}", tempfile.mkdtemp()

    def run(*command):
        env = {**os.environ, "KUBECONFIG": "/dev/null", "HOME": home}
        done = subprocess.run(command, capture_output=True, text=True, env=env)
        return done.stdout, done.returncode and done.stderr

    def kubectl(*words):
        return run(a.kubectl, "--server", url, "--cache-dir", home, *words)

    same = different = 0
    try:
        for file in files:
            crd = yaml.load(open(file), yaml.CSafeLoader)
            crd["spec"].pop("conversion", None)
            text = os.path.join(home, "crd.yaml")
            with open(text, "w") as out:
                yaml.safe_dump(crd, out, allow_unicode=True)
            print(kubectl("create", "-f", text)[0].strip(), end=": ", flush=True)
            name, spec = crd["metadata"]["name"], crd["spec"]
            while name not in kubectl("api-resources", "-o", "name")[0]:
                time.sleep(0.5)
            time.sleep(2)
            cases = []
            for version in (one for one in spec["versions"] if one["served"]):
                at = f"--api-version={spec['group']}/{version['name']}"
                for path in paths(version["schema"]["openAPIV3Schema"]):
                    escaped = ".".join([spec["names"]["plural"]] + [part.replace(".", "\\.") for part in path])
                    cases += [(escaped, at), (escaped, at, "-o", "plaintext-openapiv2")]
                cases += [(spec["names"]["plural"], at, "--recursive"), (spec["names"]["plural"], at, "--recursive", "-o", "plaintext-openapiv2")]
            cases += [(spec["names"]["plural"],), (name + ".spec",), (spec["names"]["plural"] + ".nothing",)]

            def compare(case):
                return kubectl("explain", *case), run(a.binary, "explain", *case, "--crds", text)

            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                for case, (theirs, ours) in zip(cases, pool.map(compare, cases)):
                    if theirs == ours:
                        same += 1
                        continue
                    different += 1
                    print("\nDIFFERENT", *case)
                    pairs = zip(theirs, ours)
                    print(*("".join(difflib.unified_diff(str(t).splitlines(True), str(o).splitlines(True), "kubectl", "crdx")) for t, o in pairs))
            print(f"{len(cases)} explanations", flush=True)
    finally:
        server.kill()
        server.wait()
    print(f"{len(files)} CRDs: {same} explanations are the same, {different} are different")
    sys.exit(1 if different else 0)


main()
