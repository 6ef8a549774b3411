#!/bin/sh
# key.sh ID: a checksum of a mutant's entry and of the file that it changes.
file=$(awk -F '\t' -v id="$1" '$1 == id { print $2 }' "$MUTANTS_TABLE")
{
    awk -F '\t' -v id="$1" '$1 == id { print $2 FS $3 FS $4 }' "$MUTANTS_TABLE"
    cat "$file"
} | cksum | tr -d ' '
