// Calls webhooks as client-go does for the API server. Redirects are followed by fetch.

// `maxRetries` of `rest.Request`.
const MOST_RETRIES = 10;

/** A response whose body cannot be read. */
class UnreadableError extends Error {}

/** Sends a review, again as long as the webhook asks for it, and returns the response. */
export async function post(send, review, signal, maxBytes) {
  // A text, because fetch of Node.js 20 cannot send bytes a second time after a redirect.
  const body = new TextDecoder().decode(review);
  const headers = { Accept: "application/json, */*", "Content-Type": "application/json" };
  for (let retries = 0; ; retries += 1) {
    const response = await send({ method: "POST", headers, body, signal });
    const seconds = response.headers.get("retry-after") ?? "";
    const isOverloaded = response.status === 429 || response.status >= 500;
    if (!isOverloaded || !/^\d+$/.test(seconds) || retries === MOST_RETRIES) return read(response, maxBytes);
    await response.body?.cancel();
    await pause(Number(seconds) * 1000, signal);
  }
}

async function read(response, maxBytes) {
  const type = response.headers.get("content-type") ?? "";
  const chunks = [];
  let length = 0;
  try {
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > maxBytes) throw new UnreadableError(`the response is longer than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    // Go's name for a connection that ends too early.
    throw isAbort(error) || error instanceof UnreadableError ? error : new UnreadableError("unexpected EOF", { cause: error });
  }
  return {
    code: response.status,
    isText: type === "" || type.startsWith("text/"),
    answer: new Uint8Array(await new Blob(chunks).arrayBuffer()),
  };
}

function isAbort(error) {
  return error.name === "TimeoutError" || error.name === "AbortError";
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop);
  });
}

/** The error that client-go reports for a call. */
export function webhookError(url, error) {
  if (error instanceof UnreadableError) {
    return `unexpected error when reading response body. Please retry. Original error: ${error.message}`;
  }
  const reason = error.name === "TimeoutError" ? "context deadline exceeded" : (error.cause?.message ?? error.message);
  return `Post ${JSON.stringify(url)}: ${reason}`;
}
