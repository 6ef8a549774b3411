# Functions that all tables share: reading what the steps left, and Markdown with aligned columns.

# names["shapecond"] and so on.
function name_methods(names) {
    names["random"] = "Random"
    names["random-soft"] = "Random, soft labels"
    names["random-shapelets"] = "Random, labels of ShapeCond's teacher"
    names["herding"] = "Herding"
    names["herding-soft"] = "Herding, soft labels"
    names["kcenter"] = "K-Center"
    names["kmeans"] = "K-Means"
    names["dc"] = "DC"
    names["dsa"] = "DSA"
    names["dm"] = "DM"
    names["mtt"] = "MTT"
    names["condtsc"] = "CondTSC"
    names["sre2l"] = "SRe2L"
    names["shapecond"] = "ShapeCond"
    names["unroll"] = "unroll"
    names["shapecond-unroll"] = "ShapeCond, then unroll"
    names["explain"] = "Series that explain the teacher"
    names["refined"] = "Series that explain the teacher, refined"
    names["full"] = "all data"
}

# Paper's figures: figures[KEY, COLUMN] of a table with a heading, whose first `keys` columns joined
# by / are the key of a row.
function read_paper(file, keys, figures,    line, cells, heading, count, key, i) {
    while ((getline line <file) > 0) {
        count = split(line, cells, "\t")
        if (!heading) {
            for (i = 1; i <= count; i++) column[i] = cells[i]
            heading = 1
            continue
        }
        key = cells[1]
        for (i = 2; i <= keys; i++) key = key "/" cells[i]
        for (i = keys + 1; i <= count; i++) figures[key, column[i]] = cells[i]
    }
    close(file)
    if (!heading) {
        print file ": cannot be read" >"/dev/stderr"
        exit 1
    }
}

# Mean and deviation over all students in tables of sc-eval: FILE with %d for each of the repeats.
# Sets mean, deviation and scored, the number of students; false if there is none.
function read_scores(pattern, repeats,    file, line, cells, list, count, i, sum, squares) {
    scored = sum = squares = 0
    count = split(repeats, list, " ")
    for (i = 1; i <= count; i++) {
        file = pattern
        sub(/%d/, list[i], file)
        while ((getline line <file) > 0) {
            split(line, cells, "\t")
            if (cells[1] == "mean") mean = cells[2]
            if (cells[1] == "deviation") deviation = cells[2]
            if (cells[1] !~ /^([0-9]+|-)$/) continue
            scored++
            sum += cells[2]
            squares += cells[2] * cells[2]
        }
        close(file)
    }
    # One table has its own mean, which is not that of rounded numbers.
    if (count == 1 || !scored) return scored
    mean = sum / scored
    deviation = scored > 1 ? sqrt(positive((squares - sum * mean) / (scored - 1))) : 0
    return scored
}
function positive(x) { return x > 0 ? x : 0 }

# Seconds that a step took; sets memory to its peak in MiB.  -1 if it has not been run.
function read_time(target,    line, cells) {
    memory = "-"
    if ((getline line <(target ".time")) <= 0) return -1
    close(target ".time")
    split(line, cells, " ")
    if (cells[2] != "-") memory = cells[2] / 1024
    return cells[1] + 0
}
# Seconds that the steps of some files took; sets processor to those of processors.
function sum_times(files,    command, line, cells, sum) {
    processor = 0
    command = "cat " files " 2>/dev/null"
    while ((command | getline line) > 0) {
        split(line, cells, " ")
        sum += cells[1]
        processor += cells[3]
    }
    close(command)
    return sum
}

function percent(x) { return sprintf("%.2f", x) }
function with_deviation(x, spread, count) {
    return count > 1 ? sprintf("%.2f ± %.2f", x, spread) : percent(x)
}
function seconds(x) { return x < 0 ? "-" : sprintf(x < 10 ? "%.2f s" : "%.0f s", x) }

# A table: row(A TAB B TAB ...) collects, the first is the heading, show_table prints and forgets.
function row(text) { table_rows[++table_count] = text }
function width_of(text,    plain) {
    plain = text
    gsub(/±/, "+", plain)
    return length(plain)
}
function fill(text, width, character,    i) {
    for (i = width_of(text); i < width; i++) text = text character
    return text
}
function show_table(    i, j, columns, cells, width, line) {
    for (i = 1; i <= table_count; i++) {
        columns = split(table_rows[i], cells, "\t")
        for (j = 1; j <= columns; j++)
            if (i == 1 || width_of(cells[j]) > width[j]) width[j] = width_of(cells[j])
    }
    for (i = 1; i <= table_count; i++) {
        columns = split(table_rows[i], cells, "\t")
        line = "|"
        for (j = 1; j <= columns; j++) line = line " " fill(cells[j], width[j], " ") " |"
        print line
        if (i > 1) continue
        line = "|"
        for (j = 1; j <= columns; j++) line = line fill("", width[j] + 2, "-") "|"
        print line
    }
    print ""
    table_count = 0
}
