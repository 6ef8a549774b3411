# Settings of all tables, in one place.  Each can be given on the command line, for all datasets alike:
#     make main-table DATASETS=HAR SPCS='1 5' STUDENT='--steps 500'
# or here for one dataset, as DATASET_NAME; what is not said for a dataset is taken from the general one.

# Where the data is, one folder for each dataset, and where everything is made.
DATA ?= ../shared/data
RUN ?= build/tables

# Seed of the split, of the shapelets and of the teachers: part of the path of everything, so that several splits
# live side by side.  SPLITS: those that a table averages.
SEED ?= 1
SPLITS ?= $(SEED)
# How often each dataset is condensed (with the seeds 0, 1, ...), and how many students learn from each.
REPEATS ?= 1
SEEDS ?= 5
# plain: students that get nothing but the condensed dataset; shapelets: they see the distances to the
# shapelets of the pool, too, as in the published code.
STUDENTS ?= plain shapelets
NETWORKS ?= cnn
SPCS ?= 1 5 10

# ---- The stages: what is not said is as the programs choose it ----

IMPORT ?=
SPLIT ?= --train 0.6 --val 0.2 --test rest
# How the teachers' training data is balanced; no: not at all.
BALANCE ?= --method copy
# In which series shapelets are searched, how many and how chosen, and which candidates there are.
PRUNE ?= --ratio 0.7
SHAPELETS ?= -k 120 --gain one --select diverse
CANDIDATES ?=
TEACHER ?= --steps 2000
# Synthesis, of ShapeCond and SRe2L alike, and what is added for one of them: as many steps as sc-synth does by
# itself, said here for the table of efficiency.
SYNTH ?=
SHAPECOND ?= --steps 200
SRE2L ?= --steps 2000
# The methods that match gradients and trajectories, and the experts of the latter.
DC ?= --steps 100
DSA ?= --steps 100
DM ?= --steps 100
MTT ?= --steps 200
CONDTSC ?= --steps 100
UNROLL ?= --steps 300
EXPERTS ?= --count 20 --epochs 6
# Labelled views, the same for all methods: +N adds N of them, +keptN N that keep their labels.
VIEWS ?=
# All students alike; STUDENT_views adds to it for datasets with views, STUDENT_METHOD for those of one method,
# STUDENT_plain and STUDENT_shapelets for one kind, STUDENT_NETWORK for one network.
STUDENT ?= --steps 1000
STUDENT_views ?= --steps 2000
STUDENT_shapelets ?= --steps 400

# ShapeCond as published (methods.mk): learning rates and epochs.  Students learn by AdamW in batches of 20, also
# where they see shapelets, and keep the epoch with the lowest validation loss.
PUBLISHED_TEACHER ?= --rate 1e-4 --epochs 100
PUBLISHED_RATE ?= 0.2
PUBLISHED_STUDENT ?= $(published_student) --rate 1e-3 --epochs 100
published_student := --optimiser adamw --batch 20 --choose loss

# ---- The datasets: the paper's splits (in shares where only part of the data is there) ----

FacesUCR_SPLIT := --train 1344 --val 457 --test rest
FacesUCR_CANDIDATES := --lengths 13,26,39 --window 20
FacesUCR_PRUNE := --ratio 0.5
FacesUCR_PUBLISHED_TEACHER := --rate 1e-3 --epochs 100

TwoPatterns_SPLIT := --train 1249 --val 1876 --test rest
TwoPatterns_SPCS := 1 10
TwoPatterns_CANDIDATES := --lengths 10,20,30 --window 20
TwoPatterns_PRUNE := --ratio 0.5
TwoPatterns_PUBLISHED_TEACHER := --rate 1e-3 --epochs 400

HAR_SPLIT := --train 5878 --val 1477 --test rest
HAR_PRUNE := --ratio 0.85
HAR_CANDIDATES := --lengths 10-30:5 --step 4 --window 20
HAR_SHAPELETS := -k 20 --gain one --select diverse
HAR_PUBLISHED_TEACHER := --rate 1e-4 --epochs 150
HAR_PUBLISHED_STUDENT = $(published_student) --rate 1e-3 --epochs 150

ElectricDevices_LABEL := ElectricDevices (89 % of it)
ElectricDevices_SPLIT := --train 0.46926 --val 0.06738 --test rest
ElectricDevices_CANDIDATES := --lengths 14,18,22,26 --window 20
ElectricDevices_PUBLISHED_RATE := 0.35
ElectricDevices_PUBLISHED_STUDENT = $(published_student) --rate 5e-4 --epochs 100

Sleep_LABEL := Sleep, 5 s epochs
Sleep_SPLIT := --train 25609 --val 7791 --test rest
Sleep_SPCS := 10 50
Sleep_CANDIDATES := --lengths 50,100,200 --step 10 --window 50
Sleep_PRUNE := --per-class 300
Sleep_EXPERTS := --count 5 --epochs 6
Sleep_CONDTSC := --steps 50
Sleep_UNROLL := --steps 100
Sleep_STUDENT := --steps 500
Sleep_PUBLISHED_TEACHER := --rate 1e-5 --epochs 150
Sleep_PUBLISHED_RATE := 0.15
Sleep_PUBLISHED_STUDENT = $(published_student) --rate 2e-4 --epochs 100

TiselacNDVI_LABEL := Tiselac, NDVI only
TiselacNDVI_SPLIT := --train 0.79997 --val 0.10002 --test rest
TiselacNDVI_SPCS := 10 20 50
TiselacNDVI_CANDIDATES := --lengths 3-8 --window 3
TiselacNDVI_PUBLISHED_TEACHER := --rate 1e-5 --epochs 100

Pedestrian_LABEL := Pedestrian, rebuilt
Pedestrian_SPLIT := --train 0.79982 --val 0.10019 --test rest
Pedestrian_SPCS := 1 5 10 20
Pedestrian_CANDIDATES := --lengths 3-6 --window 2
Pedestrian_PRUNE := --per-class 40
Pedestrian_EXPERTS := --count 5 --epochs 6
Pedestrian_CONDTSC := --steps 50
Pedestrian_UNROLL := --steps 200
Pedestrian_STUDENT := --steps 2000
Pedestrian_STUDENT_shapelets := --steps 2000
Pedestrian_PUBLISHED_TEACHER := --rate 1e-5 --epochs 100
