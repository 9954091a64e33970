package crdx;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.kubernetes.client.openapi.ApiClient;

/** The configurations of clients, which are loaded only if a test uses them. */
final class Clients {
    private Clients() {}

    static Config fabric8(CrdxServer server) {
        return new ConfigBuilder(Config.empty()).withMasterUrl(server.url()).withNamespace("default").build();
    }

    static ApiClient official(CrdxServer server) {
        return new ApiClient().setBasePath(server.url());
    }
}
