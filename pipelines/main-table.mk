# The paper's main table: every set, every number of series per class, every method, both kinds of
# student, beside the paper's figures:
#     make main-table                                        all of it: hours
#     make main-table SETS='HAR FacesUCR' SPCS=1 METHODS='random-soft sre2l shapecond' -j2
# A run that was stopped goes on where it was.  `make show-main-table` prints what is there so far.
# See settings.mk for what can be set, and README.

.PHONY: main-table show times
main-table:

include $(dir $(lastword $(MAKEFILE_LIST)))stages.mk

spcs = $(call of,$(1),SPCS)
full := $(foreach s,$(SETS),$(foreach k,$(STUDENTS),$(RUN)/$(s)/full/all.0.$(k).tsv))
facts := $(foreach s,$(SETS),$(RUN)/$(s)/facts.tsv)
scores := $(foreach s,$(SETS),$(call all_scored,$(s),$(call spcs,$(s)),$(METHODS)))
$(foreach s,$(SETS),$(eval $(call set_steps,$(s))$(call expert_steps,$(s))$(call method_steps,$(s),$(call spcs,$(s)),$(with_starts))))

# The settings that matter most, to be printed with the results.
said = Shapelets from sc-prune $(call of,$(1),PRUNE), teachers $(call of,$(1),TEACHER), synthesis $(call of,$(1),SYNTH), students $(call of,$(1),STUDENT).
render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)main-table.awk -v run=$(RUN) \
  -v paper=$(PIPELINES)paper/main-table.tsv -v methods='$(METHODS)' -v students='$(STUDENTS)' \
  -v repeats='$(repeats)' -v sets='$(foreach s,$(SETS),$(s)|$(call label,$(s))|$(call spcs,$(s))|$(call said,$(s));)'

main-table: $(facts) $(full) $(scores)
	@$(render)
show:
	@$(render)

# From raw files to condensed sets by ShapeCond, and nothing else: what a user waits for.
times: $(facts) $(foreach s,$(SETS),$(call all_condensed,$(s),$(call spcs,$(s)),shapecond))
	@$(render) -v only_times=1
