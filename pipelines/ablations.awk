# Prints what the variants gave (ablations.mk).  Variables: run, sets (NAME|LABEL|SPC SPC...;), ablations
# (NAME|VARIANT VARIANT...;), students, repeats, paper (folder).

function one_score(file) { return read_scores(file, 0) ? with_deviation(mean, deviation, scored) : "-" }

# How shapelets were found, and how good they are by themselves.
function pool_cells(folder) {
    return "\t" seconds(read_time(folder "/pool.slp")) "\t" one_score(folder "/logistic.tsv")
}
function show(ablation, list,    e, i, j, k, number, entries, fields, count, variant, spc, folder, text, finds) {
    count = split(list, variant, " ")
    finds = ablation ~ /^(pool-size|window|pruning)$/
    print "### " heading[ablation] "\n"
    text = "set\tper class\tvariant"
    for (k = 1; k <= kinds; k++) text = text "\t" title[kind[k]]
    if (ablation in table_of) text = text "\tpaper"
    if (finds) text = text "\tsearch\tlogistic"
    if (ablation == "pruning") text = text "\tnetwork on what is left"
    row(text)
    number = split(sets, entries, " *; *")
    for (e = 1; e <= number; e++) {
        if (split(entries[e], fields, "|") != 3) continue
        spcs = split(fields[3], spc, " ")
        for (i = 1; i <= spcs; i++)
            for (j = 1; j <= count; j++) {
                folder = run "/" fields[1] "/ablations/" variant[j]
                text = (i == 1 && j == 1 ? fields[2] : "") "\t" (j == 1 ? spc[i] : "") "\t" variant[j]
                for (k = 1; k <= kinds; k++)
                    text = text "\t" (read_scores(folder "/" spc[i] "/shapecond.%d." kind[k] ".tsv", repeats) \
                        ? with_deviation(mean, deviation, scored) : "-")
                if (ablation in table_of)
                    text = text "\t" ((fields[1] "/" spc[i], variant[j]) in figures ? \
                        figures[fields[1] "/" spc[i], variant[j]] : "-")
                if (finds) text = text pool_cells(folder)
                if (ablation == "pruning") text = text "\t" one_score(folder "/pruned.tsv")
                row(text)
            }
    }
    show_table()
    if (ablation == "pruning")
        print "The paper has this as a picture: up to 70 % pruned a network learns nearly as well, " \
            "beyond 90 % it does not.\n"
}
BEGIN {
    title["plain"] = "plain"
    title["shapelets"] = "with shapelets"
    heading["pool-size"] = "Shapelets per channel"
    heading["initialisation"] = "What the series start from"
    heading["window"] = "How far from its place a shapelet is looked for"
    heading["pruning"] = "Share of the series that the search does without"
    heading["objective"] = "The objective of the synthesis"
    table_of["pool-size"] = table_of["initialisation"] = 1
    kinds = split(students, kind, " ")
    total = split(ablations, parts, " *; *")
    for (a = 1; a <= total; a++) {
        if (split(parts[a], pair, "|") != 2) continue
        if (pair[1] in table_of) read_paper(paper "/" pair[1] ".tsv", 2, figures)
        show(pair[1], pair[2])
    }
    print "Accuracy of ShapeCond on the test set in %, mean ± deviation over the students (see main-table)."
    print "search: time to find the shapelets; logistic: logistic regression on the distances to them alone,"
    print "trained and tested on real series."
}
