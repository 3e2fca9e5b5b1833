# The front door. Everything is built by meson; this file finds what is missing and says so.
#
#     make            build/pace
#     make demo       install what is missing, build, record a real program, print where its time went
#     make check      install what tests need, build with sanitizers, run everything
#     make bench      measure pace beside perf
#     make install    (PREFIX=/usr/local)

PREFIX ?= /usr/local
NINJA := $(shell command -v ninja || command -v samu || echo ninja)

.PHONY: all demo check bench install clean
all: build/pace

.PHONY: build/pace
build/pace:
	@dev/need build
	@[ -f build/build.ninja ] || meson setup build --prefix=$(PREFIX) >build-setup.log 2>&1 || \
		{ cat build-setup.log; exit 1; }
	@rm -f build-setup.log
	@$(NINJA) -C build

demo:
	@dev/need --install build
	@$(MAKE) --no-print-directory build/pace
	@dev/demo

check:
	@dev/need --install build test
	@dev/need --install guest || echo "without them the tests on an emulated machine are skipped" >&2
	@dev/check

bench:
	@dev/need --install build bench
	@$(MAKE) --no-print-directory build/pace
	@dev/bench

install: build/pace
	@meson install -C build

clean:
	rm -rf build build-check build-bench build-guest
