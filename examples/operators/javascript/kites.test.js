import { readFileSync } from "node:fs";
import * as k8s from "@kubernetes/client-node";
import { createServer } from "@kubectl-crdx/engine";
import { Servers } from "kubectl-crdx";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { FINALIZER, KITES, reconcile } from "./kites.js";

const crd = "../kites.crd.yaml";
const servers = new Servers();
afterAll(() => servers.close());

// The program with a port for each server, or the server in this process.
const ways = {
  program: () => servers.new(crd),
  engine: async () => {
    const server = await createServer({ crds: [readFileSync(crd, "utf8")] });
    return Object.assign(server, { end: () => server.close() });
  },
};
const where = { ...KITES, namespace: "default" };
const merge = k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch);

describe.each(Object.entries(ways))("%s", (_, start) => {
  let server, config, api;

  beforeEach(async () => {
    server = await start();
    config = new k8s.KubeConfig();
    config.loadFromString(server.kubeconfig);
    api = config.makeApiClient(k8s.CustomObjectsApi);
  });
  afterEach(() => server.end());

  function create(name, spec) {
    const body = { apiVersion: "toys.example.com/v1", kind: "Kite", metadata: { name }, spec };
    return api.createNamespacedCustomObject({ ...where, body });
  }
  const get = (name) => api.getNamespacedCustomObject({ ...where, name });

  test("defaults and rules are those of the CRD", async () => {
    expect((await create("a", { length: 3 })).spec).toEqual({ length: 3, tail: 1 });
    await expect(create("b", { length: 1, tail: 9 })).rejects.toThrow("the tail may be at most twice as long as the kite");
  });

  test("a test begins with an empty state", async () => {
    expect((await api.listNamespacedCustomObject(where)).items).toEqual([]);
  });

  test("a kite flies, and lands before it is deleted", async () => {
    await create("a", { length: 3 });
    await reconcile(api, "default", "a");
    await reconcile(api, "default", "a");
    expect((await get("a")).status).toEqual({ phase: "Flying" });
    await api.deleteNamespacedCustomObject({ ...where, name: "a" });
    expect((await get("a")).metadata.finalizers).toEqual([FINALIZER]);
    await reconcile(api, "default", "a");
    await expect(get("a")).rejects.toMatchObject({ code: 404 });
  });

  test("an update of an old version is a conflict", async () => {
    const kite = await create("a", { length: 3 });
    await api.patchNamespacedCustomObject({ ...where, name: "a", body: { spec: { length: 4 } } }, merge);
    await expect(api.replaceNamespacedCustomObject({ ...where, name: "a", body: kite })).rejects.toMatchObject({ code: 409 });
  });

  test("a watch sees each change", async () => {
    const { metadata } = await create("a", { length: 3 });
    const path = "/apis/toys.example.com/v1/namespaces/default/kites";
    const { resourceVersion } = metadata;
    const watch = new k8s.Watch(config);
    let request;
    const event = new Promise((resolve, reject) => {
      request = watch.watch(path, { resourceVersion }, (type, object) => resolve([type, object.spec.length]), reject);
    });
    await request;
    await api.patchNamespacedCustomObject({ ...where, name: "a", body: { spec: { length: 5 } } }, merge);
    expect(await event).toEqual(["MODIFIED", 5]);
  });

  test("built-in kinds are served", async () => {
    const core = config.makeApiClient(k8s.CoreV1Api);
    await core.createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "settings" }, data: { a: "1" } } });
    const { items } = await core.listNamespacedConfigMap({ namespace: "default" });
    expect(items.map((item) => item.metadata.name)).toEqual(["settings"]);
  });
});
