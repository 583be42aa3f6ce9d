#!/usr/bin/env bash
# A store of objects that speaks S3: Moto's server, in Python. It honours conditional writes.
. "$(dirname "$0")/../part.sh"

VERSION=5.2.5

fill() {
    local folder=$1 pip
    need python3 python3
    python3 -m venv "$folder" >&2 || give_up "python3 makes no environment (Debian: python3-venv)"
    pip=("$folder/bin/python" -m pip --disable-pip-version-check --no-input)
    fetch "${pip[@]}" install --quiet "moto[server,s3]==$VERSION" ||
        give_up "PyPI's moto $VERSION cannot be had"
    "${pip[@]}" uninstall --quiet --yes pip setuptools >&2
}

works() { "$1/bin/python" -c 'import moto.server'; }

install_part s3 "$VERSION"
