# The front door: each target is a few lines that call meson or a tool.

PREFIX ?= /usr/local

# VRAMSCOPE_TEST_TORCH=1 installs PyTorch (6 GB) for the labelled programs, and `make test` runs them too.
TEST_TIERS = run build wheel test $(if $(filter 1,$(VRAMSCOPE_TEST_TORCH)),torch)

# The interpreter that the build took, if tools/setup could choose.
PYTHON = $(firstword $(wildcard /usr/bin/python3) python3)

# tools/setup leaves a meson of its own here where the system's is missing or too old.
MESON = $(if $(wildcard build/venv/bin/meson),build/venv/bin/meson,meson)

# NumPy is there, where tools/setup could install it.
BENCH_PYTHON = $(firstword $(wildcard build/venv/bin/python) $(PYTHON))

.PHONY: all demo verdict wheel test test-long bench bench-package bench-peers bench-viewer fuzz tsan install format check clean

all: build/release/build.ninja
	$(MESON) compile -C build/release

demo:
	tools/setup run build
	@$(MAKE) --no-print-directory build/release/build.ninja
	$(MESON) compile -C build/release package
	build/release/cli/vramscope report examples/oom.pickle
	@build/release/cli/vramscope trace -n 3 examples/traces/training.pt.trace.json.gz
	@build/release/cli/vramscope view examples/oom.pickle -o build/demo.html
	@echo "build/demo.html shows it: open it in a browser"
	@test ! -e build/release/python/vramscope/__init__.py || $(MAKE) --no-print-directory verdict

# The same recording asked in Python, where the build has the package.
verdict:
	PYTHONPATH=build/release/python $(PYTHON) -c \
		'import vramscope; oom = vramscope.load("examples/oom.pickle").oom(); print(oom["devices"][0]["result"]["verdict"])'

wheel:
	tools/setup build wheel
	tools/wheel

test:
	tools/setup $(TEST_TIERS)
	@$(MAKE) --no-print-directory build/debug/build.ninja
	tools/run-tests

test-long:
	tools/setup $(TEST_TIERS)
	@$(MAKE) --no-print-directory build/debug/build.ninja
	tools/run-tests --long

bench: all
	tests/bench/run --program build/release/cli/vramscope \
		--make-snapshot build/release/tests/bench/make_snapshot \
		--walk build/release/tests/bench/walk \
		--machine build/release/tests/bench/machine \
		--make-trace build/release/tests/bench/make_trace \
		--inflate build/release/tests/bench/inflate $(BENCH)
	@test ! -e build/release/python/vramscope/__init__.py || $(MAKE) --no-print-directory bench-package

bench-package: all
	$(BENCH_PYTHON) -B tests/bench/package --package build/release/python \
		--program build/release/cli/vramscope \
		--make-snapshot build/release/tests/bench/make_snapshot $(filter --quick --markdown,$(BENCH))

bench-peers: all
	tests/bench/peers --program build/release/cli/vramscope \
		--make-trace build/release/tests/bench/make_trace --venv build/peers-venv $(BENCH)

bench-viewer: all
	tests/bench/page --program build/release/cli/vramscope \
		--make-snapshot build/release/tests/bench/make_snapshot $(BENCH)
	tests/bench/page --program build/release/cli/vramscope --ratio 2 \
		--make-snapshot build/release/tests/bench/make_snapshot $(BENCH)

fuzz: build/fuzz/build.ninja
	$(MESON) compile -C build/fuzz
	tools/fuzz

tsan: build/tsan/build.ninja
	$(MESON) test -C build/tsan --suite unit --print-errorlogs

# The tree may have been configured for another place, or for none.
install: build/release/build.ninja
	$(MESON) configure build/release --prefix=$(PREFIX)
	$(MESON) install -C build/release

format:
	tools/format

check:
	tools/check-layers
	tools/check-sizes
	tools/format --check
	tools/check-scripts
	tools/tidy

clean:
	rm -rf build

build/release/build.ninja:
	$(MESON) setup build/release --buildtype=release

build/debug/build.ninja:
	$(MESON) setup build/debug -Ddebug=true -Doptimization=1 -Dwerror=true \
		-Db_sanitize=address,undefined

build/fuzz/build.ninja:
	CC=clang $(MESON) setup build/fuzz -Ddebug=true -Doptimization=1 -Dfuzz=true -Db_lundef=false

build/tsan/build.ninja:
	$(MESON) setup build/tsan -Ddebug=true -Doptimization=1 -Dwerror=true -Db_sanitize=thread
