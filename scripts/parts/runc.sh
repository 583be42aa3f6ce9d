#!/usr/bin/env bash
# A container runtime, runc, and a shell to make an image of, BusyBox; both from Debian's packages.
. "$(dirname "$0")/../part.sh"

fill() {
    local folder=$1
    unpack "$folder" runc runc
    start "$folder" runc "usr/sbin usr/bin"
    # One file that needs no other.
    unpack "$folder" busybox-static /nowhere/busybox
    [ -x "$folder/bin/busybox" ] || cp "$(command -v busybox)" "$folder/bin/busybox" ||
        give_up "there is no busybox in Debian's busybox-static"
}

# Whether it makes a container, with a user namespace as ours have: some machines forbid it.
works() {
    local bundle status
    bundle=$(mktemp -d) || return 1
    mkdir -p "$bundle/rootfs/bin" "$bundle/rootfs/proc"
    cp "$1/bin/busybox" "$bundle/rootfs/bin/sh"
    cat >"$bundle/config.json" <<END
{"ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": true},
 "process": {"user": {"uid": 0, "gid": 0}, "args": ["/bin/sh", "-c", "exit 0"], "cwd": "/",
  "env": ["PATH=/bin"], "noNewPrivileges": true},
 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
 "linux": {"namespaces": [{"type": "pid"}, {"type": "mount"}, {"type": "user"}],
  "uidMappings": [{"containerID": 0, "hostID": $(id -u), "size": 1}],
  "gidMappings": [{"containerID": 0, "hostID": $(id -g), "size": 1}]}}
END
    timeout 60 "$1/bin/runc" --root "$bundle/state" run --bundle "$bundle" "remuda-part-$$"
    status=$?
    rm -rf "$bundle"
    return "$status"
}

# Debian has one version at a time; the number is that of this script.
install_part runc 1
