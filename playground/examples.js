// Prints the examples of the page as JSON, from the files in examples/. A file is a YAML stream: the first document has the
// title and the options of the page; then come the texts, each after a line `--- # PANE`.
import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("examples/", import.meta.url);

/** The example in a file. */
export function read(name) {
  const [head, ...parts] = readFileSync(new URL(name, folder), "utf8").split(/^--- # (\w+)\n/m);
  const header = Object.fromEntries(head.split("\n").filter((line) => line && !line.startsWith("#")).map((line) => line.split(/: (.*)/s).slice(0, 2)));
  const { title, document, ...options } = header;
  const state = { ...options };
  for (let at = 0; at < parts.length; at += 2) state[parts[at]] = parts[at + 1];
  return { name: name.replace(/\.yaml$/, ""), title, document, state };
}

/** All examples, in the order of their names. */
export function all() {
  return readdirSync(folder).filter((name) => name.endsWith(".yaml")).sort().map(read);
}

if (process.argv[1] === new URL(import.meta.url).pathname) console.log(JSON.stringify(all()));
