# The front door. meson builds everything; this file reports what is missing.
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
	@[ -f build/build.ninja ] || dev/need --age
	@missing=$$(dev/need --missing option); \
	if [ ! -f build/build.ninja ] || [ "$$missing" != "$$(cat build/missing 2>/dev/null)" ]; then \
		dev/need --wish option; \
		[ ! -f build/build.ninja ] || again=--wipe; \
		meson setup $$again build --prefix=$(PREFIX) >build-setup.log 2>&1 || { cat build-setup.log; exit 1; }; \
		rm -f build-setup.log; \
		echo "$$missing" >build/missing; \
	fi
	@$(NINJA) -C build

demo:
	@dev/need --install build option
	@$(MAKE) --no-print-directory build/pace
	@dev/demo

check:
	@dev/need --install build option test
	@dev/need --install guest || echo "without them the tests on an emulated machine are skipped" >&2
	@dev/check

bench:
	@dev/need --install build option bench
	@$(MAKE) --no-print-directory build/pace
	@dev/bench

# Reconfigures the build if PREFIX is given.
install: build/pace
ifneq ($(origin PREFIX),file)
	@meson configure build --prefix=$(PREFIX)
endif
	@meson install -C build

clean:
	rm -rf build build-check build-bench build-guest build-threads
