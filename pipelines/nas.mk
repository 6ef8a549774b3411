# Searching a network with condensed sets instead of all data: 432 networks learn from each condensed set, the
# one that does best on the validation set learns from all data, and its accuracy on the test set counts.
#     make nas METHODS='random-soft shapecond' -j2
#     make nas METHODS=shapecond WIDTHS='32 64'               a smaller search
# METHODS may also have full: the search with all data that condensation is meant to save (days).

.PHONY: nas show
nas:

PREFER := HAR
SPCS ?= 10
METHODS ?= random random-soft sre2l shapecond
wanted := $(METHODS)
override METHODS := $(filter-out full,$(METHODS))
include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk
ifneq ($(words $(SETS)) $(words $(SPCS)),1 1)
$(error nas searches with one set and one number of series per class: SETS=NAME SPCS=N)
endif

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
describe = cnn $(subst -,=,$(subst _, ,$(1)))

# $(call search,SET,METHOD,SERIES,OPTIONS)
N = $(T)/nas/$(SPCS)/$(2)
try = sc-eval --quiet $(4) --seeds 1 --network '$(call describe,$(net))'
define search
$(foreach net,$(networks),$(call step,$(N)/$(net).tsv,$(3) $(T)/val.npy,$(try) -o $(N)/$(net).tsv $(3) $(T)/val.npy))
$(call step,$(N).best,$(networks:%=$(N)/%.tsv),$(PIPELINES)nas-best.sh $(N) >$(N).best)
$(call step,$(N).tch,$(N).best $(lessons) $(T)/val.npy,\
  xargs -I NETWORK $(teach) --network NETWORK -o $(N).tch $(lessons) <$(N).best)
$(call step,$(N).tsv,$(N).tch $(T)/test.npy,$(judge) $(N).tch -o $(N).tsv $(T)/test.npy)
endef
$(eval $(call set_steps,$(SETS))$(call expert_steps,$(SETS))$(call method_steps,$(SETS),$(SPCS),$(METHODS)))
$(foreach m,$(METHODS),$(eval $(call search,$(SETS),$(m),$(call condensed,$(SETS),$(SPCS),$(m),0),$(NAS_STUDENT))))
$(if $(filter full,$(wanted)),$(eval $(call search,$(SETS),full,$(call lessons,$(SETS)),$(NAS_FULL))))

render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)nas.awk -v folder=$(RUN)/$(SETS)/nas/$(SPCS) -v spc=$(SPCS) \
  -v methods='$(wanted)' -v networks=$(words $(networks)) -v label='$(call label,$(SETS))' \
  -v paper=$(PIPELINES)paper/nas.tsv -v paper_applies=$(and $(filter HAR,$(SETS)),$(filter 10,$(SPCS)))
nas: $(wanted:%=$(RUN)/$(SETS)/nas/$(SPCS)/%.tsv)
	@$(render)
show:
	@$(render)
