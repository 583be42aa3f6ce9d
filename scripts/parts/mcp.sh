#!/usr/bin/env bash
# Two servers of tools: the time of day, in Python, which speaks over its standard input and output;
# and one with a bit of everything, in JavaScript, which speaks HTTP.
. "$(dirname "$0")/../part.sh"

TIME=2026.10.19
EVERYTHING=2026.8.31
# What the second depends on, as of that day. For the first there is a list beside this file.
DAY=2026-11-15

fill() {
    local folder=$1 pip
    need python3 python3
    need node nodejs
    need npm npm
    python3 -m venv "$folder/python" >&2 ||
        give_up "python3 makes no environment (Debian: python3-venv)"
    pip=("$folder/python/bin/python" -m pip --disable-pip-version-check --no-input)
    fetch "${pip[@]}" install --quiet --constraint "$here/mcp-constraints.txt" \
        "mcp-server-time==$TIME" || give_up "PyPI's mcp-server-time $TIME cannot be had"
    "${pip[@]}" uninstall --quiet --yes pip setuptools >&2
    fetch npm install --prefix "$folder/node" --loglevel=error --no-audit --no-fund --ignore-scripts \
        --before "$DAY" "@modelcontextprotocol/server-everything@$EVERYTHING" ||
        give_up "npm's @modelcontextprotocol/server-everything $EVERYTHING cannot be had"
}

works() {
    "$1/python/bin/python" -c 'import mcp_server_time' &&
        [ -s "$1/node/node_modules/@modelcontextprotocol/server-everything/dist/index.js" ]
}

here=$(cd "$(dirname "$0")" && pwd)
install_part mcp "$TIME $EVERYTHING $DAY"
