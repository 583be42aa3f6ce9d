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
