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

# Figures have a decimal point: awk and sort would go by the language of the user.
export LC_ALL := C

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: again
MAKEFLAGS += --no-builtin-rules

# ---- Words ----

equal = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
quote = '$(subst ','\'',$(1))'
# $(call of,SET,NAME): a setting of a set.  What the command line says for all sets wins.
said_for_all = $(filter command environment,$(firstword $(origin $(1))))
of = $(if $(call said_for_all,$(2)),$($(2)),$($(if $(filter undefined,$(origin $(1)_$(2))),$(2),$(1)_$(2))))
numbers = $(wordlist 1,$(1),0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
repeats := $(call numbers,$(REPEATS))
# With make -j each program gets one core, else all of them.
threads = $(if $(filter -j --jobserver%,$(MAKEFLAGS)),1,0)

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
source_labels = $(if $(source_arrays),--labels $(DATA)/$(1)/$(1)_y.npy)
import = sc-import --quiet $(call of,$(1),IMPORT) $(source_labels) $(sources)

# ---- Data, shapelets, teachers of a set: T is its folder ----

T = $(RUN)/$(1)
split = sc-split --quiet $(call of,$(1),SPLIT) --seed $(SEED) --only $(2) $(T)/all.npy
balances = $(filter-out no,$(call of,$(1),BALANCE))
# What teachers learn from.
lessons = $(T)/$(if $(balances),balanced,train).npy

prune = sc-prune $(call of,$(1),PRUNE) --seed $(SEED) $(T)/train.npy
find = sc-shapelets --quiet $(call of,$(1),SHAPELETS) $(call of,$(1),CANDIDATES)
teach = sc-teacher --quiet $(call of,$(1),TEACHER) --seed $(SEED) --validate $(T)/val.npy
judge = sc-eval --quiet --teacher

define set_steps
$(call step,$(T)/all.npy,$(sources),$(import) -o $(T)/all.npy)
$(call step,$(T)/train.npy,$(T)/all.npy,\
  $(call split,$(1),train) | sc-scale --quiet --save $(T)/scale.npy -o $(T)/train.npy)
$(foreach part,val test,$(call step,$(T)/$(part).npy,$(T)/all.npy $(T)/train.npy,\
  $(call split,$(1),$(part)) | sc-scale --quiet --with $(T)/scale.npy -o $(T)/$(part).npy))
$(if $(balances),$(call step,$(T)/balanced.npy,$(T)/train.npy,\
  sc-balance --quiet $(balances) --seed $(SEED) -o $(T)/balanced.npy $(T)/train.npy))
$(call step,$(T)/facts.tsv,$(T)/train.npy $(T)/val.npy $(T)/test.npy,\
  $(PIPELINES)facts.sh $(T)/train.npy $(T)/val.npy $(T)/test.npy >$(T)/facts.tsv)
$(call step,$(T)/pool.slp,$(T)/train.npy,$(prune) | $(find) -o $(T)/pool.slp)
$(call step,$(T)/teacher.tch,$(lessons) $(T)/val.npy $(T)/pool.slp,\
  $(teach) --shapelets $(T)/pool.slp -o $(T)/teacher.tch $(lessons))
$(call step,$(T)/plain.tch,$(lessons) $(T)/val.npy,$(teach) -o $(T)/plain.tch $(lessons))
$(call step,$(T)/full/all.0.plain.tsv,$(T)/plain.tch $(T)/test.npy,\
  $(judge) $(T)/plain.tch -o $(T)/full/all.0.plain.tsv $(T)/test.npy)
$(call step,$(T)/full/all.0.shapelets.tsv,$(T)/teacher.tch $(T)/pool.slp $(T)/test.npy,\
  $(judge) $(T)/teacher.tch --shapelets $(T)/pool.slp -o $(T)/full/all.0.shapelets.tsv $(T)/test.npy)
endef

# ---- Methods: what is run, with --spc N --seed S -o FILE train.npy behind it, and what it needs ----
# $(1) is the set, $(2) the series per class, $(4) the repeat.

run_random = sc-select
run_random-soft = sc-select --teacher $(T)/plain.tch --soft
needs_random-soft = $(T)/plain.tch
run_random-shapelets = sc-select --teacher $(T)/teacher.tch --shapelets $(T)/pool.slp --soft
needs_random-shapelets = $(T)/teacher.tch $(T)/pool.slp
run_herding = sc-select --method herding --teacher $(T)/plain.tch
needs_herding = $(T)/plain.tch
run_kcenter = sc-select --method kcenter --teacher $(T)/plain.tch
needs_kcenter = $(T)/plain.tch
run_herding-soft = $(run_herding) --soft
needs_herding-soft = $(T)/plain.tch
run_kmeans = sc-select --method kmeans --teacher $(T)/plain.tch
needs_kmeans = $(T)/plain.tch
synth = sc-synth --quiet $(call of,$(1),SYNTH)
run_sre2l = $(synth) $(call of,$(1),SRE2L) --teacher $(T)/plain.tch
needs_sre2l = $(T)/plain.tch
run_shapecond = $(synth) $(call of,$(1),SHAPECOND) --teacher $(T)/teacher.tch --shapelets $(T)/pool.slp
needs_shapecond = $(T)/teacher.tch $(T)/pool.slp
# The series that ShapeCond starts from, as they are.
run_explain = $(synth) --steps 0 --teacher $(T)/teacher.tch --shapelets $(T)/pool.slp
needs_explain = $(T)/teacher.tch $(T)/pool.slp
run_dc = sc-match --quiet --method dc $(call of,$(1),DC)
run_dsa = sc-match --quiet --method dsa $(call of,$(1),DSA)
run_dm = sc-match --quiet --method dm $(call of,$(1),DM)
run_mtt = sc-match --quiet --method mtt $(call of,$(1),MTT) --experts $(T)/experts.npy
needs_mtt = $(T)/experts.npy
run_condtsc = sc-match --quiet --method condtsc $(call of,$(1),CONDTSC) --experts $(T)/two-tower.npy
needs_condtsc = $(T)/two-tower.npy
# unroll for plain students, from real series or from ShapeCond's; and what `shapecond` does: for students
# with shapelets, from those that explain the teacher.
run_unroll = sc-match --quiet --method unroll $(call of,$(1),UNROLL)
run_shapecond-unroll = $(run_unroll) --from $(call condensed,$(1),$(2),shapecond,$(4))
needs_shapecond-unroll = $(call condensed,$(1),$(2),shapecond,$(4))
needs_refined = $(call condensed,$(1),$(2),explain,$(4)) $(T)/pool.slp
run_refined = $(run_unroll) --from $(firstword $(needs_refined)) --shapelets $(T)/pool.slp

ALL_METHODS := random random-soft random-shapelets herding herding-soft kcenter kmeans dc dsa dm mtt condtsc \
  sre2l shapecond explain unroll shapecond-unroll refined
# Not in a table unless they are asked for.
OPTIONAL_METHODS := herding-soft kmeans dm unroll
program_of = $(firstword $(run_$(1)))
programs := $(sort $(foreach m,$(ALL_METHODS),$(call program_of,$(m))))
have := $(foreach program,$(programs),$(if $(shell command -v $(program)),$(program)))
# A program that is there may not know the method.
unrolls := $(if $(filter sc-match,$(have)),$(shell sc-match --help | grep unroll))
by_unroll := unroll shapecond-unroll refined
runs = $(and $(filter $(have),$(call program_of,$(1))),$(if $(filter $(by_unroll),$(1)),$(unrolls),yes))
missing = $(foreach m,$(1),$(if $(call runs,$(m)),,$(m)))
METHODS ?= $(filter-out $(OPTIONAL_METHODS) $(call missing,$(ALL_METHODS)),$(ALL_METHODS))
ifneq ($(filter-out $(have),sc-select sc-synth),)
$(error The programs are not on the PATH: run make, then PATH=$$PWD/build/bin:$$PATH make ...)
endif
ifneq ($(filter-out $(ALL_METHODS),$(METHODS)),)
$(error METHODS: there is no $(filter-out $(ALL_METHODS),$(METHODS)), only $(ALL_METHODS))
endif
lacking := $(strip $(call missing,$(METHODS)))
ifneq ($(lacking),)
needed := $(sort $(foreach m,$(lacking),$(call program_of,$(m))))
$(error METHODS: $(lacking) cannot be run: no $(needed) that can is on the PATH)
endif

experts = sc-experts --quiet $(call of,$(1),EXPERTS) --seed $(SEED)
define expert_steps
$(call step,$(T)/experts.npy,$(lessons),$(experts) -o $(T)/experts.npy $(lessons))
$(call step,$(T)/two-tower.npy,$(lessons),$(experts) --two-tower -o $(T)/two-tower.npy $(lessons))
endef

# $(call condense,SET,SPC,METHOD,REPEAT)
condensed = $(T)/$(2)/$(3).$(4).npy
define condense
$(call step,$(condensed),$(T)/train.npy $(needs_$(3)),\
  $(run_$(3)) --spc $(2) --seed $(4) -o $(condensed) $(T)/train.npy)
endef

# $(call score,SET,SPC,METHOD,REPEAT,STUDENT): students of repeat R have the seeds R00, R01, ...
scored = $(T)/$(2)/$(3).$(4).$(5).tsv
student_of = $(3)
student_options = $(call of,$(1),STUDENT) $(STUDENT_$(student_of)) $(call of,$(1),STUDENT_$(5))
student = sc-eval --quiet $(student_options) --seed $(4)00 --seeds $(SEEDS) --validate $(T)/val.npy
# The pool that students see, and where it is.
home = $(T)
student_pool = $(if $(filter shapelets,$(5)),$(home)/pool.slp)
define score
$(call step,$(scored),$(condensed) $(T)/val.npy $(T)/test.npy $(student_pool),\
  $(student) $(addprefix --shapelets ,$(student_pool)) -o $(scored) $(condensed) $(T)/test.npy)
endef

# All of them, for the numbers of series per class $(2) and the methods $(3).
each = $(foreach n,$(2),$(foreach m,$(3),$(foreach r,$(repeats),$(call $(4),$(1),$(n),$(m),$(r)))))
each_student = $(foreach k,$(STUDENTS),$(call $(5),$(1),$(2),$(3),$(4),$(k)))
scored_by_all = $(call each_student,$(1),$(2),$(3),$(4),scored)
score_all = $(call each_student,$(1),$(2),$(3),$(4),score)
all_condensed = $(call each,$(1),$(2),$(3),condensed)
all_scored = $(call each,$(1),$(2),$(3),scored_by_all)
# unroll starts from sets of others, also where those are not in the table.
method_steps = $(call each,$(1),$(2),$(sort shapecond explain $(3)),condense)$(call each,$(1),$(2),$(3),score_all)
