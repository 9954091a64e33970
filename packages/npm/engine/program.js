// The program: bindings/engine/src/main.rs describes how it is called.
import { Streams } from "./wasi.js";

let compiled;

/** The module of the program, compiled once. */
export function program(source) {
  if (source instanceof WebAssembly.Module) return Promise.resolve(source);
  if (source) return WebAssembly.compile(source);
  compiled ??= load(new URL("./engine.wasm", import.meta.url)).then((bytes) => WebAssembly.compile(bytes));
  return compiled;
}

async function load(url) {
  if (url.protocol !== "file:") return (await fetch(url)).arrayBuffer();
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

/** A frame: the lengths of a header and a body, the header in JSON, and the body. */
function encode(header, body = new Uint8Array(0)) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const frame = new Uint8Array(8 + text.length + body.length);
  new DataView(frame.buffer).setUint32(0, text.length, true);
  new DataView(frame.buffer).setUint32(4, body.length, true);
  frame.set(text, 8);
  frame.set(body, 8 + text.length);
  return frame;
}

function* decode(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const body = at + 8 + view.getUint32(at, true);
    const end = body + view.getUint32(at + 4, true);
    yield [JSON.parse(new TextDecoder().decode(bytes.subarray(at + 8, body))), bytes.subarray(body, end)];
    at = end;
  }
}

function joined(chunks) {
  if (chunks.length === 1) return chunks[0];
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

const PAGE = 65536;

/** A memory of the program. */
export class Instance {
  #streams = new Streams();
  #exports;
  #answer;
  #index;

  /** An instance in which the program has not begun. */
  static async fresh(module) {
    const instance = new Instance();
    const { exports } = await WebAssembly.instantiate(module, instance.#streams.imports());
    instance.#exports = exports;
    instance.#streams.memory = exports.memory;
    return instance;
  }

  /** Starts a server. */
  start(settings) {
    this.#streams.input = encode(settings);
    this.#exports._start();
    const [[{ answer }]] = [...decode(joined(this.#streams.output))];
    this.#find(answer);
  }

  #find(index) {
    this.#index = index;
    this.#answer = this.#exports.__indirect_function_table.get(index);
  }

  /** Gives a frame to the program, and returns those that it causes. */
  call(header, body) {
    this.#streams.input = encode(header, body);
    this.#streams.output = [];
    if (this.#answer() !== 0) throw new Error(this.#streams.errors);
    return decode(joined(this.#streams.output));
  }

  #bytes() {
    return new Uint8Array(this.#exports.memory.buffer);
  }

  /** The pages that differ from those of a program that has not begun. */
  capture(fresh) {
    const [now, before] = [this.#bytes(), fresh.#bytes()];
    const pages = [];
    for (let at = 0; at < now.length; at += PAGE) {
      const page = now.subarray(at, at + PAGE);
      if (!same(page, before.subarray(at, at + PAGE))) pages.push([at, page.slice()]);
    }
    return { size: now.length, pages, index: this.#index };
  }

  /** Continues a captured server. */
  restore({ size, pages, index }) {
    this.#exports.memory.grow((size - this.#bytes().length) / PAGE);
    const bytes = this.#bytes();
    for (const [at, page] of pages) bytes.set(page, at);
    this.#find(index);
  }
}

// Pages beyond the end of a fresh memory are zero.
function same(page, fresh) {
  for (let i = 0; i < page.length; i += 1) {
    if (page[i] !== (fresh[i] ?? 0)) return false;
  }
  return true;
}
