#!/bin/sh
# One step of a pipeline: step.sh TARGET COMMAND [PREREQUISITE]...
# Runs COMMAND, which makes TARGET, and leaves beside it
#     TARGET.command   the command, as a variable for make, which runs the step again when the command changes,
#                      and the prerequisites in a comment
#     TARGET.time      seconds, peak memory in KiB (of its largest process) and seconds of processor time
#                      (- and 0 without /usr/bin/time)
#     TARGET.log       what the programs said
# LAUNCH, if set, is the command that starts it, and the measuring with it: srun for example.
set -eu
target=$1 command=$2
shift 2
mkdir -p "$(dirname "$target")"
rm -f "$target.command"
used=$target.used
measure=
if [ -x /usr/bin/time ]; then measure="/usr/bin/time -f %M:%U:%S -o $used"; fi
start=$(date +%s%N)
# shellcheck disable=SC2086 # several words
if ! ${LAUNCH-} $measure sh -ec "$command" >"$target.log" 2>&1; then
    echo "$command" >&2
    cat "$target.log" >&2
    rm -f "$used"
    exit 1
fi
spent=$(($(date +%s%N) - start))
if [ -z "$measure" ]; then echo '-:0:0' >"$used"; fi
awk -F : -v spent="$spent" '{ printf "%.3f %s %.2f\n", spent / 1e9, $1, $2 + $3 }' "$used" >"$target.time"
rm "$used"
{
    printf 'ran_%s := %s\n' "$target" "$command" | sed 's/\$/$$/g; s/#/\\#/g'
    printf '# from: %s\n' "$*"
} >"$target.command"
awk -v target="$target" '{ printf "%9.2f s  %s\n", $1, target }' "$target.time"
