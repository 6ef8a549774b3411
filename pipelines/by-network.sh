#!/bin/sh
# What networks of several kinds learn from what `shapecond` makes by default: by-network.sh RUN SEED DATASET...
# Needs train.npy, val.npy and test.npy of each dataset in RUN/SEED/DATASET, which `make main-table` makes (pipelines/README).
# A row for each network: bytes, and test accuracy in % after training on random series in as many bytes (ten per class), on
# random walks in place of the real series (compressed, with labels and views in the same way and as many bytes), on the condensed
# dataset, on all data with soft labels of the same teachers, and on all data as they are.  One student each, by the last epoch: test
# data chooses nothing, and held-out data (val.npy) only what shapecond chooses with it.  Files stay in RUN/SEED/DATASET/by-network, and
# what is there is not made again.  CONTROLS=no: neither walks nor soft labels (-), which take half of the time.
#     by-network.sh --mean RUN SEED...    means and deviations of the rows that were printed into RUN/SEED/by-network.tsv
set -eu
if [ "$1" = --mean ]; then
    run=$2
    shift 2
    for seed; do cat "$run/$seed/by-network.tsv"; done | awk -F'\t' '
        { key = $1 "\t" $3 }
        !(key in n) { order[++rows] = key }
        { n[key]++; for (i = 4; i <= NF; i++) if ($i != "-") { sum[key, i] += $i; squares[key, i] += $i * $i; count_of[key, i]++ } columns = NF }
        $NF > 0 { ratio[++count] = $(NF - 2) / $NF; all += ratio[count]; if (count == 1 || ratio[count] < least) least = ratio[count] }
        # The mean of a column, with the deviation over the splits; -: it was left out.
        function mean_of(key, i, found, mean, spread) {
            found = count_of[key, i]
            if (!found) return "-"
            mean = sum[key, i] / found
            spread = found > 1 ? (squares[key, i] - found * mean * mean) / (found - 1) : 0
            return i == 4 ? sprintf("%.0f", mean) : sprintf("%.1f ± %.1f", mean, spread > 0 ? sqrt(spread) : 0)
        }
        END {
            for (row = 1; row <= rows; row++) {
                key = order[row]
                line = key "\t" n[key]
                for (i = 4; i <= columns; i++) line = line "\t" mean_of(key, i)
                print line
            }
            printf "ratio to all data: mean %.1f %%, least %.1f %%, of %d networks\n", 100 * all / count, 100 * least, count
        }'
    exit
fi
run=$1 seed=$2
: "${CONTROLS:=yes}"
shift 2

# accuracy NAME SERIES TEST OPTION...
accuracy() {
    table=$1 train=$2 test=$3
    shift 3
    [ -s "$table" ] || sc-eval -q --seed "$seed" --seeds 1 --choose last "$@" "$train" "$test" -o "$table"
    awk '/^mean/ { print $2 }' "$table"
}

# made NAME: the options of a program of this name, from the provenance.
made() {
    sed -n "s/.*$1 [0-9.]* \([^<]*\) <.*/\1/p" "$kept/notes" | sed 's/--seed=[0-9]*//;s/--margin=[^ ]*//'
}

# make_walks FOLDER: random walks with the labels and views of the condensed dataset in a folder of shapecond --keep.
make_walks() {
    kept=$1
    sc-info "$kept/condensed.npy" >"$kept/notes"
    per_class=$(sed -n '1s/.*dataset, \([0-9]*\) series.*, \([0-9]*\) classes.*/\1 \2/p' "$kept/notes" | awk '{ print int($1 / $2) }')
    # Of compressed ones, as many as fit.
    case $(made sc-quantise) in
    *--step*) per_class=$((10 * per_class)) ;;
    esac
    recipe=$(sed -n 's/^ *\(shift=.*cut=.*\)/\1/p' "$kept/notes")
    # The teachers that labelled the result, in the log of the stages.
    teachers=$(sed -n 's/.*sc-views \(.*\) -o [^ ]*condensed\.npy .*/\1/p' "$kept/commands.tsv" | grep -oE -- '--teacher [^ ]+')
    # shellcheck disable=SC2046,SC2086 # several options
    sc-gen -q walks --seed "$seed" --spc "$per_class" --like "$kept/train.npy" | sc-quantise -q $(made sc-quantise) |
        sc-views -q $teachers -r "$recipe" $(made sc-views) | sc-scale -q --undo --with "$kept/scale.npy"
}

for dataset; do
    in=$run/$seed/$dataset out=$run/$seed/$dataset/by-network
    mkdir -p "$out"
    [ -s "$out/tiny.npy" ] || shapecond -q --no-score --seed "$seed" --keep "$out/kept" --validate "$in/val.npy" \
        "$in/train.npy" -o "$out/tiny.npy"
    [ "$CONTROLS" != yes ] || [ -s "$out/soft.npy" ] || {
        sc-views -q -m 1 -t "$out/kept/teacher.tch" -t "$out/kept/pooled.tch" "$out/kept/train.npy" |
            sc-scale -q --undo --with "$out/kept/scale.npy" -o "$out/soft.npy"
    }
    [ "$CONTROLS" != yes ] || [ -s "$out/walks.npy" ] || make_walks "$out/kept" >"$out/walks.npy"
    [ -s "$out/random.npy" ] || sc-select -q --seed "$seed" --spc 10 "$in/train.npy" -o "$out/random.npy"
    bytes=$(wc -c <"$out/tiny.npy")
    while IFS=: read -r name network; do
        random=$(accuracy "$out/random-$name.tsv" "$out/random.npy" "$in/test.npy" -n "$network" --steps 1000)
        ours=$(accuracy "$out/tiny-$name.tsv" "$out/tiny.npy" "$in/test.npy" -n "$network" --steps 2000)
        walks=- soft=-
        if [ "$CONTROLS" = yes ]; then
            walks=$(accuracy "$out/walks-$name.tsv" "$out/walks.npy" "$in/test.npy" -n "$network" --steps 2000)
            soft=$(accuracy "$out/soft-$name.tsv" "$out/soft.npy" "$in/test.npy" -n "$network" --steps 2000)
        fi
        all=$(accuracy "$out/all-$name.tsv" "$in/train.npy" "$in/test.npy" -n "$network" --steps 2000 --batch 64)
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$dataset" "$seed" "$name" "$bytes" "$random" "$walks" "$ours" "$soft" "$all"
    done <<END | tee "$out/rows.tsv"
cnn:cnn
pooled:cnn end=mean
fcn:fcn width=32
transformer:transformer heads=4 layers=2 patch=4 norm=layer act=gelu positions=learned end=mean
END
done
# All rows of this split, for --mean.
cat "$run/$seed"/*/by-network/rows.tsv >"$run/$seed/by-network.tsv"
