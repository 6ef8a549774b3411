#!/bin/sh
# All rows of the ledger below a folder, with a heading: ledger.sh RUN
#     dataset split      and the seed that it was split by
#     per                series per class, or full
#     method variant     how it was condensed; what was changed, or -
#     repeat             seed of the condensation
#     views              labelled views: a number, keptN where the views keep their labels, or 0
#     network kind       of the students; kind: plain, shapelets, logistic, nas
#     labels students    hard or soft; how many students were trained
#     accuracy deviation on the test data, in %, over the students
#     steps              of the optimiser that made it, or -
#     seconds memory     of making it, starts included; peak memory in MiB
#     bytes              series, labels and views, and the pool where students see it
#     preparation        seconds of shapelets, teachers and experts
#     training           seconds to train one student
set -eu
printf 'dataset split per method variant repeat views network kind labels students accuracy deviation steps seconds memory bytes preparation training\n' |
    tr ' ' '\t'
if [ -d "$1" ]; then find "$1" -name '*.row' | sort | tr '\n' '\0' | xargs -0 -r cat; fi
