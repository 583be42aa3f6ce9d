#!/usr/bin/env bash
# A database server: PostgreSQL, from Debian's packages.
. "$(dirname "$0")/../part.sh"

fill() {
    local as=
    # It refuses to be root. In a namespace root is somebody else, and still owns its files.
    [ "$(id -u)" -ne 0 ] || as="unshare --user --map-user=65534 --map-group=65534"
    unpack "$1" postgresql pg_ctl
    # shellcheck disable=SC2086 # several words, or none
    for program in initdb postgres; do start "$1" $program "usr/lib/postgresql/*/bin" $as; done
}

works() { "$1/bin/postgres" --version && "$1/bin/initdb" --version; }

# Debian has one version at a time; the number is that of this script.
install_part postgres 1
