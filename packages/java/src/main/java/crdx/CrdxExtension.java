package crdx;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Resolves the parameters of {@link Crdx}. */
public final class CrdxExtension implements ParameterResolver {
    private static final ExtensionContext.Namespace OWN = ExtensionContext.Namespace.create(CrdxExtension.class);
    private static final String FABRIC8 = "io.fabric8.kubernetes.client.Config";
    private static final String OFFICIAL = "io.kubernetes.client.openapi.ApiClient";

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return Stream.of(CrdxServer.class.getName(), FABRIC8, OFFICIAL).anyMatch(type(parameter)::equals);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        CrdxServer server = server(context);
        switch (type(parameter)) {
            case FABRIC8:
                return Clients.fabric8(server);
            case OFFICIAL:
                return Clients.official(server);
            default:
                return server;
        }
    }

    private static String type(ParameterContext parameter) {
        return parameter.getParameter().getType().getName();
    }

    /** The server of the test: one for all its parameters, which is stopped after it. */
    private static CrdxServer server(ExtensionContext context) {
        return context.getStore(OWN).getOrComputeIfAbsent("server", key -> new Stored(start(context)), Stored.class).server;
    }

    private static CrdxServer start(ExtensionContext context) {
        String[] load = Stream.of(context.getTestMethod(), context.getTestClass())
                .flatMap(Optional::stream)
                .map(element -> AnnotationSupport.findAnnotation(element, Crdx.class))
                .flatMap(Optional::stream)
                .flatMap(annotation -> Arrays.stream(annotation.load()))
                .toArray(String[]::new);
        try {
            return process(context).create(load);
        } catch (IOException error) {
            throw new ParameterResolutionException(error.getMessage(), error);
        }
    }

    /** The process, once for all tests. */
    private static CrdxServers process(ExtensionContext context) {
        return context.getRoot().getStore(OWN).getOrComputeIfAbsent("process", key -> new Started(), Started.class).servers;
    }

    private static final class Stored implements ExtensionContext.Store.CloseableResource {
        private final CrdxServer server;

        private Stored(CrdxServer server) {
            this.server = server;
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }

    private static final class Started implements ExtensionContext.Store.CloseableResource {
        private final CrdxServers servers;

        private Started() {
            try {
                servers = new CrdxServers("--builtin");
            } catch (IOException error) {
                throw new ParameterResolutionException(error.getMessage(), error);
            }
        }

        @Override
        public void close() throws IOException {
            servers.close();
        }
    }
}
