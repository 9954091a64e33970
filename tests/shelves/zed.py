#!/usr/bin/env python3
"""Compiles the extension for Zed and checks what Zed reads of the file: a WebAssembly component with the version of the interface, and the
functions that the extension implements.

    tests/shelves/zed.py

Needs the target wasm32-wasip2 (`rustup target add wasm32-wasip2`) and the registry of crates.
"""
import pathlib
import re
import subprocess
import sys

EXTENSION = pathlib.Path(__file__).resolve().parents[2] / "editors/zed"
TARGET = "wasm32-wasip2"
COMPONENT = b"\0asm\x0d\0\x01\0"
CUSTOM, MODULE, EXPORTS = 0, 1, 11
FUNCTIONS = ["init-extension", "language-server-command", "language-server-initialization-options"]


def number(data, at):
    """Reads a LEB128 number and returns it with the position behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def sections(data):
    """The sections of a component or a module: their numbers and contents."""
    at = len(COMPONENT)
    while at < len(data):
        kind = data[at]
        size, start = number(data, at + 1)
        at = start + size
        yield kind, data[start:at]


def custom_sections(data):
    """The custom sections of a component and its modules, by their names."""
    for kind, content in sections(data):
        if kind == MODULE and content.startswith(b"\0asm"):
            yield from custom_sections(content)
        if kind == CUSTOM:
            length, start = number(content, 0)
            yield content[start : start + length].decode(), content[start + length :]


def exported(data):
    """The functions of the extension that the component exports."""
    exports = b"".join(content for kind, content in sections(data) if kind == EXPORTS)
    return [name for name in FUNCTIONS if name.encode() in exports]


def main():
    subprocess.run(["cargo", "build", "--locked", "--release", "--target", TARGET], cwd=EXTENSION, check=True)
    metadata = subprocess.run(["cargo", "metadata", "--no-deps", "--format-version", "1"], cwd=EXTENSION, check=True, capture_output=True, text=True)
    target = re.search(r'"target_directory":"([^"]*)"', metadata.stdout).group(1)
    data = pathlib.Path(target, TARGET, "release/kubectl_crdx_zed.wasm").read_bytes()
    if not data.startswith(COMPONENT):
        sys.exit("the file is no component")
    version = dict(custom_sections(data)).get("zed:api-version", b"")
    wanted = re.search(r'name = "zed_extension_api"\nversion = "(\d+)\.(\d+)\.(\d+)"', (EXTENSION / "Cargo.lock").read_text()).groups()
    # Zed reads three numbers of 16 bits.
    if version != b"".join(int(part).to_bytes(2, "big") for part in wanted):
        sys.exit(f"the version of the interface is {version!r}")
    if exported(data) != FUNCTIONS:
        sys.exit(f"exported: {', '.join(exported(data))}")
    print(f"ok: a component of {len(data)} bytes for zed_extension_api {'.'.join(wanted)}")


main()
