// Downloads a release from a server on this machine.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { downloadedProgram, releaseOf } from '../dist/download.mjs';

const archive = 'kubectl-crdx-linux-amd64.tar.gz';
let folder, server, files, requests;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crdx-download-'));
  writeFileSync(join(folder, 'LICENSE'), 'x'.repeat(1000));
  writeFileSync(join(folder, 'kubectl-crdx'), '#!/bin/sh\necho started\n');
  execFileSync('tar', ['--format=ustar', '-czf', archive, 'LICENSE', 'kubectl-crdx'], { cwd: folder });
  const sum = createHash('sha256').update(readFileSync(join(folder, archive))).digest('hex');
  files = { 'checksums.txt': `0000  other.tar.gz\n${sum}  ${archive}\n`, [archive]: readFileSync(join(folder, archive)) };
  server = createServer((request, response) => {
    requests.push(request.url);
    const file = files[request.url.split('/').pop()];
    response.writeHead(file === undefined ? 404 : 200).end(file);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

function release() {
  requests = [];
  const url = `http://127.0.0.1:${server.address().port}/owner/kubectl-crdx.git`;
  return releaseOf({ version: '1.2.3', repository: { url } }, { platform: 'linux', arch: 'x64' });
}

test('a program is downloaded once', async () => {
  const directory = join(folder, 'programs');
  const program = await downloadedProgram(release(), directory);
  assert.equal(execFileSync(program, { encoding: 'utf8' }), 'started\n');
  assert.equal(statSync(program).mode & 0o777, 0o755);
  assert.deepEqual(requests, ['checksums.txt', archive].map(file => `/owner/kubectl-crdx/releases/download/v1.2.3/${file}`));
  assert.equal(await downloadedProgram(release(), directory), program);
  assert.deepEqual(requests, []);
});

test('an archive with another checksum is refused', async () => {
  const right = files['checksums.txt'];
  for (const wrong of [`0123  ${archive}\n`, '']) {
    files['checksums.txt'] = wrong;
    await assert.rejects(downloadedProgram(release(), join(folder, 'refused')), /checksum of kubectl-crdx-linux-amd64/);
  }
  assert.ok(!existsSync(join(folder, 'refused', 'kubectl-crdx')));
  files['checksums.txt'] = right;
});

test('a missing release is an error', async () => {
  const other = { ...release(), archive: 'none.tar.gz' };
  await assert.rejects(downloadedProgram(other, join(folder, 'none')), /404/);
  assert.throws(() => releaseOf({ version: '1', repository: { url: '' } }, { platform: 'sunos', arch: 'x64' }), /no program for sunos/);
});
