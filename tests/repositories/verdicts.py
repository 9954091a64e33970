"""Compares what `validate` says about documents with what kubectl said."""
import collections, json, os, subprocess, tempfile
import documents, kubectl

# Values that differ from write to write.
GENERATED = ("uid", "creationTimestamp", "resourceVersion", "managedFields", "selfLink")
# The labels with which a Job selects its Pods.
JOB_LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")


class Validate:
    """Runs `validate`, and returns its items for each document."""

    def __init__(self, binary, *flags):
        self.command = [binary, "validate", "-o", "json", "--show-last-applied", *flags]

    def items(self, folder, numbered):
        found = collections.defaultdict(list)
        for each in documents.rounds(numbered):
            with kubectl.Links(folder, each) as links:
                environment = {**os.environ, "KUBECONFIG": "/dev/null"}
                done = subprocess.run([*self.command, links], capture_output=True, text=True, errors="surrogateescape", env=environment)
            try:
                items = json.loads(done.stdout)["items"]
            except ValueError:
                raise SystemExit(f"{' '.join(self.command)}: {done.stderr[:2000]}") from None
            for item in items:
                if item["location"]["source"].startswith(links):
                    number = os.path.basename(item["location"]["source"]).split(".")[0]
                    # An error about the folder itself, for example that it has no objects, is not about a document.
                    if number.isdigit():
                        found[int(number)].append(item)
        return found


def verdict(items):
    """`accepted`, `rejected`, `decodes`, `cannotTell`, or `nothing` if the document is not reported or skipped."""
    verdicts = {item["verdict"] for item in items}
    for each in ("rejected", "cannotTell", "skipped", "decodes", "accepted"):
        if each in verdicts:
            return each if each != "skipped" else "nothing"
    return "nothing"


def words(items):
    """The messages of `validate`."""
    found = [item for item in items if item["verdict"] in ("rejected", "cannotTell")]
    # kubectl sends nothing for a kind that is not served; the answer is the one to the request that it would have sent.
    return "\n".join(item["errors"][0]["message"] if is_unserved(item) else item.get("answer", {}).get("message") or item.get("reason", "") for item in found)


def is_unserved(item):
    return item.get("answer", {}).get("message") == "404 page not found" and bool(item.get("errors"))


def causes(text):
    """The parts of a message. Their order is random on the server."""
    return sorted(text.replace("[", ", ").replace("]", ", ").split(", "))


def comparable(given):
    given = json.loads(json.dumps(given))
    for name in GENERATED:
        given.get("metadata", {}).pop(name, None)
    # The time at which a PersistentVolume was created.
    if isinstance(given.get("status"), dict):
        given["status"].pop("lastPhaseTransitionTime", None)
    # A controller sets the conditions of a CRD, and `validate` does not report its generation.
    if given.get("kind") == "CustomResourceDefinition":
        given.pop("status", None)
        given["metadata"].pop("generation", None)
    return given


def without_allocated(result, ours):
    """The object without what the server allocates for it, if `validate` leaves it out: addresses and ports of a Service, and the selector of a Job."""
    result = json.loads(json.dumps(result))
    spec, shown = result.get("spec") or {}, ours.get("spec") or {}
    if result.get("kind") == "Service":
        for name in {"clusterIP", "clusterIPs", "healthCheckNodePort"} - set(shown):
            spec.pop(name, None)
        for port, other in zip(spec.get("ports") or [], shown.get("ports") or []):
            if "nodePort" not in other:
                port.pop("nodePort", None)
    if (result.get("apiVersion"), result.get("kind")) == ("batch/v1", "Job") and "selector" not in shown:
        spec.pop("selector", None)
        for labelled in (result, spec["template"]):
            labels = labelled["metadata"].get("labels") or {}
            for name in JOB_LABELS:
                labels.pop(name, None)
            if not labels:
                labelled["metadata"].pop("labels", None)
    return result


def compare(error, result, items):
    """How the verdict of `validate` compares with an error of kubectl (None: accepted) and the object that it would store (None: unknown)."""
    ours = verdict(items)
    if ours in ("nothing", "cannotTell", "decodes"):
        return ours
    if (ours == "rejected") != (error is not None):
        return "wrong"
    if error is not None:
        texts = [kubectl.message(error), kubectl.message(words(items))]
        if '*" is invalid: ' in texts[1]:
            # The last characters of a generated name are random.
            texts = [text.split(" is invalid: ", 1)[-1] for text in texts]
        return "same" if causes(texts[0]) == causes(texts[1]) else "text"
    stored = items[0].get("result") if len(items) == 1 else None
    return "object" if result and stored and comparable(without_allocated(result, stored)) != comparable(stored) else "same"
