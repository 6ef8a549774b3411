# What `make demo` runs: TwoPatterns, generated, from raw series to condensed datasets, their accuracy beside that of all
# data, and a picture.  The commands are shown as they run.
RUN ?= build/demo
DATA :=
DATASETS := two-patterns
SPCS := 10
SEEDS := 2
METHODS := random random-soft sre2l shapecond herding-8bit+2000
SHOW_COMMANDS := 1
SPLIT := --train 1000 --val 500 --test rest
PRUNE := --ratio 0.7
SHAPELETS := -k 60 --gain one --select diverse
CANDIDATES := --lengths 10,20,30 --window 20
TEACHER := --steps 800
SRE2L := --steps 500
STUDENT := --steps 1000
STUDENT_views := --steps 1000

.PHONY: demo
demo:
include $(dir $(lastword $(MAKEFILE_LIST)))rules.mk

cmd_generate = sc-gen two-patterns --count 3000 --seed 1 -o $@
$(RUN)/data/two-patterns.npy: FORCE
	+$(call if_changed,generate)

result := $(S)/two-patterns/10/0/herding-8bit+2000.npy
cmd_picture = sc-plot --over $(S)/two-patterns/train.npy --shapelets $(S)/two-patterns/pool.slp --columns 4 --behind 10 \
  --title 'TwoPatterns: 10 condensed series per class (4 shown)' -o $@ $(result)
$(RUN)/condensed.svg: $$(call needs,picture) FORCE
	+$(call if_changed,picture)

demo: $(call full_rows,cnn) $(call rows_of,$(METHODS),cnn) $(RUN)/condensed.svg
	@echo
	@$(call pivot,-v rows=name -v facts=bytes -v columns=kind -v values='accuracy ratio' \
	  -v select='per=full 10;name=all $(METHODS);kind=plain;network=cnn')
	@echo
	@echo 'Accuracy of students that see nothing but the dataset, in %; ratio to that of all data.'
	@echo 'random: real series; random-soft: with the logits of a teacher; herding-8bit+2000: what shapecond --spc makes, real series and'
	@echo '2000 labelled views of them (sc-views).'
	@echo
	@echo 'The condensed series over real ones, with their shapelets: $(RUN)/condensed.svg'
	@echo 'The condensed dataset: $(result)'
