#!/bin/sh
# Programs whose memory does not grow with the number of series (shapecond(7), MEMORY): each on a file
# of 164 MB, with at most 48 MiB of memory that is not pages of a file, those with a network 64 MiB.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
PATH="$SC_BUILD/tests:$PATH"
# Files of this size are not for a tmpfs, on which they are memory.
export TMPDIR="$scratch"
# As on a machine of little memory.
export SHAPECOND_SCRATCH=16

# within MIB COMMAND...
within() {
    within_most=$1
    shift
    peak -l "$within_most" -o peak.txt "$@" || { cat peak.txt; return 1; }
}

free=$(df -Pk . | awk 'NR == 2 { print $4 }')
if [ "$free" -lt 1500000 ]; then
    skip_that 'memory does not grow with the number of series' 'less than 1.5 GB of disk'
    finish
fi
# Sanitizers keep books in memory of their own.
if sanitized; then
    skip_that 'memory does not grow with the number of series' 'AddressSanitizer'
    finish
fi

sc-gen two-patterns -n 4000 -L 512 -o few.npy
sc-balance -q --to 20000 few.npy -o all.npy

test_that 'the limit is one: what holds all series does not pass' '
    if within 48 sh -c "cat all.npy | sc-prune -p 0.5 -o held.npy"; then false; fi
    grep -q " 99$" peak.txt
    test ! -e held.npy
'
test_that 'sc-gen writes series as it makes them' '
    within 24 sc-gen two-patterns -n 20000 -L 512 -o stream.npy
    test "$(sc-info --json stream.npy | json count)" = 20000
    rm stream.npy
'
test_that 'sc-info, sc-prune, sc-split, sc-scale and sc-balance walk through the file' '
    within 48 sc-info all.npy
    within 48 sc-prune -p 0.2 all.npy -o pruned.npy
    cat all.npy | sc-prune -p 0.2 -o held.npy
    cmp pruned.npy held.npy
    within 48 sc-split -q --train 0.8 --test 0.2 -o part all.npy
    test "$(sc-info --json part-train.npy | json count)" = 64000
    rm part-* pruned.npy
    within 48 sc-scale all.npy -o scaled.npy
    cat all.npy | sc-scale -o held.npy
    cmp scaled.npy held.npy
    within 48 sc-scale --per-series all.npy -o scaled.npy
    cat all.npy | sc-scale --per-series -o held.npy
    cmp scaled.npy held.npy
    within 48 sc-balance -q --to 25000 all.npy -o more.npy
    cat all.npy | sc-balance -q --to 25000 -o held.npy
    cmp more.npy held.npy
    rm more.npy held.npy scaled.npy
'
test_that 'sc-export and sc-import hold no series' '
    within 48 sc-export all.npy -o all.npz
    sc-export --format npz all.npy >pipe.npz
    cat all.npy | sc-export --format npz >held.npz
    cmp pipe.npz held.npz
    rm pipe.npz held.npz
    within 48 sc-import -q all.npz -o again.npy
    rm all.npz again.npy
    sc-prune -n 4500 all.npy | sc-export --format ucr -o text.tsv
    within 32 sc-import -q text.tsv -o text.npy
    sc-import -q <text.tsv -o same.npy
    cmp text.npy same.npy
    rm text.*
'
test_that 'features and embeddings of all series are not in memory' '
    sc-prune -n 8 few.npy | sc-shapelets -q -k 4 -o pool.slp
    within 48 sc-strans pool.slp all.npy -o features.npy
    test "$(sc-info --json features.npy | json count)" = 80000
    sc-prune -n 20 few.npy | sc-teacher -q --network "cnn width=4" --steps 1 -o t.tch
    within 64 sc-select -q -m herding -n 2 -t t.tch --soft all.npy -o chosen.npy
    within 64 sc-select -q -m herding -n 2 -t t.tch --soft --sample 200 all.npy -o sampled.npy
    within 64 sc-select -q -n 2 all.npy -o random.npy
    within 64 sc-eval -q --network "cnn width=4" --seeds 1 --steps 1 chosen.npy all.npy
'
test_that 'shapecond says before the work what memory and disk it takes' '
    shapecond all.npy --sample 1000 -o tiny.npy 2>said.txt & run=$!
    waited=0
    while ! grep -q "of memory" said.txt && [ "$waited" -lt 600 ]; do sleep 0.1; waited=$((waited + 1)); done
    kill "$run"
    wait "$run" || true
    grep -Eq "about [0-9]+ MB of memory; 0.3 GB of disk for files of the stages, and 0.1 GB" said.txt
    test ! -e tiny.npy
'
test_that 'without a folder for large files they are in memory, and the bytes are the same' '
    TMPDIR=/nowhere sc-select -q -m herding -n 2 -t t.tch --soft all.npy -o other.npy
    cmp chosen.npy other.npy
'
finish
