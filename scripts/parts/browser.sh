#!/usr/bin/env bash
# A browser that a test drives: Chromium from Debian's packages, and npm's playwright-core.
. "$(dirname "$0")/../part.sh"

VERSION=1.65.0

fill() {
    local folder=$1
    need node nodejs
    need npm npm
    unpack "$folder" chromium chromium
    # What libraries look for in a folder of their own is found beside them, too.
    local library
    for library in "$folder"/usr/lib/*-linux-gnu*/pulseaudio/*.so; do
        [ ! -e "$library" ] || mv "$library" "$(dirname "$library")/.."
    done
    # The program itself: Debian's script around it looks for files of the whole machine.
    start "$folder" chromium usr/lib/chromium
    fetch npm install --prefix "$folder" --loglevel=error --no-audit --no-fund --ignore-scripts \
        "playwright-core@$VERSION" || give_up "npm's playwright-core $VERSION cannot be had"
}

works() {
    local home
    home=$(mktemp -d) || return 1
    timeout 60 "$1/bin/chromium" --headless --no-sandbox --disable-gpu --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$home" --dump-dom about:blank
    local status=$?
    rm -rf "$home"
    return "$status"
}

# Debian has one version at a time; the second number is that of this script.
install_part browser "$VERSION 1"
