#!/usr/bin/env python3
"""Runs the fuzz targets for a number of CPU seconds each and adds the results to FOLDER/totals.json: fuzz/run.py FOLDER --seconds 300.

FOLDER/TARGET keeps the inputs found; fuzz/corpus/TARGET.jsonl and FOLDER/seeds/TARGET (fuzz/seeds.py) are read. `--table` prints the totals.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

import corpus

FUZZ = pathlib.Path(__file__).resolve().parent
BUILT = FUZZ / "target/x86_64-unknown-linux-gnu/release"
LOCK = threading.Lock()


def cpu_seconds(pid):
    # The command's name may contain spaces; utime and stime are the 14th and 15th field.
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def limits():
    # As the threads of the program (value::STACK_SIZE).
    resource.setrlimit(resource.RLIMIT_STACK, (256 << 20, resource.RLIM_INFINITY))
    os.nice(17)


def run(target, folder, seconds):
    """One run, until its time is over or there is a finding."""
    own, artifacts = folder / target, folder / "artifacts" / target
    own.mkdir(parents=True, exist_ok=True)
    artifacts.mkdir(parents=True, exist_ok=True)
    known = set(artifacts.iterdir())
    corpora = [own, corpus.unpack(target, folder / "corpus" / target), folder / "seeds" / target]
    words = folder / "seeds" / f"{target}.dict"
    options = ["-timeout=120", "-report_slow_units=120", "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={artifacts}/"]
    options += [f"-dict={words}"] if words.exists() else []
    log = folder / f"{target}.log"
    with open(log, "wb") as out:
        process = subprocess.Popen([BUILT / target, *options, *(c for c in corpora if c.exists())], stdout=out, stderr=out, preexec_fn=limits)
        used = 0.0
        while process.poll() is None:
            used = cpu_seconds(process.pid)
            if used >= seconds:
                process.send_signal(signal.SIGINT)
                process.wait()
                break
            time.sleep(0.5)
    text = log.read_text(errors="replace")
    executions = [int(n) for n in re.findall(r"number_of_executed_units: (\d+)", text)] or [int(n) for n in re.findall(r"^#(\d+)", text, re.M)]
    coverage = re.findall(r"cov: (\d+) ft: (\d+)", text)
    found = sorted(path.name for path in artifacts.iterdir() if path not in known)
    for name in found:
        (artifacts.parent / f"{name}.log").write_text(text)
    with LOCK:
        path = folder / "totals.json"
        totals = json.loads(path.read_text()) if path.exists() else {}
        total = totals.setdefault(target, {"seconds": 0, "executions": 0, "cov": 0, "ft": 0, "found": []})
        total["seconds"] += used
        total["executions"] += executions[-1] if executions else 0
        total["cov"], total["ft"] = map(int, coverage[-1]) if coverage else (total["cov"], total["ft"])
        total["found"] += found
        path.write_text(json.dumps(totals, indent=1, sort_keys=True))
    print(f"{time.strftime('%H:%M')} {target}: {used:.0f} s, {executions[-1:]} executions, cov {coverage[-1:]}, {found}", flush=True)
    return used, found


def share(target, folder, seconds):
    """Runs a target again after a finding, at most three times."""
    for _ in range(3):
        used, found = run(target, folder, seconds)
        seconds -= used
        if not found or seconds < 5:
            return


def table(folder):
    print("| target | CPU seconds | executions | edges covered | features |\n|---|---|---|---|---|")
    totals = json.loads((folder / "totals.json").read_text())
    for target, t in sorted(totals.items()):
        print(f"| `{target}` | {t['seconds']:,.0f} | {t['executions']:,} | {t['cov']:,} | {t['ft']:,} |")
    print(f"| all | {sum(t['seconds'] for t in totals.values()):,.0f} | {sum(t['executions'] for t in totals.values()):,} | | |")


def bits(numbers):
    """The set of these numbers as the bits of one integer."""
    numbers = list(numbers)
    array = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        array[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(array, "little")


def minimize(target, folder, files, size):
    """Replaces the corpus in the repository by small inputs that execute the same edges, at most this many and this long in all."""
    corpora = [c for c in [corpus.unpack(target, folder / "corpus" / target), folder / target, folder / "seeds" / target] if c.exists()]
    control = folder / f"{target}.merge"
    control.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as unused:
        # The control file lists the edges of each input.
        options = ["-set_cover_merge=1", "-use_counters=0", f"-merge_control_file={control}", "-timeout=120", "-rss_limit_mb=2048"]
        subprocess.run([BUILT / target, *options, unused, *corpora], stderr=subprocess.DEVNULL, check=True, preexec_fn=limits)
    rows = control.read_text().splitlines()
    names = [row for row in rows[2:] if not re.match(r"(STARTED|FT|COV) ", row)][:int(rows[0])]
    numbers = {}
    edges = {names[int(row.split()[1])]: bits(numbers.setdefault(edge, len(numbers)) for edge in row.split()[2:]) for row in rows if row.startswith("FT ")}
    sizes = {name: os.path.getsize(name) for name in edges}
    chosen, covered = [], 0
    while len(chosen) < files:
        left = [name for name in edges if sizes[name] <= size and edges[name] & ~covered]
        if not left:
            break
        best = max(left, key=lambda name: ((edges[name] & ~covered).bit_count() / (sizes[name] + 100), name))
        chosen.append((best, pathlib.Path(best).read_bytes()))
        size -= sizes[best]
        covered |= edges.pop(best)
    # Inputs named by hand are regressions.
    inputs = {name: data for name, data in corpus.read(target).items() if not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{12}|seed-\d+", name)}
    corpus.write(target, inputs | {hashlib.sha1(data).hexdigest()[:12]: data for _, data in chosen})
    length = sum(len(data) for _, data in chosen)
    print(f"{target}: {len(chosen)} of {len(names)} inputs, {length:,} bytes, {covered.bit_count():,} of {len(numbers):,} edges", flush=True)


def main():
    targets = sorted(path.stem for path in (FUZZ / "fuzz_targets").glob("*.rs"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", default=targets)
    parser.add_argument("--seconds", type=float, default=300, help="CPU time for each target")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print the totals")
    parser.add_argument("--minimize", action="store_true", help="replace fuzz/corpus by few small inputs")
    parser.add_argument("--files", type=int, default=100, help="inputs for each target, with --minimize")
    parser.add_argument("--size", type=int, default=100_000, help="bytes for each target, with --minimize")
    arguments = parser.parse_args()
    if arguments.minimize:
        for target in arguments.targets:
            minimize(target, arguments.folder, arguments.files, arguments.size)
        return None
    if arguments.table:
        return table(arguments.folder)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda target: share(target, arguments.folder, arguments.seconds), arguments.targets))


main()
