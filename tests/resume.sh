#!/bin/sh
# shapecond --keep is stopped at ten random moments and started again, each time in a new folder:
#     tests/resume.sh BUILD [SEED]
# Without the students at the end, which would take most of the time.
# The result must have the bytes of a run that was not stopped, and no stage that was done may be done again.
set -eu
build=$(realpath "$1")
seed=${2:-1}
PATH=$build/bin:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

sc-gen -q cbf -n 120 -L 64 --seed 3 -o train.npy
run() { shapecond train.npy --spc 2 --steps 300 --views 300 --no-score --keep "$1" -o "$1.npy" 2>"$1.said" </dev/null; }
begin=$(date +%s%N)
run whole
length=$((($(date +%s%N) - begin) / 1000000))
echo "a whole run takes $length ms and has $(grep -c '^+ sc-' whole.said) stages"

failed=0
moments=$(awk -v seed="$seed" -v length_="$length" 'BEGIN { srand(seed); for (i = 0; i < 10; i++) printf "%d ", 50 + rand() * 0.95 * length_ }')
i=0
for moment in $moments; do
    i=$((i + 1))
    case $((i % 3)) in 0) signal=KILL ;; 1) signal=INT ;; *) signal=TERM ;; esac
    rm -rf part part.npy
    env --default-signal shapecond train.npy --spc 2 --steps 300 --views 300 --no-score --keep part -o part.npy 2>stopped.said </dev/null &
    job=$!
    sleep "$(awk -v m="$moment" 'BEGIN { print m / 1000 }')"
    kill -s $signal $job 2>/dev/null || true
    wait $job 2>/dev/null || true
    # A stage outlives SIGKILL for a moment, and holds the folder.
    flock part true
    done_before=0
    if [ -e part/commands.tsv ]; then done_before=$(wc -l <part/commands.tsv); fi
    run part
    skipped=$(grep -c 'done before' part.said || true)
    verdict=ok
    cmp -s part.npy whole.npy || verdict='other bytes'
    [ "$skipped" = "$done_before" ] || verdict="$done_before stages were done, $skipped not repeated"
    [ "$verdict" = ok ] || failed=1
    echo "SIG$signal after $moment ms: $done_before stages done, continued: $verdict"
done
exit $failed
