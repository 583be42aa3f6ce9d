# Sourced by scripts/parts/NAME.sh: how a part of the tests is installed, whatever it is.
#
# A part is a program of others that tests talk to. It lives in a folder of its own,
# ${REMUDA_PARTS:-$HOME/.cache/remuda/parts}/NAME, and touches nothing else on the machine. A script
# defines two functions and calls `install_part NAME VERSION`:
#
#   fill FOLDER    puts the part into an empty folder
#   works FOLDER   whether the part in a folder starts; well below a second
#
# Progress goes to stderr. A part that cannot be had ends the script with one sentence.
set -uo pipefail

give_up() {
    echo "$part: $*" >&2
    exit 1
}

# fetch COMMAND…: a download, which a registry that hangs cannot make last for ever.
# In the foreground, or an interrupt from the keyboard would not reach it.
fetch() { timeout --foreground --kill-after=10 300 "$@" >&2; }

# need PROGRAM PACKAGE: gives up unless a program is there.
need() { command -v "$1" >/dev/null || give_up "$1 is not there (Debian: $2)"; }

# unpack FOLDER PACKAGE PROGRAM: a Debian package and what it needs and this machine lacks, unpacked and
# not installed: that needs no root, and nothing is left running on the machine. A program that is
# on the machine already is taken from there.
unpack() {
    local folder=$1 package=$2 program=$3 packages deb
    command -v "$program" >/dev/null && return
    need apt-get apt
    need dpkg-deb dpkg
    # Lists of packages of our own: the machine's may be old, or somebody else's to lock.
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/debs"
    own_apt() {
        fetch apt-get -qq -o Dir::State::lists="$folder/apt/lists" -o Dir::Cache="$folder/apt" \
            -o APT::Sandbox::User="$(id -un)" "$@"
    }
    own_apt update || give_up "Debian's lists of packages cannot be had"
    packages=$(own_apt install --simulate --no-install-recommends "$package" 2>&1 |
        awk '$1 == "Inst" { print $2 }')
    if [ -n "$packages" ]; then
        # shellcheck disable=SC2086 # one word for each package
        (cd "$folder/debs" && own_apt download $packages) ||
            give_up "Debian's packages cannot be had: ${packages//$'\n'/ }"
        for deb in "$folder"/debs/*.deb; do
            dpkg-deb --extract "$deb" "$folder" || give_up "$(basename "$deb") cannot be unpacked"
        done
    fi
    rm -rf "$folder/apt" "$folder/debs"
}

# start FOLDER PROGRAM PATHS [COMMAND…]: a script FOLDER/bin/PROGRAM that finds the program where it was
# unpacked, in one of PATHS below there, or else on the machine; COMMAND goes before it.
start() {
    local folder=$1 program=$2 paths=$3
    shift 3
    mkdir -p "$folder/bin"
    cat >"$folder/bin/$program" <<END
#!/bin/bash
here=\$(cd "\$(dirname "\$0")/.." && pwd)
for libraries in "\$here"/usr/lib/*-linux-gnu* "\$here"/lib/*-linux-gnu*; do
    LD_LIBRARY_PATH=\$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
for path in $paths; do
    for root in "" "\$here"; do
        for found in "\$root"/\$path; do [ -d "\$found" ] && PATH=\$found:\$PATH; done
    done
done
program=\$(type -P $program | grep -vxF "\$here/bin/$program" | head -n 1)
exec $* "\${program:-$program}" "\$@"
END
    chmod +x "$folder/bin/$program"
}

is_there() { [ "$(cat "$1/version" 2>/dev/null)" = "$version" ] && works "$1" >/dev/null 2>&1; }

install_part() {
    part=$1 version=$2
    local all=${REMUDA_PARTS:-${HOME:?}/.cache/remuda/parts}
    is_there "$all/$part" && return
    mkdir -p "$all" 2>/dev/null || give_up "there is no folder $all"
    # Two runs at once: the second waits, and finds it.
    exec 9>"$all/.$part.lock"
    flock --timeout 600 9 || give_up "another installation does not end"
    is_there "$all/$part" && return
    echo "$part: installing version $version into $all/$part" >&2

    # What is half done is never under the part's own name. Under the lock, others' leavings are
    # nobody's work.
    rm -rf "$all/.$part".new.*
    new=$(mktemp -d "$all/.$part.new.XXXXXX") || give_up "no folder can be made in $all"
    trap 'rm -rf "$new"' EXIT
    fill "$new"
    works "$new" >&2 || give_up "it does not start"
    echo "$version" >"$new/version"
    rm -rf "${all:?}/$part"
    mv "$new" "$all/$part" || give_up "it cannot be put into $all"
    echo "$part: installed" >&2
}
