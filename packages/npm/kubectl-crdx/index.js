import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);

/** The path of kubectl-crdx in the package of this platform. */
export function findProgram() {
  const name = process.platform === "win32" ? "kubectl-crdx.exe" : "kubectl-crdx";
  const wanted = `@kubectl-crdx/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${wanted}/${name}`);
  } catch {
    throw new Error(`the package ${wanted} is not installed: install kubectl-crdx with its optional dependencies on this machine`);
  }
}

/** A Kubernetes API server with a state of its own. */
export class Server {
  #servers;

  constructor(servers, { url, kubeconfig }) {
    this.#servers = servers;
    this.url = url;
    this.kubeconfig = kubeconfig;
  }

  async end() {
    await this.#servers.ask(`end ${this.url}`);
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.end();
  }
}

/** A process of `kubectl-crdx serve --sessions`, which ends with this process at the latest. */
export class Servers {
  #process;
  #answers = [];
  #ended;

  constructor(flags = ["--builtin"], program = findProgram()) {
    this.#process = spawn(program, ["serve", "--sessions", ...flags], { stdio: ["pipe", "pipe", "inherit"] });
    const fail = (reason) => {
      this.#ended = new Error(reason);
      for (const { reject } of this.#answers.splice(0)) reject(this.#ended);
    };
    this.#process.on("error", (error) => fail(error.message));
    this.#process.on("exit", (code) => fail(`kubectl-crdx ended with code ${code}: its messages are on standard error`));
    this.#process.stdin.on("error", () => {});
    // Requests are answered in their order.
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#answers.shift()?.resolve(JSON.parse(line)));
  }

  /** Starts a server that loads CRDs and objects from files and directories, besides those of `--load`. */
  async new(...paths) {
    return new Server(this, await this.ask(`new ${JSON.stringify(paths)}`));
  }

  /** @internal */
  async ask(request) {
    if (this.#ended) throw this.#ended;
    const answer = await new Promise((resolve, reject) => {
      this.#answers.push({ resolve, reject });
      this.#process.stdin.write(`${request}\n`);
    });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  close() {
    this.#process.stdin.end();
  }
}
