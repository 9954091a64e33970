// Opens the objects of a corpus in yaml-language-server with the JSON Schemas that `schema` writes. Objects that `validate` accepts must
// have no diagnostics.
//
//     npm install yaml-language-server vscode-languageserver-protocol && node schemas.mjs BINARY [CORPUS]
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';

const require = createRequire(join(process.cwd(), 'package.json'));
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-languageserver-protocol/node');

const [binary, corpus = '../shared/corpus'] = process.argv.slice(2);
const run = args => {
  try {
    return execFileSync(binary, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
  } catch (error) {
    return error.stdout; // exit code 1: some objects are rejected
  }
};

const server = spawn(process.execPath, ['node_modules/yaml-language-server/bin/yaml-language-server', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
const waiting = new Map();
connection.onNotification('textDocument/publishDiagnostics', ({ uri, diagnostics }) => waiting.get(uri)?.(diagnostics));
connection.onRequest('workspace/configuration', ({ items }) => items.map(({ section }) => (section === 'yaml' ? { validate: true, schemaStore: { enable: false }, customTags: [] } : {})));
connection.onRequest('client/registerCapability', () => null);
connection.listen();
await connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities: { workspace: { configuration: true } }, workspaceFolders: null });
await connection.sendNotification('initialized', {});

const check = async (uri, text) => {
  const diagnostics = await new Promise((done, failed) => {
    const late = setTimeout(() => failed(new Error(`no diagnostics for ${uri}`)), 60_000);
    waiting.set(uri, found => (clearTimeout(late), done(found)));
    connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } });
  });
  waiting.delete(uri);
  await connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
  return diagnostics;
};

let [objects, problems, schemas] = [0, 0, 0];
for (const project of readdirSync(corpus).sort()) {
  const root = join(corpus, project);
  if (!existsSync(join(root, 'crds')) || !existsSync(join(root, 'objects'))) continue;
  const home = mkdtempSync(join(tmpdir(), 'schemas-'));
  const files = run(['schema', join(root, 'crds'), '--output-dir', home]).split('\n').filter(Boolean);
  const byKind = new Map();
  for (const file of new Set(files)) {
    const { apiVersion, kind } = JSON.parse(readFileSync(file, 'utf8')).properties;
    byKind.set(`${apiVersion.enum[0]} ${kind.enum[0]}`, resolve(file));
    schemas += 1;
  }
  const { items } = JSON.parse(run(['validate', '--offline', '--crds', join(root, 'crds'), '-o', 'json', join(root, 'objects')]));
  const documents = new Map();
  for (const item of items) {
    const source = item.location.source;
    documents.set(source, [...(documents.get(source) ?? []), item]);
  }
  for (const [source, [item, ...others]] of documents) {
    const schema = byKind.get(`${item.apiVersion} ${item.kind}`);
    if (others.length || item.verdict !== 'accepted' || item.action !== 'create' || !schema) continue;
    const uri = pathToFileURL(resolve(source)).href;
    const text = `# yaml-language-server: $schema=${pathToFileURL(schema).href}\n${readFileSync(source, 'utf8')}`;
    const diagnostics = await check(uri, text);
    // A control: an object of another kind must have diagnostics.
    if (objects === 0 && !(await check(`${uri}.other`, text.replace(/^kind:.*$/m, 'kind: Other'))).length) throw new Error(`no schema was used for ${source}`);
    objects += 1;
    if (diagnostics.length) {
      problems += 1;
      console.log(`${source}:`, ...diagnostics.slice(0, 3).map(d => `\n  ${d.range.start.line}: ${d.message}`));
    }
  }
}
console.log(`yaml-language-server: ${schemas} schemas, ${objects} accepted objects, ${problems} with diagnostics`);
server.kill();
process.exit(problems || !objects ? 1 : 0);
