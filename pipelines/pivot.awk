# A Markdown table of the ledger (ledger.sh), which is read from standard input.  Variables, lists separated by spaces:
#     rows     columns of the ledger that tell the rows apart: dataset per name
#     facts    values that a row has once: bytes seconds
#     columns  columns of the ledger that tell the columns apart: kind
#     values   what stands in each of them: accuracy ratio
#     select   what to take, and in which order: kind=plain shapelets;split=2 3
#     paper    file with published figures: columns of the ledger, and others that are names of methods
#     sort     a fact to sort the rows of each value of the first column by
#     labels   what to print for a value: ElectricDevices=ElectricDevices (part);
#     by       value: columns of one value stand side by side
# Beside the columns of the ledger there are name, METHOD@VARIANT+VIEWS; ratio, accuracy in % of that of all data;
# per_100, seconds for 100 steps.  Several rows of the ledger in one cell: mean and deviation over all students.

function cut(text, list) { return split(text, list, " ") }
function add_record(    key) {
    field["name"] = field["method"] (field["variant"] == "-" ? "" : "@" field["variant"]) \
        (field["views"] == "0" ? "" : "+" field["views"])
    field["per_100"] = field["steps"] > 0 && field["seconds"] != "-" ? 100 * field["seconds"] / field["steps"] : "-"
    records++
    for (key in field) record[records, key] = field[key]
    if (field["method"] == "all" && field["variant"] == "-" && field["accuracy"] != "-") full[full_key(records)] = field["accuracy"]
}
function full_key(r) { return record[r, "dataset"] SUBSEP record[r, "split"] SUBSEP record[r, "network"] SUBSEP record[r, "kind"] }
# Figures of the paper become records of the kind "paper".
function read_paper(file,    line, n, i, cells, heading, parts) {
    if ((getline line <file) <= 0) { print file ": cannot be read" >"/dev/stderr"; exit 1 }
    n = split(line, heading, "\t")
    while ((getline line <file) > 0) {
        split(line, cells, "\t")
        for (i in head) field[head[i]] = "-"
        field["views"] = 0; field["students"] = 1; field["kind"] = "paper"; field["network"] = "cnn"; field["repeat"] = 0
        for (i = 1; i <= n; i++) if (heading[i] in known) field[heading[i]] = cells[i]
        if (field["accuracy"] != "-") add_record()
        for (i = 1; i <= n; i++) {
            if (heading[i] in known || cells[i] == "-") continue
            split(heading[i] "@-", parts, "@")
            field["method"] = parts[1]; field["variant"] = parts[2]; field["accuracy"] = cells[i]
            add_record()
        }
    }
}
function selected(r,    s) {
    for (s in wanted) if (!((s, record[r, s]) in place) && !(s == "split" && record[r, "kind"] == "paper")) return 0
    return 1
}
# Sorts by place in the selection, else by number, else as first seen.
function order_of(column, value) {
    if ((column, value) in place) return sprintf("%08d", place[column, value])
    if (value ~ /^[0-9]+$/) return sprintf("%08d", value)
    if (!((column, value) in first_seen)) first_seen[column, value] = ++seen
    return sprintf("9%07d", first_seen[column, value])
}
function key_of(r, list, n,    i, key) {
    for (i = 1; i <= n; i++) { key = key (i > 1 ? "\t" : "") record[r, list[i]]; sort_key = sort_key order_of(list[i], record[r, list[i]]) }
    return key
}
function gather(cell, value, r,    x, n) {
    x = record[r, value]
    if (value == "ratio") x = full_key(r) in full ? 100 * record[r, "accuracy"] / full[full_key(r)] : "-"
    if (x == "-" || x == "") return
    n = value == "accuracy" ? record[r, "students"] : 1
    count[cell] += n; sum[cell] += n * x
    squares[cell] += n * x * x + (value == "accuracy" && n > 1 ? (n - 1) * record[r, "deviation"] ^ 2 : 0)
}
function shown(cell, value,    mean, variance) {
    if (!count[cell]) return "-"
    mean = sum[cell] / count[cell]
    variance = count[cell] > 1 ? (squares[cell] - sum[cell] * mean) / (count[cell] - 1) : 0
    if (value == "accuracy") return sprintf("%.2f", mean) (count[cell] > 1 ? sprintf(" ± %.2f", sqrt(variance > 0 ? variance : 0)) : "")
    if (value == "ratio") return sprintf("%.1f", mean)
    if (value ~ /^(seconds|preparation|training)$/) return sprintf(mean < 10 ? "%.2f s" : "%.0f s", mean)
    return sprintf(value == "per_100" ? "%.3f s" : value == "memory" ? "%.1f" : "%.0f", mean)
}
function sort_keys(list, n, weight,    i, j, x) {
    for (i = 2; i <= n; i++) { x = list[i]; for (j = i; j > 1 && weight[list[j - 1]] > weight[x]; j--) list[j] = list[j - 1]; list[j] = x }
}
function heading_of(column, value) { gsub(/\t/, " ", column); return column (value == value_of[1] ? "" : (column == "" ? "" : ", ") title(value)) }
function title(word) { return word in titles ? titles[word] : word }
function say_row(text,    n, i, cells) {
    n = split(text, cells, "\t"); lines++
    for (i = 1; i <= n; i++) {
        cell_text[lines, i] = cells[i]; gsub(/±/, "+", cells[i])
        if (length(cells[i]) > width[i]) width[i] = length(cells[i])
    }
    widest = n
}
function print_table(    i, j, line, plain, pad) {
    for (i = 1; i <= lines; i++) {
        line = "|"
        for (j = 1; j <= widest; j++) { plain = cell_text[i, j]; gsub(/±/, "+", plain); pad = sprintf("%" (width[j] - length(plain) + 1) "s", ""); line = line " " cell_text[i, j] pad "|" }
        print line
        if (i > 1) continue
        line = "|"
        for (j = 1; j <= widest; j++) { pad = sprintf("%" (width[j] + 2) "s", ""); gsub(/ /, "-", pad); line = line pad "|" }
        print line
    }
}
BEGIN {
    FS = "\t"
    titles["per"] = "per class"; titles["memory"] = "MiB"; titles["per_100"] = "per 100 steps"; titles["name"] = "method"
    rows_n = cut(rows, row_of); facts_n = cut(facts, fact_of); columns_n = cut(columns, column_of); values_n = cut(values, value_of)
    for (n = split(select, parts, ";"); n > 0; n--) {
        i = index(parts[n], "=")
        if (!i) continue
        column = substr(parts[n], 1, i - 1); wanted[column] = 1
        for (j = split(substr(parts[n], i + 1), list, " "); j > 0; j--) place[column, list[j]] = j
    }
    for (n = split(labels, parts, ";"); n > 0; n--) if (i = index(parts[n], "=")) label[substr(parts[n], 1, i - 1)] = substr(parts[n], i + 1)
}
NR == 1 { for (i = 1; i <= NF; i++) { head[i] = $i; known[$i] = 1 }; next }
{ for (i in head) field[head[i]] = $i; add_record() }
END {
    if (paper != "") read_paper(paper)
    for (r = 1; r <= records; r++) {
        if (!selected(r)) continue
        sort_key = ""; row = key_of(r, row_of, rows_n)
        if (!(row in row_weight)) { row_list[++row_count] = row; row_weight[row] = sort_key }
        sort_key = ""; column = key_of(r, column_of, columns_n)
        if (!(column in column_weight)) { column_list[++column_count] = column; column_weight[column] = sort_key }
        for (i = 1; i <= facts_n; i++) gather(row SUBSEP fact_of[i], fact_of[i], r)
        for (i = 1; i <= values_n; i++) { gather(row SUBSEP column SUBSEP value_of[i], value_of[i], r); if (count[row, column, value_of[i]]) used[column, value_of[i]] = 1 }
    }
    if (sort != "") for (r in row_weight) row_weight[r] = substr(row_weight[r], 1, 8) sprintf("%016.0f", count[r, sort] ? sum[r, sort] / count[r, sort] : 0) substr(row_weight[r], 9)
    sort_keys(row_list, row_count, row_weight); sort_keys(column_list, column_count, column_weight)
    for (i = 1; i <= rows_n; i++) line = line (i > 1 ? "\t" : "") title(row_of[i])
    for (i = 1; i <= facts_n; i++) line = line "\t" title(fact_of[i])
    for (c = 1; c <= column_count; c++) for (v = 1; v <= values_n; v++) {
        shown_column[++shown_count] = column_list[by == "value" ? (shown_count - 1) % column_count + 1 : c]
    }
    n = 0
    for (i = 1; i <= column_count * values_n; i++) {
        c = by == "value" ? (i - 1) % column_count + 1 : int((i - 1) / values_n) + 1
        v = by == "value" ? int((i - 1) / column_count) + 1 : (i - 1) % values_n + 1
        if (!((column_list[c], value_of[v]) in used)) continue
        n++; cell_column[n] = column_list[c]; cell_value[n] = value_of[v]
        line = line "\t" heading_of(column_list[c], value_of[v])
    }
    say_row(line)
    for (r = 1; r <= row_count; r++) {
        split(row_list[r], keys, "\t"); line = ""; same = sort == ""
        for (i = 1; i <= rows_n; i++) {
            same = same && i < rows_n && r > 1 && keys[i] == last[i]
            line = line (i > 1 ? "\t" : "") (same ? "" : keys[i] in label ? label[keys[i]] : keys[i])
            last[i] = keys[i]
        }
        for (i = 1; i <= facts_n; i++) line = line "\t" shown(row_list[r] SUBSEP fact_of[i], fact_of[i])
        for (i = 1; i <= n; i++) line = line "\t" shown(row_list[r] SUBSEP cell_column[i] SUBSEP cell_value[i], cell_value[i])
        say_row(line)
    }
    print_table()
}
