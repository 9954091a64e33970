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

/** The program to start, without a shell, and its arguments. */
export function serverCommand(settings: Settings): { command: string; args: string[] } {
  return { command: settings.path?.trim() || 'kubectl-crdx', args: ['lsp'] };
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
