# The table of archive-accuracy.mk: sets below each other, for each network ours and the published one.
FNR > 1 { published[$1, $2] = $3 " ± " $4 }

# What sc-eval wrote: "mean" and "deviation".
function ours(file,    line, fields, mean, deviation) {
    mean = "-"
    while ((getline line < file) > 0) {
        split(line, fields)
        if (fields[1] == "mean")
            mean = sprintf("%.1f", fields[2])
        if (fields[1] == "deviation")
            deviation = fields[2] > 0 ? sprintf(" ± %.1f", fields[2]) : ""
    }
    close(file)
    return mean deviation
}

END {
    many = split(sets, set, " ")
    few = split(networks, network, " ")
    printf "| set |"
    for (k = 1; k <= few; k++)
        printf " %s | published |", network[k]
    printf "\n|---|"
    for (k = 1; k <= few; k++)
        printf "---|---|"
    print ""
    for (i = 1; i <= many; i++) {
        printf "| %s |", set[i]
        for (k = 1; k <= few; k++)
            printf " %s | %s |", ours(run "/" set[i] "/archive/" network[k] ".tsv"),
                (set[i], network[k]) in published ? published[set[i], network[k]] : "-"
        print ""
    }
}
