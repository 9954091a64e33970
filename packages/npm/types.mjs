// Prints the TypeScript types of the reports of `-o json`, from the schemas in docs/schemas/v1: node packages/npm/types.mjs
// Needs json-schema-to-typescript in the working directory; packages/build.sh installs it.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const { compile } = createRequire(join(process.cwd(), "package.json"))("json-schema-to-typescript");
const folder = fileURLToPath(new URL("../../docs/schemas/v1/", import.meta.url));

// One schema with all others, so that what several have in common is one type. A report has the name of its kind.
const definitions = {};
const kinds = [];
for (const file of readdirSync(folder)) {
  const { $schema, $defs, ...schema } = JSON.parse(readFileSync(join(folder, file), "utf8").replaceAll(/"(?:\w+\.json)?#\/\$defs\//g, '"#/definitions/'));
  for (const [name, definition] of Object.entries($defs ?? {})) {
    if (definitions[name]) throw new Error(`${file} defines ${name} again`);
    definitions[name] = definition;
  }
  if (file === "common.json") continue;
  const kind = file.slice(0, -".json".length);
  definitions[kind] = { ...schema, description: schema.title, title: kind };
  kinds.push(kind);
}
const everything = { title: "Report", definitions, oneOf: kinds.map((kind) => ({ $ref: `#/definitions/${kind}` })) };
const options = { additionalProperties: false, bannerComment: "/** The reports that `kubectl crdx … -o json` prints, by their kinds. */" };
process.stdout.write(await compile(everything, "Report", options));
