#!/bin/sh
# Validates 20,000 generated objects with -o html, prints the size of the page, and checks it in Chromium at two widths.
#
#     tests/cli/pages/check.sh [PROGRAM]        # default: target/debug/kubectl-crdx
#
# Needs Chromium, Node.js and npm, which downloads playwright-core to a temporary folder. Screenshots stay in $SHOTS if it is set.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../../../target/debug/kubectl-crdx}
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "${SHOTS:=$work/shots}"

python3 - "$work" <<'PYTHON'
import random, sys
random.seed(1)
words = "api web cart search mail queue cache index login stats audit bill feed night sync".split()
with open(f"{sys.argv[1]}/objects.yaml", "w") as out:
    for n in range(20_000):
        name = f"{random.choice(words)}-{random.choice(words)}-{n}"
        image = f"registry.example.com/{random.choice(words)}/{name}:{random.randrange(99)}.{random.randrange(99)}"
        if n % 5_000 == 7:
            image = "<img src=x onerror=alert(1)>"
        replicas = random.randrange(1, 10) if n % 100 else 99
        env = "".join(f"\n  - {{name: E{i}, value: \"{random.getrandbits(40):x}\"}}" for i in range(random.randrange(1, 6)))
        out.write(f"""---
apiVersion: stable.example.com/v1
kind: CronTab
metadata:
  name: {name}
  namespace: {random.choice(words)}
  labels: {{app: {random.choice(words)}, tier: "{n % 7}", commit: "{random.getrandbits(60):x}"}}
spec:
  cronSpec: "{random.randrange(60)} {random.randrange(24)} * * *"
  image: "{image}"
  replicas: {replicas}
  env:{env}
""")
PYTHON
cd "$work"
"$program" validate objects.yaml --crds "$here/../../../examples/crds" --offline --no-config -o html >page.html 2>messages || [ $? -eq 1 ]
size=$(wc -c <page.html)
echo "20,000 objects: a page of $size bytes"
[ "$size" -lt 5000000 ]
cp "$here/check.mjs" .
npm install --silent --no-audit --no-fund playwright-core >/dev/null
node check.mjs "$work/page.html" "$chromium" "$SHOTS"
