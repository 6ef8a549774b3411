# Accuracy of networks trained on all data, on the archive's own training and test series (no condensation, no
# validation series), beside published results:
#     make archive-accuracy
#     make archive-accuracy DATASETS=GunPoint NETWORKS='mlp fcn tcn' SEEDS=3 -j2
# The published ones (paper/archive.tsv) are the means of 10 runs of mlp, fcn and resnet in the results of Ismail
# Fawaz et al., "Deep learning for time series classification: a review" (2019), github.com/hfawaz/dl-4-tsc,
# results-uea-avg-std.csv; and of 5 runs of inception, one network and not the ensemble,
# github.com/hfawaz/InceptionTime, results-inception-128.csv.  They train for 1500 epochs and more; here it is
# ARCHIVE_STUDENT.

.PHONY: archive-accuracy show
archive-accuracy:
PREFER := FacesUCR TwoPatterns GunPoint ItalyPowerDemand
NETWORKS ?= fcn resnet inception
SEEDS ?= 1
ARCHIVE_STUDENT ?= --steps 1000 --batch 16 --optimiser adamw --rate 0.001 --choose last
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk

# The archive's own split, not standardised: SEED/DATASET/archive/train.npy and test.npy.
own = $(T)/archive
half = $(DATA)/$(dataset)/$(dataset)_$(1).tsv
cmd_own_train = sc-import --quiet -o $@ $(call half,TRAIN)
$(S)/%/archive/train.npy: $$(call half,TRAIN) FORCE
	+$(call if_changed,own_train)
cmd_own_test = sc-import --quiet --classes-from $(own)/train.npy -o $@ $(call half,TEST)
$(S)/%/archive/test.npy: $$(call half,TEST) $(S)/%/archive/train.npy FORCE
	+$(call if_changed,own_test)

scores := $(foreach d,$(DATASETS),$(NETWORKS:%=$(S)/$(d)/archive/0/own.%.tsv))
cmd_own_score = sc-eval --quiet $(ARCHIVE_STUDENT) --seeds $(SEEDS) --seed $(SEED) $(network_$(network)) -o $@ \
  $(own)/train.npy $(own)/test.npy
$(scores): $(S)/%.tsv: $$(own)/train.npy $$(own)/test.npy FORCE
	+$(call if_changed,own_score)
cmd_own_row = $(PIPELINES)row.sh $(S)/$*.tsv $(own)/train.npy $(own)/train.npy - $(dataset) $(SEED) archive own - 0 0 \
  $(network) plain >$@
$(scores:.tsv=.row): $(S)/%.row: $(S)/%.tsv FORCE
	+$(call if_changed,own_row)

print = $(call pivot,-v rows=dataset -v columns='network kind' -v values=accuracy -v paper=$(PIPELINES)paper/archive.tsv \
  -v select='dataset=$(DATASETS);per=archive;network=$(NETWORKS);kind=plain paper;split=$(SEED)')
archive-accuracy: $(scores:.tsv=.row)
	@$(print)
show:
	@$(print)
