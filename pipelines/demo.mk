# What `make demo` runs: TwoPatterns, generated, from raw series to a condensed set, its accuracy beside
# that of all data, of random selection and of SRe2L, and a picture.  The commands are shown as they run.
RUN ?= build/demo
DATA := $(RUN)/data
SPC := 10
SEEDS := 3
SHAPELETS := --lengths 10,20,30 --window 20 -k 60 --gain one --select diverse --quiet
TEACHER := --steps 800 --quiet
SYNTH := --quiet
UNROLL := --steps 60 --quiet
STUDENT := --steps 1500
STUDENT_SHAPELETS := --steps 400

.PHONY: demo
demo: picture

include pipelines/condense.mk

.PHONY: picture
picture: table $(RUN)/condensed.svg
	@echo
	@echo "The condensed series over real ones, with their shapelets: $(RUN)/condensed.svg"
	@echo "The condensed set: $(RUN)/unroll-$(SPC).npy"

$(RUN)/raw.npy:
	@mkdir -p $(@D)
	sc-gen two-patterns --count 3000 --seed 1 -o $@
$(RUN)/raw-train.npy $(RUN)/raw-val.npy $(RUN)/raw-test.npy &: $(RUN)/raw.npy
	sc-split --train 1000 --val 500 --test rest --seed 1 --quiet -o $(RUN)/raw $<
$(DATA)/train.npy $(DATA)/scale.npy &: $(RUN)/raw-train.npy
	@mkdir -p $(DATA)
	sc-scale $< --save $(DATA)/scale.npy -o $(DATA)/train.npy
$(DATA)/val.npy $(DATA)/test.npy: $(DATA)/%.npy: $(RUN)/raw-%.npy $(DATA)/scale.npy
	sc-scale $< --with $(DATA)/scale.npy -o $@
$(RUN)/condensed.svg: $(RUN)/unroll-$(SPC).npy $(DATA)/train.npy $(RUN)/pool.slp
	sc-plot $< --over $(DATA)/train.npy --shapelets $(RUN)/pool.slp --columns 4 --behind 10 \
	  --title "TwoPatterns: $(SPC) condensed series per class (4 shown)" -o $@
