/** The path of kubectl-crdx in the package of this platform. */
export function findProgram(): string;

/** A Kubernetes API server with a state of its own. */
export class Server {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** A kubeconfig whose only context is this server. */
  readonly kubeconfig: string;
  /** Stops the server. */
  end(): Promise<void>;
}

/** A process of `kubectl-crdx serve --sessions`, which ends with this process at the latest. */
export class Servers {
  /** `flags` are those of `kubectl crdx serve`; the default is `--builtin`. */
  constructor(flags?: string[], program?: string);
  /** Starts a server that loads CRDs and objects from files and directories, besides those of `--load`. */
  new(...paths: string[]): Promise<Server>;
  /** Ends the process and all its servers. */
  close(): void;
}
