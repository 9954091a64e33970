"""Starts the conversion webhooks of main.go, and reads the CRDs of the operators."""
import contextlib, pathlib, re, subprocess, tempfile

HERE = pathlib.Path(__file__).resolve().parent
# The CRDs of an operator: in its Go module, or in ../shared/corpus of the repository.
MODULES = {
    "cluster-api": ("sigs.k8s.io/cluster-api", "config/crd", "cluster.x-k8s.io_*.yaml"),
    "kueue": ("sigs.k8s.io/kueue", "config/components/crd", "*.yaml"),
}
CORPUS = {"prometheus-operator": "prometheus-operator/crds/alertmanagerconfigs.monitoring.coreos.com.full.yaml"}
CONVERSION = """
spec:
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig:
        service: {namespace: system, name: webhook-service, path: /convert}
"""


def definitions(operator):
    """The texts of the CRDs of an operator, by file name, that its kustomization gives a conversion webhook."""
    if operator in MODULES:
        module, folder, pattern = MODULES[operator]
        module = subprocess.run(["go", "list", "-m", "-f", "{{.Dir}}", module], cwd=HERE, check=True, capture_output=True, text=True).stdout.strip()
        folder = pathlib.Path(module) / folder
        patched = re.findall(r"\n *-[^#\n]*webhook_in_(\w+)\.yaml", (folder / "kustomization.yaml").read_text())
        files = [file for file in sorted((folder / "bases").glob(pattern)) if file.stem.split("_")[1] in patched]
    else:
        files = [HERE.parents[2].parent / "shared/corpus" / CORPUS[operator]]
    return {file.name: re.sub(r"\nspec:\n", lambda _: CONVERSION, file.read_text(), count=1) for file in files}


@contextlib.contextmanager
def webhook(program, *flags):
    """Runs the webhooks. Gives the URL and the file with their certificate."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = f"{folder}/ca.crt"
        process = subprocess.Popen([program, "-certificate", certificate, *flags], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            yield process.stdout.readline().strip(), certificate
        finally:
            process.kill()
            process.wait()
