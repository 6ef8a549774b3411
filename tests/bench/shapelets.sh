#!/bin/sh
# How fast shapelet discovery is: make bench-shapelets.  Everything is a ratio within this run, but for
# the whole runs at the end.  Python's miners take part if python3 (or $PYTHON) has them.
set -eu
build=$1
case $build in /*) ;; *) build=$PWD/$build ;; esac
data=$PWD/../shared/data
bench=$PWD/tests/bench
PATH="$build/bin:$PATH"
: "${PYTHON:=python3}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# seconds COMMAND...: wall clock.
seconds() {
    from=$(date +%s.%N)
    "$@"
    echo "$(date +%s.%N) $from" | awk '{ printf "%.3f\n", $1 - $2 }'
}
# best N COMMAND...: least of N.
best() {
    rounds=$1
    shift
    for _ in $(seq "$rounds"); do seconds "$@"; done | sort -n | head -n 1
}

"$build/bench/shapelet-kernel"

echo "Planted shapelets found (five datasets of 6 patterns, 200 series, default noise, -k 6 --gain one"
echo "--select class), and by chance where there are none:"
echo
# shellcheck disable=SC1090,SC1091 # the function of the test
eval "$(sed -n '/^recall() {/,/^}/p' "$bench/../tools/shapelets.sh")"
for seed in 1 2 3 4 5; do
    sc-gen planted -n 200 -V 6 -C 2 --seed "$seed" --truth truth.tsv -o planted.npy
    sc-shapelets -q -k 6 --gain one --select class planted.npy -o pool.slp
    echo "$(recall pool.slp truth.tsv 0) $(recall pool.slp truth.tsv 64)"
done | awk '{ hits += $1; all += $2; chance += $3 }
    END { printf "recall %.3f (%d of %d), by chance %.3f\n\n", hits / all, hits, all, chance / all }'

echo "Threads (1200 series of 128 steps, default lengths and window, best of 3):"
echo
sc-gen two-patterns -n 1200 -o set.npy
one=$(best 3 sc-shapelets -q --threads 1 set.npy -o pool.slp)
two=$(best 3 sc-shapelets -q --threads 2 set.npy -o pool.slp)
echo "$one $two" | awk '{ printf "1 thread %.2f s, 2 threads %.2f s: %.2f times\n\n", $1, $2, $1 / $2 }'

echo "Other miners: full scan, length 24, every 4th start of 128 steps, 2 threads: wall clock in s, and in ns"
echo "for each pair of a candidate and a series, also those that need not be measured here:"
echo
echo "miner  series   miner   here  times faster  miner, ns  here, ns"
ours() {
    best 5 sc-shapelets -q -l 24 --step 4 --window full --threads 2 few.npy -o pool.slp
}
# miner NAME SERIES
miner() {
    sc-gen two-patterns -n "$2" -o few.npy
    # Before and after the other one, which takes long enough for the machine to change its pace.
    here=$(ours)
    theirs=$("$PYTHON" -W ignore "$bench/shapelet-miners.py" "$1" few.npy 24 4 2>/dev/null) || theirs=
    here=$(printf '%s\n' "$here" "$(ours)" | sort -n | head -n 1)
    if [ -n "$theirs" ]; then
        echo "$1 $2 $theirs $here" |
            awk '{
                pairs = $2 * $2 * ((128 - 24) / 4 + 1)
                printf "%-6s %6d  %6.2f %6.3f %13.0f  %9.0f %9.2f\n", $1, $2, $3, $4, $3 / $4,
                    1e9 * $3 / pairs, 1e9 * $4 / pairs
            }'
    else
        echo "$1 is not installed for $PYTHON: not compared"
    fi
}
miner pyts 100
miner aeon 400
echo

# whole NAME FILE OPTIONS...: time and memory of one run.
whole() {
    name=$1 file=$2
    shift 2
    /usr/bin/time -f '%e %M' -o used sc-shapelets "$file" "$@" -o pool.slp 2>said
    awk -v name="$name" -v series="$(sc-info --json "$file" | sed -n 's/^  "count": \([0-9]*\),/\1/p')" \
        '{ printf "%-24s %7d %9.1f %9.0f\n", name, series, $1, $2 / 1024 }' used
}
if [ ! -d "$data" ]; then
    echo "Whole runs: no real data in $data"
    exit
fi
echo "Whole runs with the published settings on $(nproc) cores:"
echo
echo "dataset                   series   seconds       MiB"
sc-import -q "$data"/ElectricDevices/*.tsv -o electric.npy
sc-split -q --train 7807 --test rest electric.npy -o electric
sc-prune -p 0.7 electric-train.npy -o pruned.npy
whole "ElectricDevices (89 %)" pruned.npy -l 14,18,22,26 -w 20
sc-import -q --labels "$data"/HAR/HAR_y.npy "$data"/HAR/HAR_X.npy -o har.npy
sc-split -q --train 5878 --test rest har.npy -o har
sc-prune -p 0.7 har-train.npy -o pruned.npy
whole "HAR" pruned.npy -l 10-30:5 --step 2 -w 20
sc-import -q --labels "$data"/Sleep/Sleep_y.npy "$data"/Sleep/Sleep_X.npy -o sleep.npy
sc-prune -n 500 sleep.npy -o pruned.npy
whole "Sleep, 5 s epochs" pruned.npy -l 200 --step 5 -w 50
sc-import -q --labels "$data"/Pedestrian/Pedestrian_y.npy "$data"/Pedestrian/Pedestrian_X.npy -o pedestrian.npy
sc-prune -n "${PEDESTRIAN:-250}" pedestrian.npy -o pruned.npy
whole "Pedestrian, rebuilt" pruned.npy -l 3-6 -w 2
echo
echo "Pedestrian with at most ${PEDESTRIAN:-250} series of each class; PEDESTRIAN=1000 is the published setting"
