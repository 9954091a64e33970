import threading

import pytest
from kites import FINALIZER, KITES, reconcile
from kubernetes import client, watch

WHERE = {**KITES, "namespace": "default"}


@pytest.fixture
def api(crdx_server):
    return client.CustomObjectsApi(crdx_server.client)


def create(api, name, **spec):
    kite = {"apiVersion": "toys.example.com/v1", "kind": "Kite", "metadata": {"name": name}, "spec": spec}
    return api.create_namespaced_custom_object(**WHERE, body=kite)


def get(api, name):
    return api.get_namespaced_custom_object(**WHERE, name=name)


def test_defaults_and_rules_are_those_of_the_crd(api):
    assert create(api, "a", length=3)["spec"] == {"length": 3, "tail": 1}
    with pytest.raises(client.ApiException) as refused:
        create(api, "b", length=1, tail=9)
    assert refused.value.status == 422
    assert "the tail may be at most twice as long as the kite" in refused.value.body


def test_a_test_begins_with_an_empty_state(api):
    assert api.list_namespaced_custom_object(**WHERE)["items"] == []


def test_a_kite_flies_and_lands_before_it_is_deleted(api):
    create(api, "a", length=3)
    for _ in range(2):
        reconcile(api, "default", "a")
    assert get(api, "a")["status"] == {"phase": "Flying"}

    api.delete_namespaced_custom_object(**WHERE, name="a")
    assert get(api, "a")["metadata"]["finalizers"] == [FINALIZER]
    reconcile(api, "default", "a")
    with pytest.raises(client.ApiException) as gone:
        get(api, "a")
    assert gone.value.status == 404


def test_an_update_of_an_old_version_is_a_conflict(api):
    kite = create(api, "a", length=3)
    api.patch_namespaced_custom_object(**WHERE, name="a", body={"spec": {"length": 4}})
    with pytest.raises(client.ApiException) as conflict:
        api.replace_namespaced_custom_object(**WHERE, name="a", body=kite)
    assert conflict.value.status == 409


def test_a_watch_sees_each_change(api):
    first = create(api, "a", length=3)
    changes = threading.Timer(0.1, lambda: api.patch_namespaced_custom_object(**WHERE, name="a", body={"spec": {"length": 5}}))
    changes.start()
    revision = first["metadata"]["resourceVersion"]
    for event in watch.Watch().stream(api.list_namespaced_custom_object, **WHERE, resource_version=revision, timeout_seconds=10):
        assert (event["type"], event["object"]["spec"]["length"]) == ("MODIFIED", 5)
        break
    changes.join()


def test_built_in_kinds_are_served(crdx_server):
    core = client.CoreV1Api(crdx_server.client)
    core.create_namespaced_config_map("default", {"metadata": {"name": "settings"}, "data": {"a": "1"}})
    assert [item.metadata.name for item in core.list_namespaced_config_map("default").items] == ["settings"]
