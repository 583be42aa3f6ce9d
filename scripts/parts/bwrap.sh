#!/usr/bin/env bash
# A sandbox: Bubblewrap, from Debian's packages.
. "$(dirname "$0")/../part.sh"

fill() {
    unpack "$1" bubblewrap bwrap
    start "$1" bwrap usr/bin
}

# Where user namespaces are forbidden it is of no use.
works() { "$1/bin/bwrap" --unshare-all --ro-bind / / true; }

# Debian has one version at a time; the number is that of this script.
install_part bwrap 1
