#!/bin/sh
# sc-shapelets and sc-strans
. "$(dirname "$0")/lib.sh"

pool_size() { sc-info --json "$1" | json count; }

test_that 'the examples of the manual pages run' '
    run_examples sc-shapelets
    test "$(pool_size pool.slp)" = 10
    run_examples sc-strans
    refute cmp -s features.npy everywhere.npy
'
sc-gen planted -n 150 --seed 5 -C 2 -o set.npy
test_that 'a pool has 20 shapelets of each channel by default, and a series as many distances to them' '
    sc-shapelets -q set.npy -o twenty.slp
    test "$(pool_size twenty.slp)" = 40
    sc-strans twenty.slp set.npy | sc-info | grep "series *<f4 *(150, 40)"
'
test_that 'the pool is the same for any number of threads, every instruction set, and without dropping' '
    for select in top class diverse; do
        sc-shapelets -q -k 6 --select $select --threads 1 set.npy -o one.slp
        for threads in 2 7; do
            sc-shapelets -q -k 6 --select $select --threads $threads set.npy | cmp - one.slp
        done
        SHAPECOND_CPU=generic sc-shapelets -q -k 6 --select $select set.npy | cmp - one.slp
        sc-shapelets -q -k 6 --select $select --measure-all set.npy | cmp - one.slp
    done
    sc-strans --threads 1 one.slp set.npy -o one.npy
    sc-strans --threads 7 one.slp set.npy | cmp - one.npy
    SHAPECOND_CPU=generic sc-strans --raw one.slp set.npy -o raw.npy
    refute cmp -s raw.npy one.npy
    sc-shapelets -q -k 6 --select diverse --raw set.npy -o raw.slp
    SHAPECOND_CPU=generic sc-strans raw.slp set.npy -o plain.npy
    sc-export raw.npy -o raw.tsv
    sc-export plain.npy -o plain.tsv
    cmp raw.tsv plain.tsv
'
test_that 'more shapelets than candidates gives all there are, with a warning' '
    sc-prune -n 1 set.npy | sc-shapelets -k 100000 -l 90 -o all.slp 2>said
    grep -q "only .* shapelets: there are no more candidates that do not overlap" said
    test "$(pool_size all.slp)" -gt 0
'
test_that 'bad input is refused with the reason and leaves no file' '
    sc-shapelets -q -k 3 -w full set.npy -o full.slp
    fails 1 "candidates of 5000 steps are longer than the series" sc-shapelets -l 10,5000 set.npy -o none
    fails 2 "is not a list of lengths" sc-shapelets -l 10,x set.npy -o none
    fails 2 "is neither a number of steps nor" sc-shapelets -w wide set.npy -o none
    fails 2 "is not one of: top, class, diverse" sc-shapelets --select best set.npy -o none
    fails 2 "is too small" sc-shapelets -k 0 set.npy -o none
    sc-gen planted -n 20 -V 1 -o one-class.npy
    fails 1 "shapelets tell classes apart, but the 20 series have 1 class" \
        sc-shapelets one-class.npy -o none
    fails 2 "missing argument: POOL" sc-strans -o none
    fails 2 "is neither a number of steps nor" sc-strans -w x full.slp set.npy -o none
    sc-gen planted -n 20 -o narrow.npy
    fails 1 "the pool is for series of 2 channels, not 1" sc-strans full.slp narrow.npy -o none
    fails 1 "set.npy" sc-strans set.npy set.npy -o none
    test ! -e none
'

# recall POOL TRUTH SHIFT: of the planted patterns (of a class, in a channel), the share that is found:
# a shapelet of that class and channel covers at least half of the pattern in its source series, or
# is at least half covered by it.  SHIFT moves the truth, to see what chance would find.
recall() {
    sc-info --json "$1" |
        sed -n 's/.*"channel": \([0-9]*\), "start": \([0-9]*\), "length": \([0-9]*\),.*"source": \([0-9]*\),.*/\4 \1 \2 \3/p' >found
    tail -n +2 "$2" | awk -v shift="$3" '
        NR == FNR { source[NR] = $1; channel[NR] = $2; start[NR] = $3; len[NR] = $4; n = NR; next }
        {
            # The patterns of a class in a channel never overlap: their turn names them.
            name = $2 "/" $3 "/" turn[$1 " " $3]++
            all[name] = 1
            at = ($4 + shift) % (128 - $5)
            for (k = 1; k <= n; k++) {
                if (source[k] != $1 || channel[k] != $3)
                    continue
                low = start[k] > at ? start[k] : at
                high = start[k] + len[k] < at + $5 ? start[k] + len[k] : at + $5
                if (2 * (high - low) >= (len[k] < $5 ? len[k] : $5))
                    hit[name] = 1
            }
        }
        END {
            for (name in all) { total++; hits += name in hit }
            printf "%d %d\n", hits, total
        }' found -
}
test_that 'planted shapelets are found where they are' '
    hits=0 total=0 chance=0
    for seed in 1 2 3 4 5; do
        sc-gen planted -n 200 -V 6 -C 2 --seed $seed --truth truth.tsv -o planted.npy
        sc-shapelets -q -k 6 --gain one --select class planted.npy -o pool.slp
        set -- $(recall pool.slp truth.tsv 0)
        hits=$((hits + $1)) total=$((total + $2))
        set -- $(recall pool.slp truth.tsv 64)
        chance=$((chance + $1))
    done
    echo "$hits of $total planted patterns found, $chance by chance"
    test $((10 * hits)) -ge $((9 * total))
    test $((2 * chance)) -le "$hits"
'
# scaled_by FACTOR: a dataset of two classes, its values times that.
scaled_by() {
    awk -v factor="$1" "BEGIN { srand(1); for (i = 0; i < 40; i++) { printf \"%d\", i % 2
        for (t = 0; t < 100; t++) printf \"\\t%.7g\", factor * (rand() - 0.5 + (i % 2 && t > 50 && t < 80))
        print \"\" } }" | sc-import -q -f ucr
}
test_that 'a pool is one that programs can read, or values near the limits of floats are refused' '
    scaled_by 1 >near.npy
    sc-shapelets -q -k 2 -l 20 near.npy -o near.slp
    for factor in 1e30 2e38 1e-30 1e-38 1e-42 0; do
        scaled_by $factor >far.npy
        for options in "" "--normalise --select diverse" --raw; do
            rm -f far.slp
            if sc-shapelets -q -k 2 -l 20 $options far.npy -o far.slp 2>said; then
                sc-info far.slp >/dev/null
                if sc-strans -q far.slp far.npy -o far-features.npy 2>said; then
                    sc-info --json far-features.npy | json infinite | head -n 1 | grep -qx 0
                fi
            else
                grep "far.npy: shapelet 0, channel 0: .* for 32-bit floats: scale .* (sc-scale)" said
                test ! -e far.slp
                echo "$factor" >>refused
            fi
        done
        # As it advises.
        sc-scale -q far.npy | sc-shapelets -q -k 2 -l 20 -o scaled.slp
        sc-info scaled.slp >/dev/null
        # Series that are not those of the pool.
        rm -f features.npy
        if sc-strans -q near.slp far.npy -o features.npy 2>said; then
            test "$(sc-info --json features.npy | json infinite | head -n 1)" = 0
        else
            grep "far.npy: series [0-9]*: the distance to shapelet 0, in channel 0, is too large" said
            test ! -e features.npy
            fails 1 "far.npy: series 0: the distance" sc-teacher -q -s near.slp far.npy -o none
            echo "$factor" >>refused-features
        fi
    done
    sort -u refused | tr "\n" " " | grep "1e-38 1e-42 2e38"
    refute grep -e 1e30 -e 1e-30 refused
    grep 2e38 refused-features
    refute grep -e 1e30 -e 1e- refused-features
'
test_that 'a pool can be scored by every measure, says by which, and is the same for any threads' '
    sc-gen planted -n 60 -L 60 -o scored.npy
    sc-shapelets -q -k 3 scored.npy -o gain.slp
    for quality in gain f kruskal-wallis mood; do
        sc-shapelets -q -k 3 --quality $quality --threads 1 scored.npy -o pool.slp
        sc-shapelets -q -k 3 --quality $quality --threads 3 --measure-all scored.npy | cmp - pool.slp
        test "$(sc-info --json pool.slp | json quality)" = $quality
        sc-info --json pool.slp | grep "\"$quality\": [0-9.]*, \"threshold\""
        sc-plot pool.slp | grep "class [a-z. 0-9]*, $quality [0-9.]*"
        case $quality in
        gain) test "$(tail -c +60 pool.slp | head -c 100 | cksum)" = "$(tail -c +60 gain.slp | head -c 100 | cksum)" ;;
        *) sc-info pool.slp | grep "^quality *$quality$" && sc-info pool.slp | grep "sc-shapelets .*--quality=$quality" ;;
        esac
        sc-shapelets -q -k 3 --quality $quality --gain one --select diverse scored.npy -o other.slp
        sc-strans -q other.slp scored.npy -o features.npy
    done
    fails 2 "is not one of: gain, f, kruskal-wallis, mood" sc-shapelets --quality best scored.npy -o none
'
finish
