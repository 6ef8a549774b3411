#!/bin/sh
# The network that did best: nas-best.sh FOLDER
# FOLDER holds a table of sc-eval for each network, named for it; prints its description.  Of equals the
# first by name.
set -eu
for table in "$1"/*.try; do
    awk -v table="$table" '$1 == "mean" { print $2, table }' "$table"
done | sort -k 1,1rn -k 2,2 | awk 'NR == 1 {
    sub(/.*\//, "", $2)
    sub(/\.try$/, "", $2)
    gsub(/-/, "=", $2)
    gsub(/_/, " ", $2)
    print "cnn " $2
}'
