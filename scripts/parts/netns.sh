#!/usr/bin/env bash
# Networks of a test's own: `ip`, from Debian's iproute2, where users may make namespaces.
. "$(dirname "$0")/../part.sh"

fill() {
    need unshare util-linux
    unpack "$1" iproute2 ip
    start "$1" ip "usr/bin sbin usr/sbin"
}

# Where user namespaces or pairs of devices are forbidden it is of no use.
works() {
    unshare --user --map-root-user --net "$1/bin/ip" link add inside type veth peer name outside
}

# Debian has one version at a time; the number is that of this script.
install_part netns 1
