import { findProgram, type Machine } from './program';

/** The settings of the extension, as Visual Studio Code reads them from `kubectl-crdx`. */
export interface Settings {
  path?: string;
  crds?: string[];
  policies?: string[];
  kubernetesVersion?: string;
  searchWorkspace?: boolean;
  compareWithCommitted?: boolean;
  live?: boolean;
}

/** The program to start, without a shell, and its arguments. Throws an error if it is not found outside of the workspace. */
export function serverCommand(settings: Settings, machine: Machine): { command: string; args: string[] } {
  return { command: findProgram(settings.path?.trim() || 'kubectl-crdx', machine), args: ['lsp'] };
}

/** The options of the server (`docs/editors.md`): those that differ from its defaults. */
export function serverOptions(settings: Settings): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  if (settings.crds?.length) options.crds = settings.crds;
  if (settings.policies?.length) options.policies = settings.policies;
  if (settings.kubernetesVersion?.trim()) options.kubernetesVersion = settings.kubernetesVersion.trim();
  if (settings.searchWorkspace === false) options.searchWorkspace = false;
  if (settings.compareWithCommitted) options.compareWithCommitted = true;
  if (settings.live) options.live = true;
  return options;
}
