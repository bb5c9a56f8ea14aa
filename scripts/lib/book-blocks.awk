# Takes one chapter of the book apart: awk -v work=DIRECTORY -f book-blocks.awk CHAPTER
#
# Writes each block of C, Swift or shell into DIRECTORY as LINE.c, LINE.swift or LINE.sh, LINE being
# where it begins, and what the book says it prints as LINE.prints. A block of C that begins as
# book.h does becomes LINE.h, and prints nothing. Complains of what has no such place.

function complain(line, what) { print FILENAME ":" line ": " what; bad = 1 }

function store(name) {
    printf "%s", text >name
    close(name)
}

function finish() {
    if (language == "text") {
        if (announced) { store(work "/" code ".prints"); code = 0 }
        announced = 0
    } else if (language == "c" && text ~ /^\/\* book\.h: /) {
        store(work "/" first ".h")
    } else if (language == "c" || language == "swift" || language == "sh") {
        store(work "/" first "." language)
        code = first
    } else {
        complain(first - 1, "a block must be c, swift, sh or text")
    }
}

/^```/ && !inside {
    inside = 1; language = substr($0, 4); first = FNR + 1; text = ""
    if (code && !(language == "text" && announced)) {
        complain(code, "does not say what it prints")
        code = 0
    }
    next
}
/^```$/ { inside = 0; finish(); next }
inside { text = text $0 "\n"; next }
code && /^prints:$/ { announced = 1; next }
code && NF { complain(code, "does not say what it prints"); code = announced = 0 }
END {
    if (inside) complain(first, "the block has no end")
    if (code) complain(code, "does not say what it prints")
    exit bad
}
