# Finds Swift files that name something which is declared on a higher floor only.
#
#   awk -v floors="Platform=0 Records=1" -v exceptions="FILE:NAME" -f floors.awk pass=1 FILE... pass=2 FILE...
#
# Pass 1 notes what is declared on which floor, pass 2 looks at every word. Known to a floor is
# what it or a lower one declares anywhere. Forbidden is the rest, as far as a higher floor
# declares it at top level, or, after a dot, as a member in an extension of a type. What is private
# to its file can be named by no other, so that its name is not taken.

BEGIN {
    count = split(floors, pairs, " ")
    for (i = 1; i <= count; i++) {
        split(pairs[i], pair, "=")
        floor_of[pair[1]] = pair[2]
        if (pair[2] > top) top = pair[2]
    }
    count = split(exceptions, pairs, " ")
    for (i = 1; i <= count; i++) allowed[pairs[i]] = 1
    count = split("struct class enum protocol actor func let var typealias case", words, " ")
    for (i = 1; i <= count; i++) declares[words[i]] = 1
}

FNR == 1 {
    parts = split(FILENAME, path, "/")
    folder = ""
    for (i = 1; i < parts; i++) if (path[i] in floor_of) folder = path[i]
    if (folder == "") {
        if (pass == 1) complain(FILENAME ": stands on no floor")
    } else {
        here = floor_of[folder] + 0
    }
    depth = 0; in_comment = 0; in_string = 0; pending = ""; extended = 0; hidden = 0
}

folder != "" { scan(code($0)) }

END { exit bad }

function complain(text) { print "floors: " text; bad = 1 }

# The line without comments and without what stands in string literals.
function code(line,    out, at, two) {
    out = ""
    for (at = 1; at <= length(line); at++) {
        two = substr(line, at, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; at++ }
        } else if (substr(line, at, 3) == "\"\"\"") {
            in_string = !in_string; at += 2
        } else if (in_string) {
            continue
        } else if (two == "//") {
            break
        } else if (two == "/*") {
            in_comment = 1; at++
        } else if (substr(line, at, 1) == "\"") {
            for (at++; at <= length(line) && substr(line, at, 1) != "\""; at++)
                if (substr(line, at, 1) == "\\") at++
        } else {
            out = out substr(line, at, 1)
        }
    }
    return out
}

function scan(line,    c, word, before) {
    before = " "
    while (line != "") {
        c = substr(line, 1, 1)
        if (match(line, /^[A-Za-z_][A-Za-z0-9_]*/)) {
            word = substr(line, 1, RLENGTH)
            line = substr(line, RLENGTH + 1)
            if (pass == 1) note(word, before, line)
            else check(word, before, line)
            before = "a"
            continue
        }
        if (c == "{") depth++
        else if (c == "}") { depth--; if (depth == 0) extended = 0 }
        if (c != " ") pending = ""
        if (c != " " || before != ".") before = c
        line = substr(line, 2)
    }
}

# Pass 1: the word after a declaring one is a name; so is one before a colon (a parameter).
function note(word, before, rest) {
    if (before == ".") return
    if (pending != "" && !(word in declares)) {
        known[here, word] = 1
        if (hidden) hidden = 0
        else if (depth == 0) outermost[here, word] = 1
        else if (depth == 1 && extended && pending != "case") member[here, word] = 1
    } else if (rest ~ /^ *:/) {
        labels[FILENAME, word] = 1
    }
    if (depth == 0 && word == "extension") { extended = !hidden; hidden = 0 }
    if (word ~ /^(file)?private$/ && rest !~ /^\(set\)/) hidden = 1
    pending = (word in declares) ? word : ""
}

# Pass 2.
function check(word, before, rest,    floor) {
    for (floor = 0; floor <= here; floor++) if ((floor, word) in known) return
    if ((FILENAME, word) in labels) return
    for (floor = here + 1; floor <= top; floor++)
        if ((before != "." && (floor, word) in outermost) || (before == "." && (floor, word) in member)) {
            if (!is_exception(word)) {
                complain(FILENAME ":" FNR ": names " word ", which floor " floor " declares")
            }
            return
        }
}

# Of the file that is read: the folder that makes its floor, and what comes after.
function is_exception(word,    file) {
    file = FILENAME
    while (file != "") {
        if ((file ":" word) in allowed || (file ":*") in allowed) return 1
        if (!sub(/^[^\/]*\//, "", file)) return 0
    }
    return 0
}
