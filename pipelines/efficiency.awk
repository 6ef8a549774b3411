# Prints time, memory and accuracy of each method (efficiency.mk).  Variables: folder (of the set), label,
# spc, methods, students, repeats, paper, paper_applies (empty for another set than the paper's).

# Steps of the optimiser, as the command says them.
function steps_of(target,    line, cells, count, i, steps) {
    if ((getline line <(target ".command")) <= 0) return 0
    close(target ".command")
    count = split(line, cells, " ")
    for (i = 1; i < count; i++) if (cells[i] == "--steps") steps = cells[i + 1]
    return steps
}
# What has to be there before the method starts.
function preparation(method,    list, count, i, sum, spent) {
    count = split(prepared[method], list, " ")
    for (i = 1; i <= count; i++) {
        spent = read_time(folder "/" list[i])
        if (spent < 0) return "-"
        sum += spent
    }
    return count ? seconds(sum) : "-"
}
function figure(method, column) {
    return paper_applies != "" && (method, column) in figures ? figures[method, column] : "-"
}
BEGIN {
    name_methods(names)
    read_paper(paper, 1, figures)
    prepared["random-soft"] = prepared["herding"] = prepared["herding-soft"] = "plain.tch"
    prepared["kcenter"] = prepared["kmeans"] = "plain.tch"
    prepared["random-shapelets"] = "pool.slp teacher.tch"
    prepared["sre2l"] = "plain.tch"
    prepared["shapecond"] = "pool.slp teacher.tch"
    prepared["mtt"] = "experts.npy"
    prepared["condtsc"] = "two-tower.npy"
    prepared["shapecond-unroll"] = "pool.slp teacher.tch efficiency/" spc "/shapecond.0.npy"
    prepared["explain"] = prepared["shapecond"]
    prepared["refined"] = "pool.slp teacher.tch efficiency/" spc "/explain.0.npy"
    kinds = split(students, kind, " ")
    count = split(methods, method, " ")
    print "### " label ", " spc " per class\n"
    text = "method"
    for (k = 1; k <= kinds; k++) text = text "\t" (kind[k] == "plain" ? "plain" : "with shapelets")
    row(text "\tpaper\ttime\tpaper, V100\tsteps\tper 100 steps\tpaper, V100\tbefore that\tmemory, MiB\tpaper, MB")
    for (i = 1; i <= count; i++) {
        m = method[i]
        target = folder "/efficiency/" spc "/" m ".0.npy"
        text = names[m]
        for (k = 1; k <= kinds; k++)
            text = text "\t" (read_scores(folder "/efficiency/" spc "/" m ".%d." kind[k] ".tsv", repeats) ? \
                with_deviation(mean, deviation, scored) : "-")
        spent = read_time(target)
        peak = memory == "-" ? "-" : sprintf("%.0f", memory)
        steps = steps_of(target)
        row(text "\t" figure(m, "accuracy") "\t" seconds(spent) "\t" figure(m, "seconds") "\t" \
            (steps ? steps : "-") "\t" (steps && spent >= 0 ? sprintf("%.3f s", spent / steps * 100) : "-") \
            "\t" figure(m, "per_100") "\t" preparation(m) "\t" peak "\t" figure(m, "memory"))
    }
    show_table()
    print "time and memory: the whole process, reading the training set included.  before that: shapelets,"
    print "teachers or expert trajectories, which the paper does not count either.  Accuracy as in main-table."
}
