// A small operator: every Kite flies, and lands before it is deleted.
import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";

export const FINALIZER = "toys.example.com/land";
export const KITES = { group: "toys.example.com", version: "v1", plural: "kites" };

const merge = setHeaderOptions("Content-Type", PatchStrategy.MergePatch);

export async function reconcile(api, namespace, name) {
  const where = { ...KITES, namespace, name };
  const { metadata, status } = await api.getNamespacedCustomObject(where);
  const finalizers = metadata.finalizers ?? [];
  const fly = (phase) => api.patchNamespacedCustomObjectStatus({ ...where, body: { status: { phase } } }, merge);
  const finalize = (names) => api.patchNamespacedCustomObject({ ...where, body: { metadata: { finalizers: names } } }, merge);
  if (metadata.deletionTimestamp) {
    if (finalizers.includes(FINALIZER)) {
      await fly("Landed");
      await finalize(null);
    }
  } else if (!finalizers.includes(FINALIZER)) {
    await finalize([FINALIZER]);
  } else if (status?.phase !== "Flying") {
    await fly("Flying");
  }
}
