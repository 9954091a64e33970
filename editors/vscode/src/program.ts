import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import * as path from 'node:path';

/** What decides which program a name means. */
export interface Machine {
  platform: NodeJS.Platform;
  /** The variable `PATH`. */
  searchPath: string;
  /** The folders of the workspace. */
  folders: string[];
  /** Returns true for a file that can be started. */
  isProgram(file: string): boolean;
  /** The path without symbolic links; the path itself if it does not exist. */
  resolved(file: string): string;
}

/** This machine, with the folders of the workspace. */
export function thisMachine(folders: string[]): Machine {
  const { platform, env } = process;
  return { platform, searchPath: env.PATH ?? '', folders, isProgram, resolved };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function resolved(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** The program is not on the PATH. */
export class ProgramMissing extends Error {}

/**
 * The absolute path of the program that `name` means: an absolute path, or a name that is on the PATH.
 *
 * A program of the workspace is not started, because the workspace may be of someone who is not trusted. On Windows, the
 * operating system would look up a bare name in the working directory first, which is the workspace.
 */
export function findProgram(name: string, machine: Machine): string {
  const own = machine.platform === 'win32' ? path.win32 : path.posix;
  if (own.isAbsolute(name)) return name;
  if (own.basename(name) !== name) {
    throw new Error(`${name} is a relative path: set kubectl-crdx.path to an absolute path, or to a name on the PATH`);
  }
  // Without a shell, Windows starts these files only.
  const hasEnding = machine.platform !== 'win32' || /\.(exe|com)$/i.test(name);
  const file = hasEnding ? name : `${name}.exe`;
  const folders = machine.folders.map(folder => machine.resolved(folder));
  const isBelow = (directory: string, folder: string) => {
    const relative = own.relative(folder, directory);
    return !own.isAbsolute(relative) && relative.split(own.sep)[0] !== '..';
  };
  for (const entry of machine.searchPath.split(own.delimiter)) {
    const directory = machine.platform === 'win32' ? entry.replaceAll('"', '') : entry;
    // An empty or relative entry is a directory below the working directory.
    if (!own.isAbsolute(directory)) continue;
    const candidate = own.join(directory, file);
    if (!machine.isProgram(candidate)) continue;
    const places = [directory, candidate].map(one => machine.resolved(one));
    if (!folders.some(folder => places.some(place => isBelow(place, folder)))) return candidate;
  }
  throw new ProgramMissing(
    `${name} is not on the PATH outside of the workspace: install it, or set kubectl-crdx.path to its absolute path`,
  );
}
