#!/usr/bin/env bash
# fuzz.sh TARGET SECONDS   runs a fuzz target, starting from fuzz/seeds/TARGET
# fuzz.sh TARGET FILE      runs a fuzz target once, on that input
#
# FUZZ_SEED    seed of the random numbers; a new one for each run unless set
# FUZZ_CORPUS  folder of the inputs that reached new code; kept between runs unless set elsewhere
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-} what=${2:-}

case $target in
transaction) max_len=4096 ;;
block | frame) max_len=16384 ;;
*)
    echo "usage: fuzz.sh transaction|block|frame SECONDS|FILE" >&2
    exit 2
    ;;
esac

# Beside the main build, so that a kept build folder keeps this one too; apart from it, because
# everything here is compiled with coverage counters.
build=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")/fuzz
corpus=$(realpath -m "${FUZZ_CORPUS:-$build/corpus/$target}")
artifacts=$build/artifacts/$target
seed=${FUZZ_SEED:-$((SRANDOM % 1000000 + 1))} # libFuzzer takes 0 for "choose one"

options=(-timeout=10 -rss_limit_mb=2048 "-max_len=$max_len" "-artifact_prefix=$artifacts/")
if [ -f "$what" ]; then
    options+=("$(realpath "$what")")
elif [[ $what =~ ^[0-9]+$ ]]; then
    options+=("-seed=$seed" -print_final_stats=1 "$corpus" "$root/fuzz/seeds/$target")
    # For libFuzzer 0 seconds is for ever; here it runs the seeds and nothing else.
    if [ "$what" -eq 0 ]; then options+=(-runs=0); else options+=("-max_total_time=$what"); fi
else
    echo "fuzz: '$what' is neither a number of seconds nor a file" >&2
    exit 2
fi

# These would take the place of the flags in fuzz/.cargo/config.toml.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS CARGO_BUILD_TARGET
export CARGO_TARGET_DIR=$build/build
cd "$root/fuzz"
mkdir -p "$corpus" "$artifacts"
cargo build --release --bin "$target"

echo "fuzz: $target, seed $seed"
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT
touch "$run/started"
status=0
# One line for every new input is too much; those at powers of two show how it goes. Nobody uses
# the dictionary that libFuzzer recommends at the end.
cargo run -q --release --bin "$target" -- "${options[@]}" 2>&1 | tee "$run/log" |
    sed -u '/^###### Recommended dictionary/,/^###### End of recommended dictionary/d' |
    grep --line-buffered -vE '^#[0-9]+\s+(NEW|REDUCE) |Failed to find function' || status=$?

# Without counters libFuzzer only guesses, and says so in a warning that nobody reads.
if ! grep -q 'inline 8-bit counters' "$run/log"; then
    echo "fuzz: $target was built without coverage counters; see fuzz/.cargo/config.toml" >&2
    status=1
fi
if [ "$status" -ne 0 ]; then
    echo "fuzz: $target FAILED with status $status, seed $seed" >&2
    find "$artifacts" -type f -newer "$run/started" | while read -r artifact; do
        echo "fuzz: the input is $artifact"
        echo "fuzz: to see it fail again: make fuzz TARGET=$target INPUT=$artifact"
        echo "fuzz: when it is fixed, keep it as a seed: cp $artifact fuzz/seeds/$target/"
    done >&2
fi
exit "$status"
