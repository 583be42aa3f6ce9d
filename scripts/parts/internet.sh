#!/usr/bin/env bash
# The internet for jobs, and nothing of the machine: slirp4netns and nftables, from Debian's packages. Its
# tests also need a sandbox, containers and networks of their own.
. "$(dirname "$0")/../part.sh"

fill() {
    local folder=$1
    unpack "$folder" slirp4netns slirp4netns
    start "$folder" slirp4netns usr/bin
    unpack "$folder" nftables nft
    start "$folder" nft "usr/sbin sbin"
}

# Where there is no /dev/net/tun, or no filter in a namespace, it is of no use.
works() {
    "$1/bin/slirp4netns" --version && [ -r /dev/net/tun ] && [ -w /dev/net/tun ] &&
        unshare --user --map-root-user --net "$1/bin/nft" add table inet remuda
}

here=$(cd "$(dirname "$0")" && pwd)
for other in bwrap netns runc; do "$here/$other.sh" || exit; done
# Debian has one version at a time; the number is that of this script.
install_part internet 1
