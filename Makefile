# Two commands: `make run` serves examples/quickstart.cfg, `make test` is the whole gate.
# Each installs what the machine lacks first (.ci/setup).

export PATH := $(PATH):$(or $(CARGO_HOME),$(HOME)/.cargo)/bin
CONFIG ?= examples/quickstart.cfg

.PHONY: run test setup format lint unit golden

run: setup
	cargo run --release --locked -- run $(CONFIG)

test: setup format lint unit golden

setup:
	@.ci/setup

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings -A rustdoc::private-intra-doc-links' cargo doc --workspace --no-deps --document-private-items --locked

unit:
	cargo test --workspace --locked

# The recorded behaviour of 3proxy: see tests/golden/README.md.
golden:
	cargo build --locked
	python3 tests/golden/check.py
