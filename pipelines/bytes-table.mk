# Accuracy against bytes, for students of several networks: what shapecond makes (herding-8bit+VIEWS), every method with and
# without views, random walks in place of real series with the same views, a random part of all data that has the
# bytes of what shapecond makes (truncated), all data, and the paper's points:
#     make bytes-table
#     make bytes-table DATASETS=HAR SPCS='1 10' NETWORKS='cnn fcn resnet' VIEW_COUNTS='300 1000 8000' -j2
# The rows of each dataset are sorted by bytes.  The figures are RUN/bytes-DATASET-NETWORK.svg.

.PHONY: bytes-table show
bytes-table:
PREFER := FacesUCR TwoPatterns HAR ElectricDevices
STUDENTS ?= plain
NETWORKS ?= cnn fcn resnet
METHODS ?= walks-8bit random random-8bit herding-8bit kcenter kmeans sre2l shapecond mtt ridge
VIEW_COUNTS ?= 1000 8000
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
names := $(foreach m,$(METHODS),$(if $(filter walks%,$(m)),,$(m)) $(VIEW_COUNTS:%=$(m)+%)) $(VIEW_COUNTS:%=truncated@%)
$(call check_methods,$(METHODS))

chosen = -v select='dataset=$(DATASETS);per=full $(SPCS_OF_ALL);name=all $(names);kind=$(STUDENTS) paper;network=$(NETWORKS);split=$(SPLITS)'
print = $(call pivot,-v rows='dataset per name' -v facts=bytes -v sort=bytes -v columns='network kind' \
  -v values=accuracy $(chosen) -v paper=$(PIPELINES)paper/main-table.tsv)
# A figure for each dataset and network: a curve for each method, over all numbers of series and views.
figure = $(call pivot,-v rows=bytes -v columns=curve -v values=accuracy -v format=tsv -v paper=$(PIPELINES)paper/main-table.tsv \
  -v select='dataset=$(1);per=full $(SPCS_OF_ALL);name=all $(names);kind=$(STUDENTS) paper;network=$(2);split=$(SPLITS)') | \
  awk -F '\t' 'NR == 1 || $$1 > 0' | sc-plot --log --marks --title '$(1): accuracy of $(2) against bytes' -o $(RUN)/bytes-$(1)-$(2).svg
draw = $(foreach d,$(DATASETS),$(foreach n,$(NETWORKS),$(call figure,$(d),$(n)) && echo 'Figure: $(RUN)/bytes-$(d)-$(n).svg' || :;))
bytes-table: $(call full_rows,$(students)) $(call rows_of,$(names),$(students))
	@$(print)
	@$(say_accuracy)
	@$(draw)
show:
	@$(print)
	@$(draw)
