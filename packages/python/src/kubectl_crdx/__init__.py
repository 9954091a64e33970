"""A simulated Kubernetes API server for tests, and the program kubectl-crdx.

>>> with kubectl_crdx.Servers() as servers:
...     server = servers.new("config/crd")
...     server.url
"""

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import threading

__all__ = ["Server", "Servers", "find_program"]


def find_program():
    """Returns the path of kubectl-crdx: the one of this package, or else the one on PATH."""
    name = "kubectl-crdx" + (sysconfig.get_config_var("EXE") or "")
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    for scheme in schemes:
        program = os.path.join(sysconfig.get_path("scripts", scheme=scheme), name)
        if os.path.isfile(program):
            return program
    program = shutil.which("kubectl-crdx")
    if program is None:
        raise FileNotFoundError(f"{name} is neither in the folder for scripts of this Python nor on PATH: reinstall kubectl-crdx")
    return program


class Server:
    """A Kubernetes API server with a state of its own. ``end()`` stops it; so does the end of a ``with`` block."""

    def __init__(self, servers, url, kubeconfig):
        self._servers = servers
        self._file = None
        #: ``http://127.0.0.1:PORT``
        self.url = url
        #: The text of a kubeconfig whose only context is this server.
        self.kubeconfig = kubeconfig

    @property
    def kubeconfig_file(self):
        """The path of a file with the kubeconfig, which is removed when the server ends."""
        if self._file is None:
            descriptor, self._file = tempfile.mkstemp(prefix="crdx-", suffix=".kubeconfig")
            with os.fdopen(descriptor, "w") as file:
                file.write(self.kubeconfig)
        return self._file

    @property
    def client(self):
        """An ``ApiClient`` of the official client (``pip install kubectl-crdx[client]``)."""
        import kubernetes

        configuration = kubernetes.client.Configuration(host=self.url)
        return kubernetes.client.ApiClient(configuration)

    def end(self):
        if self._file is not None:
            os.unlink(self._file)
            self._file = None
        self._servers._ask(f"end {self.url}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Servers:
    """A process of ``kubectl-crdx serve --sessions`` with any flags of ``serve``. It ends with this process at the latest."""

    def __init__(self, *flags, program=None):
        command = [program or find_program(), "serve", "--sessions", *flags]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self._lock = threading.Lock()

    def new(self, *paths):
        """Starts a server that loads CRDs and objects from files and directories, besides those of ``--load``."""
        answer = self._ask("new " + json.dumps([os.fspath(path) for path in paths]))
        return Server(self, answer["url"], answer["kubeconfig"])

    def _ask(self, request):
        with self._lock:
            try:
                self._process.stdin.write(request + "\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except BrokenPipeError:
                line = ""
        if not line:
            raise RuntimeError(f"kubectl-crdx ended with code {self._process.wait()}: its messages are on standard error")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
