#!/usr/bin/env bash
# Runs the tests, the doc tests and the fuzz targets, goes on after a failure, and ends with one
# line that sums them up: "N passed, N failed, N skipped".
#
# FUZZ_SECONDS  how long each fuzz target runs (20)
# REMUDA_PARTS  where the programs of others are that tests talk to (~/.cache/remuda/parts)
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
trap 'exit 130' INT # cargo survives an interrupt with a status of its own; this script must not

scripts/packages.sh

# The counts are read from the tools' own closing lines, so these must be plain text.
export CARGO_TERM_COLOR=never
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0

# sum PATTERN: adds up the numbers that stand before PATTERN in the closing lines on stdin.
sum() { grep -oE "[0-9]+ ($1)" | awk '{ n += $1 } END { print n + 0 }'; }

# step NAME CLOSING COMMAND…: runs a command and adds up its lines that match CLOSING.
step() {
    local name=$1 closing=$2 status=0 lines step_failed
    shift 2
    echo "== $name: $*"
    "$@" 2>&1 | tee "$work/log" || status=$?
    lines=$(grep -E "$closing" "$work/log")
    step_failed=$(sum '(exec )?failed|timed out' <<<"$lines")
    # A build that breaks or a test that aborts its process leaves no count of its own.
    if [ "$status" -ne 0 ] && [ "$step_failed" -eq 0 ]; then
        echo "test: $name FAILED with status $status" >&2
        step_failed=1
    fi
    passed=$((passed + $(sum passed <<<"$lines")))
    failed=$((failed + step_failed))
    skipped=$((skipped + $(sum 'skipped|ignored|filtered out' <<<"$lines")))
}

# The tests of a part are the module of its name below the module "parts".
missing=()
for installer in scripts/parts/*.sh; do
    name=$(basename "$installer" .sh)
    if ! "$installer" 2>&1 | tee "$work/log" >&2; then
        missing+=("$name")
        reason=$(tail -n 1 "$work/log")
        echo "test: part $name cannot be installed, its tests are SKIPPED: $reason" >&2
    fi
done

# What is filtered out, both test runners count as such, and so do we: once, in their closing lines.
filter='all()' skips=()
if [ ${#missing[@]} -gt 0 ]; then
    # By their whole names: modules of other binaries are called like parts, too.
    skips+=(--exact)
    cargo test --workspace --test integration -- --list | sed -n 's/: test$//p' >"$work/tests"
    for name in "${missing[@]}"; do
        mapfile -t tests < <(grep "^parts::$name::" "$work/tests")
        echo "test: part $name: ${#tests[@]} tests SKIPPED" >&2
        # A part that no test is named after is something that was not tried, all the same.
        [ ${#tests[@]} -gt 0 ] || skipped=$((skipped + 1))
        filter+=" - test(/^parts::$name::/)"
        skips+=(${tests[@]+"${tests[@]/#/--skip=}"})
    done
fi

if cargo nextest --version >/dev/null 2>&1; then
    step tests '^ *Summary \[' cargo nextest run --workspace --no-fail-fast -E "$filter"
else
    echo "test: cargo-nextest is not there, running cargo test instead" >&2
    # Networks of processes starve each other, and only nextest can keep just those apart.
    step tests '^test result: ' cargo test --workspace --tests --no-fail-fast -- --test-threads=1 \
        ${skips[@]+"${skips[@]}"}
fi
step "doc tests" '^test result: ' cargo test --workspace --doc --no-fail-fast

for source in fuzz/targets/*.rs; do
    target=$(basename "$source" .rs)
    if ! command -v "${CXX:-c++}" >/dev/null; then
        echo "test: fuzz target $target SKIPPED: libFuzzer needs a C++ compiler (g++)" >&2
        skipped=$((skipped + 1))
        continue
    fi
    echo "== fuzz target: $target"
    # A corpus of its own, so that a run does not depend on the runs before it.
    if FUZZ_CORPUS=$work/$target scripts/fuzz.sh "$target" "${FUZZ_SECONDS:-20}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
