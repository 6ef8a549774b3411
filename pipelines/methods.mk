# What can be compared: one line for each method, variant and network.

# ---- Methods ----
# method_NAME = the command that writes N series per class; -o FILE is added.  The files of RUN in it are made first.

few = --spc $(per) --seed $(repeat) $(T)/train.npy

# Real series: with the labels of the data, and with the logits of the teacher without (plain) or with shapelets.
method_random = sc-select $(few)
method_random-soft = sc-select --teacher $(plain) --soft $(few)
method_random-shapelets = sc-select --teacher $(teacher) --shapelets $(pool) --soft $(few)
method_herding = sc-select --method herding --teacher $(plain) $(few)
method_herding-soft = sc-select --method herding --teacher $(plain) --soft $(few)
method_kcenter = sc-select --method kcenter --teacher $(plain) $(few)
method_kmeans = sc-select --method kmeans --teacher $(plain) $(few)
# What `shapecond` adds views to, and random series in as few bits.
few_bits = sc-quantise --quiet
method_herding-8bit = sc-select --method herding --teacher $(plain) $(few) | $(few_bits)
method_herding-4bit = $(method_herding-8bit) --bits 4
method_random-8bit = sc-select $(few) | $(few_bits)
# Chosen by ridge regression on the shapelet features: what `shapecond --students shapelets` refines.
method_ridge = sc-synth --quiet --steps 0 --teacher $(teacher) --shapelets $(pool) $(few)

# What labelled views owe to the series: random walks in their place, and as many bytes of all data as
# herding-8bit+VIEWS has (truncated@VIEWS).
method_walks = sc-gen walks --spc $(per) --seed $(repeat) --like $(T)/train.npy
method_walks-8bit = $(method_walks) | $(few_bits)
method_truncated = $(PIPELINES)truncate.sh $(@D)/herding-8bit+$(variant).npy $(T)/train.npy $(repeat)

# Inversion of a teacher.
synth = sc-synth --quiet $(call of,SYNTH)
method_sre2l = $(synth) $(call of,SRE2L) --teacher $(plain) $(few)
method_shapecond = $(synth) $(call of,SHAPECOND) --teacher $(teacher) --shapelets $(pool) $(few)

# Matching of gradients, embeddings and trajectories.
match = sc-match --quiet $(teaches)
method_dc = $(match) --method dc $(call of,DC) $(few)
method_dsa = $(match) --method dsa $(call of,DSA) $(few)
method_dm = $(match) --method dm $(call of,DM) $(few)
method_mtt = sc-match --quiet --method mtt $(call of,MTT) --experts $(T)/experts$(experts_of).experts $(few)
method_condtsc = sc-match --quiet --method condtsc $(call of,CONDTSC) --experts $(T)/two-tower$(experts_of).experts $(few)
experts_of = $(if $(teaches),@$(variant))

# Unrolled training: for plain students, from real series or from ShapeCond's; for students with shapelets
# (shapecond --students shapelets), from ridge-selected ones.
unroll = $(match) --method unroll $(call of,UNROLL)
method_unroll = $(unroll) $(few)
method_shapecond-unroll = $(unroll) --from $(@D)/shapecond.npy $(few)
method_refined = $(unroll) --from $(@D)/ridge.npy --shapelets $(pool) $(few)

# ---- Variants: METHOD@VARIANT ----
# options_NAME is added to the command of the method; prune_NAME and shapelets_NAME to that of the shapelets, which
# then are others, with another teacher; teacher_NAME to that of the teachers.

shapelets_k-5 = -k 5
shapelets_k-10 = -k 10
shapelets_k-15 = -k 15
shapelets_k-20 = -k 20
shapelets_window-2 = --window 2
shapelets_window-10 = --window 10
shapelets_window-40 = --window 40
shapelets_window-full = --window full
prune_pruned-0 = --ratio 0
prune_pruned-0.5 = --ratio 0.5
prune_pruned-0.7 = --ratio 0.7
prune_pruned-0.9 = --ratio 0.9
prune_pruned-0.97 = --ratio 0.97
options_noise = --init noise --steps 2000
options_real = --init real --steps 2000
options_kmeans = --init kmeans --steps 2000
options_ridge = --init ridge
options_plain-all = --norm plain --statistics all
options_plain-round = --norm plain --statistics round
options_squared-all = --norm squared --statistics all
options_squared-round = --norm squared --statistics round
options_statistics-0 = --weight-bn 0
options_statistics-0.1 = --weight-bn 0.1
options_statistics-1 = --weight-bn 1
options_first-layer-1 = --first-layer 1
options_steps-50 = --steps 50
options_steps-150 = --steps 150
options_steps-450 = --steps 450

# ShapeCond as published, shapecond@published and shapecond@published-noise: the settings of the paper and of its code
# where the paper is silent.  20 shapelets per channel by their gain over all classes, raw distances, a teacher and students
# with the published learning rates, inversion from random real series (what the text says) or from noise (what its table
# of initialisations says), statistics of one round.
shapelets_published = -k 20 --gain all --select top --raw
teacher_published = $(call of,PUBLISHED_TEACHER)
options_published = --init real --steps 2000 --rate $(call of,PUBLISHED_RATE) --statistics round --norm plain
shapelets_published-noise = $(shapelets_published)
teacher_published-noise = $(teacher_published)
options_published-noise = $(options_published) --init noise

# ---- Ablations of ShapeCond: the variants that make ablations compares ----

ablation_pool-size = k-5 k-10 k-15 k-20
ablation_initialisation = noise real kmeans ridge
ablation_window = window-2 window-10 window-40 window-full
ablation_pruning = pruned-0 pruned-0.5 pruned-0.7 pruned-0.9 pruned-0.97
ablation_objective = plain-all plain-round squared-all squared-round statistics-0 statistics-0.1 statistics-1 first-layer-1

# ---- Networks: students of NETWORKS, and teachers: METHOD@NETWORK.  cnn is that of the programs ----

network_cnn =
# The second teacher that labels views.
network_pooled = --network 'cnn end=mean'
teacher_pooled = --rate 0.003
network_fcn = --network fcn
network_resnet = --network resnet
network_inception = --network inception
network_transformer = --network transformer
network_mlp = --network mlp
network_tcn = --network tcn
network_gru = --network gru
# Small ones, which two cores train in seconds.
network_fcn32 = --network 'fcn width=32'
network_resnet16 = --network 'resnet width=16'
network_inception8 = --network 'inception depth=3 width=8 bottleneck=8'
network_patches = --network 'transformer heads=4 layers=2 patch=4 norm=layer act=gelu positions=learned end=mean'
