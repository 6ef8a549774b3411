# One condensation, stage by stage, with what it is compared to:
#
#     make -f pipelines/condense.mk DATA=data/har RUN=run/har SPC=10 SEED=1
#
# DATA holds train.npy, val.npy and test.npy, standardised (sc-split, sc-scale).  Every stage is a file
# in RUN: change an option or DATA, or remove a file, and only what depends on it is made again.
# TEACHER_COMMAND='program ...' (sc-teacher-command(7)) takes the place of the plain teacher: it labels, is
# inverted for SRe2L (with gradients) and is scored as "all data".
# LAUNCH='srun -n1' starts each stage, on another machine perhaps (shapecond-cluster(7)).
# The programs are taken from PATH.  `make -f pipelines/condense.mk ... table` prints the result.

# Figures have a decimal point: awk and sort would go by the language of the user.
export LC_ALL := C

ifndef DATA
$(error DATA=FOLDER with train.npy, val.npy and test.npy is needed)
endif
RUN ?= run
SPC ?= 10
SEED ?= 0
SEEDS ?= 5

# Options of the stages.
PRUNE ?= --ratio 0.7
SHAPELETS ?= -k 120 --gain one --select diverse
TEACHER ?= --steps 2000
SYNTH ?=
UNROLL ?= --steps 300
VIEWS ?= --views 8000
BITS ?= 8
STUDENT ?= --steps 2000
STUDENT_SHAPELETS ?= --steps 400

TEACHER_COMMAND ?=
LAUNCH ?=
launch := $(if $(LAUNCH),$(LAUNCH) )

T := $(RUN)
train := $(DATA)/train.npy
val := $(DATA)/val.npy
test := $(DATA)/test.npy
methods := full random random-soft sre2l shapecond views random-soft-shapelets shapecond-shapelets unroll-shapelets
tables := $(patsubst %,$(T)/%-$(SPC).tsv,$(filter-out full,$(methods))) $(T)/full.tsv
evaluate = sc-eval --quiet --seed $(SEED) --seeds $(SEEDS) --validate $(val)
plain = $(evaluate) $(STUDENT)
seeing = $(evaluate) $(STUDENT_SHAPELETS) --shapelets $(T)/pool.slp

# The plain teacher: what a stage depends on, and the option that names it.
teacher_file := $(T)/$(if $(TEACHER_COMMAND),TEACHER_COMMAND.options,plain.tch)
teacher_option := $(if $(TEACHER_COMMAND),--teacher-command '$(subst ','\'',$(TEACHER_COMMAND))',--teacher $(T)/plain.tch)
# Views are labelled by that one and by one that pools over time, so that every kind of network can learn from them.
pooled_file := $(if $(TEACHER_COMMAND),,$(T)/pooled.tch)

.DELETE_ON_ERROR:
.PHONY: all table FORCE
all: $(tables)

# RUN/NAME.options holds what NAME and the seed were, so that another value makes its stages again.
define remember
ifneq ($$(strip $$(file <$(T)/$(1).options)),$$(strip $$($(1)) $$(SEED)))
$(T)/$(1).options: FORCE
endif
$(T)/$(1).options:
	@mkdir -p $$(@D)
	@printf '%s\n' '$$(subst ','\'',$$(strip $$($(1)) $$(SEED)))' >$$@
endef
$(foreach name,DATA PRUNE SHAPELETS TEACHER SYNTH UNROLL BITS VIEWS STUDENT STUDENT_SHAPELETS SEEDS TEACHER_COMMAND,$(eval $(call remember,$(name))))
$(T)/pool.slp $(T)/teacher.tch $(T)/plain.tch $(T)/pooled.tch: $(T)/DATA.options
$(T)/pool.slp: $(T)/PRUNE.options $(T)/SHAPELETS.options
$(T)/teacher.tch $(T)/plain.tch $(T)/pooled.tch: $(T)/TEACHER.options
$(T)/shapecond-$(SPC).npy $(T)/chosen-$(SPC).npy $(T)/sre2l-$(SPC).npy: $(T)/SYNTH.options
$(T)/unroll-$(SPC).npy: $(T)/UNROLL.options
$(T)/stored-$(SPC).npy: $(T)/BITS.options
$(T)/views-$(SPC).npy: $(T)/VIEWS.options
$(patsubst %,$(T)/%-$(SPC).tsv,random random-soft sre2l shapecond views): $(T)/STUDENT.options $(T)/SEEDS.options
$(patsubst %,$(T)/%-shapelets-$(SPC).tsv,random-soft shapecond unroll): $(T)/STUDENT_SHAPELETS.options $(T)/SEEDS.options

$(T)/pool.slp: $(train)
	@mkdir -p $(@D)
	sc-prune $(PRUNE) --seed $(SEED) $< | $(launch)sc-shapelets $(SHAPELETS) -o $@
$(T)/teacher.tch: $(train) $(val) $(T)/pool.slp
	$(launch)sc-teacher $(TEACHER) --seed $(SEED) --shapelets $(T)/pool.slp --validate $(val) -o $@ $<
$(T)/plain.tch: $(train) $(val)
	@mkdir -p $(@D)
	$(launch)sc-teacher $(TEACHER) --seed $(SEED) --validate $(val) -o $@ $<
$(T)/pooled.tch: $(train) $(val)
	@mkdir -p $(@D)
	$(launch)sc-teacher --network 'cnn end=mean' --rate 0.003 $(TEACHER) --seed $(SEED) --validate $(val) -o $@ $<

$(T)/shapecond-$(SPC).npy: $(train) $(T)/teacher.tch $(T)/pool.slp
	$(launch)sc-synth $(SYNTH) --spc $(SPC) --seed $(SEED) --teacher $(T)/teacher.tch --shapelets $(T)/pool.slp -o $@ $<
# Ridge-selected real series: what shapecond refines for students with shapelets.
$(T)/chosen-$(SPC).npy: $(train) $(T)/teacher.tch $(T)/pool.slp
	$(launch)sc-synth $(SYNTH) --steps 0 --spc $(SPC) --seed $(SEED) --teacher $(T)/teacher.tch --shapelets $(T)/pool.slp -o $@ $<
# What shapecond makes for any model: real series in few bits, with labelled views.
$(T)/stored-$(SPC).npy: $(train) $(teacher_file)
	$(launch)sc-select $(if $(TEACHER_COMMAND),,--method herding $(teacher_option)) --spc $(SPC) --seed $(SEED) $< | sc-quantise --bits $(BITS) -o $@
$(T)/views-$(SPC).npy: $(T)/stored-$(SPC).npy $(teacher_file) $(pooled_file)
	$(launch)sc-views $(VIEWS) --seed $(SEED) $(teacher_option) $(addprefix --teacher ,$(pooled_file)) -o $@ $<
$(T)/unroll-$(SPC).npy: $(train) $(T)/chosen-$(SPC).npy $(T)/pool.slp
	$(launch)sc-match --method unroll $(UNROLL) --seed $(SEED) --from $(T)/chosen-$(SPC).npy --shapelets $(T)/pool.slp -o $@ $<
$(T)/sre2l-$(SPC).npy: $(train) $(teacher_file)
	$(launch)sc-synth $(SYNTH) --spc $(SPC) --seed $(SEED) $(teacher_option) -o $@ $<
$(T)/random-$(SPC).npy: $(train) $(teacher_file)
	$(launch)$(if $(TEACHER_COMMAND),sc-synth --init real --steps 0,sc-select --soft) --spc $(SPC) --seed $(SEED) $(teacher_option) -o $@ $<

$(T)/full.tsv: $(test) $(teacher_file)
	$(launch)sc-eval --quiet $(teacher_option) $< -o $@
$(T)/random-$(SPC).tsv: $(T)/random-$(SPC).npy $(test) $(val)
	$(launch)$(plain) --hard $< $(test) -o $@
$(T)/random-soft-$(SPC).tsv: $(T)/random-$(SPC).npy $(test) $(val)
	$(launch)$(plain) --soft $< $(test) -o $@
$(T)/sre2l-$(SPC).tsv: $(T)/sre2l-$(SPC).npy $(test) $(val)
	$(launch)$(plain) $< $(test) -o $@
$(T)/shapecond-$(SPC).tsv: $(T)/shapecond-$(SPC).npy $(test) $(val)
	$(launch)$(plain) $< $(test) -o $@
$(T)/views-$(SPC).tsv: $(T)/views-$(SPC).npy $(test) $(val)
	$(launch)$(plain) $< $(test) -o $@
$(T)/random-soft-shapelets-$(SPC).tsv: $(T)/random-$(SPC).npy $(T)/pool.slp $(test) $(val)
	$(launch)$(seeing) $< $(test) -o $@
$(T)/shapecond-shapelets-$(SPC).tsv: $(T)/shapecond-$(SPC).npy $(T)/pool.slp $(test) $(val)
	$(launch)$(seeing) $< $(test) -o $@
$(T)/unroll-shapelets-$(SPC).tsv: $(T)/unroll-$(SPC).npy $(T)/pool.slp $(test) $(val)
	$(launch)$(seeing) $< $(test) -o $@

# Accuracy on the test set in %: mean and deviation over the students.
table: $(tables)
	@awk 'BEGIN { FS = "\t"; printf "%-44s %8s %6s\n", "trained on", "accuracy", "+-" } \
	  FNR == 1 { file = FILENAME; sub(/.*\//, "", file); sub(/(-[0-9]+)?\.tsv$$/, "", file); \
	             name["full"] = "all data"; \
	             name["random"] = "$(SPC) real series per class, hard labels"; \
	             name["random-soft"] = "the same, soft labels of the teacher"; \
	             name["sre2l"] = "$(SPC) per class by SRe2L"; \
	             name["shapecond"] = "$(SPC) per class by ShapeCond"; \
	             name["views"] = "$(SPC) real series per class, labelled views"; \
	             name["random-soft-shapelets"] = "real, soft labels, student with shapelets"; \
	             name["shapecond-shapelets"] = "ShapeCond, student with shapelets"; \
	             name["unroll-shapelets"] = "refined for students with shapelets (unroll)" } \
	  $$1 == "mean" { mean[file] = $$2 } $$1 == "deviation" { deviation[file] = $$2 } \
	  END { n = split("$(methods)", order, " "); \
	        for (i = 1; i <= n; i++) \
	            printf "%-44s %8s %6s\n", name[order[i]], mean[order[i]], deviation[order[i]] }' $(tables)
