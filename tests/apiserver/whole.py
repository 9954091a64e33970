#!/usr/bin/env python3
"""Runs a command with the URL of the real kube-apiserver, with all its kinds and default admission plugins, in CRDX_REAL.

usage: whole.py FOLDER COMMAND [ARGUMENT]...

FOLDER has kube-apiserver, etcd (tests/apiserver/kube-apiserver.sh builds both) and kubectl. `kubectl proxy` adds the client certificate, because the
differential tests speak plain HTTP. The namespaces that their requests name exist.
"""
import json, os, subprocess, sys, tempfile, time
import control_plane

NAMESPACES = ["other"]


def main():
    folder, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="whole-") as work, control_plane.ControlPlane(folder, work) as plane:
        for name in NAMESPACES:
            body = json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            plane.send("POST", "/api/v1/namespaces", body, {"Content-Type": "application/json"})
        (port,) = control_plane.free_ports(1)
        flags = ["--kubeconfig", plane.kubeconfig, "--port", str(port), "--disable-filter=true"]
        proxy = subprocess.Popen([os.path.join(folder, "kubectl"), "proxy", *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(2)
            sys.exit(subprocess.run(command, env={**os.environ, "CRDX_REAL": f"http://127.0.0.1:{port}"}).returncode)
        finally:
            proxy.kill()
            proxy.wait()


if __name__ == "__main__":
    main()
