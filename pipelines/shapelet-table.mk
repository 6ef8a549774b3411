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

logistic = sc-eval --quiet --classifier shapelets --shapelets $(T)/pool.slp -o $(2) $(T)/train.npy $(3)
logistic_of = $(T)/shapelets/$(2).$(3).$(4).tsv
needs = $(T)/train.npy $(T)/pool.slp
define logistic_steps
$(call step,$(T)/shapelets/real.tsv,$(needs) $(T)/test.npy,$(call logistic,$(1),$(T)/shapelets/real.tsv,$(T)/test.npy))
$(foreach m,sre2l shapecond,$(foreach r,$(repeats),$(call condense,$(1),$(SPC),$(m),$(r))\
  $(call step,$(call logistic_of,$(1),$(SPC),$(m),$(r)),$(needs) $(call condensed,$(1),$(SPC),$(m),$(r)),$(call logistic,$(1),$(call logistic_of,$(1),$(SPC),$(m),$(r)),$(call condensed,$(1),$(SPC),$(m),$(r))))))
endef
$(foreach s,$(SETS),$(eval $(call set_steps,$(s))$(call logistic_steps,$(s))))

render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)shapelet-table.awk -v run=$(RUN) -v spc=$(SPC) \
  -v repeats='$(repeats)' -v paper=$(PIPELINES)paper/shapelets.tsv \
  -v sets='$(foreach s,$(SETS),$(s)|$(call label,$(s));)'
shapelet-table: $(foreach s,$(SETS),$(RUN)/$(s)/shapelets/real.tsv $(foreach m,sre2l shapecond,$(foreach r,$(repeats),$(call logistic_of,$(s),$(SPC),$(m),$(r)))))
	@$(render)
show:
	@$(render)
