#!/usr/bin/env bash
# Internet for jobs without access to the host: slirp4netns and nftables, from Debian's packages. Its tests
# also use bubblewrap, runc and network namespaces.
. "$(dirname "$0")/../part.sh"

fill() {
    local folder=$1
    unpack "$folder" slirp4netns slirp4netns
    start "$folder" slirp4netns usr/bin
    unpack "$folder" nftables nft
    start "$folder" nft "usr/sbin sbin"
}

# Requires /dev/net/tun, and nftables in a user namespace.
works() {
    "$1/bin/slirp4netns" --version && [ -r /dev/net/tun ] && [ -w /dev/net/tun ] &&
        unshare --user --map-root-user --net "$1/bin/nft" add table inet remuda
}

here=$(cd "$(dirname "$0")" && pwd)
for other in bwrap netns runc; do "$here/$other.sh" || exit; done
# Debian has one version at a time; the number is that of this script.
install_part internet 1
