// The native build of the engine, which the page is compared with.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Starts `answers` (engine/examples), which has to be built: `cargo build -p crdx-playground --example answers`. */
export function start() {
  const program = process.env.ANSWERS ?? fileURLToPath(new URL("../../target/debug/examples/answers", import.meta.url));
  const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = [];
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()(JSON.parse(line)));
  return {
    ask: (request) => new Promise((resolve) => {
      waiting.push(resolve);
      child.stdin.write(`${JSON.stringify(request)}\n`);
    }),
    close: () => child.stdin.end(),
  };
}
