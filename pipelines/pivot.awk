# A table of the ledger (ledger.sh), which is read from standard input, as Markdown.  Variables; lists have spaces:
#     rows     columns of the ledger that tell the rows apart: dataset per name
#     facts    values that a row has once: bytes seconds
#     columns  columns of the ledger that tell the columns apart: kind
#     values   what stands in each of them: accuracy ratio
#     select   what to take, and in which order: kind=plain shapelets;split=2 3
#     paper    file with published figures: columns of the ledger, and others that are names of methods
#     sort     a fact to sort the rows of each value of the first column by
#     labels   what to print for a value: ElectricDevices=ElectricDevices (part);
#     by       value: columns of one value stand side by side
#     format   tsv: a table for programs, means alone
# Beside the columns of the ledger there are name, METHOD@VARIANT+VIEWS; curve, the same without the number of views;
# ratio, accuracy in % of that of all data; per_100, seconds for 100 steps.  Where several rows of the ledger meet in a
# cell, it has the mean and the deviation over all students.

# ---- Reading: record[r, COLUMN] ----

function all_data(r) {
    return record[r, "dataset"] SUBSEP record[r, "split"] SUBSEP record[r, "network"] SUBSEP record[r, "kind"]
}
function add_record(    key, variant, views) {
    variant = field["variant"] == "-" ? "" : "@" field["variant"]
    views = field["views"] == "0" ? "" : "+" field["views"]
    field["name"] = field["method"] variant views
    sub(/[0-9]+$/, "", views)
    field["curve"] = (field["method"] == "truncated" ? field["method"] : field["method"] variant) \
        (views == "+" ? "+views" : views) (field["kind"] == "paper" ? " (paper)" : "")
    field["per_100"] = field["steps"] > 0 && field["seconds"] != "-" ? 100 * field["seconds"] / field["steps"] : "-"
    records++
    for (key in field) record[records, key] = field[key]
    if (field["name"] == "all" && field["accuracy"] != "-") full[all_data(records)] = field["accuracy"]
    # What the paper condensed has the bytes of our dataset of the same method.
    if (field["kind"] != "paper") bytes_of[field["dataset"], field["per"], field["name"]] = field["bytes"]
    else if ((field["dataset"], field["per"], field["name"]) in bytes_of)
        record[records, "bytes"] = bytes_of[field["dataset"], field["per"], field["name"]]
}
# Figures of the paper become records of the kind "paper".
function read_paper(file,    line, n, i, cells, heading, parts) {
    if ((getline line <file) <= 0) {
        print file ": cannot be read" >"/dev/stderr"
        exit 1
    }
    n = split(line, heading, "\t")
    while ((getline line <file) > 0) {
        split(line, cells, "\t")
        for (i in head) field[head[i]] = "-"
        field["kind"] = "paper"
        field["network"] = "cnn"
        field["views"] = field["repeat"] = 0
        field["students"] = 1
        for (i = 1; i <= n; i++) if (heading[i] in known) field[heading[i]] = cells[i]
        if (field["accuracy"] != "-") add_record()
        for (i = 1; i <= n; i++) {
            if (heading[i] in known || cells[i] == "-") continue
            split(heading[i] "@-", parts, "@")
            field["method"] = parts[1]
            field["variant"] = parts[2]
            field["accuracy"] = cells[i]
            add_record()
        }
    }
}

# ---- Choosing and sorting ----

function selected(r,    column) {
    for (column in wanted)
        if (!((column, record[r, column]) in place) && !(column == "split" && record[r, "kind"] == "paper")) return 0
    return 1
}
# Sorts by place in the selection, else by number, else as first seen.
function order_of(column, value) {
    if ((column, value) in place) return sprintf("%012d", place[column, value])
    if (value ~ /^[0-9]+$/) return sprintf("%012.0f", value)
    if (!((column, value) in first_seen)) first_seen[column, value] = ++seen
    return sprintf("9%011d", first_seen[column, value])
}
# The values that tell a row or a column apart; sets weight, by which they are sorted.
function key_of(r, list, n,    i, key) {
    weight = ""
    for (i = 1; i <= n; i++) {
        key = key (i > 1 ? "\t" : "") record[r, list[i]]
        weight = weight order_of(list[i], record[r, list[i]])
    }
    return key
}
function sort_keys(list, n, weights,    i, j, x) {
    for (i = 2; i <= n; i++) {
        x = list[i]
        for (j = i; j > 1 && weights[list[j - 1]] > weights[x]; j--) list[j] = list[j - 1]
        list[j] = x
    }
}

# ---- Cells ----

function gather(cell, value, r,    x, n) {
    x = record[r, value]
    if (value == "ratio") x = all_data(r) in full ? 100 * record[r, "accuracy"] / full[all_data(r)] : "-"
    if (x == "-" || x == "") return
    n = value == "accuracy" ? record[r, "students"] : 1
    count[cell] += n
    sum[cell] += n * x
    squares[cell] += n * x * x + (n > 1 ? (n - 1) * record[r, "deviation"] ^ 2 : 0)
}
function shown(cell, value,    mean, variance) {
    if (!count[cell]) return "-"
    mean = sum[cell] / count[cell]
    if (format == "tsv") return sprintf("%.6g", mean)
    if (value == "accuracy") {
        variance = count[cell] > 1 ? (squares[cell] - sum[cell] * mean) / (count[cell] - 1) : 0
        return sprintf("%.2f", mean) (count[cell] > 1 ? sprintf(" ± %.2f", sqrt(variance > 0 ? variance : 0)) : "")
    }
    if (value ~ /^(seconds|preparation|training)$/) return sprintf(mean < 10 ? "%.2f s" : "%.0f s", mean)
    if (value == "per_100") return sprintf("%.3f s", mean)
    return sprintf(value ~ /^(ratio|memory)$/ ? "%.1f" : "%.0f", mean)
}
function title(word) { return word in titles ? titles[word] : word }
function heading_of(column, value) {
    gsub(/\t/, " ", column)
    return column (value == value_of[1] ? "" : (column == "" ? "" : ", ") title(value))
}

# ---- Printing: add_line(A TAB B ...) collects ----

function width_of(text) {
    gsub(/±/, "+", text)
    return length(text)
}
function add_line(text,    i) {
    lines++
    line_width = split(text, cells, "\t")
    for (i = 1; i <= line_width; i++) {
        cell_text[lines, i] = cells[i]
        if (width_of(cells[i]) > width[i]) width[i] = width_of(cells[i])
    }
}
function filled(text, wide, character) {
    while (width_of(text) < wide) text = text character
    return text
}
function print_lines(    i, j, line, rule) {
    for (i = 1; i <= lines; i++) {
        line = rule = format == "tsv" ? "" : "|"
        for (j = 1; j <= line_width; j++) {
            line = line (format == "tsv" ? (j > 1 ? "\t" : "") cell_text[i, j] : " " filled(cell_text[i, j], width[j], " ") " |")
            rule = rule filled("", width[j] + 2, "-") "|"
        }
        print line
        if (i == 1 && format != "tsv") print rule
    }
}

BEGIN {
    FS = "\t"
    titles["per"] = "per class"
    titles["memory"] = "MiB"
    titles["per_100"] = "per 100 steps"
    titles["name"] = "method"
    rows_n = split(rows, row_of, " ")
    facts_n = split(facts, fact_of, " ")
    columns_n = split(columns, column_of, " ")
    values_n = split(values, value_of, " ")
    for (n = split(select, parts, ";"); n > 0; n--) {
        if (!(i = index(parts[n], "="))) continue
        column = substr(parts[n], 1, i - 1)
        wanted[column] = 1
        for (j = split(substr(parts[n], i + 1), list, " "); j > 0; j--) place[column, list[j]] = j
    }
    for (n = split(labels, parts, ";"); n > 0; n--)
        if (i = index(parts[n], "=")) label[substr(parts[n], 1, i - 1)] = substr(parts[n], i + 1)
}
NR == 1 {
    for (i = 1; i <= NF; i++) {
        head[i] = $i
        known[$i] = 1
    }
    next
}
{
    for (i in head) field[head[i]] = $i
    add_record()
}
END {
    if (paper != "") read_paper(paper)
    for (r = 1; r <= records; r++) {
        if (!selected(r)) continue
        row = key_of(r, row_of, rows_n)
        if (!(row in row_weight)) row_list[++row_count] = row
        row_weight[row] = weight
        column = key_of(r, column_of, columns_n)
        if (!(column in column_weight)) column_list[++column_count] = column
        column_weight[column] = weight
        for (i = 1; i <= facts_n; i++) gather(row SUBSEP fact_of[i], fact_of[i], r)
        for (i = 1; i <= values_n; i++) {
            gather(row SUBSEP column SUBSEP value_of[i], value_of[i], r)
            if (count[row, column, value_of[i]]) used[column, value_of[i]] = 1
        }
    }
    if (sort != "")
        for (row in row_weight)
            row_weight[row] = substr(row_weight[row], 1, 12) \
                sprintf("%015.0f", count[row, sort] ? sum[row, sort] / count[row, sort] : 0) substr(row_weight[row], 13)
    sort_keys(row_list, row_count, row_weight)
    sort_keys(column_list, column_count, column_weight)

    for (i = 1; i <= rows_n; i++) line = line (i > 1 ? "\t" : "") title(row_of[i])
    for (i = 1; i <= facts_n; i++) line = line "\t" title(fact_of[i])
    for (i = 0; i < column_count * values_n; i++) {
        column = column_list[1 + (by == "value" ? i % column_count : int(i / values_n))]
        value = value_of[1 + (by == "value" ? int(i / column_count) : i % values_n)]
        if (!((column, value) in used)) continue
        cell_column[++cells_n] = column
        cell_value[cells_n] = value
        line = line "\t" heading_of(column, value)
    }
    add_line(line)
    for (r = 1; r <= row_count; r++) {
        row = row_list[r]
        split(row, keys, "\t")
        line = ""
        # What a row shares with the one above is left out.
        same = sort == "" && format != "tsv"
        for (i = 1; i <= rows_n; i++) {
            same = same && i < rows_n && r > 1 && keys[i] == last[i]
            line = line (i > 1 ? "\t" : "") (same ? "" : keys[i] in label ? label[keys[i]] : keys[i])
            last[i] = keys[i]
        }
        for (i = 1; i <= facts_n; i++) line = line "\t" shown(row SUBSEP fact_of[i], fact_of[i])
        for (i = 1; i <= cells_n; i++)
            line = line "\t" shown(row SUBSEP cell_column[i] SUBSEP cell_value[i], cell_value[i])
        add_line(line)
    }
    print_lines()
}
