"""Starts the real kube-apiserver with an etcd of its own, for the scripts in tests/ (kube-apiserver.sh builds both programs).

    with ControlPlane("/tmp/assets", WORK) as plane:
        subprocess.run(["kubectl", "--kubeconfig", plane.kubeconfig, "get", "namespaces"])
"""
import argparse, contextlib, http.client, json, os, socket, ssl, subprocess, time

KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: real, cluster: {{server: "https://127.0.0.1:{port}", certificate-authority: "{folder}/ca.crt"}}}}]
users: [{{name: admin, user: {{client-certificate: "{folder}/admin.crt", client-key: "{folder}/admin.key"}}}}]
contexts: [{{name: real, context: {{cluster: real, user: admin}}}}]
current-context: real
"""


def free_ports(count):
    """Ports that nothing listens on; all are held until the last one is known, so that no two are equal."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def certificates(folder):
    """An authority, a certificate of the server and one of a client in the group system:masters."""
    os.makedirs(folder, exist_ok=True)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-days", "30", "-subj", "/CN=authority", "-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.crt")
    for name, subject, usage in [("server", "/CN=server", "serverAuth"), ("admin", "/O=system:masters/CN=admin", "clientAuth")]:
        with open(f"{folder}/{name}.ext", "w") as out:
            out.write(f"extendedKeyUsage={usage}\nkeyUsage=digitalSignature\nsubjectAltName=IP:127.0.0.1\n")
        openssl("req", "-new", *key, "-subj", subject, "-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.csr")
        openssl("x509", "-req", "-days", "30", "-in", f"{folder}/{name}.csr", "-CA", f"{folder}/ca.crt", "-CAkey", f"{folder}/ca.key",
                "-CAcreateserial", "-extfile", f"{folder}/{name}.ext", "-out", f"{folder}/{name}.crt")
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{folder}/accounts.key")


def start_etcd(program, work):
    """Starts etcd. Returns the process and the URL for clients."""
    client, peer = (f"http://127.0.0.1:{port}" for port in free_ports(2))
    flags = ["--data-dir", os.path.join(work, "etcd"), "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
    with open(os.path.join(work, "etcd.log"), "w") as log:
        # Nothing of a test has to survive a crash of the machine.
        process = subprocess.Popen([program, *flags, "--initial-cluster", f"default={peer}", "--initial-advertise-peer-urls", peer, "--unsafe-no-fsync"], stdout=log, stderr=log)
    return process, client


class Server:
    """A kube-apiserver, and a connection to it as a member of system:masters."""

    def __init__(self, program, etcd, work, more={}):
        (self.port,), self.folder = free_ports(1), os.path.join(work, "certificates")
        if not os.path.exists(self.folder):
            certificates(self.folder)
        flags = {
            "etcd-servers": etcd, "secure-port": self.port, "cert-dir": os.path.join(work, str(self.port)), "client-ca-file": f"{self.folder}/ca.crt",
            "tls-cert-file": f"{self.folder}/server.crt", "tls-private-key-file": f"{self.folder}/server.key",
            "service-account-issuer": "https://localhost", "service-account-key-file": f"{self.folder}/accounts.key",
            "service-account-signing-key-file": f"{self.folder}/accounts.key",
            # No controller runs that would create the default ServiceAccount of a namespace.
            "disable-admission-plugins": "ServiceAccount",
            "authorization-mode": "AlwaysAllow", "service-cluster-ip-range": "10.0.0.0/24", "allow-privileged": "true",
            **more,
        }
        self.log = os.path.join(work, f"{self.port}.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([program, *(f"--{name}={value}" for name, value in flags.items())], stdout=log, stderr=log)
        self.kubeconfig = os.path.join(work, f"{self.port}.kubeconfig")
        with open(self.kubeconfig, "w") as out:
            out.write(KUBECONFIG.format(port=self.port, folder=self.folder))
        context = ssl.create_default_context(cafile=f"{self.folder}/ca.crt")
        context.load_cert_chain(f"{self.folder}/admin.crt", f"{self.folder}/admin.key")
        self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context)

    def wait(self):
        """Returns when the server is ready and has the namespace `default`."""
        for _ in range(1200):
            if self.process.poll() is not None:
                break
            try:
                if self.send("GET", "/readyz")[0] == 200 and self.send("GET", "/api/v1/namespaces/default")[0] == 200:
                    return
            except OSError:
                self.connection.close()
            time.sleep(0.1)
        raise SystemExit(f"kube-apiserver is not ready: see {self.log}")

    def send(self, method, path, body=None, headers={}):
        """The status code, the body (parsed, if it is JSON) and the headers of the answer."""
        try:
            response, data = self._exchange(method, path, body, headers)
        except http.client.RemoteDisconnected:
            # The server closes a connection that is idle for too long.
            self.connection.close()
            response, data = self._exchange(method, path, body, headers)
        try:
            return response.status, json.loads(data), response.headers
        except ValueError:
            return response.status, data.decode(errors="replace"), response.headers

    def _exchange(self, method, path, body, headers):
        self.connection.request(method, path, body, {"Accept": "application/json", **headers})
        response = self.connection.getresponse()
        return response, response.read()

    def resources(self):
        """The path, plural and scope of each apiVersion and kind."""
        versions = [version["groupVersion"] for group in self.send("GET", "/apis")[1]["groups"] for version in group["versions"]]
        found = {}
        for path, name in [("/api/v1", "v1")] + [(f"/apis/{name}", name) for name in versions]:
            answer = self.send("GET", path)[1]
            for resource in answer.get("resources", []) if isinstance(answer, dict) else []:
                if "/" not in resource["name"]:
                    found[name, resource["kind"]] = (path, resource["name"], resource["namespaced"])
        return found


class ControlPlane(Server):
    """etcd and a kube-apiserver, with `more` flags; both end with the `with` block."""

    def __init__(self, assets, work, more={}):
        os.makedirs(work, exist_ok=True)
        self.etcd, url = start_etcd(os.path.join(assets, "etcd"), work)
        super().__init__(os.path.join(assets, "kube-apiserver"), url, work, more)

    def __enter__(self):
        try:
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in (self.process, self.etcd):
            process.kill()
            process.wait()


def parser(doc):
    """A parser of the arguments of a script that compares the servers of `real_and_simulated`; `doc` is its description."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("folder")
    found.add_argument("--envtest", required=True)
    return found


def random_parser(doc):
    """The same for a script that sends random requests."""
    found = parser(doc)
    found.add_argument("--count", type=int, default=1000)
    found.add_argument("--seed", type=int, default=1)
    return found


@contextlib.contextmanager
def real_and_simulated(assets, envtest, work, server=Server):
    """The kube-apiserver of `assets` and that of the folder `envtest`, as a list; both end with the `with` block."""
    etcd, url = start_etcd(os.path.join(assets, "etcd"), work)
    started, servers = [etcd], []
    try:
        for folder in [assets, envtest]:
            servers.append(server(os.path.join(folder, "kube-apiserver"), url, work))
            started.append(servers[-1].process)
            servers[-1].wait()
        yield servers
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
