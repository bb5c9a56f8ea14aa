# contents PATH...: one hash of all files at or below these paths, names included; not of what is built. Sourced.
contents() {
    find "$@" -name __pycache__ -prune -o -name .build -prune -o -type f -print0 2>/dev/null |
        LC_ALL=C sort -z | xargs -0 sha256sum -- | sha256sum | cut -c1-16
}
