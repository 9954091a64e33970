// Validates what other projects publish about this program against their published schemas: the entry for SchemaStore and the schema of
// .crdx.yaml, the manifests for scoop and winget, and the entry for aqua's registry. Also tries the patterns of the preset for Renovate.
//   node tests/shelves/manifests.mjs SCHEMAS      a folder with schema-catalog.json (SchemaStore), scoop.json (Scoop's schema.json),
//                                                 aqua.json (aqua's registry.json) and manifest.*.json (winget-cli)
// Needs ajv, ajv-formats and yaml in the working directory: npm install ajv ajv-formats yaml
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const formats = require("ajv-formats");
const YAML = require("yaml");
const root = fileURLToPath(new URL("../../", import.meta.url));
const schemas = process.argv[2];
if (!schemas) throw new Error("usage: manifests.mjs SCHEMAS");

const text = (file) => readFileSync(join(root, file), "utf8");
const schema = (file) => JSON.parse(readFileSync(join(schemas, file), "utf8").replace(/^\uFEFF/, ""));
// scripts/release.sh fills in the templates.
const filled = (file) =>
  text(file).replaceAll("@VERSION@", "0.1.0").replaceAll("@REPOSITORY@", "https://github.com/somebody/kubectl-crdx")
    .replaceAll("@OWNER@", "somebody").replaceAll(/@SHA256 [^@]*@/g, "0".repeat(64));

function validate(name, schema, value) {
  const Ajv = require(schema.$schema?.includes("2020-12") ? "ajv/dist/2020" : "ajv");
  const ajv = formats(new (Ajv.default ?? Ajv)({ strict: false, allErrors: true, validateFormats: true }));
  const { $schema, ...rest } = schema;
  const check = ajv.compile(rest);
  assert.ok(check(value), `${name}: ${ajv.errorsText(check.errors)}`);
  console.log(`ok: ${name}`);
}

const entry = JSON.parse(text("packages/schemastore/catalog-entry.json"));
validate("SchemaStore: the entry", schema("schema-catalog.json"), {
  $schema: "https://www.schemastore.org/schema-catalog.json",
  version: 1,
  schemas: [entry],
});
const settings = JSON.parse(text("docs/schemas/crdx.json"));
assert.equal(settings.$schema, "http://json-schema.org/draft-07/schema#");
assert.equal(settings.$id, entry.url);
validate("SchemaStore: .crdx.yaml", settings, YAML.parse('crds: [config/crd]\nkubernetesVersion: "1.34"\nskip: [Secret]\n'));
assert.throws(() => validate("wrong settings", settings, { crds: 1 }), /must be/);

validate("scoop", schema("scoop.json"), JSON.parse(filled("plugin-manifest/kubectl-crdx.json")));
validate("aqua", schema("aqua.json"), YAML.parse(text("packages/aqua/registry.yaml").replaceAll("OWNER", "somebody")));
for (const file of readdirSync(join(root, "plugin-manifest/winget"))) {
  const manifest = YAML.parse(filled(`plugin-manifest/winget/${file}`));
  validate(`winget: ${manifest.ManifestType}`, schema(`manifest.${manifest.ManifestType}.${manifest.ManifestVersion}.json`), manifest);
}

const preset = JSON.parse(text("packages/renovate/default.json"));
const found = (input) =>
  preset.customManagers.flatMap(({ matchStrings, datasourceTemplate }) =>
    matchStrings.flatMap((pattern) =>
      [...input.matchAll(new RegExp(pattern, "g"))].map(({ groups }) => [datasourceTemplate, groups.depName, groups.currentValue, groups.registryUrl].filter(Boolean)),
    ),
  );
assert.deepEqual(found("crds:\n- https://github.com/cert-manager/cert-manager/releases/download/v1.16.2/cert-manager.crds.yaml\n"), [
  ["github-tags", "cert-manager/cert-manager", "v1.16.2"],
]);
assert.deepEqual(found("- https://raw.githubusercontent.com/a/b/v1.2.3/crds/a.yaml"), [["github-tags", "a/b", "v1.2.3"]]);
assert.deepEqual(found("- https://raw.githubusercontent.com/a/b/main/crds/a.yaml"), []);
assert.deepEqual(found("- https://github.com/a/b/archive/refs/tags/v1.2.3.tar.gz//config"), [["github-tags", "a/b", "v1.2.3"]]);
assert.deepEqual(found("charts: [oci://registry.example.com/a/charts/b:1.2.3]"), [["docker", "registry.example.com/a/charts/b", "1.2.3"]]);
assert.deepEqual(found("charts:\n- helm+https://charts.example.com/stable/b@1.2.3\n"), [
  ["helm", "b", "1.2.3", "https://charts.example.com/stable"],
]);
console.log("ok: patterns for Renovate");
