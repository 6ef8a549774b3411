# Whether condensed series carry the shapelets of their classes: logistic regression on the distances of all training
# series to the shapelets, scored on condensed datasets and on the test data (all), beside the paper's figures:
#     make shapelet-table
#     make shapelet-table DATASETS='HAR FacesUCR' SPCS=10 REPEATS=3
# sre2l is what the paper calls ShapeCond without the shapelet-guided module.

.PHONY: shapelet-table show
shapelet-table:
SPCS ?= 10
METHODS ?= sre2l shapecond
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
$(call check_methods,$(METHODS))

print = $(call pivot,-v rows=dataset -v columns='name kind' -v values=accuracy -v paper=$(PIPELINES)paper/shapelets.tsv \
  -v select='dataset=$(DATASETS);per=$(SPCS) full;name=$(METHODS) all;kind=logistic paper;split=$(SPLITS)')
shapelet-table: $(call full_rows,logistic) $(call rows_of,$(METHODS),logistic)
	@$(print)
	@echo
	@echo 'Accuracy in % of logistic regression on the distances to the shapelets, trained on all training series.'
show:
	@$(print)
