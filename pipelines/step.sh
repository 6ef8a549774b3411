#!/bin/sh
# One step of a pipeline: step.sh TARGET COMMAND
# Runs COMMAND, which makes TARGET.  Beside it stay TARGET.command, what was run, in words for Make, which
# sees by it that other options ask for another file; TARGET.time, seconds and peak memory in KiB (of its largest
# process; - without /usr/bin/time); and TARGET.log, what the programs said.
set -eu
target=$1 command=$2
mkdir -p "$(dirname "$target")"
rm -f "$target.command"
start=$(date +%s%N)
measure=
if [ -x /usr/bin/time ]; then measure="/usr/bin/time -f %M -o $target.memory"; fi
# shellcheck disable=SC2086 # several words
if ! $measure sh -ec "$command" >"$target.log" 2>&1; then
    echo "$command" >&2
    cat "$target.log" >&2
    rm -f "$target.memory"
    exit 1
fi
memory=-
if [ -n "$measure" ]; then
    memory=$(tail -n 1 "$target.memory")
    rm -f "$target.memory"
fi
echo "$(($(date +%s%N) - start)) $memory" | awk '{ printf "%.3f %s\n", $1 / 1e9, $2 }' >"$target.time"
printf 'ran_%s := %s\n' "$target" "$command" | sed 's/\$/$$/g; s/#/\\#/g' >"$target.command"
awk -v target="$target" '{ printf "%9.2f s  %s\n", $1, target }' "$target.time"
