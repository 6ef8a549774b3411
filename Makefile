# shapecond: condense labelled time-series datasets.
#
#   make                    programs and libraries in build/
#   make demo               the main job on generated data
#   make main-table         the paper's main table on DATA=FOLDER, beside its figures; make show-main-table
#                           prints what is there; others: ablations efficiency shapelet-table nas unroll
#                           views-table bytes-table cross-table transformer-table archive-accuracy (pipelines/README)
#   make install            PREFIX=/usr/local DESTDIR=    make uninstall
#   make deb                a Debian package, build/shapecond_VERSION_ARCHITECTURE.deb
#   make clean
#
#   make check              all tests; TESTS='test_npy import' only these
#   make lint               static checks, manual pages, warnings as errors      make format  clang-format
#   make check-clang        everything compiled by clang, and the unit tests
#   make check-asan         all tests under AddressSanitizer and UBSan           make check-asan-unit
#   make check-faults       every program with calls that fail, and killed at every call
#   make check-resume       shapecond stopped at ten random moments: same bytes, no stage done twice
#   make check-mutants      the tests against a thousand mistakes in the sources (tests/mutants/run.sh)
#   make check-tsan         unit tests and threaded programs under ThreadSanitizer
#   make check-environments all tests with signals ignored, other locales, umasks, time zones ...
#   make check-bare         make demo and make check in minimal roots of BARE_DEBIANS='bookworm trixie'
#   make check-arm64        the unit tests of a cross build under qemu
#   make check-mpi          programs under Open MPI's and MPICH's mpirun, on hosts that are network namespaces
#   make check-slurm        the job script of shapecond-cluster(7) with a slurmctld and a slurmd of its own
#   make check-cuda         the plug-in against the processor, on a GPU          make bench-cuda
#   make coverage           all tests with gcov: the lines that they reach
#   make fuzz               libFuzzer, FUZZ_SECONDS in total or FUZZ_EACH per target; FUZZ_TARGETS='fuzz_npy ...'
#   make bench              all benchmarks; make bench-NAME: tests/bench/NAME.sh
#   make dist               the last commit as build/shapecond-VERSION.tar.gz, always the same bytes
#   make check-dist         that it is, and that it builds and passes its tests (TESTS as above)
#
# Settings: V=1 shows the commands.  CUDA=0: never the plug-in for GPUs; CUDA=1: fail where it cannot
# be built.  MPI='openmpi mpich': the plug-ins for these, MPI= for none.  CC, CFLAGS, CPPFLAGS, LDFLAGS; BUILD=build.  Debian packages that a target needs are
# installed when run as root (or where sudo asks for no password); else the command to do so is
# printed.  PACKAGES= does not look for them.

VERSION := 0.1.0

# These goals compile on all cores unless -j says otherwise.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS))$(filter-out all check demo deb install,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DOCDIR ?= $(PREFIX)/share/doc/shapecond
DATADIR ?= $(PREFIX)/share/shapecond
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

BUILD ?= build
ifneq ($(words $(BUILD)),1)
$(error BUILD must be a name without spaces, not '$(BUILD)')
endif
CFLAGS ?= -O3 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
            -Wpointer-arith -Wwrite-strings -Wvla -Wimplicit-fallthrough -Wconversion -Wno-sign-conversion \
            -Wno-missing-field-initializers
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -DSHAPECOND_VERSION='"$(VERSION)"' $(WARNINGS) \
              -I. -Ilib -Itools -fno-math-errno -fno-trapping-math -pthread -MMD -MP
ifeq ($(WERROR),1)
ALL_CFLAGS += -Werror
endif
LIBS = -lsodium -lkissfft-float -lzip -lm -ldl -pthread

# ---- Sources: found by wildcard; a new file needs no entry ----

MACHINE := $(shell $(CC) -dumpmachine)
NPY_SOURCES := $(wildcard formats/npy-c/*.c)
LIB_SOURCES := $(wildcard formats/*.c lib/*/*.c)
# Files named for an instruction set are compiled for it and chosen at run time (lib/base/cpu.h).
ifeq ($(findstring x86_64,$(MACHINE)),)
LIB_SOURCES := $(filter-out %_avx2.c,$(LIB_SOURCES))
endif
COMMON_SOURCES := $(wildcard tools/common/*.c)
TOOL_SOURCES := $(wildcard tools/*.c)
UNIT_SOURCES := $(wildcard tests/unit/test_*.c)
SUPPORT_SOURCES := $(wildcard tests/unit/support/*.c)
BENCH_SOURCES := $(wildcard tests/bench/*.c)
FUZZ_SOURCES := $(wildcard tests/fuzz/fuzz_*.c)
PEAK := $(BUILD)/tests/peak
FAULTS := $(addprefix $(BUILD)/tests/faults/,driver preload.so)
MAN_PAGES := $(wildcard man/*.[1-9])

# ---- The plug-in for GPUs (shapecond-cuda(7)): where there is a CUDA toolkit with cuDNN 9 ----

NVCC ?= $(firstword $(wildcard $(addsuffix /nvcc,$(subst :, ,$(PATH)) /usr/local/cuda/bin)))
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
CUDNN_HEADER := $(if $(NVCC),$(firstword $(wildcard $(CUDA_HOME)/include/cudnn.h /usr/include/cudnn.h \
                  /usr/include/*/cudnn.h /usr/local/include/cudnn.h)))
CUDNN_MAJOR := $(if $(CUDNN_HEADER),$(shell sed -n 's/^.define CUDNN_MAJOR *//p' \
                 $(dir $(CUDNN_HEADER))cudnn_version.h))
CUDA ?= $(if $(filter-out 7 8,$(CUDNN_MAJOR)),1,0)
ifeq ($(CUDA),1)
ifeq ($(NVCC),)
$(error CUDA=1 needs nvcc, in the PATH or in /usr/local/cuda/bin)
endif
ifeq ($(filter-out 7 8,$(CUDNN_MAJOR)),)
$(error CUDA=1 needs cuDNN 9 or later: there is $(or $(CUDNN_HEADER),no cudnn.h))
endif
endif
CUDA_SOURCES := $(wildcard cuda/*.cu)
CUDA_SO := $(BUILD)/lib/libshapecond-cuda.so
# Machine code for the oldest GPU of each generation from 7.0 on that nvcc knows, which the others of
# that generation run as well, and for the newest; for later GPUs, PTX that the driver translates.
CUDA_ARCHITECTURES ?= $(shell $(NVCC) --list-gpu-arch | sed 's/compute_//' | sort -n | \
                        awk '$$1 >= 70 { last = $$1; if (!seen[int($$1 / 10)]++) print shown = $$1 } \
                             END { if (last != shown) print last }')
CUDA_NEWEST = $(lastword $(CUDA_ARCHITECTURES))
CUDA_FLAGS = -std=c++17 -O3 -lineinfo -Wno-deprecated-gpu-targets \
             $(foreach a,$(CUDA_ARCHITECTURES),-gencode arch=compute_$(a),code=sm_$(a)) \
             -gencode arch=compute_$(CUDA_NEWEST),code=compute_$(CUDA_NEWEST)
ifeq ($(WERROR),1)
CUDA_FLAGS += -Werror all-warnings
endif
CUDA_HOST_FLAGS := -Wall -Wextra -Wno-missing-field-initializers -fPIC -fvisibility=hidden

# Programs and plug-in must be of the same headers: this sum of them goes into both.
INTERFACE = $(eval INTERFACE := $(shell cat $$($(CC) -MM -I. -Ilib lib/device/device.h | \
              sed 's/^[^:]*://;s/\\$$//') | cksum | cut -d' ' -f1))$(INTERFACE)
PLUGIN_FLAGS = -DSHAPECOND_INTERFACE='"$(VERSION)-$(INTERFACE)"'

# ---- Plug-ins for MPI (shapecond-cluster(7)): for each compiler of an MPI that is found ----

MPI_KINDS := openmpi mpich
MPICC_openmpi ?= $(firstword $(wildcard $(addsuffix /mpicc.openmpi,$(subst :, ,$(PATH)))))
MPICC_mpich ?= $(firstword $(wildcard $(addsuffix /mpicc.mpich,$(subst :, ,$(PATH)))))
# Where there is only one it has no ending.
ifeq ($(MPICC_openmpi)$(MPICC_mpich),)
MPICC ?= $(firstword $(wildcard $(addsuffix /mpicc,$(subst :, ,$(PATH)))))
ifneq ($(MPICC),)
MPICC_$(if $(shell $(MPICC) --showme:version 2>/dev/null),openmpi,mpich) := $(MPICC)
endif
endif
MPI ?= $(foreach kind,$(MPI_KINDS),$(if $(MPICC_$(kind)),$(kind)))
MPI_SO := $(MPI:%=$(BUILD)/lib/libshapecond-%.so)
MPI_OTHERS := $(filter-out $(MPI_SO),$(MPI_KINDS:%=$(BUILD)/lib/libshapecond-%.so))

# The same sources against a fake CUDA that runs on the processor (tests only).  Kernels say themselves which
# products are fused with sums.
FAKE_SOURCES := $(wildcard tests/fake_cuda/*.cpp)
FAKE_SO := $(BUILD)/tests/libshapecond-cuda-fake.so

empty :=
comma := ,
space := $(empty) $(empty)

objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
NPY_LIB := $(BUILD)/lib/libnpy-c.a
NPY_SO := $(BUILD)/lib/libnpy-c.so.0
SC_LIB := $(BUILD)/lib/libshapecond.a
TOOLS := $(patsubst tools/%.c,$(BUILD)/bin/%,$(TOOL_SOURCES))
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(UNIT_SOURCES))
BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(BENCH_SOURCES))

ifeq ($(V),1)
say = @:
run =
else
say = @printf '  %-7s %s\n'
run = @
endif

.PHONY: all bench fuzz lint format install uninstall clean demo coverage help FORCE
.PHONY: check check-asan check-asan-unit check-tsan check-clang check-environments check-bare bare-roots check-arm64
.DELETE_ON_ERROR:
.SECONDARY:

all: $(TOOLS) $(NPY_LIB) $(NPY_SO) $(if $(filter 1,$(CUDA)),$(CUDA_SO),no-plug-in) $(MPI_SO)

# One that was built before would not be kept up to date.
.PHONY: no-plug-in
no-plug-in:
	@rm -f $(CUDA_SO) $(MPI_OTHERS)

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

# ---- Debian packages ----

PACKAGES_build := libkissfft-dev libopenblas-dev libsodium-dev libzip-dev
PACKAGES_check := g++ libcmocka-dev mandoc
PACKAGES_clang := clang libclang-rt-dev
PACKAGES_lint := clang-format cppcheck shellcheck
PACKAGES_environments := locales
PACKAGES_bare := mmdebstrap
PACKAGES_deb := dpkg-dev lintian
PACKAGES_mpi := libmpich-dev libopenmpi-dev mpich openmpi-bin
PACKAGES_slurm := munge slurm-client slurmctld slurmd
PACKAGES_arm64 := g++-aarch64-linux-gnu gcc-aarch64-linux-gnu mmdebstrap qemu-user

# The lists that a goal needs.  Goals not named here: build, and check if they run or make tests.
LISTS_lint := build check lint
LISTS_format := lint
LISTS_fuzz := build clang
LISTS_check-clang := build check clang
LISTS_check-environments := build check environments
LISTS_check-bare := bare
LISTS_deb := build deb
LISTS_bare-roots := bare
LISTS_check-mpi := build check mpi
LISTS_check-slurm := build check mpi slurm
LISTS_check-arm64 := arm64
LISTS_help := none
LISTS_dist := none
LISTS_clean := none
LISTS_uninstall := none
lists = $(or $(LISTS_$(1)),build $(if $(filter check% coverage mutation% $(BUILD)/%,$(1)),check))
PACKAGES := $(sort $(foreach goal,$(or $(MAKECMDGOALS),all),$(foreach list,$(call lists,$(goal)),$(PACKAGES_$(list)))))

# Everything that compiles or runs something needs this file, which lists the packages that are known
# to be installed.  All that are missing are asked for at once, so that one command installs them.
HAVE_PACKAGES := $(BUILD)/stamps/packages
ifneq ($(filter-out $(file <$(HAVE_PACKAGES)),$(PACKAGES)),)
$(HAVE_PACKAGES): FORCE
endif
$(HAVE_PACKAGES):
	@mkdir -p $(@D)
	@missing=; \
	if command -v dpkg-query >/dev/null; then \
	  for package in $(PACKAGES); do \
	    dpkg-query -W -f '$${db:Status-Status}\n' $$package 2>/dev/null | grep -qx installed || \
	      missing="$$missing $$package"; \
	  done; \
	fi; \
	if [ -n "$$missing" ]; then \
	  install="apt-get install -y --no-install-recommends$$missing"; \
	  advice="Missing Debian packages. As root, run: apt-get update && $$install"; \
	  if [ "$$(id -u)" = 0 ]; then sudo=; elif sudo -n true 2>/dev/null; then sudo=sudo; \
	  else echo "$$advice" >&2; exit 1; fi; \
	  echo "  APT    $$missing"; \
	  { $$sudo apt-get update && $$sudo env DEBIAN_FRONTEND=noninteractive $$install; } >$@.log 2>&1 </dev/null || \
	    { cat $@.log >&2; echo "$$advice" >&2; exit 1; }; \
	fi
	@echo $(sort $(PACKAGES) $(file <$(HAVE_PACKAGES))) >$@

# ---- Compiling ----

$(BUILD)/obj/formats/npy-c/%.o: ALL_CFLAGS += -fPIC
$(BUILD)/obj/%_avx2.o: ALL_CFLAGS += -mavx2 -mfma -ffp-contract=fast
# Products are rounded before they are added: clang would fuse them where the processor can.
$(BUILD)/obj/lib/shapelets/distance_generic.o $(BUILD)/obj/lib/views/view.o $(BUILD)/obj/formats/dataset-packed.o: \
    ALL_CFLAGS += -ffp-contract=off
$(BUILD)/obj/lib/nn/kernels_update_%.o: ALL_CFLAGS += -ffp-contract=off
# Unrolled vector code: with sanitizers the optimiser would work on it for many minutes.
$(BUILD)/obj/lib/nn/kernels_%.o: FILE_CFLAGS = $(KERNEL_CFLAGS)
$(BUILD)/obj/lib/device/%.o: FILE_CFLAGS = $(PLUGIN_FLAGS)
# Notes and checkpoints say which options made the code; not those that leave it as it is.
CODE_FLAGS = $(strip $(if $(filter -O%,$(CFLAGS)),,-O0) \
               $(filter-out -ffile-prefix-map=% -fdebug-prefix-map=% -fmacro-prefix-map=%, \
                 $(filter -O% -f% -m%,$(CFLAGS) $(KERNEL_CFLAGS) $(CPPFLAGS))))
$(BUILD)/obj/lib/base/computed_by.o: ALL_CFLAGS += -DSHAPECOND_CODE_FLAGS='"$(CODE_FLAGS)"'
$(BUILD)/obj/tests/%.o: ALL_CFLAGS += -Itests/unit -Itests/fuzz

# Other flags or another compiler make everything again.
FLAGS := $(strip $(CC) $(CXX) $(ALL_CFLAGS) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(KERNEL_CFLAGS))
HAVE_FLAGS := $(BUILD)/stamps/flags
ifneq ($(file <$(HAVE_FLAGS)),$(FLAGS))
$(HAVE_FLAGS): FORCE
endif
$(HAVE_FLAGS):
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@

$(BUILD)/obj/%.o: %.c $(HAVE_FLAGS) | $(HAVE_PACKAGES)
	$(say) CC $<
	@mkdir -p $(@D)
	$(run)$(CC) $(ALL_CFLAGS) $(CFLAGS) $(FILE_CFLAGS) $(CPPFLAGS) -c -o $@ $<

$(NPY_LIB): $(call objects,$(NPY_SOURCES))
$(SC_LIB): $(call objects,$(LIB_SOURCES))
$(BUILD)/lib/%.a:
	$(say) AR $@
	@mkdir -p $(@D)
	$(run)rm -f $@ && $(AR) rcs $@ $^

$(NPY_SO): $(call objects,$(NPY_SOURCES))
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) -shared -Wl,-soname,$(@F) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/obj/cuda/%.o: cuda/%.cu | $(HAVE_PACKAGES)
	$(say) NVCC $<
	@mkdir -p $(@D)
	$(run)$(NVCC) $(CUDA_FLAGS) -Xcompiler $(subst $(space),$(comma),$(strip $(CUDA_HOST_FLAGS))) \
	  $(PLUGIN_FLAGS) -I. -Ilib -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(CUDA_SO): $(patsubst cuda/%.cu,$(BUILD)/obj/cuda/%.o,$(CUDA_SOURCES))
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(NVCC) -shared -o $@ $^ -Xlinker -soname,$(@F),-z,defs,-rpath,$(CUDA_HOME)/lib64 -lcudnn -lcublas -ldl

$(MPI_SO): $(BUILD)/lib/libshapecond-%.so: lib/cluster/mpi/plugin.c lib/cluster/transport.h $(HAVE_FLAGS) | $(HAVE_PACKAGES)
	$(say) MPICC $@
	@mkdir -p $(@D)
	$(run)$(MPICC_$*) $(filter-out -MMD -MP,$(ALL_CFLAGS)) $(CFLAGS) -fPIC -fvisibility=hidden -shared $(LDFLAGS) -o $@ $<

$(BUILD)/fake/%.o: % $(HAVE_FLAGS) | $(HAVE_PACKAGES)
	$(say) CXX $<
	@mkdir -p $(@D)
	$(run)$(CXX) -x c++ -std=c++17 -ffp-contract=off $(CUDA_HOST_FLAGS) $(CFLAGS) -D_GNU_SOURCE \
	  $(PLUGIN_FLAGS) -Itests/fake_cuda/include -Itests/fake_cuda -I. -Ilib \
	  -MMD -MP -c -o $@ $<

$(FAKE_SO): $(patsubst %,$(BUILD)/fake/%.o,$(CUDA_SOURCES) $(FAKE_SOURCES))
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CXX) -shared $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm -ldl

$(BUILD)/bin/%: $(BUILD)/obj/tools/%.o $(call objects,$(COMMON_SOURCES)) $(SC_LIB) $(NPY_LIB)
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

# A program that takes more than one screen has a folder of its name.
$(BUILD)/bin/shapecond: $(call objects,$(wildcard tools/shapecond/*.c))

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(call objects,$(SUPPORT_SOURCES)) $(SC_LIB) $(NPY_LIB)
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

$(BUILD)/tests/faults/driver: $(call objects,$(addprefix tests/faults/,driver.c run.c judge.c commands.c))
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(PEAK): $(BUILD)/obj/tests/bench/support/peak.o
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^

$(BUILD)/obj/tests/faults/preload.o: ALL_CFLAGS += -fPIC
$(BUILD)/tests/faults/preload.so: $(BUILD)/obj/tests/faults/preload.o
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) -shared $(CFLAGS) $(LDFLAGS) -o $@ $^ -ldl

# The engine is measured against a product of OpenBLAS on several threads; all else loads OpenBLAS
# when it needs it (lib/base/dense.c).
$(BUILD)/bench/%: $(BUILD)/obj/tests/bench/%.o $(SC_LIB) $(NPY_LIB)
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(LIBS) -lopenblas

# What each object depends on.
-include $(wildcard $(patsubst %.c,$(BUILD)/obj/%.d,$(wildcard formats/*.c formats/*/*.c lib/*/*.c tools/*.c tools/*/*.c \
                                                      tests/*/*.c tests/*/*/*.c)) \
                    $(CUDA_SOURCES:%.cu=$(BUILD)/obj/%.d) \
                    $(patsubst %,$(BUILD)/fake/%.d,$(CUDA_SOURCES) $(FAKE_SOURCES)))

# ---- Tests ----

check: all $(UNITS) $(FAKE_SO) $(FAULTS) $(PEAK)
	@$(UNDER) tests/run-tests.sh $(BUILD) $(TESTS)

# Allocations, system calls and threads that fail, one after another, and kills.
.PHONY: check-faults
check-faults: all $(FAULTS) $(BUILD)/tests/test_guide_command
	@tests/faults/run.sh $(BUILD) $(FAULT_OPTIONS)

.PHONY: check-resume
check-resume: all
	@tests/resume.sh $(BUILD)

# The last commit, whose time is that of all files in the archive.
DIST := shapecond-$(VERSION)
.PHONY: dist check-dist
dist:
	@git rev-parse --verify --quiet HEAD >/dev/null || { echo "make dist needs the Git repository" >&2; exit 1; }
	@mkdir -p $(BUILD)
	@git -c tar.umask=0022 archive --format=tar --prefix=$(DIST)/ HEAD | gzip -n9 >$(BUILD)/$(DIST).tar.gz
	$(say) DIST $(BUILD)/$(DIST).tar.gz

check-dist: dist | $(HAVE_PACKAGES)
	@rm -rf $(BUILD)/dist && mkdir -p $(BUILD)/dist
	@mv $(BUILD)/$(DIST).tar.gz $(BUILD)/dist
	@$(MAKE) --no-print-directory dist && cmp $(BUILD)/$(DIST).tar.gz $(BUILD)/dist/$(DIST).tar.gz
	@tar xzf $(BUILD)/$(DIST).tar.gz -C $(BUILD)/dist
	@+env -u MAKEFLAGS -u MAKEOVERRIDES $(MAKE) --no-print-directory -C $(BUILD)/dist/$(DIST) check BUILD=build CUDA=$(CUDA) TESTS='$(TESTS)'

# lintian finds nothing, and says so by its exit status.
.PHONY: deb
deb: all
	@+tools/packaging/deb.sh $(BUILD) $(VERSION)
	@lintian --allow-root --fail-on error,warning $(BUILD)/shapecond_$(VERSION)_*.deb

# The programs alone: no plug-in for GPUs.  Its stages run one after another.
demo: $(TOOLS)
	@PATH="$(abspath $(BUILD))/bin:$$PATH" MAKEFLAGS= $(MAKE) --no-print-directory -f pipelines/demo.mk RUN=$(BUILD)/demo

TABLES := main-table ablations efficiency shapelet-table nas unroll views-table bytes-table cross-table transformer-table archive-accuracy
.PHONY: $(TABLES) $(TABLES:%=show-%)
$(TABLES) $(TABLES:%=show-%): all
	@PATH="$(abspath $(BUILD))/bin:$$PATH" $(MAKE) --no-print-directory -f pipelines/$(@:show-%=%).mk \
	  $(if $(filter show-%,$@),show)

# The same in folders of their own, compiled another way.
again = $(MAKE) --no-print-directory check BUILD=$(BUILD)/$(1) CUDA=0
UNIT_NAMES := $(notdir $(UNITS))
TOOL_NAMES := $(filter-out lib,$(patsubst tests/tools/%.sh,%,$(wildcard tests/tools/*.sh)))
ASAN := CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer'
# The kernels are sanitized in the unit tests, and then not optimised; programs that train networks would
# take hours with them.
check-asan: | $(HAVE_PACKAGES)
	@+status=0; units='$(filter $(or $(TESTS),%),$(UNIT_NAMES))' tools='$(filter $(or $(TESTS),%),$(TOOL_NAMES))'; \
	  [ -z "$$units" ] || $(call again,asan) $(ASAN) KERNEL_CFLAGS=-O0 TESTS="$$units" || status=$$?; \
	  [ -z "$$tools" ] || $(call again,asan-tools) $(ASAN) KERNEL_CFLAGS='-O3 -fno-sanitize=all' TESTS="$$tools" || status=$$?; \
	  exit $$status
check-asan-unit: | $(HAVE_PACKAGES)
	@+$(call again,asan) $(ASAN) KERNEL_CFLAGS=-O0 TESTS='$(UNIT_NAMES)'
check-clang: | $(HAVE_PACKAGES)
	@+$(call again,clang) CC=clang CXX=clang++ WERROR=1 TESTS='$(UNIT_NAMES)'

# Programs that use threads, with three of them.  ThreadSanitizer finds no place for its memory where
# addresses are very random.
THREADED := cli eval gen match scale select shapecond shapelets synth teacher
check-tsan: | $(HAVE_PACKAGES)
	@+$(call again,tsan) KERNEL_CFLAGS=-O0 CFLAGS='-O1 -g -fsanitize=thread' \
	  UNDER="$$(setarch -R true 2>/dev/null && echo setarch -R)" SHAPECOND_THREADS=3 TESTS='$(UNIT_NAMES) $(THREADED)'

coverage: | $(HAVE_PACKAGES)
	@if [ -d $(BUILD)/coverage ]; then find $(BUILD)/coverage -name '*.gcda' -delete; fi
	@+status=0; $(call again,coverage) CFLAGS='-O1 -g --coverage -fprofile-update=single' || status=$$?; \
	  tests/coverage.sh $(BUILD)/coverage && exit $$status

# The two commands of README where nothing is installed yet.  The roots are kept: remove them to renew them.
BARE_DEBIANS ?= bookworm trixie
BARE_ROOTS := $(BARE_DEBIANS:%=$(BUILD)/bare/%.tar)
bare-roots: $(BARE_ROOTS)
$(BUILD)/bare/%.tar: tests/bare/root.sh | $(HAVE_PACKAGES)
	@tests/bare/root.sh $* $@ --variant=apt --include=git,gcc,make,libc6-dev
check-bare: $(BARE_ROOTS)
	@BARE_DEBIANS='$(BARE_DEBIANS)' tests/bare/check-bare.sh $(BUILD)

# Libraries of another processor are unpacked into a folder, not installed; nothing there is run but under qemu.
ARM64_DEBIAN ?= $(or $(shell . /etc/os-release && [ "$$ID" = debian ] && echo "$$VERSION_CODENAME"),bookworm)
$(BUILD)/arm64/root.tar: tests/bare/root.sh | $(HAVE_PACKAGES)
	@tests/bare/root.sh $(ARM64_DEBIAN) $@ --architectures=arm64 --variant=extract \
	  --include=$(subst $(space),$(comma),libc6-dev libcmocka-dev libstdc++6 $(PACKAGES_build))
check-arm64: $(BUILD)/arm64/root.tar
	@+MAKE='$(MAKE)' tests/arm64.sh $(BUILD)

check-environments: all $(UNITS) $(FAKE_SO)
	@tests/environments.sh $(BUILD)

# The sources with one mistake after another: some test must notice each.  Takes hours.
.PHONY: check-mutants
check-mutants: | $(HAVE_PACKAGES)
	@MUTANTS='$(MUTANTS)' SAMPLE='$(SAMPLE)' JOBS='$(JOBS)' QUICK='$(QUICK)' tests/mutants/run.sh $(BUILD)

# The plug-ins are found when their compilers are installed.
.PHONY: check-mpi check-slurm
check-mpi: | $(HAVE_PACKAGES)
	@+$(MAKE) --no-print-directory all
	@tests/cluster/mpi.sh $(BUILD)
check-slurm: | $(HAVE_PACKAGES)
	@+$(MAKE) --no-print-directory all
	@tests/cluster/slurm.sh $(BUILD)

# On a GPU; without one they say so and fail.
.PHONY: check-cuda bench-cuda
check-cuda: all $(UNITS) $(BUILD)/bench/cuda
	@LC_ALL=C tests/cuda/check.sh $(BUILD)
bench-cuda: all $(BUILD)/bench/cuda
	@LC_ALL=C tests/cuda/bench.sh $(BUILD)

BENCH_NAMES := $(patsubst tests/bench/%.sh,%,$(wildcard tests/bench/*.sh))
.PHONY: $(addprefix bench-,$(BENCH_NAMES))
bench: $(addprefix bench-,$(BENCH_NAMES))
$(addprefix bench-,$(BENCH_NAMES)): bench-%: all $(BENCHES) $(PEAK)
	@LC_ALL=C tests/bench/$*.sh $(BUILD)

# Fuzzers are linked with everything compiled again by clang: with the sanitizers, which find more in
# an execution, and without them, which makes many more executions.
CLANG ?= clang
FUZZ_SECONDS ?= 600
FUZZ_TARGETS ?= $(patsubst tests/fuzz/%.c,%,$(FUZZ_SOURCES))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzzers/%,$(FUZZ_SOURCES))
fuzz_build = $(MAKE) --no-print-directory fuzzers BUILD=$(BUILD)/fuzz/$(1) CC='$(CLANG)' CUDA=0 KERNEL_CFLAGS=-O0
fuzz: | $(HAVE_PACKAGES)
	@+$(call fuzz_build,sanitized) CFLAGS='-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
	  -fsanitize=address,undefined,fuzzer-no-link'
	@+$(call fuzz_build,plain) CFLAGS='-O2 -g -fsanitize=fuzzer-no-link'
	@tests/fuzz/run-fuzz.sh $(BUILD)/fuzz $(FUZZ_SECONDS) $(FUZZ_TARGETS)

.PHONY: fuzzers
fuzzers: $(FUZZERS) $(BUILD)/fuzzers/seeds
$(FUZZERS): FUZZ_LINK := -fsanitize=fuzzer -Wl,--wrap=npy_open,--wrap=file_read
$(FUZZERS): $(BUILD)/obj/tests/fuzz/memory_file.o
$(BUILD)/fuzzers/seeds $(filter %_checkpoint,$(FUZZERS)): $(BUILD)/obj/tests/fuzz/checkpoints.o
$(BUILD)/fuzzers/%: $(BUILD)/obj/tests/fuzz/%.o $(SC_LIB) $(NPY_LIB)
	$(say) LD $@
	@mkdir -p $(@D)
	$(run)$(CC) $(CFLAGS) $(LDFLAGS) $(FUZZ_LINK) -Wl,--as-needed -o $@ $(filter %.o,$^) $(SC_LIB) $(NPY_LIB) $(LIBS)

FORMATTED = $(shell find $(wildcard tools lib formats cuda tests) -name "*.[ch]" -o -name "*.cu" -o -name "*.cpp")
# Across files cppcheck does not see that cli_check may not return and that outputs need no value.
lint: | $(HAVE_PACKAGES)
	$(say) LINT 'clang-format'
	$(run)clang-format --dry-run -Werror $(FORMATTED)
	$(say) LINT 'mandoc'
	$(run)mandoc -T lint -W warning $(MAN_PAGES)
	$(say) LINT 'shellcheck'
	$(run)shellcheck -x $$(find tests pipelines tools -name '*.sh') .ci/run
	$(say) LINT 'cppcheck'
	$(run)cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
	  --error-exitcode=1 --suppress=missingIncludeSystem \
	  --suppress=ctunullpointer --suppress=ctuuninitvar -I. -Ilib -Itools formats lib tools
	$(say) LINT 'warnings as errors'
	$(run)$(MAKE) --no-print-directory all BUILD=$(BUILD)/werror WERROR=1 CFLAGS='-O2' \
	  $(if $(filter 1,$(CUDA)),CUDA_ARCHITECTURES=$(CUDA_NEWEST))

format: | $(HAVE_PACKAGES)
	$(run)clang-format -i $(FORMATTED)

# ---- Installing ----

# Made on the spot, since make install may name another PREFIX than make did.
PKG_CONFIG = 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$(INCLUDEDIR)' '' \
             'Name: npy-c' 'Description: Read and write NumPy NPY files from C' 'Version: $(VERSION)' \
             'Libs: -L$${libdir} -lnpy-c' 'Cflags: -I$${includedir}'

# $(call D,FOLDER), which may have spaces.
D = "$(DESTDIR)$(1)"
install: all
	$(say) INSTALL '$(DESTDIR)$(PREFIX)'
	$(run)install -d $(call D,$(BINDIR)) $(call D,$(LIBDIR))/pkgconfig $(call D,$(INCLUDEDIR)) $(call D,$(DOCDIR))
	$(run)install -m 755 $(TOOLS) $(call D,$(BINDIR))
	$(run)install -m 644 $(NPY_LIB) $(NPY_SO) $(call D,$(LIBDIR))
	$(run)if [ $(CUDA) = 1 ] && [ -e $(CUDA_SO) ]; then install -m 644 $(CUDA_SO) $(call D,$(LIBDIR)); fi
	$(run)for plugin in $(MPI_SO); do if [ -e $$plugin ]; then install -m 644 $$plugin $(call D,$(LIBDIR)); fi; done
	$(run)ln -sf $(notdir $(NPY_SO)) $(call D,$(LIBDIR))/libnpy-c.so
	$(run)install -m 644 formats/npy-c/npy-c.h $(call D,$(INCLUDEDIR))
	$(run)install -m 644 LICENSE $(call D,$(DOCDIR))
	$(run)install -D -m 644 formats/shapecond.py $(call D,$(DATADIR))/shapecond.py
	$(run)printf '%s\n' $(PKG_CONFIG) >$(call D,$(LIBDIR))/pkgconfig/npy-c.pc
	$(run)install -d $(call D,$(BASHDIR)) $(call D,$(ZSHDIR)) $(call D,$(FISHDIR))
	$(run)for tool in $(TOOLS); do name=$${tool##*/}; \
	  $$tool --complete=bash >$(call D,$(BASHDIR))/$$name && $$tool --complete=zsh >$(call D,$(ZSHDIR))/_$$name && \
	  $$tool --complete=fish >$(call D,$(FISHDIR))/$$name.fish || exit 1; done
	$(run)for page in $(MAN_PAGES); do section=$${page##*.}; \
	  install -D -m 644 $$page $(call D,$(MANDIR))/man$$section/$${page##*/} || exit 1; done

uninstall:
	$(say) REMOVE '$(DESTDIR)$(PREFIX)'
	$(run)for file in $(notdir $(TOOLS)); do rm -f $(call D,$(BINDIR))/$$file $(call D,$(BASHDIR))/$$file \
	  $(call D,$(ZSHDIR))/_$$file $(call D,$(FISHDIR))/$$file.fish; done
	$(run)for file in $(notdir $(NPY_LIB) $(NPY_SO) $(CUDA_SO) $(MPI_SO) $(MPI_OTHERS)) libnpy-c.so pkgconfig/npy-c.pc; do \
	  rm -f $(call D,$(LIBDIR))/$$file; done
	$(run)rm -f $(call D,$(INCLUDEDIR))/npy-c.h $(call D,$(DOCDIR))/LICENSE $(call D,$(DATADIR))/shapecond.py
	$(run)for page in $(MAN_PAGES); do rm -f $(call D,$(MANDIR))/man$${page##*.}/$${page##*/}; done

clean:
	$(run)rm -rf $(BUILD)
