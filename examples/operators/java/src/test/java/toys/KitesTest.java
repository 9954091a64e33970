package toys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import crdx.Crdx;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.kubernetes.client.openapi.ApiClient;
import io.kubernetes.client.openapi.apis.CoreV1Api;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@Crdx(load = "../kites.crd.yaml")
class KitesTest {
    private KubernetesClient client;

    @BeforeEach
    void connect(Config config) {
        client = new KubernetesClientBuilder().withConfig(config).build();
    }

    @AfterEach
    void disconnect() {
        client.close();
    }

    private GenericKubernetesResource create(String name, Map<String, Integer> spec) {
        GenericKubernetesResource kite = new GenericKubernetesResourceBuilder()
                .withApiVersion("toys.example.com/v1").withKind("Kite").withNewMetadata().withName(name).endMetadata().build();
        kite.setAdditionalProperty("spec", spec);
        return client.genericKubernetesResources(Kites.KIND).inNamespace("default").resource(kite).create();
    }

    @Test
    void defaultsAndRulesAreThoseOfTheCrd() {
        assertEquals(Map.of("length", 3, "tail", 1), create("a", Map.of("length", 3)).get("spec"));
        KubernetesClientException refused = assertThrows(KubernetesClientException.class, () -> create("b", Map.of("length", 1, "tail", 9)));
        assertEquals(422, refused.getCode());
        assertTrue(refused.getMessage().contains("the tail may be at most twice as long as the kite"), refused.getMessage());
    }

    @Test
    void aTestBeginsWithAnEmptyState() {
        assertEquals(List.of(), client.genericKubernetesResources(Kites.KIND).inNamespace("default").list().getItems());
    }

    @Test
    void aKiteFliesAndLandsBeforeItIsDeleted() {
        create("a", Map.of("length", 3));
        Kites.reconcile(client, "a");
        Kites.reconcile(client, "a");
        assertEquals("Flying", Kites.kite(client, "a").get().get("status", "phase"));
        Kites.kite(client, "a").delete();
        assertEquals(List.of(Kites.FINALIZER), Kites.kite(client, "a").get().getMetadata().getFinalizers());
        Kites.reconcile(client, "a");
        assertNull(Kites.kite(client, "a").get());
    }

    @Test
    void anUpdateOfAnOldVersionIsAConflict() {
        GenericKubernetesResource kite = create("a", Map.of("length", 3));
        Kites.reconcile(client, "a");
        KubernetesClientException conflict = assertThrows(
                KubernetesClientException.class,
                () -> client.genericKubernetesResources(Kites.KIND).inNamespace("default").resource(kite)
                        .lockResourceVersion(kite.getMetadata().getResourceVersion()).update());
        assertEquals(409, conflict.getCode());
    }

    @Test
    void aWatchSeesEachChange() throws InterruptedException {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Watcher<GenericKubernetesResource> watcher = new Watcher<>() {
            @Override
            public void eventReceived(Action action, GenericKubernetesResource kite) {
                if (action != Action.BOOKMARK) {
                    seen.add(action + " " + kite.getMetadata().getName());
                }
            }

            @Override
            public void onClose(WatcherException cause) {}
        };
        try (var watch = client.genericKubernetesResources(Kites.KIND).inNamespace("default").watch(watcher)) {
            create("a", Map.of("length", 3));
            assertEquals("ADDED a", seen.poll(10, TimeUnit.SECONDS));
            Kites.reconcile(client, "a");
            assertEquals("MODIFIED a", seen.poll(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void theOfficialClientSeesBuiltInKinds(ApiClient official) throws Exception {
        client.configMaps().inNamespace("default").resource(new ConfigMapBuilder().withNewMetadata().withName("settings").endMetadata().build()).create();
        var maps = new CoreV1Api(official).listNamespacedConfigMap("default").execute();
        assertEquals("settings", maps.getItems().get(0).getMetadata().getName());
    }
}
