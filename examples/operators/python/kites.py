"""A small operator: every Kite flies, and lands before it is deleted."""

FINALIZER = "toys.example.com/land"
KITES = {"group": "toys.example.com", "version": "v1", "plural": "kites"}


def reconcile(api, namespace, name):
    kite = api.get_namespaced_custom_object(**KITES, namespace=namespace, name=name)
    metadata, status = kite["metadata"], kite.get("status", {})
    where = {**KITES, "namespace": namespace, "name": name}
    if "deletionTimestamp" in metadata:
        if FINALIZER in metadata.get("finalizers", []):
            api.patch_namespaced_custom_object_status(**where, body={"status": {"phase": "Landed"}})
            api.patch_namespaced_custom_object(**where, body={"metadata": {"finalizers": None}})
    elif FINALIZER not in metadata.get("finalizers", []):
        api.patch_namespaced_custom_object(**where, body={"metadata": {"finalizers": [FINALIZER]}})
    elif status.get("phase") != "Flying":
        api.patch_namespaced_custom_object_status(**where, body={"status": {"phase": "Flying"}})
