// Serves the built page to the tests, and counts what was asked for.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { brotliCompressSync } from "node:zlib";

const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm", json: "application/json", svg: "image/svg+xml", txt: "text/plain" };
const folder = new URL("../dist/", import.meta.url);

/** Starts a server on a free port; as usual for static files, texts and WebAssembly are compressed. */
export async function serve() {
  const files = new Map();
  const load = async (name) => {
    if (!files.has(name)) files.set(name, brotliCompressSync(await readFile(new URL(name, folder))));
    return files.get(name);
  };
  const server = createServer(async (request, response) => {
    const name = new URL(request.url, "http://localhost").pathname.slice(1) || "index.html";
    try {
      const body = await load(name);
      response.writeHead(200, { "Content-Type": TYPES[name.split(".").pop()] ?? "text/plain", "Content-Encoding": "br", "Cache-Control": "no-store" });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  for (const name of ["index.html", "main.js", "worker.js", "engine.wasm", "style.css", "examples.json"]) await load(name);
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
