# The paper's main table: every dataset, number of series per class and method, both kinds of student, beside the
# paper's figures:
#     make main-table                                             all of it: hours
#     make main-table DATASETS='HAR FacesUCR' SPCS=1 METHODS='random-soft sre2l herding-8bit+8000' -j2

.PHONY: main-table show
main-table:
METHODS ?= random random-soft random-shapelets herding kcenter dc dsa mtt condtsc sre2l shapecond ridge \
  shapecond-unroll refined herding-8bit+8000
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
$(call check_methods,$(METHODS))

print = $(call pivot,-v rows='dataset per name' -v columns=kind -v values='accuracy ratio' \
  -v select='dataset=$(DATASETS);per=full $(SPCS_OF_ALL);name=all $(METHODS);kind=$(STUDENTS) paper;network=cnn;split=$(SPLITS)' \
  -v paper=$(PIPELINES)paper/main-table.tsv)
main-table: $(call full_rows,$(students)) $(call rows_of,$(METHODS),$(students))
	@$(describe_data)
	@$(print)
	@$(say_accuracy)
show:
	@$(print)
	@$(say_accuracy)
