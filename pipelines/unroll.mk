# What steps of unroll are worth, and what they cost: from random series and from ShapeCond's set, judged by
# students that get nothing but the condensed set:
#     make unroll
#     make unroll SETS=HAR SPCS=5 STEPS='100 1000' -j2
# Data, teachers and ShapeCond's sets are shared with the main table; the rest is in RUN/SET/unroll.

.PHONY: unroll show
unroll:

PREFER := FacesUCR HAR
SPCS ?= 1 5
STUDENTS ?= plain
STEPS ?= 50 150 450
include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk

# ---- Variants: where it starts, and the steps from there (none: what it starts from) ----

starts := random shapecond
variants := $(starts) $(foreach s,$(starts),$(addprefix $(s)-,$(STEPS)))
from_shapecond = --from $(call condensed,$(1),$(2),shapecond,$(4))
needs_from_shapecond = $(call condensed,$(1),$(2),shapecond,$(4))
define define_variant
run_$(1)-$(2) = sc-match --quiet --method unroll $$(call of,$$(1),UNROLL) --steps $(2) $$(from_$(1))
needs_$(1)-$(2) = $$(needs_from_$(1))
endef
$(foreach s,$(starts),$(foreach n,$(STEPS),$(eval $(call define_variant,$(s),$(n)))))

condensed = $(T)/$(if $(filter $(starts),$(3)),,unroll/)$(2)/$(3).$(4).npy
scored = $(T)/unroll/$(2)/$(3).$(4).$(5).tsv
steps = $(set_steps)$(call method_steps,$(1),$(SPCS),$(variants))
$(foreach s,$(SETS),$(eval $(call steps,$(s))))

render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)unroll.awk -v run=$(RUN) -v starts='$(starts)' \
  -v steps='$(STEPS)' -v students='$(STUDENTS)' -v repeats='$(repeats)' \
  -v sets='$(foreach s,$(SETS),$(s)|$(call label,$(s))|$(SPCS);)'
unroll: $(foreach s,$(SETS),$(call all_scored,$(s),$(SPCS),$(variants)))
	@$(render)
show:
	@$(render)
