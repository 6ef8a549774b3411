# Condensed with the network of the teacher (rows), for students of another (columns): accuracy, and the ratio to what
# the student's network reaches with all data:
#     make cross-table
#     make cross-table DATASETS=HAR SPCS=10 NETWORKS='cnn fcn' METHODS='herding-8bit+8000 random-8bit+8000' -j2
# variant is the network of the teacher; - is cnn.

.PHONY: cross-table show
cross-table:
PREFER := FacesUCR TwoPatterns HAR ElectricDevices
STUDENTS ?= plain
NETWORKS ?= cnn fcn resnet
METHODS ?= herding-8bit+8000 random-8bit+8000
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk
$(call check_methods,$(METHODS))
# herding-8bit@fcn+8000: of the teachers with that network.
teachers := $(filter-out cnn,$(NETWORKS))
of_teacher = $(subst +,@$(2)+,$(1))$(if $(findstring +,$(1)),,@$(2))
names := $(METHODS) $(foreach m,$(METHODS),$(foreach n,$(teachers),$(call of_teacher,$(m),$(n))))

print = $(call pivot,-v rows='dataset per method variant views' -v columns=network -v values='accuracy ratio' \
  -v select='dataset=$(DATASETS);per=$(SPCS_OF_ALL);name=$(names);variant=- $(teachers);kind=$(STUDENTS);network=$(NETWORKS);split=$(SPLITS)')
cross-table: $(call full_rows,$(students)) $(call rows_of,$(names),$(students))
	@$(print)
	@$(say_accuracy)
show:
	@$(print)
