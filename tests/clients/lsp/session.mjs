// Drives `kubectl-crdx lsp` with the client library of Visual Studio Code: 200 edits, and after each one the diagnostics must be
// what `validate -o json` reports for the same text.
//
//     npm install && node session.mjs BINARY
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-languageserver-protocol/node');

const binary = process.argv[2] ?? 'kubectl-crdx';
const EDITS = 200;
const PIECES = ['', '', 'x', '0', '13', ': ', '\n', '  ', '- ', '😀', '"', 'red', 'length', 'null', '{', '}', '#', 'é', '\n---\n'];
const CRD = new URL('kites.crd.yaml', import.meta.url);
const kite = name => `apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: ${name}}\nspec:\n  length: 3\n  colour: red\n`;

const folder = mkdtempSync(join(tmpdir(), 'crdx-lsp-'));
mkdirSync(join(folder, 'crds'));
copyFileSync(CRD, join(folder, 'crds', 'kites.yaml'));
const file = join(folder, 'kite.yaml');
const uri = pathToFileURL(file).href;

const server = spawn(binary, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
const connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
const waiting = [];
const arrived = [];
connection.onNotification('textDocument/publishDiagnostics', params => {
  if (params.uri !== uri) return;
  const next = waiting.shift();
  next ? next(params) : arrived.push(params);
});
const diagnostics = () => new Promise(resolve => (arrived.length ? resolve(arrived.shift()) : waiting.push(resolve)));
connection.listen();

const folders = [{ uri: pathToFileURL(folder).href, name: 'w' }];
const answer = await connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities: {}, workspaceFolders: folders });
console.assert(answer.serverInfo.name === 'kubectl-crdx');
await connection.sendNotification('initialized', {});

function validated(text) {
  writeFileSync(file, text);
  let out;
  try {
    out = execFileSync(binary, ['validate', '--offline', '--skip-non-objects', '-o', 'json', '--crds', join(folder, 'crds'), file], { stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    out = error.stdout; // exit codes 1 and 2
  }
  const found = [];
  for (const item of JSON.parse(out).items) {
    const show = (problem, message) => {
      const lines = text.split('\n');
      const given = Math.max(problem.location?.line ?? 1, 1);
      // An error at the end of the input may be on the line after the last one.
      const line = Math.min(given, lines.length);
      const column = given > line ? Infinity : Math.max(problem.location?.column ?? 1, 1);
      const before = [...lines[line - 1]].slice(0, column - 1).join('');
      found.push(`${line - 1}:${before.length} ${message}${problem.help ? `\nhelp: ${problem.help}` : ''}`);
    };
    for (const list of [item.errors, item.hiddenErrors, item.warnings]) (list ?? []).forEach(problem => show(problem, problem.message));
    if (item.verdict === 'cannotTell') show(item, item.reason);
  }
  return found.sort();
}

let state = 11;
const random = below => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % below;
};
let text = kite('a');
let version = 0;
await connection.sendNotification('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version, text } });
await diagnostics();
let different = 0;
for (let edit = 0; edit < EDITS; edit++) {
  const whole = edit % 12 === 0;
  const characters = [...text];
  const from = random(characters.length + 1);
  const to = Math.min(from + random(4), characters.length);
  const before = characters.slice(0, from).join('');
  const removed = characters.slice(from, to).join('');
  const position = head => {
    const lines = head.split('\n');
    return { line: lines.length - 1, character: lines.at(-1).length };
  };
  const piece = PIECES[random(PIECES.length)];
  const change = whole
    ? { text: `${kite(`k${edit}`)}---\n${kite(`l${edit}`)}` }
    : { range: { start: position(before), end: position(before + removed) }, text: piece };
  text = whole ? change.text : before + piece + text.slice(before.length + removed.length);
  version++;
  await connection.sendNotification('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [change] });
  const shown = await diagnostics();
  const got = shown.diagnostics.map(d => `${d.range.start.line}:${d.range.start.character} ${d.message}`).sort();
  const want = validated(text);
  if (JSON.stringify(got) !== JSON.stringify(want)) {
    different++;
    console.log(`edit ${edit}:\n${text}\neditor ${JSON.stringify(got)}\nvalidate ${JSON.stringify(want)}`);
  }
}
await connection.sendRequest('shutdown');
await connection.sendNotification('exit');
const code = await new Promise(resolve => (server.exitCode === null ? server.on('exit', resolve) : resolve(server.exitCode)));
rmSync(folder, { recursive: true });
console.log(`${EDITS} edits, ${different} with other diagnostics than validate, exit code ${code}`);
process.exit(different === 0 && code === 0 ? 0 : 1);
