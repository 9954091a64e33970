export default {
  test: {
    // The client sends its requests with node-fetch, which knows no server without a port.
    alias: { "node-fetch": "@kubectl-crdx/engine/node-fetch" },
    server: { deps: { inline: ["@kubernetes/client-node"] } },
  },
};
