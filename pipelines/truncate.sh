#!/bin/sh
# A random part of a dataset that has the bytes of another: truncate.sh FILE DATASET SEED -o OUT
# Takes as many series of each class as fit, at least one.
set -eu
each=$(sc-info --tsv "$1" "$2" | awk -F '\t' '
    NR == 2 { bytes = $10 }
    NR == 3 { each = int(bytes * $4 / $10 / $7); print (each > 0 ? each : 1) }')
sc-prune --quiet --per-class "$each" --seed "$3" -o "$5" "$2"
