# Prints the main table (main-table.mk).  Variables: run, sets (NAME|LABEL|SPC SPC...|SETTINGS;), methods,
# students, repeats, paper, only_times.

# "accuracy TAB ratio to all data" of one kind of student.
function cells_of(folder, method, student) {
    if (!read_scores(folder "/" method ".%d." student ".tsv", repeats)) return "-\t-"
    return with_deviation(mean, deviation, scored) "\t" \
        (full[student] ? sprintf("%.1f", 100 * mean / full[student]) : "-")
}
function paper_cells(key, method) {
    if (!((key, method) in figures) || !((key, "full") in figures)) return "-\t-"
    return figures[key, method] "\t" sprintf("%.1f", 100 * figures[key, method] / figures[key, "full"])
}
function read_facts(set,    line) {
    if ((getline line <(run "/" set "/facts.tsv")) <= 0) line = "?\t?\t?\t?\t?\t?"
    close(run "/" set "/facts.tsv")
    split(line, facts, "\t")
}
function say_full(set,    i, text) {
    for (i = 1; i <= kinds; i++) {
        full[kind[i]] = read_scores(run "/" set "/full/all.%d." kind[i] ".tsv", 0) ? mean : 0
        text = text (i > 1 ? ", " : "") (full[kind[i]] ? percent(full[kind[i]]) : "-") " " title[kind[i]]
    }
    if (set in paper_full) text = text "; paper " paper_full[set]
    print "All data: " text "."
}
# Seconds of the stages of ShapeCond, in spent["import"] and so on, and their sum; -1 if one is missing.
function stage_times(set, spc,    folder, i, files, time, sum) {
    folder = run "/" set "/"
    for (i = 1; i <= stages; i++) spent[stage[i]] = 0
    split("all.npy train.npy val.npy pool.slp balanced.npy teacher.tch " spc "/shapecond.0.npy", files, " ")
    for (i = 1; i <= 7; i++) {
        time = read_time(folder files[i])
        # A set may do without being balanced.
        if (time < 0 && files[i] != "balanced.npy") return -1
        if (time < 0) continue
        sum += time
        spent[stage[i < 3 ? i : i - 1]] += time
    }
    return sum
}
function say_times(set, spc,    sum, i, text) {
    sum = stage_times(set, spc)
    if (sum < 0) return
    for (i = 1; i <= stages; i++) text = text (i > 1 ? ", " : "") stage[i] " " seconds(spent[stage[i]])
    print "From raw files to " spc " per class by ShapeCond: " seconds(sum) " (" text ")."
}
function row_of_times(set, label, spc,    sum, i, text) {
    sum = stage_times(set, spc)
    for (i = 1; i <= stages; i++) text = text "\t" (sum < 0 ? "-" : seconds(spent[stage[i]]))
    row(label "\t" spc text "\t" seconds(sum))
}
function say_sum(folder,    sum) {
    sum = sum_times(folder "*.time " folder "full/*.time " folder "[0-9]*/*.time")
    print "All steps of this set together: " seconds(sum) ", " seconds(processor) " of processor time.\n"
}
function show_set(set, label, spcs, settings,    i, j, k, n, list, key, share, text) {
    n = split(spcs, list, " ")
    if (only_times) {
        for (i = 1; i <= n; i++) row_of_times(set, i == 1 ? label : "", list[i])
        return
    }
    read_facts(set)
    print "### " label "\n"
    print facts[1] " series for training, " facts[2] " for validation, " facts[3] " for test; " facts[4] " x " \
        facts[5] ", " facts[6] " classes."
    say_full(set)
    say_times(set, list[n])
    print settings
    say_sum(run "/" set "/")
    text = "per class\tmethod"
    for (k = 1; k <= kinds; k++) text = text "\t" title[kind[k]] "\tratio"
    row(text "\tpaper\tratio")
    for (i = 1; i <= n; i++)
        for (j = 1; j <= count; j++) {
            share = facts[1] + 0 ? sprintf(" (%.2f %%)", 100 * list[i] * facts[6] / facts[1]) : ""
            text = (j == 1 ? list[i] share : "") "\t" names[method[j]]
            for (k = 1; k <= kinds; k++) text = text "\t" cells_of(run "/" set "/" list[i], method[j], kind[k])
            row(text "\t" paper_cells(set "/" list[i], method[j]))
        }
    show_table()
}
BEGIN {
    name_methods(names)
    title["plain"] = "plain"
    title["shapelets"] = "with shapelets"
    read_paper(paper, 2, figures)
    for (key in figures) {
        split(key, part, SUBSEP)
        set = part[1]
        if (part[2] == "full" && sub(/\/.*/, "", set)) paper_full[set] = figures[key]
    }
    count = split(methods, method, " ")
    kinds = split(students, kind, " ")
    stages = split("import,split and scale,shapelets,balance,teacher,synthesis", stage, ",")
    if (only_times) row("set\tper class\timport\tsplit and scale\tshapelets\tbalance\tteacher\tsynthesis\ttogether")
    number = split(sets, entries, " *; *")
    for (e = 1; e <= number; e++)
        if (split(entries[e], fields, "|") == 4) {
            show_set(fields[1], fields[2], fields[3], fields[4])
            if (fields[1] != fields[2]) partial = partial "\n  " fields[2]
        }
    if (only_times) {
        show_table()
        exit
    }
    print "Accuracy on the test set in %, mean ± deviation over the students; ratio to the accuracy that all"
    print "data give the same kind of student.  plain: students that get the condensed set and nothing else;"
    print "with shapelets: students that see the distances to the shapelets of the training set, too."
    print "What was shortened for large sets shows in the settings of each set."
    if (partial != "") print "Not the same data as the paper's, so compare methods, not figures with it:" partial
}
