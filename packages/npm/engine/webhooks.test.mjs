// Run by packages/test.sh: node --test. The answers of the real server are in bindings/go/crdxtest/webhook_client_test.go.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { post, webhookError } from "./webhooks.js";

let base;
const calls = {};
const hook = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const path = request.url;
  calls[path] = (calls[path] ?? 0) + 1;
  const answer = (code, headers, text = "") => response.writeHead(code, headers).end(text);
  if (path === "/again" && calls[path] < 3) answer(503, { "retry-after": "0" });
  else if (path === "/never") answer(429, { "retry-after": "9" });
  else if (path === "/at-a-time") answer(503, { "retry-after": "Fri, 31 Dec 1999 23:59:59 GMT" }, "no");
  else if (path === "/moved") answer(307, { location: "/here" });
  else if (path === "/found") answer(302, { location: "/here" });
  else if (path === "/short") response.writeHead(200, { "content-length": "99" }).write("a", () => response.destroy());
  else if (path === "/long") answer(200, {}, "a".repeat(51));
  else answer(200, { "content-type": "application/json" }, `${request.method} ${body}`);
});
before(async () => {
  hook.listen(0, "127.0.0.1");
  await once(hook, "listening");
  base = `http://127.0.0.1:${hook.address().port}`;
});
after(() => hook.closeAllConnections() ?? hook.close());

async function call(path, milliseconds = 30_000) {
  const signal = AbortSignal.timeout(milliseconds);
  try {
    const response = await post((init) => fetch(base + path, init), new TextEncoder().encode("review"), signal, 50);
    return { ...response, answer: new TextDecoder().decode(response.answer) };
  } catch (error) {
    return webhookError("https://a/", error);
  }
}

test("a call is repeated as long as the webhook asks for it", async () => {
  assert.deepEqual(await call("/again"), { code: 200, isText: false, answer: "POST review" });
  assert.equal(calls["/again"], 3);
  assert.equal(await call("/never", 1000), 'Post "https://a/": context deadline exceeded');
  assert.equal((await call("/at-a-time")).code, 503);
});

test("redirects are followed", async () => {
  assert.equal((await call("/moved")).answer, "POST review");
  assert.equal((await call("/found")).answer, "GET ");
});

test("a response that cannot be read is an error", async () => {
  const error = "unexpected error when reading response body. Please retry. Original error: ";
  assert.equal(await call("/short"), `${error}unexpected EOF`);
  assert.equal(await call("/long"), `${error}the response is longer than 50 bytes`);
});
