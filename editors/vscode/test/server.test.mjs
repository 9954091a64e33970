// Starts the server as the extension does, with the extension's settings, and speaks to it with the protocol library of
// Visual Studio Code. CRDX names the program.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { findProgram, thisMachine } from '../dist/program.mjs';
import { serverCommand, serverOptions } from '../dist/settings.mjs';

const require = createRequire(import.meta.url);
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require('vscode-languageserver-protocol/node');

const path = resolve(process.env.CRDX);
const kite = colour => `apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: a}\nspec: {colour: ${colour}}\n`;
const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.toys.example.com}
spec:
  group: toys.example.com
  scope: Namespaced
  names: {plural: kites, singular: kite, kind: Kite, listKind: KiteList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              colour: {type: string, enum: [red, blue], x-kubernetes-validations: [{rule: self == oldSelf, message: fixed}]}
`;

let folder, server, connection, uri;
const waiting = [];
const arrived = [];
const diagnostics = () => new Promise(resolve => (arrived.length ? resolve(arrived.shift()) : waiting.push(resolve)));

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crdx-vscode-'));
  writeFileSync(join(folder, 'crd.txt'), crd);
  writeFileSync(join(folder, 'kite.yaml'), kite('red'));
  const git = (...args) => execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args]);
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'a');
  uri = pathToFileURL(join(folder, 'kite.yaml')).href;
  const { command, args } = serverCommand({ path }, thisMachine([folder]));
  server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  connection.onNotification('textDocument/publishDiagnostics', ({ diagnostics }) => {
    const messages = diagnostics.map(one => one.message);
    waiting.length ? waiting.shift()(messages) : arrived.push(messages);
  });
  connection.listen();
  const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: 'w' }];
  await connection.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities: {}, workspaceFolders, initializationOptions: {} });
  await connection.sendNotification('initialized', {});
});

after(async () => {
  await connection.sendRequest('shutdown');
  const exited = new Promise(resolve => server.on('exit', resolve));
  await connection.sendNotification('exit');
  assert.equal(await exited, 0);
  rmSync(folder, { recursive: true });
});

const configure = settings => connection.sendNotification('workspace/didChangeConfiguration', { settings: serverOptions(settings) });

test('the settings of the extension are options of the server', async () => {
  const textDocument = { uri, languageId: 'yaml', version: 0, text: kite('blue') };
  await connection.sendNotification('textDocument/didOpen', { textDocument });
  assert.match((await diagnostics())[0], /^no CRD for toys\.example\.com\/v1 Kite/);
  await configure({ crds: ['crd.txt'] });
  assert.deepEqual(await diagnostics(), []);
  await configure({ crds: ['crd.txt'], compareWithCommitted: true });
  assert.deepEqual(await diagnostics(), ['spec.colour: Invalid value: "blue": fixed']);
  await configure({ crds: ['crd.txt'], kubernetesVersion: '1.33..1.34' });
  assert.deepEqual(await diagnostics(), []);
  const change = { textDocument: { uri, version: 1 }, contentChanges: [{ text: kite('grey') }] };
  await connection.sendNotification('textDocument/didChange', change);
  assert.match((await diagnostics())[0], /supported values: "red", "blue"\nKubernetes 1\.33, 1\.34$/);
  await configure({});
  assert.match((await diagnostics())[0], /^no CRD for/);
});

test('every setting of package.json is passed on', () => {
  const { properties } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url))).contributes.configuration;
  const names = Object.keys(properties).map(name => name.replace('kubectl-crdx.', ''));
  const defaults = Object.fromEntries(names.map(name => [name, properties[`kubectl-crdx.${name}`].default]));
  assert.deepEqual(serverOptions(defaults), {});
  const other = { string: '1.34', boolean: name => !defaults[name], array: ['x'] };
  for (const name of names.filter(name => name !== 'path')) {
    const value = other[properties[`kubectl-crdx.${name}`].type];
    const given = typeof value === 'function' ? value(name) : value;
    assert.deepEqual(serverOptions({ ...defaults, [name]: given }), { [name]: given });
  }
  const machine = { platform: 'linux', searchPath: '/bin', folders: [], isProgram: () => true, resolved: file => file };
  assert.deepEqual(serverCommand(defaults, machine), { command: '/bin/kubectl-crdx', args: ['lsp'] });
});

test('a program of the workspace is not started', () => {
  const programs = ['/w/bin/crdx', '/w/crdx', '/opt/crdx', '/link/crdx', 'crdx', './crdx'];
  const machine = searchPath => ({
    platform: 'linux',
    searchPath,
    folders: ['/w'],
    isProgram: file => programs.includes(file),
    resolved: file => file.replace(/^\/link/, '/w/bin'),
  });
  assert.equal(findProgram('crdx', machine('/w/bin::.:/link:/w:/opt')), '/opt/crdx');
  assert.throws(() => findProgram('crdx', machine('/w/bin::.:/link')), /not on the PATH outside of the workspace/);
  assert.throws(() => findProgram('bin/crdx', machine('/w')), /relative path/);
  assert.equal(findProgram('/w/bin/crdx', machine('')), '/w/bin/crdx', 'an absolute path is the choice of the user');
});

test('Windows does not look in the working directory', () => {
  const programs = ['C:\\w\\crdx.exe', 'crdx.exe', 'c:\\W\\bin\\crdx.exe', 'D:\\tools\\crdx.exe', 'D:\\tools\\crdx.cmd'];
  const machine = searchPath => ({
    platform: 'win32',
    searchPath,
    folders: ['C:\\w'],
    isProgram: file => programs.includes(file),
    resolved: file => file,
  });
  const path = '.;;C:\\w;c:\\W\\bin;"D:\\tools"';
  assert.equal(findProgram('crdx', machine(path)), 'D:\\tools\\crdx.exe');
  assert.equal(findProgram('crdx.exe', machine(path)), 'D:\\tools\\crdx.exe');
  assert.throws(() => findProgram('crdx', machine('.;C:\\w')), /not on the PATH/);
  assert.throws(() => findProgram('.\\crdx.exe', machine(path)), /relative path/);
});

test('a link into the workspace is a program of the workspace', () => {
  const base = mkdtempSync(join(tmpdir(), 'crdx-path-'));
  const program = (...parts) => {
    const file = join(base, ...parts);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, '');
    chmodSync(file, 0o755);
    return file;
  };
  program('w', 'bin', 'crdx');
  symlinkSync(join(base, 'w', 'bin'), join(base, 'link'));
  mkdirSync(join(base, 'links'));
  symlinkSync(join(base, 'w', 'bin', 'crdx'), join(base, 'links', 'crdx'));
  const good = program('opt', 'crdx');
  const searchPath = ['link', 'links', 'opt'].map(name => join(base, name)).join(':');
  assert.equal(findProgram('crdx', { ...thisMachine([join(base, 'w')]), searchPath }), good);
  rmSync(base, { recursive: true });
});
