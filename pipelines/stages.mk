# What the tables have in common: from the files of a data folder to condensed sets and the scores of
# students that learned from them.  Included by the .mk file of each table.
#
# Everything that belongs to a set is in RUN/SET:
#     all.npy train.npy val.npy test.npy scale.npy balanced.npy     the data
#     pool.slp teacher.tch plain.tch                                shapelets, teacher with and without
#     full/all.0.STUDENT.tsv                                        score of the teachers
#     SPC/METHOD.REPEAT.npy                                         a condensed set
#     SPC/METHOD.REPEAT.STUDENT.tsv                                 scores of students
# A step is run again when a file that it needs is newer, or when its command is another than the one
# that made the file (see step.sh): other options make what depends on them, and nothing else.
# `make -n` says what would be run.

PIPELINES := $(dir $(lastword $(MAKEFILE_LIST)))
include $(PIPELINES)settings.mk

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: again
MAKEFLAGS += --no-builtin-rules

# ---- Words ----

equal = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
quote = '$(subst ','\'',$(1))'
# $(call of,SET,NAME): a setting of a set.
of = $(if $(filter file undefined,$(subst $() ,-,$(origin $(2)))),$(if $(filter undefined,$(origin $(1)_$(2))),$($(2)),$($(1)_$(2))),$($(2)))
numbers = $(wordlist 1,$(1),0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
repeats := $(call numbers,$(REPEATS))
# With make -j each program gets one core, else all of them.
threads = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),1,0)

# What made each file that is there: ran_TARGET.
-include $(shell find $(RUN) -name '*.command' 2>/dev/null)

# $(call step,TARGET,PREREQUISITES,COMMAND)
define step
$(1): $(2) $(if $(call equal,$(ran_$(1)),$(strip $(3))),,again)
	@SHAPECOND_THREADS=$$(threads) $(PIPELINES)step.sh $(1) $(call quote,$(strip $(3)))

endef

# ---- Which sets ----

# Those of the paper that are there; if none is, all.
PREFER ?= FacesUCR TwoPatterns HAR ElectricDevices Sleep TiselacNDVI Pedestrian
folders := $(notdir $(patsubst %/,%,$(wildcard $(DATA)/*/)))
SETS ?= $(or $(filter $(folders),$(PREFER)),$(sort $(folders)))
ifeq ($(strip $(SETS)),)
$(error DATA=$(DATA): no folder with a folder for each set is there)
endif
ifneq ($(filter-out $(folders),$(SETS)),)
$(error SETS: no folder $(filter-out $(folders),$(SETS)) in $(DATA), which has: $(sort $(folders)))
endif

label = $(or $($(1)_LABEL),$(1))

# An array of series and one of labels, or text files of one kind, or whole datasets.
source_arrays = $(wildcard $(DATA)/$(1)/$(1)_X.npy)
source_files = $(foreach kind,tsv ts arff txt csv npy,$(wildcard $(DATA)/$(1)/*.$(kind)))
source_kind = $(filter %$(suffix $(firstword $(source_files))),$(source_files))
sources = $(or $(source_arrays),$(sort $(source_kind)))
import = sc-import --quiet $(call of,$(1),IMPORT) $(if $(source_arrays),--labels $(DATA)/$(1)/$(1)_y.npy) $(sources)

# ---- Data, shapelets, teachers of a set: T is its folder ----

T = $(RUN)/$(1)
split = sc-split --quiet $(call of,$(1),SPLIT) --seed $(SEED) --only $(2) $(T)/all.npy
balances = $(filter-out no,$(call of,$(1),BALANCE))
# What teachers learn from.
lessons = $(T)/$(if $(balances),balanced,train).npy

find = sc-prune $(call of,$(1),PRUNE) --seed $(SEED) $(T)/train.npy | sc-shapelets --quiet $(call of,$(1),SHAPELETS) $(call of,$(1),CANDIDATES)
teach = sc-teacher --quiet $(call of,$(1),TEACHER) --seed $(SEED) --validate $(T)/val.npy

define set_steps
$(call step,$(T)/all.npy,$(sources),$(import) -o $(T)/all.npy)
$(call step,$(T)/train.npy,$(T)/all.npy,$(call split,$(1),train) | sc-scale --quiet --save $(T)/scale.npy -o $(T)/train.npy)
$(foreach part,val test,$(call step,$(T)/$(part).npy,$(T)/all.npy $(T)/train.npy,$(call split,$(1),$(part)) | sc-scale --quiet --with $(T)/scale.npy -o $(T)/$(part).npy))
$(if $(balances),$(call step,$(T)/balanced.npy,$(T)/train.npy,sc-balance --quiet $(balances) --seed $(SEED) -o $(T)/balanced.npy $(T)/train.npy))
$(call step,$(T)/facts.tsv,$(T)/train.npy $(T)/val.npy $(T)/test.npy,$(PIPELINES)facts.sh $(T)/train.npy $(T)/val.npy $(T)/test.npy >$(T)/facts.tsv)
$(call step,$(T)/pool.slp,$(T)/train.npy,$(find) -o $(T)/pool.slp)
$(call step,$(T)/teacher.tch,$(lessons) $(T)/val.npy $(T)/pool.slp,$(teach) --shapelets $(T)/pool.slp -o $(T)/teacher.tch $(lessons))
$(call step,$(T)/plain.tch,$(lessons) $(T)/val.npy,$(teach) -o $(T)/plain.tch $(lessons))
$(call step,$(T)/full/all.0.plain.tsv,$(T)/plain.tch $(T)/test.npy,sc-eval --quiet --teacher $(T)/plain.tch $(T)/test.npy -o $(T)/full/all.0.plain.tsv)
$(call step,$(T)/full/all.0.shapelets.tsv,$(T)/teacher.tch $(T)/pool.slp $(T)/test.npy,sc-eval --quiet --teacher $(T)/teacher.tch --shapelets $(T)/pool.slp $(T)/test.npy -o $(T)/full/all.0.shapelets.tsv)
endef

# ---- Methods: what is run, with --spc N --seed S -o FILE train.npy behind it, and what it needs ----
# $(1) is the set, $(2) the series per class, $(4) the repeat.

run_random = sc-select
run_random-soft = sc-select --teacher $(T)/plain.tch --soft
needs_random-soft = $(T)/plain.tch
run_herding = sc-select --method herding --teacher $(T)/plain.tch
needs_herding = $(T)/plain.tch
run_kcenter = sc-select --method kcenter --teacher $(T)/plain.tch
needs_kcenter = $(T)/plain.tch
run_kmeans = sc-select --method kmeans --teacher $(T)/plain.tch
needs_kmeans = $(T)/plain.tch
run_sre2l = sc-synth --quiet $(call of,$(1),SYNTH) --teacher $(T)/plain.tch
needs_sre2l = $(T)/plain.tch
run_shapecond = sc-synth --quiet $(call of,$(1),SYNTH) --teacher $(T)/teacher.tch --shapelets $(T)/pool.slp
needs_shapecond = $(T)/teacher.tch $(T)/pool.slp
run_dc = sc-match --quiet --method dc $(call of,$(1),DC)
run_dsa = sc-match --quiet --method dsa $(call of,$(1),DSA)
run_mtt = sc-match --quiet --method mtt $(call of,$(1),MTT) --experts $(T)/mtt.experts
needs_mtt = $(T)/mtt.experts
run_condtsc = sc-match --quiet --method condtsc $(call of,$(1),CONDTSC) --experts $(T)/condtsc.experts
needs_condtsc = $(T)/condtsc.experts
run_shapecond-unroll = sc-match --quiet --method unroll $(call of,$(1),UNROLL) --start $(call condensed,$(1),$(2),shapecond,$(4))
needs_shapecond-unroll = $(call condensed,$(1),$(2),shapecond,$(4))

ALL_METHODS := random random-soft herding kcenter kmeans dc dsa mtt condtsc sre2l shapecond shapecond-unroll
program_of = $(firstword $(run_$(1)))
have := $(foreach program,$(sort $(foreach m,$(ALL_METHODS),$(call program_of,$(m)))),$(if $(shell command -v $(program)),$(program)))
missing = $(foreach m,$(1),$(if $(filter $(have),$(call program_of,$(m))),,$(m)))
METHODS ?= $(filter-out kmeans $(call missing,$(ALL_METHODS)),$(ALL_METHODS))
ifneq ($(filter-out $(have),sc-select sc-synth),)
$(error The programs are not on the PATH: run make, then PATH=$$PWD/build/bin:$$PATH make ...)
endif
ifneq ($(filter-out $(ALL_METHODS),$(METHODS)),)
$(error METHODS: there is no $(filter-out $(ALL_METHODS),$(METHODS)), only $(ALL_METHODS))
endif
ifneq ($(strip $(call missing,$(METHODS))),)
$(error METHODS: $(strip $(call missing,$(METHODS))) cannot be run, because there is no program $(sort $(foreach m,$(call missing,$(METHODS)),$(call program_of,$(m)))) on the PATH)
endif

define expert_steps
$(foreach m,mtt condtsc,$(call step,$(T)/$(m).experts,$(lessons),sc-experts --quiet --method $(m) $(call of,$(1),EXPERTS) --seed $(SEED) -o $(T)/$(m).experts $(lessons)))
endef

# $(call condense,SET,SPC,METHOD,REPEAT)
condensed = $(T)/$(2)/$(3).$(4).npy
define condense
$(call step,$(condensed),$(T)/train.npy $(needs_$(3)),$(run_$(3)) --spc $(2) --seed $(4) -o $(condensed) $(T)/train.npy)
endef

# $(call score,SET,SPC,METHOD,REPEAT,STUDENT): students of repeat R have the seeds R00, R01, ...
scored = $(T)/$(2)/$(3).$(4).$(5).tsv
student_of = $(3)
student = sc-eval --quiet $(call of,$(1),STUDENT) $(STUDENT_$(student_of)) --seeds $(SEEDS) --validate $(T)/val.npy
define score
$(call step,$(scored),$(condensed) $(T)/val.npy $(T)/test.npy $(if $(filter shapelets,$(5)),$(T)/pool.slp),$(student) --seed $(4)00 $(if $(filter shapelets,$(5)),--shapelets $(T)/pool.slp) -o $(scored) $(condensed) $(T)/test.npy)
endef

# All of them, for the methods and numbers of series per class asked for.
all_condensed = $(foreach n,$(2),$(foreach m,$(3),$(foreach r,$(repeats),$(call condensed,$(1),$(n),$(m),$(r)))))
all_scored = $(foreach n,$(2),$(foreach m,$(3),$(foreach r,$(repeats),$(foreach k,$(STUDENTS),$(call scored,$(1),$(n),$(m),$(r),$(k))))))
define method_steps
$(foreach n,$(2),$(foreach m,$(3),$(foreach r,$(repeats),$(call condense,$(1),$(n),$(m),$(r))$(foreach k,$(STUDENTS),$(call score,$(1),$(n),$(m),$(r),$(k))))))
endef
# unroll starts from sets of ShapeCond, also where those are not in the table.
with_starts = $(sort $(METHODS) $(if $(filter shapecond-unroll,$(METHODS)),shapecond))
