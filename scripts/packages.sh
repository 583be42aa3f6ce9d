#!/usr/bin/env bash
# Installs the Debian packages a build needs and this machine lacks. Never fails: without a package
# the parts that need it fail or are skipped by themselves, and the others still run.
set -uo pipefail

# A compiler without the C library's headers and start files is no use, so each is tried.
links_c() { echo 'int main(void) { return 0; }' | "${CC:-cc}" -x c - -o /dev/null; }
links_cxx() { echo '#include <string>
int main() { return std::string().size(); }' | "${CXX:-c++}" -x c++ - -o /dev/null; }

missing=()
command -v make >/dev/null || missing+=(make)
links_c 2>/dev/null || missing+=(gcc libc6-dev) # cargo links with it
links_cxx 2>/dev/null || missing+=(g++)         # libFuzzer is C++
command -v python3 >/dev/null || missing+=(python3 python3-venv) # our Python is compared with it
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "packages: missing ${missing[*]}; as root: apt-get install ${missing[*]}" >&2
    exit 0
fi
echo "packages: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 ||
    echo "packages: could not install ${missing[*]}; going on without" >&2
exit 0
