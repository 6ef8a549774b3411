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
steps = $(set_steps)$(expert_steps)$(call method_steps,$(1),$(spcs),$(METHODS))
$(foreach s,$(SETS),$(eval $(call steps,$(s))))

# The settings behind the figures of a set, to be printed with them, and which methods make use of them.
users_PRUNE := %
users_TEACHER := %
users_STUDENT := %
users_STUDENT_plain := %
users_STUDENT_shapelets := %
users_SYNTH := sre2l shapecond% explain refined
users_SRE2L := sre2l
users_SHAPECOND := shapecond%
users_DC := dc
users_DSA := dsa
users_DM := dm
users_EXPERTS := mtt condtsc
users_MTT := mtt
users_CONDTSC := condtsc
users_UNROLL := unroll shapecond-unroll refined
settings := PRUNE TEACHER STUDENT STUDENT_plain STUDENT_shapelets SYNTH SRE2L SHAPECOND DC DSA DM EXPERTS MTT CONDTSC \
  UNROLL
used = $(if $(filter $(users_$(2)),$(METHODS)),$(of))
said = $(foreach name,$(settings),$(if $(call used,$(1),$(name)),$(name): $(call used,$(1),$(name)).))

about = $(1)|$(label)|$(spcs)|$(strip $(said));
render = awk -f $(PIPELINES)table.awk -f $(PIPELINES)main-table.awk -v run=$(RUN) \
  -v paper=$(PIPELINES)paper/main-table.tsv -v methods='$(METHODS)' -v students='$(STUDENTS)' \
  -v repeats='$(repeats)' -v sets='$(foreach s,$(SETS),$(call about,$(s)))'

main-table: $(facts) $(full) $(scores)
	@$(render)
show:
	@$(render)

# From raw files to condensed sets by ShapeCond, and nothing else: what a user waits for.
times: $(facts) $(foreach s,$(SETS),$(call all_condensed,$(s),$(call spcs,$(s)),shapecond))
	@$(render) -v only_times=1
