# What each choice in ShapeCond is worth: the same datasets as in the main table, condensed with one thing changed,
# beside the paper's figures where it has any:
#     make ablations                                              all of them, on three datasets: an hour or two
#     make ablations ABLATIONS='pool-size initialisation' DATASETS=HAR SPCS=5 -j2
# methods.mk has the variants.

.PHONY: ablations show
ablations:
PREFER := TwoPatterns HAR ElectricDevices
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
ABLATIONS ?= pool-size initialisation window pruning objective
known := $(patsubst ablation_%,%,$(filter ablation_%,$(.VARIABLES)))
ifneq ($(filter-out $(known),$(ABLATIONS)),)
$(error ABLATIONS: there is no $(filter-out $(known),$(ABLATIONS)), only $(sort $(known)))
endif
variants := $(foreach a,$(ABLATIONS),$(ablation_$(a)))
# Other shapelets are also scored by themselves, and a network on the series that are left.
others := $(foreach v,$(variants),$(if $(prune_$(v))$(shapelets_$(v)),$(v)))
fewer := $(foreach v,$(variants),$(if $(prune_$(v)),$(v)))
side_rows := $(foreach d,$(DATASETS),$(others:%=$(S)/$(d)/full/0/all@%.logistic.row) $(fewer:%=$(S)/$(d)/full/0/all@%.cnn.row))

chosen = -v select='dataset=$(DATASETS);per=$(2);method=$(3);variant=$(ablation_$(1));kind=$(4);network=cnn logistic;split=$(SPLITS)'
paper_of = $(if $(wildcard $(PIPELINES)paper/$(1).tsv),-v paper=$(PIPELINES)paper/$(1).tsv)
ours = $(call pivot,-v rows='dataset per variant' -v columns=kind -v values=accuracy $(paper_of) \
  $(call chosen,$(1),$(SPCS_OF_ALL),shapecond,$(STUDENTS) paper))
alone = $(call pivot,-v rows='dataset variant' -v columns=kind -v values='accuracy preparation' $(call chosen,$(1),full,all,plain logistic))
on_real_series := On real series: a network trained on what is left (plain), and on the shapelets alone (logistic).
show_alone = printf '\n%s\n\n' '$(on_real_series)'; $(alone)
define show_ablation
	@printf '### %s\n\n' $(1)
	@$(ours)
	@$(if $(filter $(others),$(ablation_$(1))),$(show_alone))
	@echo

endef
ablations: $(call rows_of,$(variants:%=shapecond@%),$(students)) $(side_rows)
	$(foreach a,$(ABLATIONS),$(call show_ablation,$(a)))
	@$(say_accuracy)
show:
	$(foreach a,$(ABLATIONS),$(call show_ablation,$(a)))
