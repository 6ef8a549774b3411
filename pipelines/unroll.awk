# Prints accuracy against steps and time (unroll.mk).  Variables: run, sets (NAME|LABEL|SPC SPC...;), starts,
# steps, students, repeats.

function score_cells(pattern,    k, text) {
    for (k = 1; k <= kinds; k++)
        text = text "\t" (read_scores(pattern "." kind[k] ".tsv", repeats) ? \
            with_deviation(mean, deviation, scored) : "-")
    return text
}
function show(set, label, spc,    i, j, variant, line, text) {
    print "### " label ", " spc " per class\n"
    text = "steps"
    for (i = 1; i <= start_count; i++) {
        text = text "\tfrom " (start[i] == "random" ? "random series" : "ShapeCond's")
        for (k = 2; k <= kinds; k++) text = text "\twith shapelets"
        text = text "\ttime"
    }
    row(text)
    for (j = 0; j <= step_count; j++) {
        line = j ? step[j] : 0
        for (i = 1; i <= start_count; i++) {
            variant = j ? start[i] "-" step[j] : start[i]
            line = line score_cells(run "/" set "/unroll/" spc "/" variant ".%d") "\t" \
                (j ? seconds(read_time(run "/" set "/unroll/" spc "/" variant ".0.npy")) : "-")
        }
        row(line)
    }
    show_table()
}
BEGIN {
    kinds = split(students, kind, " ")
    start_count = split(starts, start, " ")
    step_count = split(steps, step, " ")
    number = split(sets, entries, " *; *")
    for (e = 1; e <= number; e++) {
        if (split(entries[e], fields, "|") != 3) continue
        spcs = split(fields[3], spc, " ")
        for (s = 1; s <= spcs; s++) show(fields[1], fields[2], spc[s])
    }
    print "Accuracy on the test set in %, mean ± deviation over the students (see main-table)."
    print "time: of the steps alone, after what they start from."
}
