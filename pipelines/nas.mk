# Searching a network with condensed datasets instead of all data: 432 networks learn from each, the one that does best
# on the validation data is trained on all data, and its accuracy on the test data counts:
#     make nas METHODS='random-soft shapecond' -j2
#     make nas METHODS=shapecond WIDTHS='32 64'                   a smaller search
# METHODS may have all: the search with all data that condensation is meant to save (days).

.PHONY: nas show
nas:
PREFER := HAR
SPCS ?= 10
METHODS ?= random random-soft sre2l shapecond herding-8bit+8000
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
$(call check_methods,$(filter-out all,$(METHODS)))

DEPTHS ?= 2 3 4
WIDTHS ?= 32 64 128 256
NORMS ?= none batch instance layer
ACTIVATIONS ?= sigmoid relu leaky
POOLINGS ?= none max mean
# How a network learns while it is searched for, from condensed series and from all.
NAS_STUDENT ?= --batch 256 --rate 0.001 --steps 100
NAS_FULL ?= --batch 256 --rate 0.001 --steps 1000

# Names such as depth-2_width-32_norm-none_act-relu_pool-max.
cross = $(foreach first,$(1),$(foreach second,$(2),$(first)_$(second)))
networks := $(call cross,$(DEPTHS:%=depth-%),$(WIDTHS:%=width-%))
networks := $(call cross,$(networks),$(NORMS:%=norm-%))
networks := $(call cross,$(networks),$(ACTIVATIONS:%=act-%))
networks := $(call cross,$(networks),$(POOLINGS:%=pool-%))

# METHOD.nas/NETWORK.try: a network of the search.  METHOD.nas is its folder.
searched = $(patsubst %.nas,%,$(patsubst $(S)/%/,%,$(dir $@)))
searched_with = $(if $(filter all,$(notdir $(searched))),$(lessons),$(S)/$(searched).npy)
described = 'cnn $(subst -,=,$(subst _, ,$(notdir $*)))'
cmd_try = sc-eval --quiet $(if $(filter all,$(notdir $(searched))),$(NAS_FULL),$(NAS_STUDENT)) --seeds 1 \
  --network $(described) -o $@ $(searched_with) $(T)/val.npy
$(S)/%.try: $$(call needs,try) FORCE
	+$(call if_changed,try)

cmd_best = $(PIPELINES)nas-best.sh $(basename $@).nas >$@
tries = $(networks:%=$(S)/$*.nas/%.try)
$(S)/%.best: $$(tries) FORCE
	+$(call if_changed,best)
cmd_found = xargs -I NETWORK sc-teacher --quiet $(call of,TEACHER) --seed $(SEED) --validate $(T)/val.npy --network NETWORK \
  -o $@ $(lessons) <$(S)/$*.best
$(S)/%.found: $(S)/%.best $$(lessons) $$(T)/val.npy FORCE
	+$(call if_changed,found)
cmd_nas_score = sc-eval --quiet --teacher $(S)/$*.found -o $@ $(T)/test.npy
$(S)/%.nas.tsv: $$(call needs,nas_score) FORCE
	+$(call if_changed,nas_score)
# The seconds of a row are those of the search.
cmd_nas_row = $(PIPELINES)row.sh $(S)/$*.nas.tsv $(searched_data) $(S)/$*.best - $(dataset) $(SEED) $(per) $(method) \
  $(or $(variant),-) $(repeat) $(or $(views),0) "$$(tr ' ' _ <$(S)/$*.best)" nas >$@
searched_data = $(if $(filter all,$(method)),$(T)/train.npy,$(S)/$*.npy)
$(S)/%.nas.row: name = $(notdir $*)
$(S)/%.nas.row: $(S)/%.nas.tsv $(S)/%.best FORCE
	+$(call if_changed,nas_row)

print = $(call pivot,-v rows='dataset per name network' -v columns=kind -v values='accuracy seconds' -v paper=$(PIPELINES)paper/nas.tsv \
  -v select='dataset=$(DATASETS);per=$(SPCS_OF_ALL);name=$(METHODS);kind=nas paper;split=$(SPLITS)')
nas: $(call rows_of,$(METHODS),nas)
	@$(print)
	@echo
	@echo 'Accuracy on the test data in % of the network found, trained on all data; seconds of condensing and searching.'
show:
	@$(print)
