# contents PATH...: one hash of all files at or below these paths, names included; not of what is built, nor of the record
# of what was proved, which changes by being written. Sourced.
contents() {
    find "$@" -name __pycache__ -prune -o -name .build -prune -o -type f ! -path docs/proved.md -print0 2>/dev/null |
        LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum | cut -c1-16
}

# remembered WHAT PATH...: the file of what is known of these files, in the folder REMEMBER; without one, nowhere.
remembered() {
    [ -n "${REMEMBER:-}" ] || { echo /dev/null && return; }
    local file
    file=$REMEMBER/$1.$(contents "${@:2}")
    mkdir -p "$REMEMBER"
    touch "$file"
    echo "$file"
}
