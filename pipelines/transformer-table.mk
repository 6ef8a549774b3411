# The paper's table of Transformers: teachers and students are Transformers.
#     make transformer-table
#     make transformer-table DATASETS=HAR METHODS='random@transformer herding-8bit@transformer+8000' -j2

.PHONY: transformer-table show
transformer-table:
PREFER := HAR ElectricDevices
STUDENTS ?= plain
NETWORKS ?= transformer
METHODS ?= random random-soft@transformer herding@transformer kcenter@transformer dc@transformer dsa@transformer \
  mtt@transformer condtsc@transformer sre2l@transformer shapecond@transformer herding-8bit@transformer+8000
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
$(call check_methods,$(METHODS))

print = $(call pivot,-v rows='dataset per name' -v columns=kind -v values='accuracy ratio' \
  -v select='dataset=$(DATASETS);per=full $(SPCS_OF_ALL);name=all $(METHODS);kind=$(STUDENTS) paper;network=$(NETWORKS);split=$(SPLITS)' \
  -v paper=$(PIPELINES)paper/transformer.tsv)
transformer-table: $(call full_rows,$(students)) $(call rows_of,$(METHODS),$(students))
	@$(print)
	@$(say_accuracy)
show:
	@$(print)
