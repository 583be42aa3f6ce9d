#!/usr/bin/env bash
# A name server: Knot DNS, from Debian's packages. They are unpacked, not installed: that needs no
# root, and no name server is left running on the machine.
. "$(dirname "$0")/../part.sh"

fill() {
    need apt-get apt
    need dpkg-deb dpkg
    local folder=$1 packages
    # Lists of packages of our own: the machine's may be old, or somebody else's to lock.
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/debs"
    own_apt() {
        fetch apt-get -qq -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt" \
            -o APT::Sandbox::User="$(id -un)" "$@"
    }
    own_apt update || give_up "Debian's lists of packages cannot be had"
    # What it needs and this machine lacks.
    packages=$(own_apt install --simulate --no-install-recommends knot 2>&1 |
        awk '$1 == "Inst" { print $2 }')
    if grep -qx knot <<<"$packages"; then
        # shellcheck disable=SC2086 # one word for each package
        (cd "$folder/debs" && own_apt download $packages) ||
            give_up "Debian's packages cannot be had: ${packages//$'\n'/ }"
        local deb
        for deb in "$folder"/debs/*.deb; do
            dpkg-deb --extract "$deb" "$folder" || give_up "$(basename "$deb") cannot be unpacked"
        done
    fi
    rm -rf "$folder/apt" "$folder/debs"
    mkdir -p "$folder/bin"
    # Where it is not unpacked, it is installed.
    cat >"$folder/bin/knotd" <<'END'
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
for libraries in "$here"/usr/lib/*-linux-gnu* "$here"/lib/*-linux-gnu*; do
    LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
PATH=$here/usr/sbin:$PATH:/usr/sbin
exec knotd "$@"
END
    chmod +x "$folder/bin/knotd"
}

works() { "$1/bin/knotd" --version; }

# Debian has one version at a time; the number is that of this script.
install_part knot 1
