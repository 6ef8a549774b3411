# Every method without views, with views that keep their labels and with views that a teacher labels, and the bytes of
# each:
#     make views-table
#     make views-table DATASETS=HAR SPCS=10 METHODS='random herding-8bit' VIEW_COUNTS='1000 8000' NETWORKS='cnn fcn' -j2
# All methods get the same views: recipe (VIEWS), number and teachers (plain.tch, plain@pooled.tch).

.PHONY: views-table show
views-table:
PREFER := FacesUCR TwoPatterns HAR ElectricDevices
STUDENTS ?= plain
NETWORKS ?= cnn
METHODS ?= walks random random-soft random-8bit herding herding-8bit kcenter kmeans dc mtt sre2l shapecond ridge
VIEW_COUNTS ?= 8000
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
with_views := $(foreach m,$(METHODS),$(m) $(foreach v,$(VIEW_COUNTS),$(m)+kept$(v) $(m)+$(v)))
$(call check_methods,$(with_views))

print = $(call pivot,-v rows='dataset per method views' -v facts=bytes -v columns='network kind' -v values='accuracy ratio' \
  -v select='dataset=$(DATASETS);per=full $(SPCS_OF_ALL);name=all $(with_views);method=all $(METHODS);views=0 $(foreach v,$(VIEW_COUNTS),kept$(v) $(v));kind=$(STUDENTS);network=$(NETWORKS);split=$(SPLITS)')
views-table: $(call full_rows,$(students)) $(call rows_of,$(with_views),$(students))
	@$(print)
	@$(say_accuracy)
show:
	@$(print)
