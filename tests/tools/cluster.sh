#!/bin/sh
# Programs as several ranks: processes of this machine, without MPI (make check-mpi runs the same with it).
. "$(dirname "$0")/lib.sh"

# CLUSTER_RANKS: the numbers of ranks to try.  CLUSTER_LAUNCH RANKS COMMAND... starts a command as RANKS processes.
: "${CLUSTER_RANKS:=2 3 8}"
launch() {
    ranks=$1
    shift
    if [ -n "${CLUSTER_LAUNCH-}" ]; then $CLUSTER_LAUNCH "$ranks" "$@" </dev/null
    else SHAPECOND_CLUSTER=processes:$ranks "$@"; fi
}

# same_bytes OUTPUT COMMAND...: COMMAND, which is without -o, writes the same with one rank and with several.
same_bytes() {
    output=$1
    shift
    SHAPECOND_CLUSTER=none "$@" -q --threads 2 -o "$output"
    for ranks in $CLUSTER_RANKS; do
        rm -f again
        case $ranks in 2) threads=3 ;; 3) threads=2 ;; *) threads=1 ;; esac
        launch "$ranks" "$@" --threads "$threads" -o again 2>said
        cmp "$output" again
        grep -q "$ranks ranks sent [1-9]" said
    done
}

sc-gen two-patterns -n 48 -o train.npy
sc-gen two-patterns -n 700 --seed 7 -o many.npy
sc-gen two-patterns -n 40 --seed 3 -o test.npy
sc-gen cbf -n 30 --seed 4 -o cbf.npy

test_that 'sc-shapelets finds the same pool with any number of ranks' '
    same_bytes pool.slp sc-shapelets -k 6 --select diverse train.npy
    CLUSTER_RANKS=3 same_bytes top.slp sc-shapelets -k 5 --select top train.npy
    CLUSTER_RANKS=2 same_bytes class.slp sc-shapelets -k 5 --select class --gain one --raw train.npy
    CLUSTER_RANKS=8 same_bytes few.slp sc-shapelets -k 100000 --step 40 --lengths 60 --select top cbf.npy
'

test_that 'sc-strans writes the same features' '
    same_bytes features.npy sc-strans pool.slp many.npy
'

test_that 'sc-eval writes the same scores, with fewer students than ranks, too' '
    same_bytes scores.tsv sc-eval --seeds 5 --steps 20 --confusion train.npy test.npy
    CLUSTER_RANKS=2 same_bytes one.tsv sc-eval --seeds 1 --steps 10 --shapelets pool.slp train.npy test.npy
'

sc-teacher -q --cluster none --steps 20 train.npy -o teacher.tch
sc-teacher -q --cluster none --steps 20 --shapelets pool.slp train.npy -o pooled.tch

test_that 'sc-teacher trains the same network, of each kind' '
    same_bytes t.tch sc-teacher --steps 4 -b 33 -v test.npy train.npy
    for network in "cnn depth=1 norm=layer pool=max" "cnn depth=1 norm=instance" "fcn" "inception depth=1" gru tcn transformer mlp; do
        CLUSTER_RANKS=3 same_bytes t.tch sc-teacher --steps 2 -b 33 -v test.npy -n "$network" train.npy
    done
    CLUSTER_RANKS=2 same_bytes t.tch sc-teacher --steps 6 --shapelets pool.slp --optimiser sgd train.npy
    SHAPECOND_CLUSTER=none sc-teacher -q -b 7 --steps 30 -v test.npy --log one.log train.npy -o t.tch
    launch 3 sc-teacher -b 7 --steps 30 -v test.npy --log three.log train.npy -o t3.tch
    cmp one.log three.log
'

test_that 'sc-select chooses the same series by the embeddings of a teacher' '
    same_bytes chosen.npy sc-select -m herding -n 2 -t teacher.tch --soft many.npy
    CLUSTER_RANKS=3 same_bytes centres.npy sc-select -m kcenter -n 2 -t pooled.tch --shapelets pool.slp many.npy
'

test_that 'sc-views writes the same labels' '
    same_bytes views.npy sc-views -t teacher.tch -m 900 chosen.npy
    CLUSTER_RANKS=3 same_bytes pooled.npy sc-views -t pooled.tch --shapelets pool.slp -m 600 chosen.npy
    CLUSTER_RANKS="3 8" same_bytes kept.npy sc-views -t teacher.tch -m 50 -v test.npy chosen.npy
'

test_that 'sc-experts writes the same trajectories' '
    same_bytes experts.npy sc-experts -c 5 -e 2 train.npy
'

test_that 'sc-match moves the series in the same way, by each method' '
    sc-experts -q --cluster none --two-tower -c 2 -e 2 train.npy -o towers.npy
    for method in dc dsa dm; do
        CLUSTER_RANKS="8" same_bytes m.npy sc-match -m $method -n 2 --steps 2 train.npy
    done
    CLUSTER_RANKS=3 same_bytes m.npy sc-match -m mtt -x experts.npy -n 2 --steps 2 --student-steps 5 --expert-epochs 1 train.npy
    CLUSTER_RANKS=3 same_bytes m.npy sc-match -m condtsc -x towers.npy -n 2 --steps 2 --student-steps 5 --expert-epochs 1 train.npy
    CLUSTER_RANKS="2 3" same_bytes m.npy sc-match -m unroll -n 2 --steps 2 --student-steps 40 --unroll-steps 5 --from chosen.npy --shapelets pool.slp train.npy
'

test_that 'a checkpoint of one number of ranks is continued by another and gives the same bytes' '
    experts="sc-experts -c 60 -e 2 --checkpoint half.ckpt train.npy"
    SHAPECOND_CLUSTER=none sc-experts -q -c 60 -e 2 train.npy -o whole.npy
    SHAPECOND_CLUSTER=none killed half.ckpt $experts --threads 1 -o half.npy
    test ! -e half.npy
    launch 3 $experts --threads 1 -o half.npy
    cmp whole.npy half.npy
    test ! -e half.ckpt
    teacher="sc-teacher -e 60 -b 16 --checkpoint half.ckpt --checkpoint-every 1 -v test.npy train.npy"
    SHAPECOND_CLUSTER=none sc-teacher -q -e 60 -b 16 -v test.npy train.npy -o whole.tch
    SHAPECOND_CLUSTER=none killed half.ckpt $teacher -o half.tch
    test ! -e half.tch
    launch 3 $teacher --threads 1 -o half.tch
    cmp whole.tch half.tch
    test ! -e half.ckpt
    match="sc-match -m dc -n 2 --steps 60 --checkpoint half.ckpt --checkpoint-every 1 train.npy"
    SHAPECOND_CLUSTER=none sc-match -q -m dc -n 2 --steps 60 train.npy -o whole.npy
    SHAPECOND_CLUSTER=none killed half.ckpt $match -o half.npy
    launch 3 $match --threads 1 -o half.npy
    cmp whole.npy half.npy
'

test_that 'a program for one process refuses to be several' '
    for variable in OMPI_COMM_WORLD_SIZE PMI_SIZE SLURM_STEP_NUM_TASKS; do
        fails 1 "was started as 4 processes, but runs as one" env $variable=4 sc-prune train.npy -o pruned.npy
        test ! -e pruned.npy
    done
    env PMI_SIZE=1 sc-prune -q train.npy -o pruned.npy
'

if [ -z "${CLUSTER_LAUNCH-}" ]; then
    test_that 'standard input goes to all ranks, and standard output comes from one' '
        sc-strans --cluster=none pool.slp many.npy -o alone.npy
        sc-strans --cluster=processes:3 pool.slp <many.npy >piped.npy
        cmp alone.npy piped.npy
        cat many.npy | sc-strans --cluster=processes:2 pool.slp - | cmp alone.npy -
        sc-eval --cluster=none --seeds 2 --steps 9 -v cbf.npy cbf.npy cbf.npy -o alone.tsv
        for ranks in 2 3; do
            cat cbf.npy | sc-eval -q --cluster=processes:$ranks --seeds 2 --steps 9 -v - cbf.npy cbf.npy | cmp alone.tsv -
            sc-eval -q --cluster=processes:$ranks --seeds 2 --steps 9 -v cbf.npy --full - cbf.npy cbf.npy <alone.tsv >full.tsv
            awk "\$1 == \"mean\" && \$3 > 99 { found = 1 } END { exit !found }" full.tsv
        done
    '
    test_that 'standard input that nothing is read from is left to others' '
        printf "first\nsecond\n" | {
            sc-eval --cluster=processes:2 --teacher teacher.tch test.npy -o scores.tsv
            read -r line
            test "$line" = first
        }
    '
    test_that 'rank 0 whose reader has gone ends the others without a word' '
        (
            trap - PIPE
            { sleep 1; sc-strans --cluster=processes:3 pool.slp many.npy 2>said || echo $? >status; } | true
            test "$(cat status)" = 141
            sleep 1
            test ! -s said
        )
    '
    test_that 'one message only, from rank 0, which names rank and host' '
        host=$(uname -n)
        for ranks in 2 3 8; do
            fails 1 "sc-strans: rank 0 on $host: nothing.npy: No such file" \
                sc-strans --cluster=processes:$ranks pool.slp nothing.npy
            test "$(grep -c . .stderr)" = 1
        done
        fails 2 "sc-strans: --cluster: '\''three'\'' is not one of: auto, none, mpi, processes:N" \
            sc-strans --cluster=three pool.slp many.npy
        fails 2 "--cluster (SHAPECOND_CLUSTER): " \
            env SHAPECOND_CLUSTER=processes:17 sc-strans pool.slp many.npy
        for wrong in processes: processes:0 processes:-1 "processes: 2" processes:+2 processes:2x; do
            fails 2 "from 1 to 16 processes" sc-strans --cluster="$wrong" pool.slp many.npy
        done
    '
    test_that 'a full disk ends all ranks with a message and leaves nothing' '
        fails 1 "rank 0 on $(uname -n): /dev/full" sc-strans --cluster=processes:3 pool.slp many.npy -o /dev/full
        mkdir small
        (
            ulimit -f 8
            fails 1 "rank 0 on $(uname -n): small/out.npy" \
                sc-experts --cluster=processes:3 -c 3 -e 2 train.npy -o small/out.npy
        )
        test -z "$(ls -A small)"
    '

    # children_of PROCESS, in order.
    children_of() {
        awk -v parent="$1" '{ sub(/\(.*\) /, ""); if ($3 == parent) print $1 }' /proc/[0-9]*/stat 2>/dev/null | sort -n
    }
    # long_run [TIMEOUT]: a search that takes minutes, in the background, in a folder of its own; $job is rank 0.
    long_run() {
        sc-gen two-patterns -n 3000 -o long.npy
        rm -rf out && mkdir out
        sc-shapelets --cluster=processes:3 --cluster-timeout="${1-3}" --threads 1 --window full --measure-all long.npy \
            -o out/long.slp 2>said &
        job=$!
        waits=0
        while [ "$(children_of "$job" | wc -l)" -lt 2 ] && [ "$waits" -lt 200 ]; do
            waits=$((waits + 1))
            sleep 0.05
        done
        sleep 1
        test "$(children_of "$job" | wc -l)" = 2
        ranks=$(children_of "$job")
    }
    # all_end SECONDS: in that time rank 0 fails, and no rank is left.
    all_end() {
        begun=$(date +%s)
        status=0
        wait "$job" || status=$?
        test $(($(date +%s) - begun)) -le "$1"
        for process in $ranks; do refute kill -0 "$process" 2>/dev/null; done
        test -z "$(ls -A out)"
    }
    test_that 'a rank that is killed in the middle of the work ends the others within seconds' '
        long_run
        kill -9 $(echo $ranks | cut -d " " -f 2)
        all_end 10
        test $status = 1
        grep "sc-shapelets: rank 2 on $(uname -n) was ended by signal 9" said
        test "$(grep -c . said)" = 1
    '
    test_that 'a rank that stalls is given up after --cluster-timeout' '
        long_run
        kill -STOP $(echo $ranks | cut -d " " -f 1)
        all_end 15
        test $status = 1
        grep "sc-shapelets: rank 1 on $(uname -n) has given no sign of life for 3 s" said
        test "$(grep -c . said)" = 1
    '
    test_that 'when rank 0 is killed the others end, and one of them says so' '
        long_run
        kill -9 $job
        wait $job || true
        waits=0
        while kill -0 $ranks 2>/dev/null && [ $waits -lt 100 ]; do
            waits=$((waits + 1))
            sleep 0.1
        done
        for process in $ranks; do refute kill -0 "$process" 2>/dev/null; done
        grep "sc-shapelets: rank 0 on $(uname -n) has ended" said
        test -z "$(ls -A out)"
    '
    test_that 'a run that is stopped as a whole and continued goes on' '
        long_run 8 # seconds, of which a busy machine may take some
        kill -STOP $job $ranks
        sleep 10
        kill -CONT $job $ranks
        sleep 2
        kill -0 $job
        kill $job
        wait $job || true
        test -z "$(ls -A out)"
        sleep 1
        test ! -s said
    '
fi

finish
