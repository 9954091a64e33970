import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { gunzipSync } from 'node:zlib';

/** A release of the program: the URL of its files, and the archive for this machine. */
export interface Release {
  files: string;
  archive: string;
  program: string;
}

/** The release with the version of the extension. Throws an error if it has no archive for the machine. */
export function releaseOf(
  extension: { version: string; repository: { url: string } },
  { platform, arch }: { platform: string; arch: string },
): Release {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[platform];
  const cpu = { x64: 'amd64', arm64: 'arm64' }[arch];
  if (!system || !cpu) throw new Error(`there is no program for ${platform} on ${arch}: build it, and set kubectl-crdx.path`);
  const repository = extension.repository.url.replace(/\.git$/, '');
  return {
    files: `${repository}/releases/download/v${extension.version}`,
    archive: `kubectl-crdx-${system}-${cpu}.tar.gz`,
    program: system === 'windows' ? 'kubectl-crdx.exe' : 'kubectl-crdx',
  };
}

/** The program of a release in `directory`, which is downloaded unless it is there. Its checksum must be that of the release. */
export async function downloadedProgram(release: Release, directory: string): Promise<string> {
  const program = path.join(directory, release.program);
  if (existsSync(program)) return program;
  const checksums = new TextDecoder().decode(await get(`${release.files}/checksums.txt`));
  const wanted = checksums.split('\n').find(line => line.endsWith(`  ${release.archive}`))?.split(' ')[0];
  const archive = await get(`${release.files}/${release.archive}`);
  if (createHash('sha256').update(archive).digest('hex') !== wanted) {
    throw new Error(`the checksum of ${release.archive} is not that of checksums.txt`);
  }
  mkdirSync(directory, { recursive: true });
  // A program under this name is complete.
  const partial = `${program}.${process.pid}`;
  writeFileSync(partial, fileInArchive(gunzipSync(archive), release.program));
  chmodSync(partial, 0o755);
  renameSync(partial, program);
  return program;
}

async function get(url: string): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** A file of a tar archive (ustar): a header of 512 bytes with the name and the octal size, then the content in blocks of 512 bytes. */
function fileInArchive(archive: Uint8Array, name: string): Uint8Array {
  const text = (start: number, length: number) => new TextDecoder().decode(archive.subarray(start, start + length)).split('\0')[0];
  for (let at = 0; at + 512 <= archive.length; ) {
    const size = parseInt(text(at + 124, 12), 8) || 0;
    if (text(at, 100) === name) return archive.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`the archive has no ${name}`);
}
