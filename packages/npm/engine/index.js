import { Instance, program } from "./program.js";
import { post, webhookError } from "./webhooks.js";

/** The servers by the hosts of their URLs, for `node-fetch.js`. */
export const servers = new Map();
let started = 0;

// Servers of one program with the same settings begin as copies of one.
const captures = new WeakMap();

/** Starts a server with the CRDs in texts of YAML or JSON. */
export async function createServer({ kubernetesVersion = "", crds = [], wasm, callWebhook = fetch } = {}) {
  const module = await program(wasm);
  if (!captures.has(module)) captures.set(module, new Map());
  const own = captures.get(module);
  const key = JSON.stringify([kubernetesVersion, crds]);
  if (!own.has(key)) own.set(key, capture(module, { kubernetesVersion }, crds));
  const instance = await Instance.fresh(module);
  instance.restore(await own.get(key));
  const server = new Server(instance, callWebhook);
  server.seed();
  return server;
}

async function capture(module, settings, crds) {
  const instance = await Instance.fresh(module);
  instance.start(settings);
  const server = new Server(instance);
  for (const document of crds.flatMap((text) => text.split(/^---$/m))) {
    if (/^"?kind"?:\s*"?CustomResourceDefinition|"kind":\s*"CustomResourceDefinition"/m.test(document)) await install(server, document);
  }
  server.close();
  return instance.capture(await Instance.fresh(module));
}

async function install(server, document) {
  const url = `${server.url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
  const response = await server.fetch(url, { method: "POST", headers: { "Content-Type": "application/yaml" }, body: document });
  if (!response.ok) throw new Error(`the server refuses a CRD: ${(await response.json()).message}`);
}

/** A Kubernetes API server with a state of its own. */
export class Server {
  #instance;
  #callWebhook;
  #exchanges = new Map();
  #next = 1;
  #failure;
  // Ends the calls of webhooks.
  #closed = new AbortController();

  constructor(instance, callWebhook) {
    this.#instance = instance;
    this.#callWebhook = callWebhook;
    started += 1;
    this.url = `http://server-${started}.crdx.local`;
    servers.set(new URL(this.url).host, this);
    this.fetch = this.fetch.bind(this);
  }

  get kubeconfig() {
    const name = "crdx";
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      // The official client refuses `http` otherwise.
      clusters: [{ name, cluster: { server: this.url, "insecure-skip-tls-verify": true } }],
      users: [{ name, user: {} }],
      contexts: [{ name, context: { cluster: name, user: name, namespace: "default" } }],
      "current-context": name,
    });
  }

  /** @internal */
  seed() {
    this.#exchange({ seed: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER) });
  }

  /** Like the global `fetch`, with this server as the only host. */
  async fetch(input, init) {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const headers = [...request.headers];
    const body = new Uint8Array(await request.arrayBuffer());
    request.signal.throwIfAborted();
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#exchanges.set(id, { resolve, reject, timers: [] });
      request.signal.addEventListener("abort", () => this.#abort(id, request.signal.reason));
      const text = (name) => request.headers.get(name) ?? undefined;
      const header = {
        id,
        method: request.method,
        path: pathname + search,
        contentType: text("content-type"),
        accept: text("accept"),
        userAgent: text("user-agent"),
        authorization: text("authorization"),
        impersonate: headers.filter(([name]) => name.startsWith("impersonate-")).flatMap(separate),
      };
      try {
        this.#exchange(header, body);
      } catch (error) {
        this.#finish(id);
        reject(error);
      }
    });
  }

  /** Ends the server: its watches end, and requests fail. */
  close() {
    this.#fail(new Error("the server is closed"));
  }

  #exchange(header, body) {
    if (this.#failure) throw this.#failure;
    try {
      for (const [reply, bytes] of this.#instance.call(header, body)) this.#deliver(reply, bytes);
    } catch (error) {
      // The state of the program is unknown.
      this.#fail(new Error(`the server has ended: ${error.message}`, { cause: error }));
      throw this.#failure;
    }
  }

  #fail(reason) {
    if (this.#failure) return;
    this.#failure = reason;
    servers.delete(new URL(this.url).host);
    this.#closed.abort();
    for (const id of [...this.#exchanges.keys()]) this.#abort(id, reason);
  }

  // Sends a frame about an exchange that is still open. If the program fails, all exchanges end.
  #tell(id, header, body) {
    if (!this.#exchanges.has(id) || this.#failure) return;
    try {
      this.#exchange({ id, ...header }, body);
    } catch {}
  }

  #deliver(header, bytes) {
    const { id } = header;
    const exchange = this.#exchanges.get(id);
    if (!exchange) return;
    if (header.pauseMilliseconds !== undefined) {
      setTimeout(() => this.#tell(id, { resume: true }), header.pauseMilliseconds);
    } else if (header.call !== undefined) {
      this.#call(header, bytes.slice());
    } else if (header.last && header.code !== undefined) {
      this.#finish(id);
      const empty = bytes.length === 0 || [204, 304].includes(header.code);
      exchange.resolve(new Response(empty ? null : bytes.slice(), { status: header.code, headers: responseHeaders(header) }));
    } else if (header.code !== undefined) {
      this.#watch(id, exchange, header);
    } else if (header.last) {
      this.#finish(id);
      exchange.stream?.close();
    } else {
      exchange.stream?.enqueue(bytes.slice());
    }
  }

  #watch(id, exchange, header) {
    const body = new ReadableStream({
      start: (stream) => {
        exchange.stream = stream;
      },
      cancel: () => this.#end(id),
    });
    const end = () => {
      this.#end(id);
      exchange.stream.close();
    };
    exchange.timers.push(setTimeout(end, header.timeoutMilliseconds));
    if (header.bookmarkMilliseconds) {
      exchange.timers.push(setInterval(() => this.#tell(id, { bookmark: true }), header.bookmarkMilliseconds));
    }
    // A watch does not keep the process alive.
    for (const timer of exchange.timers) timer.unref?.();
    exchange.resolve(new Response(body, { status: header.code, headers: responseHeaders(header) }));
  }

  async #call({ id, call, url, timeoutMilliseconds, maxBytes }, body) {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMilliseconds), this.#closed.signal]);
    try {
      const { code, isText, answer } = await post((init) => this.#callWebhook(url, init), body, signal, maxBytes);
      this.#tell(id, { call, code, isText }, answer);
    } catch (error) {
      this.#tell(id, { call, error: webhookError(url, error) });
    }
  }

  // The client is gone.
  #end(id) {
    this.#tell(id, { end: true });
    this.#finish(id);
  }

  #abort(id, reason) {
    const exchange = this.#exchanges.get(id);
    if (!exchange) return;
    this.#end(id);
    exchange.reject(reason);
    exchange.stream?.error(reason);
  }

  #finish(id) {
    this.#exchanges.get(id)?.timers.forEach(clearTimeout);
    this.#exchanges.delete(id);
  }
}

// The headers of one name, whose values Headers joins.
function separate([name, value]) {
  return name === "impersonate-user" || name === "impersonate-uid" ? [[name, value]] : value.split(", ").map((one) => [name, one]);
}

function responseHeaders({ headers, warnings }) {
  const all = new Headers(headers);
  for (const warning of warnings) all.append("Warning", `299 - "${warning.replace(/["\\]/g, "\\$&")}"`);
  return all;
}
