#!/usr/bin/env python3
"""Measures how long `etcd` and `kube-apiserver` take to start as controller-runtime's envtest starts them: to the first answer of each.

usage: envtest.py [--binary target/dist/kubectl-crdx] [--assets DIR] [--starts 7]

The programs are those that `kubectl-crdx envtest` writes. With --assets, a folder with the real etcd and kube-apiserver (tests/apiserver/kube-apiserver.sh), these are
started, too. The minimum of the starts is reported.
"""
import argparse, os, socket, ssl, subprocess, tempfile, time, urllib.error, urllib.request

INTERVAL = 0.002


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until_answer(url, process, limit=60):
    """Waits for the first answer, also for a refusal."""
    context, end = ssl._create_unverified_context(), time.monotonic() + limit
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"{process.args[0]} ended with {process.returncode}")
        try:
            return urllib.request.urlopen(url, timeout=1, context=context if url.startswith("https") else None).close()
        except urllib.error.HTTPError:
            return None
        except OSError:
            time.sleep(INTERVAL)
    raise SystemExit(f"{url} does not answer")


def start(folder, work):
    """Starts both programs. Returns the seconds to the first answer of etcd, and from there to that of kube-apiserver."""
    client, peer, secure = (free_port() for _ in range(3))
    store = f"http://127.0.0.1:{client}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    key = os.path.join(work, "key.pem")
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, **quiet)
    commands = [
        ["etcd", f"--listen-client-urls={store}", f"--advertise-client-urls={store}", f"--listen-peer-urls=http://localhost:{peer}", f"--data-dir={work}/etcd", "--unsafe-no-fsync=true"],
        ["kube-apiserver", "--endpoint-reconciler-type=none", f"--cert-dir={work}/certificates", f"--etcd-servers={store}", f"--secure-port={secure}", "--service-cluster-ip-range=10.0.0.0/24",
         "--allow-privileged=true", "--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount", f"--service-account-issuer=https://127.0.0.1:{secure}/",
         f"--service-account-key-file={key}", f"--service-account-signing-key-file={key}"],
    ]
    started, seconds = [], []
    try:
        for command, url in zip(commands, (f"{store}/health", f"https://127.0.0.1:{secure}/readyz")):
            before = time.monotonic()
            started.append(subprocess.Popen([os.path.join(folder, command[0]), *command[1:]], **quiet))
            until_answer(url, started[-1])
            seconds.append(time.monotonic() - before)
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
    return seconds


def measure(name, folder, starts):
    def once():
        with tempfile.TemporaryDirectory() as work:
            return start(folder, work)

    etcd, apiserver = min((once() for _ in range(starts)), key=sum)
    print(f"{name:12} {etcd + apiserver:7.3f} s   etcd {etcd:.3f}, kube-apiserver {apiserver:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--binary", default="target/dist/kubectl-crdx")
    parser.add_argument("--assets")
    parser.add_argument("--starts", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as written:
        folder = subprocess.run([args.binary, "envtest", "--dir", written], check=True, capture_output=True, text=True).stdout.strip()
        measure("kubectl-crdx", folder, args.starts)
    if args.assets:
        measure("real", args.assets, min(args.starts, 3))


if __name__ == "__main__":
    main()
