// A stand-in for the package node-fetch, which @kubernetes/client-node sends its requests with: requests to servers of this package are
// answered without a port, others by the global fetch.
import { Readable } from "node:stream";
import { servers } from "./index.js";

export default async function fetchWithNodeStreams(input, init = {}) {
  const url = String(input.url ?? input);
  const { agent, ...rest } = init;
  const response = await (servers.get(new URL(url).host)?.fetch ?? fetch)(url, rest);
  const { body } = response;
  let stream;
  // node-fetch's bodies are streams of Node.js.
  return Object.defineProperties(response, {
    body: { get: () => (stream ??= body && Readable.fromWeb(body)) },
    buffer: { value: async () => Buffer.from(await response.arrayBuffer()) },
  });
}

export const { Headers, Request, Response, FormData, Blob } = globalThis;
export class FetchError extends Error {}
export class AbortError extends Error {}
