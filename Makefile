# The two commands of the README, and what developers need besides.
# Everything that is installed goes under target/ and is cached there.

CARGO ?= cargo
NEXTEST := $(shell $(CARGO) nextest --version >/dev/null 2>&1 && echo yes)

.PHONY: demo test lint env museum bench soak fuzz mutants schemas report-assets images extras wheel supply-chain

demo:
	$(CARGO) run --release -- demo

# Tests start Python some thousand times: without a shim such as pyenv's, which takes longer than most of them,
# and without compiling each SDK anew.
WITH_PYTHON = env -u PYTHONDONTWRITEBYTECODE PATH="$$(python3 tests/env/testenv.py path python)/bin:$$PATH"

# Installs what the tests need and runs all of them.
test: lint env
ifeq ($(NEXTEST),yes)
	$(CARGO) build --workspace --examples
	$(WITH_PYTHON) $(CARGO) nextest run --workspace --no-fail-fast
	$(CARGO) test --workspace --doc
else
	$(CARGO) build --workspace --all-targets
	$(WITH_PYTHON) $(CARGO) test --workspace --no-fail-fast
endif
	# Core is named so that what all of them depend on has the features that it has above, and is not built again.
	$(CARGO) test -p mcp-loadtest-core -p mcp-loadtest-wire -p mcp-loadtest-cli \
	  --features mcp-loadtest-cli/otlp,mcp-loadtest-cli/torture -- otlp torture

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	# With examples and all features, so that what clippy has checked is not checked again.
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --all-features --lib --examples

# The real servers, clients and suites that tests run against.
env:
	$(CARGO) fetch --locked
	python3 tests/env/testenv.py ensure --group core

# Releases with known bugs: each must be found, and nothing in the releases that fixed them.
museum:
	$(CARGO) build --release
	python3 scripts/museum.py --write

# Side by side with wrk; prints tables and never fails on a figure.
bench:
	python3 scripts/bench

# An hour of full load: memory and file handles flat, every count the same. SOAK_SECONDS=60 is a short one.
SOAK_SECONDS ?= 3600
soak:
	$(CARGO) build --release --package mcp-loadtest-cli
	python3 scripts/soak.py --seconds $(SOAK_SECONDS)

# The readers of what others write, each for a while under libFuzzer, and the fuzzer itself at length.
# `cargo install cargo-fuzz` once; FUZZ_SECONDS=600 is a thorough run.
FUZZ_SECONDS ?= 60
fuzz:
	for target in frames sse config; do \
	  mkdir -p target/fuzz/$$target; \
	  RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --sanitizer none $$target \
	    target/fuzz/$$target fuzz/corpus/$$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=8192 || exit 1; done
	MCP_LOADTEST_FUZZ_CASES=50000 $(CARGO) test --release -p mcp-loadtest-cli --test it fuzzer -- --nocapture

# Core changed by one small thing at a time: does a test of core fail? `cargo install cargo-mutants` once;
# some 11,900 mutants, half a minute each, so a share of them. docs/design/mutants.md has the figures.
MUTANTS_SHARD ?= 0/100
mutants:
	INSTA_UPDATE=no $(CARGO) mutants --package mcp-loadtest-core --sharding round-robin --shard $(MUTANTS_SHARD) \
	  --shuffle --baseline skip --timeout 250 --output target/mutants --cargo-arg=--lib

schemas:
	@for name in config metrics trace summary comparison tools probe doctor gateway case fixtures llm-journal llm-verdict suite test; do \
	  $(CARGO) run --quiet -p mcp-loadtest-cli -- schema $$name > schemas/$$name.v1.json; done

# Manual pages and completions, for packages.
extras:
	$(CARGO) build --release --package mcp-loadtest-cli
	rm -rf target/extras && mkdir -p target/extras/man target/extras/completions
	target/release/mcp-loadtest man --dir target/extras/man
	for shell in bash zsh fish powershell elvish; do \
	  target/release/mcp-loadtest completions $$shell > target/extras/completions/mcp-loadtest.$$shell || exit 1; done
	tar -C target/extras -czf target/extras/mcp-loadtest-man.tar.gz man
	tar -C target/extras -czf target/extras/mcp-loadtest-completions.tar.gz completions

# The Python package, as a wheel in target/wheels.
wheel: env
	MATURIN="$$(python3 tests/env/testenv.py path python-package)/bin/maturin"; \
	  cd python && "$$MATURIN" build --release --out ../target/wheels

# What report.html embeds: uPlot as published, and the print of the script by which the page names it.
report-assets:
	scripts/vendor-uplot.sh
	python3 scripts/report-script-print.py

# The pictures in docs/images.
images:
	$(CARGO) build --release
	python3 scripts/images

# What the binary is made of: no licence, source or version that deny.toml forbids, the page of licences,
# and a list of the parts for those who ask (target/sbom). `cargo install cargo-deny cargo-cyclonedx` once.
supply-chain:
	$(CARGO) deny check licenses bans sources
	python3 scripts/licences.py
	mkdir -p target/sbom
	$(CARGO) cyclonedx --format json --all-features --override-filename sbom
	mv crates/cli/sbom.json target/sbom/mcp-loadtest.cdx.json
	rm -f crates/*/sbom.json
