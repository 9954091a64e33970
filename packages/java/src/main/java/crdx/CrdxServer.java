package crdx;

import java.io.IOException;

/** A Kubernetes API server with a state of its own. */
public final class CrdxServer implements AutoCloseable {
    private final CrdxServers servers;
    private final String url;
    private final String kubeconfig;

    CrdxServer(CrdxServers servers, String url, String kubeconfig) {
        this.servers = servers;
        this.url = url;
        this.kubeconfig = kubeconfig;
    }

    /** {@code http://127.0.0.1:PORT} */
    public String url() {
        return url;
    }

    /** A kubeconfig whose only context is this server. */
    public String kubeconfig() {
        return kubeconfig;
    }

    /** Stops the server. */
    @Override
    public void close() throws IOException {
        servers.ask("end " + url);
    }
}
