# Prints the accuracy of a shapelet classifier on condensed sets (shapelet-table.mk).  Variables: run, sets
# (NAME|LABEL;), spc, repeats, paper.

function cell(pattern) {
    return read_scores(pattern, repeats) ? with_deviation(mean, deviation, scored) : "-"
}
function figure(set, column) { return (set, column) in figures ? figures[set, column] : "-" }
BEGIN {
    read_paper(paper, 1, figures)
    row("set\tSRe2L\tpaper\tShapeCond\tpaper\treal test series\tpaper")
    number = split(sets, entries, " *; *")
    for (e = 1; e <= number; e++) {
        if (split(entries[e], fields, "|") != 2) continue
        folder = run "/" fields[1] "/shapelets/"
        row(fields[2] "\t" cell(folder spc ".sre2l.%d.tsv") "\t" figure(fields[1], "sre2l") \
            "\t" cell(folder spc ".shapecond.%d.tsv") "\t" figure(fields[1], "shapecond") \
            "\t" (read_scores(folder "real.tsv", 0) ? percent(mean) : "-") "\t" figure(fields[1], "real"))
    }
    show_table()
    print "Accuracy in % of logistic regression on the distances to the shapelets, learned from all training"
    print "series, on " spc " condensed series per class and on the test set.  SRe2L is what the paper calls"
    print "ShapeCond without the shapelet-guided module."
}
