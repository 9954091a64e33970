// Sends requests to a worker with the engine. While it is busy, only the newest request of each action waits.

const TEXTS = ["crd", "object", "oldObject", "policies"];

export class Engine {
  #worker;
  #busy = null;
  #sent;
  #waiting = new Map();

  constructor() {
    this.#start();
  }

  #start() {
    // The engine remembers the texts of the last request: only those that changed are sent.
    this.#sent = {};
    this.#worker = new Worker("worker.js", { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      const { resolve } = this.#busy;
      this.#busy = null;
      if (data.isBroken) {
        this.#worker.terminate();
        this.#start();
      }
      resolve(data.answer);
      this.#next();
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      const { resolve } = this.#busy ?? { resolve() {} };
      this.#busy = null;
      resolve({ error: `The engine could not be started: ${event.message || "reload the page"}.` });
    };
  }

  /** Resolves with the answer, or with undefined if a newer request of the same action took its place. */
  ask(request) {
    return new Promise((resolve) => {
      const action = request.action ?? "simulate";
      this.#waiting.get(action)?.resolve(undefined);
      this.#waiting.set(action, { request, resolve });
      this.#next();
    });
  }

  #changed(request) {
    const isChanged = ([key, value]) => !TEXTS.includes(key) || value !== this.#sent[key];
    const changed = Object.fromEntries(Object.entries(request).filter(isChanged));
    for (const key of TEXTS) this.#sent[key] = request[key] ?? this.#sent[key];
    return changed;
  }

  #next() {
    const [action] = this.#waiting.keys();
    if (this.#busy || !action) return;
    this.#busy = this.#waiting.get(action);
    this.#waiting.delete(action);
    this.#worker.postMessage(this.#changed(this.#busy.request));
  }
}
