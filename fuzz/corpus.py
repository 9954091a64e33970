#!/usr/bin/env python3
"""Unpacks the corpora of the fuzz targets into FOLDER/TARGET, one file per input, as cargo-fuzz reads them: fuzz/corpus.py FOLDER.

fuzz/corpus/TARGET.jsonl has one line per input, sorted by name: its name, and its "text" or, when that is not UTF-8, its "base64".
"""
import base64
import json
import pathlib
import sys

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"


def read(target):
    """The inputs of a target by name."""
    path = CORPUS / f"{target}.jsonl"
    lines = map(json.loads, path.read_text().split("\n")[:-1]) if path.exists() else []
    return {line["name"]: line["text"].encode() if "text" in line else base64.b64decode(line["base64"]) for line in lines}


def write(target, inputs):
    def line(name, data):
        try:
            return {"name": name, "text": data.decode()}
        except UnicodeDecodeError:
            return {"name": name, "base64": base64.b64encode(data).decode()}

    lines = [json.dumps(line(name, data), ensure_ascii=True) + "\n" for name, data in sorted(inputs.items())]
    (CORPUS / f"{target}.jsonl").write_text("".join(lines))


def unpack(target, folder):
    """Writes the inputs of a target into a folder and returns it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in read(target).items():
        (folder / name).write_bytes(data)
    return folder


if __name__ == "__main__":
    for path in sorted(CORPUS.glob("*.jsonl")):
        unpack(path.stem, pathlib.Path(sys.argv[1]) / path.stem)
