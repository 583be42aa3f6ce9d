#!/usr/bin/env bash
# Queues of others, to be measured beside ours: BullMQ with Redis, graphile-worker and pg-boss with
# PostgreSQL, NATS JetStream. What they need of servers are parts of their own.
. "$(dirname "$0")/../part.sh"

# What they depend on, as of that day.
DAY=2026-11-15

fill() {
    local folder=$1
    need node nodejs
    need npm npm
    unpack "$folder" redis-server redis-server
    start "$folder" redis-server usr/bin
    fetch npm install --prefix "$folder" --loglevel=error --no-audit --no-fund --ignore-scripts \
        --before "$DAY" bullmq@5 graphile-worker@0.17 pg-boss@10 pg@8 nats@2 ||
        give_up "npm's bullmq, graphile-worker, pg-boss, pg and nats cannot be had"
}

works() {
    local name
    for name in bullmq graphile-worker pg-boss pg nats; do [ -d "$1/node_modules/$name" ] || return 1; done
    "$1/bin/redis-server" --version
}

install_part peers "3 $DAY"
