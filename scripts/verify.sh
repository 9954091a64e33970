#!/usr/bin/env bash
# Compares this commit with the real servers, fuzzes it, injects faults, and writes one page with seeds, counts and differences.
#
#   scripts/verify.sh [--minutes 60] [--out target/verification] [--releases "1.30 … 1.37"] [--seed N] [--assets FOLDER]
#
# Two thirds of the minutes go to differential traffic, one generator after the other and release by release, the rest to the fuzz targets.
# What is built (the servers, the test program, the fuzz targets), the injected faults, the comparison of repositories and the replays come on top.
# Servers are kept in OUT/servers for the next run. FOLDER has kube-apiserver, etcd and kubectl; without it they are built (tests/apiserver).
#
# The page is OUT/verification.md. What a machine cannot run (no Go, no nightly compiler, modules that cannot be downloaded) is listed there as
# "not run" with the reason. The exit code is 1 if an answer differed, a fuzz target found something, or a replay or fault failed.
set -uo pipefail
cd "$(dirname "$0")/.."

minutes=60 out=target/verification seed=$(date +%Y%m%d) assets=
releases="1.30 1.31 1.32 1.33 1.34 1.35 1.36 1.37"
while [ $# -gt 0 ]; do
    case $1 in
        --minutes) minutes=$2 ;;
        --out) out=$2 ;;
        --releases) releases=$2 ;;
        --seed) seed=$2 ;;
        --assets) assets=$(realpath "$2") ;;
        *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift 2
done
mkdir -p "$out/servers" "$out/logs"
out=$(realpath "$out")
page=$out/verification.md
generators="differential_objects differential_surface differential_definitions differential_expressions"
failed=0
rows=$out/rows.md

# Adds a row to the table of the current section.
row() { printf '| %s ' "$@" >> "$rows"; printf '|\n' >> "$rows"; }
section() { printf '\n## %s\n%s\n%s\n' "$1" "$2" "$(sed 's/[^|]\+/---/g' <<< "$2")" >> "$rows"; }
progress() { printf '%s %s\n' "$(date +%H:%M:%S)" "$*" >&2; }
last_lines() { tail -n 3 "$1" | tr '\n|' ' /' | cut -c1-200; }

: > "$rows"
progress "building the program and its tests"
cargo build --locked --release > "$out/logs/build.txt" 2>&1 || { cat "$out/logs/build.txt" >&2; exit 2; }
cargo test --locked --release --test tests --no-run > "$out/logs/build-tests.txt" 2>&1 || { cat "$out/logs/build-tests.txt" >&2; exit 2; }
tests=$(sed -n 's/.*Executable.*(\(.*\))/\1/p' "$out/logs/build-tests.txt")
binary=target/release/kubectl-crdx

# Builds the real CRD server of a release, unless it is there. Its name is that of the manager of the status of CRDs, by which entries of managedFields are
# ordered.
server_of() {
    local server=$out/servers/$1/kube-apiserver
    [ -x "$server" ] && return
    mkdir -p "$(dirname "$server")"
    if [ -x ../shared/apiserver/build.sh ]; then
        bash ../shared/apiserver/build.sh "$1" "$server"
    elif [ "$1" = 1.37 ]; then
        (cd tests/apiserver && go build -o "$server" .)
    else
        echo "only the server of 1.37 can be built from this repository"
        return 1
    fi
}

# Runs a generator against the server of a release until its seconds are over, each time with the next seed. Starting the server does not count.
# With fewer rounds, a generator would spend most of its time on installing CRDs or on starting servers.
traffic() {
    local release=$1 generator=$2 left=$3 port=$4 requests=0 differ=0 runs=0 log
    log=$out/logs/$release-$generator.txt
    : > "$log"
    while [ "$left" -gt 0 ]; do
        "$out/servers/$release/kube-apiserver" -port "$port" > "$out/logs/$release-server.txt" 2>&1 &
        local server=$! start
        # It prints its URL when it is ready. On 1.36, /readyz fails forever, because an informer of the CRD server never lists its objects.
        for _ in $(seq 600); do grep -q '^http' "$out/logs/$release-server.txt" && break; sleep 0.2; done
        start=$SECONDS
        CRDX_REAL=http://127.0.0.1:$port CRDX_VERSION=$release CRDX_CORPUS=../shared/corpus CRDX_SEED=$((seed + runs)) CRDX_ROUNDS=400 \
            CRDX_SECONDS=$left "$tests" --ignored --nocapture --test-threads 1 --exact "conformance::differential::$generator" > "$log.run" 2>&1
        left=$((left - (SECONDS - start) - 1))
        kill "$server"
        wait "$server" 2> /dev/null
        cat "$log.run" >> "$log"
        # A generator that prints nothing else has the name of the test before the counts.
        read -r asked differing < <(sed -n 's/^\(.* \)\{0,1\}\([0-9]\{1,\}\) requests, \([0-9]*\) answers differ$/\2 \3/p' "$log.run" | tail -n 1)
        rm "$log.run"
        [ -n "${asked:-}" ] || { row "$release" "\`$generator\`" "$seed" "not run" "$(last_lines "$log")"; failed=1; return; }
        requests=$((requests + asked)) differ=$((differ + differing)) runs=$((runs + 1)) asked=
    done
    [ "$differ" = 0 ] || failed=1
    row "$release" "\`$generator\`" "$seed to $((seed + runs - 1))" "$requests" "$differ"
}

section "Random requests to the real server of each release" "| release | generator | seeds | requests | answers that differ |"
port=18200
share=$((minutes * 40 / $(wc -w <<< "$releases") / $(wc -w <<< "$generators")))
for release in $releases; do
    progress "server of $release"
    if ! server_of "$release" > "$out/logs/$release-build.txt" 2>&1; then
        row "$release" "all" "" "not run" "$(last_lines "$out/logs/$release-build.txt")"
        continue
    fi
    for generator in $generators; do
        progress "$generator on $release for $share s"
        port=$((port + 1))
        traffic "$release" "$generator" "$share" "$port"
    done
done

section "Fuzz targets, with AddressSanitizer" "| target | CPU seconds | executions | edges covered | features |"
progress "fuzz targets"
if cargo +nightly fuzz build > "$out/logs/fuzz-build.txt" 2>&1; then
    fuzz/seeds.py "$out/fuzz/seeds" > "$out/logs/fuzz-seeds.txt" 2>&1
    targets=(fuzz/fuzz_targets/*.rs)
    fuzz/run.py "$out/fuzz" --seconds $((minutes * 20 / ${#targets[@]})) > "$out/logs/fuzz.txt" 2>&1
    fuzz/run.py "$out/fuzz" --table | sed 1,2d >> "$rows"
    if grep -q "\['" "$out/logs/fuzz.txt"; then
        failed=1
        printf '\nFound: %s\n' "$(grep -o "\['.*" "$out/logs/fuzz.txt" | tr '\n' ' ')" >> "$rows"
    fi
else
    row "all" "not run" "$(last_lines "$out/logs/fuzz-build.txt")" "" ""
fi

section "Faults" "| what | result |"
progress "faults"
if python3 tests/serve/faults/run.py "$binary" --seed "$seed" > "$out/logs/faults.txt" 2>&1; then
    row "\`tests/serve/faults/run.py --seed $seed\`" "no acknowledged write was lost"
else
    row "\`tests/serve/faults/run.py --seed $seed\`" "failed: $(last_lines "$out/logs/faults.txt")"
    failed=1
fi

section "Repositories against kube-apiserver 1.37" "| what | result |"
progress "repositories"
if [ -z "$assets" ]; then
    assets=$out/assets
    [ -x "$assets/kube-apiserver" ] || tests/apiserver/kube-apiserver.sh 1.37.2 "$assets" > "$out/logs/assets.txt" 2>&1
    [ -x "$assets/kubectl" ] || (cd tests/clients/kubectl/current && go build -o "$assets/kubectl" .) >> "$out/logs/assets.txt" 2>&1
fi
if [ ! -x "$assets/kube-apiserver" ] || [ ! -x "$assets/kubectl" ] || [ ! -d ../shared/corpus ]; then
    row "\`tests/repositories/compare.py\`" "not run: kube-apiserver, kubectl or the corpus is missing"
elif tests/repositories/compare.py ../shared/corpus/*/ --assets "$assets" --binary "$binary" --mutations 20 --updates 20 --seed "$seed" > "$out/logs/repositories.txt" 2>&1; then
    row "\`tests/repositories/compare.py --mutations 20 --updates 20 --seed $seed\`" "no wrong verdict: $(grep '^| all' "$out/logs/repositories.txt" | tr '|' ' ')"
else
    row "\`tests/repositories/compare.py --mutations 20 --updates 20 --seed $seed\`" "failed: $(last_lines "$out/logs/repositories.txt")"
    failed=1
fi

section "Recorded answers" "| what | equal answers |"
progress "replays"
replay() {
    local log=$out/logs/replay.txt label=$1
    shift
    if "$@" --binary "$binary" > "$log" 2>&1; then
        row "$label" "$(grep '^total' "$log" | tr -s ' ')"
    else
        row "$label" "failed: $(last_lines "$log")"
        failed=1
    fi
}
if [ -d ../shared/conformance ]; then
    replay "1.37" python3 ../shared/conformance/replay.py --floor tests/conformance/score.json
    for release in 1.30 1.31 1.34; do
        replay "$release" python3 ../shared/conformance/replay.py --version "$release" --floor "tests/conformance/score-$release.json"
    done
    replay "policies, 1.37" python3 ../shared/conformance/replay.py --data ../shared/conformance/policies --floor tests/conformance/score-policies.json
    for release in 1.31 1.34 1.37; do
        replay "built-in kinds, $release" python3 ../shared/conformance/builtin.py --version "$release" --min 100
    done
else
    replay "the part in this repository" bash -c "$tests conformance::collection && echo total equal"
fi

{
    printf '# Verification of %s\n\n' "$(git describe --always --dirty)"
    printf 'Written by `scripts/verify.sh --minutes %s --seed %s` on %s, on %s processors.\n' "$minutes" "$seed" "$(date -u +%Y-%m-%d)" "$(nproc)"
    cat "$rows"
} > "$page"
progress "wrote $page"
exit $failed
