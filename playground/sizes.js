// Prints the sizes of the files in dist, also compressed with gzip and brotli, and fails if the WebAssembly is larger than it may be.
import { readdirSync, readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const LIMIT = 4 * 1024 * 1024;
const folder = new URL("dist/", import.meta.url);
for (const name of readdirSync(folder).sort()) {
  const bytes = readFileSync(new URL(name, folder));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length, [constants.BROTLI_PARAM_LGWIN]: 24 };
  const compressed = brotliCompressSync(bytes, { params }).length;
  console.log(`${name}: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} with gzip, ${compressed} with brotli`);
  if (name === "engine.wasm" && compressed > LIMIT) {
    console.error(`error: ${name} has more than ${LIMIT} bytes with brotli`);
    process.exitCode = 1;
  }
}
