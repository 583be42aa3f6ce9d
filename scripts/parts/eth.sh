#!/usr/bin/env bash
# An Ethereum node: Anvil, of Foundry. The npm package is nothing but the program.
. "$(dirname "$0")/../part.sh"

VERSION=1.7.1

fill() {
    local folder=$1 system machine package
    need npm npm
    system=$(uname -s | tr '[:upper:]' '[:lower:]')
    case $(uname -m) in
    x86_64) machine=amd64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) give_up "there is none for $(uname -m)" ;;
    esac
    package=@foundry-rs/anvil-$system-$machine@$VERSION
    fetch npm pack --loglevel=error --pack-destination "$folder" "$package" ||
        give_up "npm's $package cannot be had"
    tar -xzf "$folder"/*.tgz -C "$folder" --strip-components=1 || give_up "$package is no archive"
    rm "$folder"/*.tgz
}

works() { "$1/bin/anvil" --version; }

install_part eth "$VERSION"
