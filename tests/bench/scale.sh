#!/bin/sh
# Memory and time of the stages on files of 0.2 and 2 GB (SIZES='0.2 2 20': also 20 GB).
#     [SIZES='0.2 2'] [LIMIT=1024] [STAGES='sc-info sc-split'] tests/bench/scale.sh BUILD
# One line for each stage and size: the peak of its own memory, of which LIMIT MiB are the most that
# is allowed (the pages of files that are mapped do not count: the kernel takes them back), the
# peak with such pages, time, time per series, and the time of `cat FILE >/dev/null` that it takes.
# Where systemd runs, each stage is also in a control group of LIMIT MiB in all.
# Files go to SCALE_DIR, a new folder in TMPDIR or /var/tmp by default: about four times the size.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
: "${SIZES:=0.2 2}" "${LIMIT:=1024}" "${STAGES:=}"
PATH="$build/bin:$build/tests:$PATH"
: "${TMPDIR:=/var/tmp}"
export TMPDIR
folder=${SCALE_DIR:-$(mktemp -d)}
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
length=512
failed=0

group() {
    if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null; then
        systemd-run --quiet --scope -p "MemoryMax=${LIMIT}M" -p MemorySwapMax=0 "$@"
    else
        "$@"
    fi
}

# stage NAME COMMAND...: runs it and prints its line.
stage() {
    name=$1
    shift
    case " ${STAGES:-$name} " in *" $name "*) ;; *) return 0 ;; esac
    if ! group peak -l "$LIMIT" -o "$folder/peak" "$@" >"$folder/said" 2>&1; then
        echo "$size GB: $name failed, or took more than $LIMIT MiB:" && cat "$folder/peak" "$folder/said"
        failed=1
        return 0
    fi
    awk -v size="$size" -v name="$name" -v count="$count" -v cat="$cat_time" '{
        printf "%5s  %-22s %9.1f %9.1f %9.1f %11.2f %7s\n", size, name, $2, $3, $1, 1e6 * $1 / count, cat ? sprintf("%.1f", $1 / cat) : ""
    }' "$folder/peak"
}

printf '%5s  %-22s %9s %9s %9s %11s %7s\n' GB stage 'own MiB' '+ files' seconds 'us/series' 'x cat'
for size in $SIZES; do
    count=$(awk -v size="$size" -v steps="$length" 'BEGIN { printf "%d", size * 1e9 / (4 * steps + 4) }')
    free=$(df -Pk "$folder" | awk 'NR == 2 { print $4 }')
    if awk -v free="$free" -v size="$size" 'BEGIN { exit free * 1024 > 4.5e9 * size ? 1 : 0 }'; then
        echo "$size GB: not enough room in $folder"
        continue
    fi
    all=$folder/all.npy
    cat_time=0
    stage sc-gen sc-gen two-patterns -n "$count" --length "$length" -o "$all"
    [ -f "$all" ] || sc-gen two-patterns -n "$count" --length "$length" -o "$all"
    cat "$all" >/dev/null
    peak -o "$folder/peak" sh -c 'cat "$1" >/dev/null' sh "$all"
    cat_time=$(cut -d ' ' -f 1 "$folder/peak")
    printf '%5s  %-22s %9s %9s %9.1f %11s %7.1f\n' "$size" 'cat >/dev/null' '' '' "$cat_time" '' 1
    stage sc-info sc-info "$all"
    stage sc-prune sc-prune -n 200 -o "$folder/few.npy" "$all"
    [ -f "$folder/few.npy" ] || sc-prune -n 200 -o "$folder/few.npy" "$all"
    stage sc-split sc-split --train 0.9 --test 0.1 -o "$folder/part" "$all"
    rm -f "$folder"/part-*
    stage sc-scale sc-scale -o "$folder/out.npy" "$all"
    stage sc-balance sc-balance -o "$folder/out.npy" "$all"
    stage sc-export sc-export -o "$folder/out.npz" "$all"
    [ ! -f "$folder/out.npz" ] || stage sc-import sc-import -o "$folder/out.npy" "$folder/out.npz"
    rm -f "$folder"/out.*
    sc-shapelets -q -k 20 "$folder/few.npy" -o "$folder/pool.slp" 2>/dev/null
    stage sc-strans sc-strans -o "$folder/out.npy" "$folder/pool.slp" "$all"
    rm -f "$folder/out.npy"
    # A small network, so that most of the time is not its: one visit of every series.
    sc-teacher -q --network 'cnn width=8' --steps 100 -o "$folder/t.tch" "$folder/few.npy"
    stage sc-teacher sc-teacher -q --network 'cnn width=8' --steps 1 -o "$folder/out.tch" "$all"
    stage sc-teacher-shapelets sc-teacher -q --network 'cnn width=8' --steps 1 --shapelets "$folder/pool.slp" \
        -o "$folder/s.tch" "$all"
    stage sc-select sc-select -q -m herding -n 10 -t "$folder/t.tch" --soft -o "$folder/chosen.npy" "$all"
    stage sc-select-sample sc-select -q -m herding -n 10 -t "$folder/t.tch" --soft --sample 10000 \
        -o "$folder/chosen.npy" "$all"
    [ ! -f "$folder/s.tch" ] || stage sc-synth sc-synth -q --steps 0 -n 10 -t "$folder/s.tch" \
        --shapelets "$folder/pool.slp" -o "$folder/out.npy" "$all"
    [ -f "$folder/chosen.npy" ] || sc-select -n 10 -o "$folder/chosen.npy" "$folder/few.npy"
    stage sc-eval sc-eval -q --network 'cnn width=8' --seeds 1 --steps 50 "$folder/chosen.npy" "$all"
    rm -f "$folder"/*
done
exit "$failed"
