# What steps of unrolled training are worth, and what they cost: from real series and from ShapeCond's, judged by
# students that get nothing but the condensed dataset:
#     make unroll
#     make unroll DATASETS=HAR SPCS=5 VARIANTS='steps-50 steps-450' -j2

.PHONY: unroll show
unroll:
PREFER := FacesUCR HAR
SPCS ?= 1 5
STUDENTS ?= plain
VARIANTS ?= steps-50 steps-150 steps-450
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
methods := random shapecond $(foreach m,unroll shapecond-unroll,$(VARIANTS:%=$(m)@%))
$(call check_methods,$(methods))

print = $(call pivot,-v rows='dataset per name' -v facts='steps seconds' -v columns=kind -v values=accuracy \
  -v select='dataset=$(DATASETS);per=$(SPCS_OF_ALL);name=$(methods);kind=$(STUDENTS);network=cnn;split=$(SPLITS)')
unroll: $(call rows_of,$(methods),$(students))
	@$(print)
	@$(say_accuracy)
show:
	@$(print)
