#!/bin/sh
# What tables say of a set: facts.sh TRAIN VAL TEST
# One line: series in each, channels, steps and classes, separated by tabs.
set -eu
for file; do sc-info --json "$file"; done | awk '
    /^  "(count|channels|length|classes)":/ {
        gsub(/[",:]/, "")
        if ($1 == "count" && counts++) $2 = value[$1] "\t" $2
        value[$1] = $2
    }
    END { print value["count"] "\t" value["channels"] "\t" value["length"] "\t" value["classes"] }'
