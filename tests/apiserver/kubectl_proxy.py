"""A proxy between kubectl and an API server of control_plane.py, which keeps the writes of kubectl and their answers.

    with KubectlProxy(KUBECTL, SERVER, WORK) as proxy:
        result, exchanges = proxy.run("apply", "--dry-run=server", "-f", FOLDER)
"""
import collections, http.client, http.server, os, subprocess, threading

Exchange = collections.namedtuple("Exchange", "method path content_type body code answer warnings")
FORWARDED = ("Accept", "Content-Type", "User-Agent")
KUBECONFIG = """apiVersion: v1
kind: Config
clusters: [{{name: proxy, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: proxy, context: {{cluster: proxy, namespace: default}}}}]
current-context: proxy
"""


class KubectlProxy:
    def __init__(self, kubectl, server, work):
        os.makedirs(work, exist_ok=True)
        self.kubectl, self.server, self.work, self.lock, self.exchanges = kubectl, server, work, threading.Lock(), []
        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.kubeconfig = os.path.join(work, "kubeconfig")
        with open(self.kubeconfig, "w") as out:
            out.write(KUBECONFIG.format(port=self.listener.server_port))

    def __enter__(self):
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.listener.shutdown()
        self.listener.server_close()

    def run(self, *arguments):
        """Runs kubectl. Returns the finished process and the writes that it sent, in order."""
        self.exchanges = []
        flags = ["--kubeconfig", self.kubeconfig, "--cache-dir", os.path.join(self.work, "cache")]
        environment = {**os.environ, "HOME": self.work}
        return subprocess.run([self.kubectl, *arguments, *flags], capture_output=True, text=True, env=environment), self.exchanges

    def forward(self, method, path, headers, body):
        """Sends a request to the server. Returns the response and its body."""
        with self.lock:
            for _ in range(2):
                try:
                    self.server.connection.request(method, path, body, headers)
                    response = self.server.connection.getresponse()
                    answer = response.read()
                    break
                except (http.client.HTTPException, OSError):
                    # The server closes a connection that is idle for too long, and that of a handler that panicked.
                    self.server.connection.close()
            else:
                raise ConnectionError(f"no answer to {method} {path}")
            if method in ("POST", "PUT", "PATCH", "DELETE"):
                self.exchanges.append(Exchange(method, path, headers.get("Content-Type"), body, response.status, answer, response.headers.get_all("Warning") or []))
        return response, answer

    def _handler(self):
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name: self.headers[name] for name in FORWARDED if name in self.headers}
                try:
                    response, answer = proxy.forward(self.command, self.path, headers, body or None)
                except ConnectionError:
                    self.close_connection = True
                    return
                self.send_response(response.status)
                for name in ("Content-Type", "Warning", "Retry-After"):
                    for value in response.headers.get_all(name) or []:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer)

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, *_):
                pass

        return Handler
