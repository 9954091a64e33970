#!/usr/bin/env python3
"""Tries the round trips of the CRDs of three operators with their own conversion webhooks, and finds planted losses.

Usage: round_trips.py PROGRAM WEBHOOKS [--tries N] [--json FOLDER]

WEBHOOKS is the program that `go build` makes of main.go. For each trip it prints the number of objects, fields that change, values that
are only written differently, and requests that fail. Then a field is removed from every answer for one kind of each operator: the exit
code is 1 if its round trips do not show it.
"""
import argparse, json, pathlib, subprocess, sys, tempfile, time

from webhook import definitions, webhook

PLANTED = {
    "cluster-api": ("MachineDeployment", "spec.paused", "cluster.x-k8s.io_machinedeployments.yaml"),
    "kueue": ("LocalQueue", "spec.clusterQueue", "kueue.x-k8s.io_localqueues.yaml"),
    "prometheus-operator": ("AlertmanagerConfig", "spec.receivers", "alertmanagerconfigs.monitoring.coreos.com.full.yaml"),
}


def reports(arguments, text, url, certificate):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        command = [arguments.program, "test", "--round-trip", file.name, "--webhook-url", url, "--webhook-ca", certificate, "--tries", str(arguments.tries)]
        done = subprocess.run([*command, "-o", "json"], capture_output=True, text=True)
    if not done.stdout:
        sys.exit(done.stderr)
    return done.returncode, json.loads(done.stdout)["items"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("webhooks")
    parser.add_argument("--tries", type=int, default=200)
    parser.add_argument("--json", type=pathlib.Path, help="a folder for the reports")
    parser.add_argument("--only", choices=PLANTED)
    arguments = parser.parse_args()
    missed = 0
    for operator, (kind, field, planted_in) in PLANTED.items():
        if arguments.only not in (None, operator):
            continue
        crds = definitions(operator)
        with webhook(arguments.webhooks) as (url, certificate):
            for name, text in crds.items():
                start = time.time()
                code, items = reports(arguments, text, url, certificate)
                if arguments.json:
                    arguments.json.mkdir(parents=True, exist_ok=True)
                    (arguments.json / f"{name}.json").write_text(json.dumps(items, indent=1))
                for item in items:
                    if "roundTrips" not in item:
                        print(f"{operator} | {name} | exit {code}: {item['failure']['message']}", flush=True)
                    for trip in item.get("roundTrips", []):
                        paths = ", ".join(one["path"] for one in trip["fields"][:6])
                        failures = "; ".join(f"{one['request']}: {one['message'][:160]}" for one in trip["failures"])
                        print(f"{operator} | {item['suite']} | {trip['written']} → {trip['through']} | {trip['tries']} | {len(trip['fields'])} | "
                              f"{len(trip['rewritten'])} | {len(trip['failures'])} | {paths} | {failures} | {time.time() - start:.0f} s", flush=True)
        with webhook(arguments.webhooks, "-lose", f"{kind}:{field}") as (url, certificate):
            code, items = reports(arguments, crds[planted_in], url, certificate)
            trips = [trip for item in items for trip in item.get("roundTrips", [])]
            found = [trip for trip in trips if shows(trip, field)]
            missed += not found
            print(f"{operator}: planted loss of {field} of {kind}: {'found' if found else 'NOT FOUND'} in {len(found)} of {len(trips)} trips, exit {code}", flush=True)
    sys.exit(1 if missed else 0)


def shows(trip, field):
    """True if the field, or one below it, changes, or the server says that it is missing."""
    changed = [one["path"] for one in trip["fields"]]
    return any(path == field or path.startswith((f"{field}.", f"{field}[")) for path in changed) or any(f"{field}: Required" in one["message"] for one in trip["failures"])


main()
