export interface Options {
  /** The Kubernetes version, such as `1.37`; the default is the newest. */
  kubernetesVersion?: string;
  /** CustomResourceDefinitions as YAML or JSON, one or several documents in each text. */
  crds?: string[];
  /** The program, if it is not to be loaded from `engine.wasm` of this package. */
  wasm?: WebAssembly.Module | BufferSource;
  /** Answers the calls of webhooks; the default is the global `fetch`, which does not know `caBundle`. */
  callWebhook?: (url: string, init: RequestInit) => Promise<Response>;
}

/** Starts a server. The second with the same options begins as a copy of the first, in milliseconds. */
export function createServer(options?: Options): Promise<Server>;

/** A Kubernetes API server with a state of its own. */
export class Server {
  private constructor();
  /** A URL that only `fetch` of this server knows. */
  readonly url: string;
  /** A kubeconfig whose only context is this server. */
  readonly kubeconfig: string;
  /** Like the global `fetch`, with this server as the only host. */
  readonly fetch: typeof fetch;
  /** Ends the server: its watches end, and requests fail. */
  close(): void;
}
