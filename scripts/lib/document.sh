# blocks DOCUMENT SECTION [LANGUAGE]: the fenced blocks under one heading of it. Sourced.
blocks() {
    awk -v section="$2" -v language="${3:-}" '
        !inside && /^#+ / { here = $0; sub(/^#+ /, "", here); wanted = here == section; next }
        /^```/ && inside { inside = shown = 0; next }
        /^```/ { inside = 1; shown = wanted && (language == "" || $0 == "```" language); next }
        shown' "$1"
}
