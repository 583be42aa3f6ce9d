#!/usr/bin/env bash
# A name server: Knot DNS, from Debian's packages.
. "$(dirname "$0")/../part.sh"

fill() {
    unpack "$1" knot knotd
    start "$1" knotd usr/sbin
}

works() { "$1/bin/knotd" --version; }

# Debian has one version at a time; the number is that of this script.
install_part knot 1
