# What each choice in ShapeCond is worth: the same sets as in the main table, condensed with one thing
# changed, beside the paper's figures where it has any:
#     make ablations                                          all of them, on three sets: an hour or two
#     make ablations ABLATIONS='pool-size initialisation' SETS=HAR SPCS=5 -j2
# A variant changes the options of one stage.  What comes before that stage is shared with the main
# table and never made again; what comes after it is in RUN/SET/ablations/VARIANT.

.PHONY: ablations show
ablations:

PREFER := TwoPatterns HAR ElectricDevices
include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk
ABLATIONS ?= pool-size initialisation window pruning objective

# ---- Variants, and what they add to the options of prune, shapelets or synth ----

variants_pool-size := k-5 k-10 k-15 k-20
$(foreach k,5 10 15 20,$(eval shapelets_k-$(k) := -k $(k)))

variants_initialisation := noise real kmeans explain
synth_noise := --init noise --steps 2000
synth_real := --init real --steps 2000
synth_kmeans := --init kmeans --steps 2000
synth_explain := --init ridge

variants_window := window-2 window-10 window-40 window-full
$(foreach w,2 10 40 full,$(eval shapelets_window-$(w) := --window $(w)))

variants_pruning := pruned-0 pruned-0.5 pruned-0.7 pruned-0.9 pruned-0.97
$(foreach p,0 0.5 0.7 0.9 0.97,$(eval prune_pruned-$(p) := --ratio $(p)))

variants_objective := plain-all plain-round squared-all squared-round \
  statistics-0 statistics-0.1 statistics-1 first-layer-1
synth_plain-all := --norm plain --statistics all
synth_plain-round := --norm plain --statistics round
synth_squared-all := --norm squared --statistics all
synth_squared-round := --norm squared --statistics round
synth_statistics-0 := --weight-bn 0
synth_statistics-0.1 := --weight-bn 0.1
synth_statistics-1 := --weight-bn 1
synth_first-layer-1 := --first-layer 1

unknown := $(strip $(foreach a,$(ABLATIONS),$(if $(variants_$(a)),,$(a))))
ifneq ($(unknown),)
$(error ABLATIONS: there is no $(unknown))
endif
variants := $(sort $(foreach a,$(ABLATIONS),$(variants_$(a))))

# ---- Their steps: $(1) set, $(2) series per class, $(3) variant, $(4) repeat, $(5) student ----

A = $(T)/ablations/$(3)
# Other shapelets need another teacher.
finds = $(prune_$(3))$(shapelets_$(3))
home = $(if $(finds),$(A),$(T))
prune_variant = sc-prune $(call of,$(1),PRUNE) $(prune_$(3)) --seed $(SEED) $(T)/train.npy
logistic = sc-eval --quiet --classifier shapelets --shapelets $(A)/pool.slp
define find_variant
$(call step,$(A)/pool.slp,$(T)/train.npy,$(prune_variant) | $(find) $(shapelets_$(3)) -o $(A)/pool.slp)
$(call step,$(A)/teacher.tch,$(lessons) $(T)/val.npy $(A)/pool.slp,\
  $(teach) --shapelets $(A)/pool.slp -o $(A)/teacher.tch $(lessons))
$(call step,$(A)/logistic.tsv,$(T)/train.npy $(T)/test.npy $(A)/pool.slp,\
  $(logistic) -o $(A)/logistic.tsv $(T)/train.npy $(T)/test.npy)
endef
# What a network learns from the series that are left.
define prune_steps
$(call step,$(A)/pruned.tch,$(T)/train.npy $(T)/val.npy,\
  sc-prune $(prune_$(3)) --seed $(SEED) $(T)/train.npy | $(teach) -o $(A)/pruned.tch)
$(call step,$(A)/pruned.tsv,$(A)/pruned.tch $(T)/test.npy,$(judge) $(A)/pruned.tch -o $(A)/pruned.tsv $(T)/test.npy)
endef
condensed = $(A)/$(2)/shapecond.$(4).npy
scored = $(A)/$(2)/shapecond.$(4).$(5).tsv
student_of := shapecond
invert = $(synth) $(call of,$(1),SHAPECOND) $(synth_$(3)) --teacher $(home)/teacher.tch
define condense
$(call step,$(condensed),$(T)/train.npy $(home)/teacher.tch $(home)/pool.slp,\
  $(invert) --shapelets $(home)/pool.slp --spc $(2) --seed $(4) -o $(condensed) $(T)/train.npy)
endef

spcs = $(call of,$(1),SPCS)
variant_steps = $(if $(finds),$(find_variant))$(if $(prune_$(3)),$(prune_steps))
steps = $(set_steps)$(foreach v,$(variants),$(call variant_steps,$(1),,$(v)))\
  $(call each,$(1),$(spcs),$(variants),condense)$(call each,$(1),$(spcs),$(variants),score_all)
$(foreach s,$(SETS),$(eval $(call steps,$(s))))
side_results = $(if $(finds),$(A)/logistic.tsv) $(if $(prune_$(3)),$(A)/pruned.tsv)
results := $(foreach s,$(SETS),$(foreach v,$(variants),$(call side_results,$(s),,$(v)))\
  $(call all_scored,$(s),$(call spcs,$(s)),$(variants)))

render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)ablations.awk -v run=$(RUN) -v paper=$(PIPELINES)paper \
  -v ablations='$(foreach a,$(ABLATIONS),$(a)|$(variants_$(a));)' -v students='$(STUDENTS)' \
  -v repeats='$(repeats)' -v sets='$(foreach s,$(SETS),$(s)|$(call label,$(s))|$(call spcs,$(s));)'
ablations: $(results)
	@$(render)
show:
	@$(render)
