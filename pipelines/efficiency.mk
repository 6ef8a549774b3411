# What condensing costs: every method on ElectricDevices, one series per class, beside the paper's figures
# on a V100 GPU.
#     make efficiency
#     make efficiency SETS=HAR SPCS=10 METHODS='sre2l shapecond'
# One step after the other, each with all cores, so that the times can be compared: let the machine do
# nothing else.  As in the paper, teachers and expert trajectories are not counted; they have a column.

.PHONY: efficiency show
.NOTPARALLEL:
efficiency:

PREFER := ElectricDevices
SPCS ?= 1
include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk
ifneq ($(words $(SETS)) $(words $(SPCS)),1 1)
$(error efficiency compares methods on one set and one number of series per class: SETS=NAME SPCS=N)
endif

threads := 0
condensed = $(T)/efficiency/$(2)/$(3).$(4).npy
scored = $(T)/efficiency/$(2)/$(3).$(4).$(5).tsv
$(eval $(call set_steps,$(SETS))$(call expert_steps,$(SETS))$(call method_steps,$(SETS),$(SPCS),$(METHODS)))

render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)efficiency.awk -v folder=$(RUN)/$(SETS) -v spc=$(SPCS) \
  -v label='$(call label,$(SETS))' -v methods='$(METHODS)' -v students='$(STUDENTS)' -v repeats='$(repeats)' \
  -v paper=$(PIPELINES)paper/efficiency.tsv \
  -v paper_applies=$(and $(filter ElectricDevices,$(SETS)),$(filter 1,$(SPCS)))
efficiency: $(call all_scored,$(SETS),$(SPCS),$(METHODS))
	@$(render)
show:
	@$(render)
