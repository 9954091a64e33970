#!/usr/bin/env python3
"""The official Python client against a server that is not told from the real one.

usage: test_client.py URL    (with `pip install kubernetes`)
"""
import sys, threading, time
from kubernetes import client, dynamic, watch
from kubernetes.client.rest import ApiException

GROUP, VERSION, PLURAL, NAMESPACE = "toys.example.com", "v1", "pykites", "default"
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": PLURAL, "kind": "PyKite", "shortNames": ["pk"]},
             "versions": [{"name": VERSION, "served": True, "storage": True, "subresources": {"status": {}, "scale": {
                 "specReplicasPath": ".spec.tails", "statusReplicasPath": ".status.tails"}},
                 "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                     "spec": {"type": "object", "properties": {"length": {"type": "integer", "minimum": 1}, "tails": {"type": "integer", "default": 1}}},
                     "status": {"type": "object", "properties": {"tails": {"type": "integer"}}}}}}}]},
}


def kite(name, length):
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "PyKite", "metadata": {"name": name, "labels": {"n": name}}, "spec": {"length": length}}


def expect(what, condition):
    print(("ok: " if condition else "FAILED: ") + what)
    if not condition:
        sys.exit(1)


def main():
    configuration = client.Configuration()
    configuration.host = sys.argv[1]
    api = client.ApiClient(configuration)
    print("server", client.VersionApi(api).get_code().git_version)
    crds, objects = client.ApiextensionsV1Api(api), client.CustomObjectsApi(api)
    crds.create_custom_resource_definition(CRD)
    for _ in range(200):
        conditions = crds.read_custom_resource_definition(CRD["metadata"]["name"]).status.conditions or []
        if any(c.type == "Established" and c.status == "True" for c in conditions):
            break
        time.sleep(0.05)
    expect("the typed client reads the CRD", any(c.type == "Established" for c in conditions))
    expect("it lists CRDs", CRD["metadata"]["name"] in [c.metadata.name for c in crds.list_custom_resource_definition().items])
    time.sleep(0.5)

    args = (GROUP, VERSION, NAMESPACE, PLURAL)
    created = objects.create_namespaced_custom_object(*args, kite("a", 3))
    expect("a create is defaulted", created["spec"] == {"length": 3, "tails": 1})
    try:
        objects.create_namespaced_custom_object(*args, kite("bad", 0))
        expect("a length of 0 is refused", False)
    except ApiException as refused:
        expect("a length of 0 is refused: " + str(refused.status), refused.status == 422 and "greater than or equal to 1" in refused.body)
    try:
        objects.create_namespaced_custom_object(*args, kite("a", 3))
        expect("a second create is refused", False)
    except ApiException as refused:
        expect("a second create is refused", refused.status == 409)
    created["spec"]["length"] = 4
    replaced = objects.replace_namespaced_custom_object(*args, "a", created)
    expect("a replace raises the generation", replaced["metadata"]["generation"] == 2)
    try:
        objects.replace_namespaced_custom_object(*args, "a", created)
        expect("an old resourceVersion is refused", False)
    except ApiException as refused:
        expect("an old resourceVersion is refused", refused.status == 409)
    patched = objects.patch_namespaced_custom_object(*args, "a", {"spec": {"length": 5}})
    expect("a patch", patched["spec"]["length"] == 5)
    objects.patch_namespaced_custom_object_status(*args, "a", {"status": {"tails": 2}})
    expect("status", objects.get_namespaced_custom_object_status(*args, "a")["status"] == {"tails": 2})
    objects.patch_namespaced_custom_object_scale(*args, "a", {"spec": {"replicas": 7}})
    expect("scale", objects.get_namespaced_custom_object(*args, "a")["spec"]["tails"] == 7)
    for name in "bcdef":
        objects.create_namespaced_custom_object(*args, kite(name, 2))
    first = objects.list_namespaced_custom_object(*args, limit=4)
    rest = objects.list_namespaced_custom_object(*args, limit=4, _continue=first["metadata"]["continue"])
    expect("pages", [len(first["items"]), len(rest["items"])] == [4, 2])
    expect("a label selector", len(objects.list_namespaced_custom_object(*args, label_selector="n in (b,c)")["items"]) == 2)

    seen = []
    version = objects.list_namespaced_custom_object(*args)["metadata"]["resourceVersion"]

    def follow():
        for event in watch.Watch().stream(objects.list_namespaced_custom_object, *args, resource_version=version, timeout_seconds=15):
            seen.append((event["type"], event["object"]["metadata"]["name"]))
            if len(seen) == 3:
                break

    follower = threading.Thread(target=follow)
    follower.start()
    time.sleep(0.5)
    objects.create_namespaced_custom_object(*args, kite("g", 2))
    objects.patch_namespaced_custom_object(*args, "g", {"spec": {"length": 3}})
    objects.delete_namespaced_custom_object(*args, "g")
    follower.join(20)
    expect(f"a watch: {seen}", seen == [("ADDED", "g"), ("MODIFIED", "g"), ("DELETED", "g")])

    resources = dynamic.DynamicClient(api).resources.get(api_version=f"{GROUP}/{VERSION}", kind="PyKite")
    expect("the dynamic client discovers it", resources.namespaced and resources.short_names == ["pk"])
    applied = resources.server_side_apply(body=kite("h", 8), namespace=NAMESPACE, field_manager="py")
    expect("a server-side apply", applied.spec.length == 8 and applied.metadata.managedFields[0].manager == "py")
    objects.delete_collection_namespaced_custom_object(*args)
    expect("deletecollection", objects.list_namespaced_custom_object(*args)["items"] == [])
    crds.delete_custom_resource_definition(CRD["metadata"]["name"])
    for _ in range(200):
        try:
            objects.list_namespaced_custom_object(*args)
        except ApiException as gone:
            expect("the CRD is gone", gone.status == 404)
            return
        time.sleep(0.05)
    expect("the CRD is gone", False)


main()
