# The rules of all tables: from the files of a data folder to condensed datasets and the scores of students.
#
#     RUN/data/DATASET.npy                               the data, imported
#     RUN/SEED/DATASET/train.npy val.npy test.npy        split with SEED, standardised; balanced.npy
#     RUN/SEED/DATASET/pool.slp plain.tch teacher.tch    shapelets, teacher without and with them
#     RUN/SEED/DATASET/SPC/REPEAT/METHOD.npy             a condensed dataset
#     RUN/SEED/DATASET/SPC/REPEAT/METHOD.STUDENT.tsv     scores of students, and .row, their row of the ledger
#
# METHOD is a name of methods.mk, then perhaps @VARIANT and +VIEWS: shapecond@k-5, random+4000, mtt+kept4000.
# STUDENT is a network, or network-shapelets: cnn, fcn, cnn-shapelets.
#
# A rule is written as in the Makefiles of Linux: if_changed runs cmd_NAME when the target is missing, when a
# prerequisite is newer or when the command is not the one that made the target.  make -n shows what would run.

PIPELINES := $(dir $(lastword $(MAKEFILE_LIST)))
include $(PIPELINES)settings.mk
include $(PIPELINES)methods.mk

# What starts each step, on another machine perhaps: LAUNCH='srun -n1 -c4 --exact' (shapecond-cluster(7)).
LAUNCH ?=
export LAUNCH

# Figures have a decimal point whatever the language of the user.
export LC_ALL := C

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.SECONDEXPANSION:
.PHONY: FORCE
FORCE:

# ---- if_changed ----

-include $(shell find $(RUN)/data $(RUN)/$(SEED) -name '*.command' 2>/dev/null)

equal = $(and $(findstring x$(1)x,x$(2)x),$(findstring x$(2)x,x$(1)x))
quote = '$(subst ','\'',$(1))'
dry := $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
# With make -j each program gets one core, else all of them.
threads = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),1,0)

# would_TARGET: what make -n would make is newer than what is made from it.
inputs = $(filter-out FORCE,$^)
newer = $(strip $(filter-out FORCE,$?) $(foreach file,$(inputs),$(would_$(file))))
changed = $(if $(call equal,$(ran_$@),$(strip $(cmd_$(1)))),,changed)
command = $(call quote,$(strip $(cmd_$(1))))
run_step = @$(if $(SHOW_COMMANDS),printf '%s\n' $(command); )SHAPECOND_THREADS=$(threads) $(PIPELINES)step.sh $@ $(command) $(inputs)
show_step = $(eval would_$@ := yes)$(info $@: $(strip $(cmd_$(1))))
if_changed = $(if $(newer)$(changed),$(if $(dry),$(show_step),$(run_step)))

# ---- What a target is: read from its name ----

S := $(RUN)/$(SEED)
known_networks := $(patsubst network_%,%,$(filter network_%,$(.VARIABLES)))
path = $(subst /, ,$(@:$(S)/%=%))
dataset = $(firstword $(path))
per = $(word 2,$(path))
repeat = $(word 3,$(path))
T = $(S)/$(dataset)

# METHOD@VARIANT+VIEWS
name = $(notdir $(if $(filter %.tsv %.row,$@),$(basename $*),$*))
base = $(firstword $(subst +, ,$(name)))
method = $(firstword $(subst @, ,$(base)))
variant = $(word 2,$(subst @, ,$(base)))
views = $(word 2,$(subst +, ,$(name)))

# NETWORK or NETWORK-shapelets
student = $(patsubst .%,%,$(suffix $*))
network = $(firstword $(subst -, ,$(student)))
sees_shapelets = $(filter %-shapelets,$(student))

# A setting of the dataset: DATASET_NAME, else NAME.  What the command line says counts for all datasets.
said_for_all = $(filter command environment,$(firstword $(origin $(1))))
of = $(if $(call said_for_all,$(1)),$($(1)),$($(if $(filter undefined,$(origin $(dataset)_$(1))),$(1),$(dataset)_$(1))))

# Files among the words of a command: what the target is made from.  A rule that has none is not the target's.
needs = $(or $(filter-out $@,$(filter $(RUN)/%,$(cmd_$(1)))),no-rule)

# ---- Data ----

DATA_FOLDERS := $(notdir $(patsubst %/,%,$(wildcard $(DATA)/*/)))
# An array of series and one of labels, or text files of one kind, or whole datasets.
arrays = $(wildcard $(DATA)/$*/$*_X.npy)
files = $(foreach kind,tsv ts arff txt csv npy,$(wildcard $(DATA)/$*/*.$(kind)))
sources = $(or $(arrays),$(sort $(filter %$(suffix $(firstword $(files))),$(files))))
cmd_import = sc-import --quiet $(call of,IMPORT) $(if $(arrays),--labels $(DATA)/$*/$*_y.npy) $(sources) -o $@
$(RUN)/data/%.npy: dataset = $*
$(RUN)/data/%.npy: $$(sources) FORCE
	+$(call if_changed,import)

split = sc-split --quiet $(call of,SPLIT) --seed $(SEED) --only $(basename $(@F)) $<
cmd_train = $(split) | sc-scale --quiet --save $(@D)/scale.npy -o $@
$(S)/%/train.npy: $(RUN)/data/%.npy FORCE
	+$(call if_changed,train)

cmd_held_out = $(split) | sc-scale --quiet --with $(@D)/scale.npy -o $@
$(S)/%/val.npy: $(RUN)/data/%.npy $(S)/%/train.npy FORCE
	+$(call if_changed,held_out)
$(S)/%/test.npy: $(RUN)/data/%.npy $(S)/%/train.npy FORCE
	+$(call if_changed,held_out)

cmd_balance = sc-balance --quiet $(call of,BALANCE) --seed $(SEED) -o $@ $<
$(S)/%/balanced.npy: $(S)/%/train.npy FORCE
	+$(call if_changed,balance)
# What teachers are trained on.
lessons = $(T)/$(if $(filter no,$(call of,BALANCE)),train,balanced).npy

# ---- Shapelets, teachers, experts; each may be of a variant, such as pool@k-5.slp ----

finds = $(prune_$(variant))$(shapelets_$(variant))
teaches = $(strip $(teacher_$(variant)) $(network_$(variant)))
pool = $(T)/pool$(if $(finds),@$(variant)).slp
plain = $(T)/plain$(if $(teaches),@$(variant)).tch
teacher = $(T)/teacher$(if $(finds)$(teaches),@$(variant)).tch

prune = sc-prune $(call of,PRUNE) $(prune_$(variant)) --seed $(SEED) $(T)/train.npy
find = sc-shapelets --quiet $(call of,SHAPELETS) $(call of,CANDIDATES) $(shapelets_$(variant))
cmd_pool = $(prune) | $(find) -o $@
$(S)/%.slp: $$(call needs,pool) FORCE
	+$(call if_changed,pool)

# plain@pruned-0.5: a network trained on what is left of the data.
pruned = $(if $(filter plain,$(method)),$(prune_$(variant)))
cmd_teacher = $(if $(pruned),$(prune) |) sc-teacher --quiet $(call of,TEACHER) $(teaches) --seed $(SEED) \
  --validate $(T)/val.npy $(if $(filter teacher,$(method)),--shapelets $(pool)) -o $@ $(if $(pruned),,$(lessons))
$(S)/%.tch: $$(call needs,teacher) FORCE
	+$(call if_changed,teacher)

cmd_experts = sc-experts --quiet $(call of,EXPERTS) $(teaches) --seed $(SEED) \
  $(if $(filter two-tower,$(method)),--two-tower) -o $@ $(lessons)
$(S)/%.experts: $$(call needs,experts) FORCE
	+$(call if_changed,experts)

# ---- Condensed datasets: of a method, of one that starts from another's, and with views ----
# Three rules, since make uses none twice on the way to a file.

condense = $(method_$(method)) $(options_$(variant)) -o $@
starts = $(filter $(@D)/%,$(method_$(method)))
cmd_condense = $(if $(views)$(starts),,$(condense))
$(S)/%.npy: $$(call needs,condense) FORCE
	+$(call if_changed,condense)

cmd_refine = $(if $(views),,$(if $(starts),$(condense)))
$(S)/%.npy: $$(call needs,refine) FORCE
	+$(call if_changed,refine)

# The recipe is chosen by the validation part, unless VIEWS names one.
chosen_by = $(if $(findstring -r,$(call of,VIEWS)),,--validate $(T)/val.npy)
# Two teachers label, as in `shapecond`: the CNN and the one that pools over time; that of a variant alone.
labellers = $(plain) $(if $(teaches),,$(T)/plain@pooled.tch)
labelled_by = $(if $(filter kept%,$(views)),--augment,$(addprefix --teacher ,$(labellers)) $(chosen_by))
add_views = sc-views --quiet $(call of,VIEWS) --views $(views:kept%=%) --seed $(repeat) $(labelled_by)
cmd_views = $(if $(views),$(add_views) -o $@ $(@D)/$(base).npy)
$(S)/%.npy: $$(call needs,views) FORCE
	+$(call if_changed,views)

# ---- Students: those of repeat R have the seeds R00, R01, ... ----

condensed = $(S)/$(basename $*).npy
pool_seen = $(if $(sees_shapelets),--shapelets $(pool))
student_options = $(call of,STUDENT) $(if $(views),$(call of,STUDENT_views)) $(STUDENT_$(method)) \
  $(call of,STUDENT_$(if $(sees_shapelets),shapelets,plain)) $(if $(filter published%,$(variant)),$(call of,PUBLISHED_STUDENT)) \
  $(call of,STUDENT_$(network)) $(network_$(network))
train_students = sc-eval --quiet $(student_options) --seed $(repeat)00 --seeds $(SEEDS) --validate $(T)/val.npy \
  $(pool_seen) -o $@ $(condensed) $(T)/test.npy

# full/0/all.STUDENT: the teacher of that network, trained on all data.
full_variant = $(or $(variant),$(filter-out cnn,$(network)))
full_teacher = $(T)/$(if $(sees_shapelets),teacher,plain)$(addprefix @,$(full_variant)).tch
score_teacher = sc-eval --quiet --teacher $(full_teacher) $(pool_seen) -o $@ $(T)/test.npy

# METHOD.logistic: logistic regression on the distances of real series to the shapelets, scored on condensed ones.
logistic = sc-eval --quiet --classifier shapelets --shapelets $(pool) -o $@ $(T)/train.npy

all_data = $(filter all,$(method))
tested = $(if $(all_data),$(T)/test.npy,$(condensed))
score_network = $(if $(all_data),$(score_teacher),$(train_students))
cmd_score = $(if $(filter logistic,$(student)),$(logistic) $(tested),$(if $(filter $(known_networks),$(network)),$(score_network)))
$(S)/%.tsv: $$(call needs,score) FORCE
	+$(call if_changed,score)

# ---- The ledger ----

kind = $(if $(sees_shapelets),shapelets,$(if $(filter logistic,$(student)),logistic,plain))
row_data = $(if $(all_data),$(T)/train.npy,$(condensed))
row_made = $(if $(filter logistic,$(student)),$(T)/pool.slp,$(if $(all_data),$(full_teacher),$(condensed)))
row_pool = $(if $(sees_shapelets),$(pool),-)
cmd_row = $(if $(cmd_score),$(write_row))
write_row = $(PIPELINES)row.sh $(S)/$*.tsv $(row_data) $(row_made) $(row_pool) $(dataset) $(SEED) $(per) $(method) \
  $(or $(variant),-) $(repeat) $(or $(views),0) $(network) $(kind) >$@
$(S)/%.row: $$(call needs,row) FORCE
	+$(call if_changed,row)

# ---- For the tables ----

# Those of the paper that are there; if none is, all.
PREFER ?= FacesUCR TwoPatterns HAR ElectricDevices Sleep TiselacNDVI Pedestrian
DATASETS ?= $(or $(filter $(DATA_FOLDERS),$(PREFER)),$(sort $(DATA_FOLDERS)))
ifdef SETS
$(error SETS is called DATASETS)
endif
ifeq ($(strip $(DATASETS)),)
$(error DATA=$(DATA): no folder with a folder for each dataset is there)
endif
ifneq ($(and $(DATA),$(filter-out $(DATA_FOLDERS),$(DATASETS))),)
$(error DATASETS: no folder $(filter-out $(DATA_FOLDERS),$(DATASETS)) in $(DATA), which has: $(sort $(DATA_FOLDERS)))
endif
ifneq ($(filter-out $(known_networks),$(NETWORKS)),)
$(error NETWORKS: there is no $(filter-out $(known_networks),$(NETWORKS)), only $(known_networks))
endif
ifeq ($(shell command -v sc-eval),)
$(error The programs are not on the PATH: run make, then PATH=$$PWD/build/bin:$$PATH make ...)
endif

repeats := $(wordlist 1,$(REPEATS),0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19)
spcs = $(foreach dataset,$(1),$(call of,SPCS))
# The students of NETWORKS, of each kind of STUDENTS.
students = $(foreach k,$(STUDENTS),$(addsuffix $(if $(filter shapelets,$(k)),-shapelets),$(NETWORKS)))
# $(call rows_of,METHODS,STUDENTS): the rows of the ledger for all datasets, series per class and repeats.
rows_of = $(foreach d,$(DATASETS),$(foreach n,$(call spcs,$(d)),$(foreach r,$(repeats),$(foreach m,$(1),\
  $(2:%=$(S)/$(d)/$(n)/$(r)/$(m).%.row)))))
full_rows = $(foreach d,$(DATASETS),$(1:%=$(S)/$(d)/full/0/all.%.row))

# $(call check_methods,METHODS): stops where a name is not known.
known_variants := $(sort $(patsubst options_%,%,$(filter options_%,$(.VARIABLES))) \
  $(patsubst prune_%,%,$(filter prune_%,$(.VARIABLES))) $(patsubst shapelets_%,%,$(filter shapelets_%,$(.VARIABLES))) \
  $(patsubst teacher_%,%,$(filter teacher_%,$(.VARIABLES))) $(patsubst network_%,%,$(filter network_%,$(.VARIABLES))))
known_methods := $(patsubst method_%,%,$(filter method_%,$(.VARIABLES)))
bases_of = $(foreach m,$(1),$(firstword $(subst @, ,$(subst +, ,$(m)))))
variants_of = $(foreach m,$(1),$(word 2,$(subst @, ,$(firstword $(subst +, ,$(m))))))
unknown_methods = $(filter-out $(known_methods),$(call bases_of,$(1)))
unknown_variants = $(filter-out $(known_variants),$(call variants_of,$(1)))
check_methods = $(if $(unknown_methods),$(error METHODS: there is no $(unknown_methods), only $(sort $(known_methods))))\
  $(if $(unknown_variants),$(error METHODS: there is no variant $(unknown_variants), only $(known_variants)))

# $(call pivot,VARIABLES): a table of the ledger (pivot.awk).
SPCS_OF_ALL = $(sort $(foreach d,$(DATASETS),$(call spcs,$(d))))
labels := $(strip $(foreach d,$(DATASETS),$(if $($(d)_LABEL),$(d)=$($(d)_LABEL);)))
pivot = $(PIPELINES)ledger.sh $(RUN) | awk -f $(PIPELINES)pivot.awk -v labels='$(labels)' $(1)

# The data, and what the figures are.
describe_data = sc-info --tsv $(foreach d,$(DATASETS),$(foreach p,train val test,$(S)/$(d)/$(p).npy)) | \
  awk -F '\t' 'NR > 1 { sub(/.*\/$(SEED)\//, "", $$1); printf "%s: %d series of %d x %d, %d classes\n", $$1, $$4, $$5, $$6, $$7 } \
                END { print "" }'
say_accuracy = printf '%s\n' '' \
  'Accuracy on the test data in %, mean ± deviation over the students; ratio to that of the same network trained on' \
  'all data.  plain: students that get nothing but the condensed dataset; shapelets: students that see the distances' \
  'to the shapelets of the training data, too.  bytes: series, labels, views, and the pool where students see it.' \
  $(if $(labels),'Not the data of the paper; compare methods only: $(foreach d,$(DATASETS),$(if $($(d)_LABEL),$($(d)_LABEL);))')
