# Whether condensed series carry the shapelets of their classes: logistic regression on the distances of all
# training series to the shapelets, scored on condensed sets, beside the paper's figures.
#     make shapelet-table
#     make shapelet-table SETS='HAR FacesUCR' SPCS=10 REPEATS=3
# The pool, the teachers and the condensed sets are those of the main table.

.PHONY: shapelet-table show
shapelet-table:

SPCS ?= 10
include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk
ifneq ($(words $(SPCS)),1)
$(error shapelet-table is for one number of series per class: SPCS=N)
endif
SPC := $(SPCS)

# $(1) set, $(2) series per class, $(3) method, $(4) repeat
logistic = sc-eval --quiet --classifier shapelets --shapelets $(T)/pool.slp
judged = $(T)/shapelets/$(2).$(3).$(4).tsv
real = $(T)/shapelets/real.tsv
needs = $(T)/train.npy $(T)/pool.slp
define judge_real
$(call step,$(real),$(needs) $(T)/test.npy,$(logistic) -o $(real) $(T)/train.npy $(T)/test.npy)
endef
define judge_condensed
$(call step,$(judged),$(needs) $(condensed),$(logistic) -o $(judged) $(T)/train.npy $(condensed))
endef
both = $(call each,$(1),$(SPC),sre2l shapecond,$(2))
steps = $(set_steps)$(judge_real)$(call both,$(1),condense)$(call both,$(1),judge_condensed)
$(foreach s,$(SETS),$(eval $(call steps,$(s))))

render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)shapelet-table.awk -v run=$(RUN) -v spc=$(SPC) \
  -v repeats='$(repeats)' -v paper=$(PIPELINES)paper/shapelets.tsv \
  -v sets='$(foreach s,$(SETS),$(s)|$(call label,$(s));)'
shapelet-table: $(foreach s,$(SETS),$(call real,$(s)) $(call both,$(s),judged))
	@$(render)
show:
	@$(render)
