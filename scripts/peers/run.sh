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
# JOBS     jobs of each (2000)
# RUNNERS  at the same time (64)
# PEER     our program, if it is built already
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/peers/install.sh
scripts/parts/postgres.sh
scripts/parts/nats.sh
parts=${REMUDA_PARTS:-${HOME:?}/.cache/remuda/parts}
jobs=${JOBS:-2000} runners=${RUNNERS:-64}
work=$(mktemp -d)
servers=()
finish() {
    # Only what was started here.
    for server in ${servers[@]+"${servers[@]}"}; do kill "$server" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

if [ -z "${PEER:-}" ]; then
    # As a user would have it; the others are not built for debugging either.
    cargo build --quiet --release --package remuda-fleet --bin fleet-peer >&2
    PEER=${CARGO_TARGET_DIR:-target}/release/fleet-peer
fi

"$parts/postgres/bin/initdb" -A trust -U fleet -E UTF8 -D "$work/postgres" >"$work/initdb.log"
"$parts/postgres/bin/postgres" -D "$work/postgres" -k "$work" -c listen_addresses= >"$work/postgres.log" 2>&1 &
servers+=($!)
"$parts/peers/bin/redis-server" --port 0 --unixsocket "$work/redis.sock" --dir "$work" \
    --appendonly yes --appendfsync always --save '' >"$work/redis.log" 2>&1 &
servers+=($!)
port=$((20000 + RANDOM % 20000))
cat >"$work/nats.conf" <<END
host: 127.0.0.1
port: $port
jetstream { store_dir: "$work/nats", sync_interval: always }
END
"$parts/nats/bin/nats-server" -c "$work/nats.conf" >"$work/nats.log" 2>&1 &
servers+=($!)
until_said() {
    for _ in $(seq 600); do grep -qi "$2" "$1" && return; sleep 0.1; done
    cat "$1" >&2
    exit 1
}
until_said "$work/postgres.log" "ready to accept connections"
until_said "$work/redis.log" "ready to accept connections"
until_said "$work/nats.log" "Server is ready"

ours() {
    "$PEER" "{\"role\":\"bench\",\"folder\":\"$work\",\"runners\":$runners,\"jobs_each\":$((jobs / runners)),\"beats_each\":10$1}" </dev/null
}
sqlite=$(ours "")
postgres=$(ours ",\"postgres\":\"postgres://fleet@localhost/postgres?host=$work\"")
cp scripts/peers/others.mjs "$parts/peers/others.mjs"
others=$(JOBS=$jobs RUNNERS=$runners SOCKETS=$work NATS="127.0.0.1:$port" node "$parts/peers/others.mjs")
node -e '
const [sqlite, postgres, others] = process.argv.slice(1).map((text) => JSON.parse(text));
const rates = { remuda_sqlite: sqlite.jobs_per_second, remuda_postgres: postgres.jobs_per_second, ...others };
const ratio = (rate) => Number((rate / postgres.jobs_per_second).toFixed(2));
console.log(JSON.stringify({
    jobs_per_second: rates,
    ratio_to_remuda_postgres: Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, ratio(rate)])),
    ours: { sqlite, postgres },
}));' "$sqlite" "$postgres" "$others"
