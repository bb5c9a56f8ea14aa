# Takes fenced blocks out of documents. Sourced.

# blocks DOCUMENT SECTION [LANGUAGE]: prints the blocks under one heading of it.
blocks() {
    awk -v section="$2" -v language="${3:-}" '
        !inside && /^#+ / { here = $0; sub(/^#+ /, "", here); wanted = here == section; next }
        /^```/ && inside { inside = shown = 0; next }
        /^```/ { inside = 1; shown = wanted && (language == "" || $0 == "```" language); next }
        shown' "$1"
}

# take_blocks DIRECTORY LANGUAGE DOCUMENT...: writes each block of a language into a file DIRECTORY/001.LANGUAGE and so on,
# and prints for each the file, the document, and the line where it begins.
take_blocks() {
    rm -rf "$1"
    mkdir -p "$1"
    awk -v to="$1" -v language="$2" '
        /^```$/ && file { close(file); file = "" }
        file { print >file }
        $0 == "```" language { file = sprintf("%s/%03d.%s", to, ++count, language); print file, FILENAME, FNR + 1 }
    ' "${@:3}"
}
