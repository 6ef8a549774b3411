# Accuracy of networks that learn from all data, on the archive's own training and test series (no
# condensation, no validation set), beside published results:
#     make archive-accuracy
#     make archive-accuracy SETS=GunPoint NETWORKS='mlp fcn tcn' ARCHIVE_SEEDS=3 -j2
# The published ones (paper/archive.tsv) are the means of 10 runs of mlp, fcn and resnet in the results
# of Ismail Fawaz et al., "Deep learning for time series classification: a review" (2019),
# github.com/hfawaz/dl-4-tsc, results-uea-avg-std.csv; and of 5 runs of inception, one network and not
# the ensemble, github.com/hfawaz/InceptionTime, results-inception-128.csv.  They train for 1500 epochs
# and more; here it is ARCHIVE_STUDENT.

.PHONY: archive-accuracy show
archive-accuracy:

PREFER := FacesUCR TwoPatterns GunPoint ItalyPowerDemand
NETWORKS ?= fcn resnet inception
ARCHIVE_STUDENT ?= --steps 1000 --batch 16 --optimiser adamw --rate 0.001 --choose last
ARCHIVE_SEEDS ?= 1
include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk

# $(1) set, $(2) train or test, or the network
A = $(T)/archive
half = $(DATA)/$(1)/$(1)_$(2).tsv
score = $(A)/$(2).tsv
learn = sc-eval --quiet $(ARCHIVE_STUDENT) --seeds $(ARCHIVE_SEEDS) --seed $(SEED) --network $(2)
define import_own
$(call step,$(A)/train.npy,$(call half,$(1),TRAIN),\
  sc-import --quiet -o $(A)/train.npy $(call half,$(1),TRAIN))
$(call step,$(A)/test.npy,$(call half,$(1),TEST) $(A)/train.npy,\
  sc-import --quiet --classes-from $(A)/train.npy -o $(A)/test.npy $(call half,$(1),TEST))
endef
define learn_own
$(call step,$(score),$(A)/train.npy $(A)/test.npy,\
  $(learn) -o $(score) $(A)/train.npy $(A)/test.npy)
endef
$(foreach s,$(SETS),$(eval $(call import_own,$(s)))$(foreach n,$(NETWORKS),$(eval $(call learn_own,$(s),$(n)))))

render = awk -f $(PIPELINES)archive-accuracy.awk -v run=$(RUN) -v networks='$(NETWORKS)' \
  -v sets='$(SETS)' $(PIPELINES)paper/archive.tsv
archive-accuracy: $(foreach s,$(SETS),$(foreach n,$(NETWORKS),$(call score,$(s),$(n))))
	@$(render)
show:
	@$(render)
