package toys;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.util.List;
import java.util.Map;

/** A small operator: every Kite flies, and lands before it is deleted. */
final class Kites {
    static final String FINALIZER = "toys.example.com/land";
    static final ResourceDefinitionContext KIND = new ResourceDefinitionContext.Builder()
            .withGroup("toys.example.com").withVersion("v1").withKind("Kite").withPlural("kites").withNamespaced(true).build();

    private Kites() {}

    static Resource<GenericKubernetesResource> kite(KubernetesClient client, String name) {
        return client.genericKubernetesResources(KIND).inNamespace("default").withName(name);
    }

    static void reconcile(KubernetesClient client, String name) {
        Resource<GenericKubernetesResource> resource = kite(client, name);
        GenericKubernetesResource kite = resource.get();
        boolean owned = kite.getMetadata().getFinalizers().contains(FINALIZER);
        if (kite.getMetadata().getDeletionTimestamp() != null) {
            if (owned) {
                resource.editStatus(old -> withPhase(old, "Landed"));
                resource.edit(old -> withFinalizers(old, List.of()));
            }
        } else if (!owned) {
            resource.edit(old -> withFinalizers(old, List.of(FINALIZER)));
        } else {
            resource.editStatus(old -> withPhase(old, "Flying"));
        }
    }

    private static GenericKubernetesResource withPhase(GenericKubernetesResource kite, String phase) {
        kite.setAdditionalProperty("status", Map.of("phase", phase));
        return kite;
    }

    private static GenericKubernetesResource withFinalizers(GenericKubernetesResource kite, List<String> finalizers) {
        kite.getMetadata().setFinalizers(finalizers);
        return kite;
    }
}
