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
# Stages of ShapeCond for a number of series per class, and everything that was run for the set.
function say_times(set, spc,    folder, i, part, parts, list, sum, text, spent) {
    folder = run "/" set "/"
    split("all.npy train.npy val.npy pool.slp balanced.npy teacher.tch", list, " ")
    split("import,split and scale,,shapelets,balance,teacher", parts, ",")
    for (i = 1; i <= 7; i++) {
        spent = i <= 6 ? read_time(folder list[i]) : read_time(folder spc "/shapecond.0.npy")
        if (spent < 0 && i != 5) return
        if (spent < 0) continue
        sum += spent
        part += spent
        if (i == 2) continue
        text = text (text == "" ? "" : ", ") (i == 7 ? "synthesis" : i == 3 ? parts[2] : parts[i]) \
            " " seconds(part)
        part = 0
    }
    print "From raw files to " spc " per class by ShapeCond: " seconds(sum) " (" text ")."
}
function show_set(set, label, spcs, settings,    i, j, k, n, list, key, share, text) {
    n = split(spcs, list, " ")
    read_facts(set)
    print "### " label "\n"
    print facts[1] " series for training, " facts[2] " for validation, " facts[3] " for test; " facts[4] " x " \
        facts[5] ", " facts[6] " classes."
    if (only_times) {
        for (i = 1; i <= n; i++) say_times(set, list[i])
        print ""
        return
    }
    say_full(set)
    say_times(set, list[n])
    print settings
    print "All steps of this table together: " seconds(sum_times(run "/" set)) ".\n"
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
    number = split(sets, entries, " *; *")
    for (e = 1; e <= number; e++)
        if (split(entries[e], fields, "|") == 4) show_set(fields[1], fields[2], fields[3], fields[4])
    if (only_times) exit
    print "Accuracy on the test set in %, mean ± deviation over the students; ratio to the accuracy that all"
    print "data give the same kind of student.  plain: students that get the condensed set and nothing else;"
    print "with shapelets: students that see the distances to the shapelets of the training set, too."
}
