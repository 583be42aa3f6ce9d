#!/usr/bin/env bash
# Python packages for scripts/spec/client.py, a client that is written from docs/spec alone.
. "$(dirname "$0")/../part.sh"

PACKAGES=(aioquic==1.3.0 cbor2==5.7.1 coincurve==21.0.0 pycryptodome==3.23.0)

fill() {
    local folder=$1
    need python3 python3
    python3 -m venv "$folder/python" >&2 ||
        give_up "python3 makes no environment (Debian: python3-venv)"
    fetch "$folder/python/bin/python" -m pip --disable-pip-version-check --no-input install --quiet \
        "${PACKAGES[@]}" || give_up "PyPI's ${PACKAGES[*]} cannot be had"
}

works() { "$1/python/bin/python" -c 'import aioquic, cbor2, coincurve, Crypto'; }

install_part spec "${PACKAGES[*]}"
