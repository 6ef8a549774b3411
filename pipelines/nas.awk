# Prints what the search found with each condensed set (nas.mk).  Variables: folder, label, spc, methods,
# networks, paper, paper_applies (empty for another set than the paper's).

BEGIN {
    name_methods(names)
    read_paper(paper, 1, figures)
    count = split(methods, method, " ")
    print "### " label ", " spc " per class, " networks " networks\n"
    row("searched with\taccuracy\tpaper\tsearch\tnetwork")
    for (i = 1; i <= count; i++) {
        m = method[i]
        best = "-"
        getline best <(folder "/" m ".best")
        row(names[m] "\t" (read_scores(folder "/" m ".tsv", 0) ? percent(mean) : "-") "\t" \
            (paper_applies != "" && (m, "accuracy") in figures ? figures[m, "accuracy"] : "-") "\t" \
            seconds(sum_times(folder "/" m "/*.tsv.time")) "\t" best)
    }
    show_table()
    print "Accuracy on the test set in % of the network that was best on the validation set after learning from"
    print "the condensed set, once it has learned from all data.  search: time of all trainings together."
}
