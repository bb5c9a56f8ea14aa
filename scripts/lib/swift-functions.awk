# Writes the text of named functions, so that a change of one can be seen by a hash.
#
#   awk -v root=Sources/VowCore -v out=DIRECTORY -f swift-functions.awk LIST
#
# LIST has lines `FILE NAME`. The text of all declarations of that name in the file goes to DIRECTORY/FILE:NAME, with
# `,` for `/`: functions, initialisers, properties, types; not what is local to a function. Comments, blank lines and
# the width of blanks are left out. What is not found, or has no end, is said, and the status is 1.
#
# A declaration begins on a line of its own. It ends with the line that closes its last bracket, which in a formatted
# file has the indentation of the first.

BEGIN {
    modifiers = "(@[A-Za-z_()]+|private|fileprivate|public|internal|static|mutating|consuming|borrowing|" \
        "nonisolated|nonisolated\\(unsafe\\)|private\\(set\\)|indirect) +"
}

{ if (!(($1, $2) in wanted)) pairs[++pair_count] = $0; wanted[$1, $2] = 1; files[$1] = 1 }

END {
    for (file in files) extract(file)
    for (number = 1; number <= pair_count; number++) {
        split(pairs[number], pair, " ")
        if (!((pair[1], pair[2]) in found)) complain(pair[1] " declares no " pair[2])
    }
    exit bad
}

function complain(text) { print text; bad = 1 }

# `open` counts the declarations that the line stands in; of each: name, kind, indentation, depth of brackets.
function extract(file,    line, status, at, indent, name, had_brace) {
    open = 0
    while ((status = (getline line < (root "/" file))) > 0) {
        line = code(line)
        indent = match(line, /[^ \t]/) - 1
        if (indent < 0) continue
        # One without a bracket has gone on as long as lines were indented deeper.
        while (open > 0 && depth[open] == 0 && may_end[open] && indent <= indent_of[open]) open--
        name = open > 0 && kind[open] != "type" ? "" : declared(line)
        if (name != "") {
            open++
            name_of[open] = name
            kind[open] = declared_kind
            indent_of[open] = indent
            depth[open] = 0
            may_end[open] = declared_kind == "value"
            if ((file, name) in wanted) found[file, name] = 1
        }
        for (at = 1; at <= open; at++) {
            if ((file, name_of[at]) in wanted) write(file, name_of[at], line)
            depth[at] += opening - closing
            if (braces) may_end[at] = 1
        }
        while (open > 0 && may_end[open] && depth[open] == 0 && (braces || kind[open] != "value")) {
            if (indent != indent_of[open]) complain(file ": " name_of[open] " does not end where it began")
            open--
        }
    }
    if (status < 0) complain(file ": cannot be read")
    close(root "/" file)
    while (open > 0 && depth[open] == 0 && may_end[open]) open--
    if (open > 0) complain(file ": " name_of[open] " does not end")
}

function write(file, name, line,    target) {
    target = file
    gsub("/", ",", target)
    gsub(/[ \t]+/, " ", line)
    sub(/^ /, "", line)
    print line > (out "/" target ":" name)
}

# The name that a line declares, and declared_kind: body, value or type. Empty: none.
function declared(line,    word) {
    sub(/^ +/, "", line)
    while (match(line, "^" modifiers)) line = substr(line, RLENGTH + 1)
    if (match(line, /^(func|struct|enum|class|extension|protocol|var|let) +/)) {
        word = line
        sub(/ .*/, "", word)
        line = substr(line, RLENGTH + 1)
        match(line, /^[A-Za-z_0-9`.]+/)
        declared_kind = word == "func" ? "body" : word ~ /^(var|let)$/ ? "value" : "type"
        return word == "extension" ? "extension " substr(line, 1, RLENGTH) : substr(line, 1, RLENGTH)
    }
    if (line ~ /^(convenience )?init[?]?[(<]/) { declared_kind = "body"; return "init" }
    return ""
}

# The line without its comment; opening, closing: its brackets outside of strings; braces: whether one is a brace.
function code(line,    at, sign, in_string) {
    opening = closing = braces = 0
    for (at = 1; at <= length(line); at++) {
        sign = substr(line, at, 1)
        if (in_string) {
            if (sign == "\\") at++
            else if (sign == "\"") in_string = 0
        } else if (sign == "\"") {
            in_string = 1
        } else if (sign == "/" && substr(line, at, 2) == "//") {
            line = substr(line, 1, at - 1)
            break
        } else if (sign ~ /[{(\[]/) {
            opening++
            if (sign == "{") braces = 1
        } else if (sign ~ /[})\]]/) {
            closing++
            if (sign == "}") braces = 1
        }
    }
    sub(/[ \t]+$/, "", line)
    return line
}
