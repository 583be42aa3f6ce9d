#!/usr/bin/env bash
# A compiler of WebAssembly: AssemblyScript, which needs nothing but node.
. "$(dirname "$0")/../part.sh"

VERSION=0.28.20
# What it depends on, as of that day.
DAY=2026-11-15

fill() {
    local folder=$1
    need node nodejs
    need npm npm
    fetch npm install --prefix "$folder" --loglevel=error --no-audit --no-fund --ignore-scripts \
        --before "$DAY" "assemblyscript@$VERSION" ||
        give_up "npm's assemblyscript $VERSION cannot be had"
    rm -rf "$folder/node_modules/binaryen/bin" # other tools, and most of the bytes
}

works() { node "$1/node_modules/assemblyscript/bin/asc.js" --version; }

install_part wasm "$VERSION $DAY"
