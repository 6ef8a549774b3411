# awk -v id=ID -f apply.awk mutants.tsv    prints the source of a mutant
# awk -f apply.awk mutants.tsv             says which entries are wrong, and fails if any is
#
# A space of the old text stands for any white space of the source, line breaks too, so that an entry
# outlives a new wrapping of lines.

BEGIN { FS = "\t" }

# The whole of a file; "" if there is none.
function contents(file,    before, text, part) {
    before = RS
    RS = "\001"
    while ((getline part < file) > 0)
        text = text part
    close(file)
    RS = before
    return text
}

# Where old ends in text if it begins at start; 0 if it does not.
function end_at(text, old, start,    i, c, at) {
    at = start
    for (i = 1; i <= length(old); i++) {
        c = substr(old, i, 1)
        if (c == " " ? substr(text, at, 1) !~ /[ \n\t]/ : substr(text, at, 1) != c)
            return 0
        at++
        while (c == " " && substr(text, at, 1) ~ /[ \n\t]/)
            at++
    }
    return at
}

# How often text has old; sets result to the text with it replaced.
function replace(text, old, new,    word, from, found, start, end, times) {
    word = old
    sub(/ .*/, "", word)
    for (from = 1; word != "" && (found = index(substr(text, from), word)); from = start + 1) {
        start = from + found - 1
        end = end_at(text, old, start)
        if (end) {
            times++
            result = substr(text, 1, start - 1) new substr(text, end)
        }
    }
    return times + 0
}

function wrong(why) {
    printf "%s:%d: mutant %s: %s: %s\n", FILENAME, FNR, $1, $2, why
    failed = 1
}

/^#/ { next }

id != "" && $1 == id {
    if (replace(contents($2), $3, $4) != 1)
        exit failed = 1
    printf "%s", result
    exit
}
id != "" { next }

{
    if (!($2 in texts))
        texts[$2] = contents($2)
    times = replace(texts[$2], $3, $4)
    if (NF != 5)
        wrong("an entry has five fields: id, file, old text, new text, tests")
    else if ($1 !~ /^[0-9]+$/ || $1 <= last)
        wrong("ids must be numbers in rising order")
    else if (texts[$2] == "")
        wrong("no such file")
    else if (times == 0)
        wrong("the old text is not there: " $3)
    else if (times > 1)
        wrong("the old text is there " times " times: " $3)
    else if ($3 == $4)
        wrong("the new text is the old one")
    last = $1 + 0
}

END { exit failed }
