#!/usr/bin/env bash
# Measures our store and the queues of others in one run on one machine, one after the other, and prints
# one JSON object. Jobs do nothing: they are submitted, taken and acknowledged.
#
# Durability is the same for all: what was acknowledged is on the disk.
#   ours        SQLite synchronous=FULL, PostgreSQL synchronous_commit=on
#   Redis       appendonly yes, appendfsync always
#   PostgreSQL  fsync=on, synchronous_commit=on
#   NATS        JetStream on disk, sync_interval: always
#
# JOBS     jobs of each (2000), less what is left over when the runners share them
# RUNNERS  at the same time (64)
# RUNS     how often everything is measured (1); figures are medians, and each run is in `runs`
# PEER     our program, if it is built already
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/peers/install.sh
scripts/parts/postgres.sh
scripts/parts/nats.sh
parts=${REMUDA_PARTS:-${HOME:?}/.cache/remuda/parts}
runners=${RUNNERS:-64}
each=$((${JOBS:-2000} / runners))
jobs=$((each * runners))
work=$(mktemp -d)
servers=()
stop_servers() {
    # Only what was started here.
    for server in ${servers[@]+"${servers[@]}"}; do kill "$server" 2>/dev/null || true; done
    wait 2>/dev/null || true
    servers=()
}
finish() {
    stop_servers
    rm -rf "$work"
}
trap finish EXIT

if [ -z "${PEER:-}" ]; then
    # As a user would have it; the others are not built for debugging either.
    cargo build --quiet --release --package remuda-fleet --bin fleet-peer >&2
    PEER=${CARGO_TARGET_DIR:-target}/release/fleet-peer
fi
cp scripts/peers/others.mjs "$parts/peers/others.mjs"

until_said() {
    for _ in $(seq 600); do grep -qsi "$2" "$1" && return; sleep 0.1; done
    cat "$1" >&2
    exit 1
}

# start_servers FOLDER: all of them, with nothing in them.
start_servers() {
    local folder=$1
    "$parts/postgres/bin/initdb" -A trust -U fleet -E UTF8 -D "$folder/postgres" >"$folder/initdb.log"
    "$parts/postgres/bin/postgres" -D "$folder/postgres" -k "$folder" -c listen_addresses= \
        >"$folder/postgres.log" 2>&1 &
    servers+=($!)
    "$parts/peers/bin/redis-server" --port 0 --unixsocket "$folder/redis.sock" --dir "$folder" \
        --appendonly yes --appendfsync always --save '' >"$folder/redis.log" 2>&1 &
    servers+=($!)
    port=$((20000 + RANDOM % 20000))
    cat >"$folder/nats.conf" <<END
host: 127.0.0.1
port: $port
jetstream { store_dir: "$folder/nats", sync_interval: always }
END
    "$parts/nats/bin/nats-server" -c "$folder/nats.conf" >"$folder/nats.log" 2>&1 &
    servers+=($!)
    until_said "$folder/postgres.log" "ready to accept connections"
    until_said "$folder/redis.log" "ready to accept connections"
    until_said "$folder/nats.log" "Server is ready"
}

# ours FOLDER [MORE]: our store in a folder, or as MORE of its settings says.
ours() {
    local settings="\"folder\":\"$1\",\"runners\":$runners,\"jobs_each\":$each,\"beats_each\":10${2:-}"
    "$PEER" "{\"role\":\"bench\",$settings}" </dev/null
}

# Each run has servers of its own: what an earlier one left is not its burden.
for run in $(seq "${RUNS:-1}"); do
    folder=$work/$run
    mkdir "$folder"
    start_servers "$folder"
    echo "peers: run $run" >&2
    sqlite=$(ours "$folder")
    postgres=$(ours "$folder" ",\"postgres\":\"postgres://fleet@localhost/postgres?host=$folder\"")
    others=$(JOBS=$jobs RUNNERS=$runners SOCKETS=$folder NATS="127.0.0.1:$port" node "$parts/peers/others.mjs")
    echo "{\"sqlite\":$sqlite,\"postgres\":$postgres,\"others\":$others}" >>"$work/runs"
    stop_servers
    rm -rf "$folder"
done
node -e '
const [file, jobs, runners] = process.argv.slice(1);
const lines = require("fs").readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const runs = lines.map(({ sqlite, postgres, others }) => ({
    jobs_per_second: {
        remuda_sqlite: sqlite.jobs_per_second, remuda_postgres: postgres.jobs_per_second, ...others,
    },
    ours: { sqlite, postgres },
}));
const each = (object, change) =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
// Who did not come to an end once has no figure: the runs say which they have.
const median = (figures) => {
    if (figures.includes(null)) return null;
    const sorted = [...figures].sort((a, b) => a - b), half = sorted.length >> 1;
    return sorted.length % 2 ? sorted[half] : Math.round((sorted[half - 1] + sorted[half]) / 2);
};
const medians = (objects) =>
    Object.fromEntries(Object.keys(objects[0]).map((name) => [name, median(objects.map((one) => one[name]))]));
const rates = medians(runs.map((run) => run.jobs_per_second));
const ratios = (to) => each(rates, (rate) => rate === null ? null : Number((rate / to).toFixed(2)));
console.log(JSON.stringify({
    jobs: Number(jobs),
    runners: Number(runners),
    jobs_per_second: rates,
    ratio_to_remuda_postgres: ratios(rates.remuda_postgres),
    ratio_to_remuda_sqlite: ratios(rates.remuda_sqlite),
    ours: {
        sqlite: medians(runs.map((run) => run.ours.sqlite)),
        postgres: medians(runs.map((run) => run.ours.postgres)),
    },
    runs,
}));' "$work/runs" "$jobs" "$runners"
