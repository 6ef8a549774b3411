# What condensing costs: every method on ElectricDevices, one series per class, beside the paper's figures on a V100:
#     make efficiency
#     make efficiency DATASETS=HAR SPCS=10 METHODS='sre2l shapecond'
# In a folder of its own, one step after the other, each with all cores, so that the times can be compared: let the
# machine do nothing else.  As in the paper, teachers and experts are not counted; they have a column (preparation).

.PHONY: efficiency show
.NOTPARALLEL:
efficiency:
PREFER := ElectricDevices
SPCS ?= 1
STUDENTS ?= plain
RUN ?= build/efficiency
METHODS ?= random random-soft herding kcenter dc dsa mtt condtsc sre2l shapecond ridge shapecond-unroll refined herding-8bit+8000
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
$(call check_methods,$(METHODS))
threads := 0

print = $(call pivot,-v rows='dataset per name' -v columns=kind -v by=value \
  -v values='accuracy seconds steps per_100 preparation memory bytes training' -v paper=$(PIPELINES)paper/efficiency.tsv \
  -v select='dataset=$(DATASETS);per=$(SPCS_OF_ALL);name=$(METHODS);kind=$(STUDENTS) paper;network=cnn;split=$(SPLITS)')
efficiency: $(call rows_of,$(METHODS),$(students))
	@$(print)
	@$(say_accuracy)
show:
	@$(print)
