.DEFAULT_GOAL := help
.PHONY: help test check demo bench fuzz model clean

# Only the command line sets these: SECONDS means something else in a shell's environment.
TARGET =
SECONDS = 60
INPUT =
ARGS =
NAME =

# Incremental state makes a first build longer and pays from the second on.
ifeq ($(wildcard $(or $(CARGO_TARGET_DIR),target)/debug),)
demo test: export CARGO_INCREMENTAL = 0
endif

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

test: ## tests, doc tests, and each fuzz target for FUZZ_SECONDS (20)
	@scripts/test.sh

check: ## formatting, words, clippy, documentation and the graph of modules, with warnings as errors; rules of docs/spec without a test
	@scripts/packages.sh
	cargo fmt --all --check
	cd fuzz && cargo fmt --check
	scripts/words.sh
	scripts/spec-coverage.py
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
	cargo test --quiet -p remuda-protocol --test integration -- modules::

demo: ## run `remuda demo` (ARGS=… are passed on)
	@scripts/packages.sh
# The whole workspace's features: then demo and tests share one build.
	@cargo build --workspace --bin remuda
	@"$${CARGO_TARGET_DIR:-target}/debug/remuda" demo $(ARGS)

bench: ## run `remuda-lab bench` NAME=select|closing|chain|push|sessions|start|timers|fleet|vm, or all, in a release build (ARGS=--json)
	@scripts/packages.sh
# Benchmarks start validators, runners and workers, which are the program `remuda`.
	@cargo build --release --bin remuda --bin remuda-lab
	@for name in $(or $(NAME),select closing chain push sessions start timers fleet vm); do \
		"$${CARGO_TARGET_DIR:-target}/release/remuda-lab" bench $$name $(ARGS) || exit; \
	done

fuzz: ## fuzz TARGET=transaction|block|frame for SECONDS=60, or replay INPUT=file
	@if [ -z "$(TARGET)" ]; then \
		echo "make fuzz TARGET=transaction|block|frame SECONDS=60" >&2; exit 2; \
	fi
	@scripts/fuzz.sh "$(TARGET)" "$(or $(INPUT),$(SECONDS))"

model: ## check the fleet's rules over the largest model: minutes, after a change of the rules
	cargo test -p remuda-fleet --test integration -- model:: --ignored --nocapture

clean: ## remove what was built, and the fuzzers' corpora and artifacts
	cargo clean
