// Writes the packages for npm: one of each platform with the program, and kubectl-crdx, which depends on all of them; the version of the
// package in OUT/engine is set.
//   node packages/npm/build.mjs VERSION OUT PLATFORM=PROGRAM…      platforms as in plugin-manifest/crdx.yaml
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const [version, out, ...programs] = process.argv.slice(2);
if (!version || !out || programs.length === 0) {
  console.error("usage: build.mjs VERSION OUT PLATFORM=PROGRAM…");
  process.exit(2);
}
const cpus = { amd64: "x64", arm64: "arm64" };
const systems = { linux: "linux", darwin: "darwin", windows: "win32" };

function write(directory, description) {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
}

const source = fileURLToPath(new URL("kubectl-crdx/", import.meta.url));
const main = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
const optionalDependencies = {};
for (const entry of programs) {
  const [platform, program] = entry.split("=");
  const [system, cpu] = platform.split("-");
  const [os, arch] = [systems[system], cpus[cpu]];
  if (!os || !arch || !program) throw new Error(`${entry} is not PLATFORM=PROGRAM with a platform of plugin-manifest/crdx.yaml`);
  const name = `@kubectl-crdx/${os}-${arch}`;
  const file = os === "win32" ? "kubectl-crdx.exe" : "kubectl-crdx";
  const directory = join(out, `${os}-${arch}`);
  const { license } = main;
  write(directory, { name, version, license, description: `The program kubectl-crdx for ${os} on ${arch}`, os: [os], cpu: [arch], files: [file] });
  copyFileSync(program, join(directory, file));
  chmodSync(join(directory, file), 0o755);
  optionalDependencies[name] = version;
}
cpSync(source, join(out, "kubectl-crdx"), { recursive: true });
write(join(out, "kubectl-crdx"), { ...main, version, optionalDependencies });
const engine = join(out, "engine");
write(engine, { ...JSON.parse(readFileSync(join(engine, "package.json"), "utf8")), version });
