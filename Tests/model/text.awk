# The text of a model that its searches depend on: includes in their places; no comments, no blank lines.
#
#   awk -f text.awk MODEL.pml

BEGIN {
    directory = ARGV[1]
    if (!sub(/[^\/]*$/, "", directory)) directory = ""
    emit(ARGV[1])
    exit bad
}

function emit(file,    line, in_comment, at, status, included) {
    while ((status = (getline line < file)) > 0) {
        if (!in_comment && line ~ /^#include "/) {
            included = line
            gsub(/^#include "|".*/, "", included)
            emit(directory included)
            continue
        }
        for (;;) {
            if (in_comment) {
                at = index(line, "*/")
                line = at ? substr(line, at + 2) : ""
                if (at) in_comment = 0
            }
            at = index(line, "/*")
            if (!at) break
            included = substr(line, at + 2)
            line = substr(line, 1, at - 1)
            at = index(included, "*/")
            if (!at) { in_comment = 1; break }
            line = line " " substr(included, at + 2)
        }
        gsub(/[ \t]+/, " ", line)
        gsub(/^ | $/, "", line)
        if (line != "") print line
    }
    if (status < 0) { print "cannot be read: " file > "/dev/stderr"; bad = 1 }
    close(file)
}
