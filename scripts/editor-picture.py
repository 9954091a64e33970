#!/usr/bin/env python3
"""Draws the pictures of docs/editors.md from the screen of Neovim with the language server in a tmux session.

usage: scripts/editor-picture.py [--binary target/release/kubectl-crdx] [--output docs]

Needs nvim (0.7 or later) and tmux.
"""
import argparse
import os
import shutil
import subprocess
import tempfile
import time

from terminal_svg import svg

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WIDTH, HEIGHT = 112, 17
OBJECT = """\
apiVersion: stable.example.com/v1
kind: CronTab
metadata:
  name: backup
  namespace: jobs
spec:
  image: backup:1.4
  cronSpec: "every day"
  replicas: 3
  concurrency: Forbidden
  env:
  - name: REGION
    value: eu
"""
# For each picture: its file, its description, the keys, the text that the screen must show, and the number of lines.
PICTURES = [
    ("editor-diagnostics.svg", "Neovim shows the errors of the API server beside the lines of a custom resource",
     ["9G", "^", "cwreplcas", "Escape", "1G"], "unknown field", 14),
    ("editor-hover.svg", "Neovim shows what the CRD says about a field", ["9G", "^", "K"], "maximum", 16),
    ("editor-completion.svg", "Neovim completes the values of an enum", ["10G", "$", "bcw", "C-x", "C-o"], "Replace", 16),
]


class Session:
    """A tmux session with Neovim."""

    def __init__(self, folder, binary):
        self.socket = os.path.join(folder, "tmux")
        environment = {**os.environ, "CRDX": binary, "KUBECONFIG": "/nonexistent", "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        environment.pop("TMUX", None)
        script = os.path.join(ROOT, "scripts", "editor-picture.lua")
        with open(os.path.join(folder, "tmux.conf"), "w", encoding="utf-8") as file:
            file.write("set -g default-terminal tmux-256color\nset -s escape-time 0\nset -g status off\n")
        self.tmux("-f", os.path.join(folder, "tmux.conf"), "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), "-c", os.path.join(folder, "w"),
                  f"nvim -u NONE -i NONE --cmd 'filetype on' -c 'luafile {script}' -c 'edit crontab.yaml'", environment=environment)

    def tmux(self, *arguments, environment=None):
        done = subprocess.run(["tmux", "-u", "-S", self.socket, *arguments], env=environment, stdout=subprocess.PIPE, check=True, text=True)
        return done.stdout

    def wait_for(self, text):
        """The screen when it has shown `text` without a change for a moment."""
        last = None
        for _ in range(100):
            time.sleep(0.3)
            screen = self.tmux("capture-pane", "-p", "-e", "-N")
            if text in screen and screen == last:
                return screen.rstrip("\n").split("\n")
            last = screen
        raise SystemExit(f"the screen does not show {text!r}:\n{last}")

    def close(self):
        self.tmux("kill-server")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--binary", default=os.path.join(ROOT, "target/release/kubectl-crdx"))
    ap.add_argument("--output", default=os.path.join(ROOT, "docs"))
    args = ap.parse_args()
    for name, label, keys, text, count in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            work = os.path.join(folder, "w")
            os.mkdir(work)
            shutil.copy(os.path.join(ROOT, "examples/crds/crontab.yaml"), os.path.join(work, "crd.yaml"))
            with open(os.path.join(work, "crontab.yaml"), "w", encoding="utf-8") as file:
                file.write(OBJECT)
            session = Session(folder, os.path.abspath(args.binary))
            try:
                session.wait_for("supported values")
                for key in keys:
                    session.tmux("send-keys", key)
                    time.sleep(0.2)
                lines = session.wait_for(text)[:count]
            finally:
                session.close()
        with open(os.path.join(args.output, name), "w", encoding="utf-8") as file:
            file.write(svg(lines, label))


if __name__ == "__main__":
    main()
