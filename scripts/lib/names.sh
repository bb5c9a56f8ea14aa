# Lists names: what the header declares, what the map exports, what a library defines. Sourced.

# The functions that include/vow.h declares for the library: all but its inline ones.
# $1: "marked" for those that carry VOW_API only.
header_functions() {
    "$CLANG" -fsyntax-only -Xclang -ast-dump -fno-color-diagnostics -x c include/vow.h |
        awk -v marked="${1:-}" '
            /^[|`]-FunctionDecl/ {
                name = ""
                if ($0 !~ / static/ && match($0, /vow_[a-z0-9_]+ \047/))
                    name = substr($0, RSTART, RLENGTH - 2)
                if (name != "" && !marked) print name
            }
            /^. .*VisibilityAttr.* Default/ { if (name != "" && marked) print name; name = "" }
        ' | LC_ALL=C sort -u
}

map_functions() {
    sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\);.*/\1/p' packaging/libvow.map | LC_ALL=C sort -u
}

# What others can see of the library file $1: the names, without their version; and without the hidden
# one that all static probes of a program share.
defined_names() {
    local which=--extern-only
    case $1 in *.so*) which=--dynamic ;; esac
    "$NM" $which --defined-only --just-symbol-name "$1" |
        sed -e 's/@.*//' -e '/:$/d' -e '/^$/d' -e '/^VOW_[0-9.]*$/d' -e '/^_\.stapsdt\.base$/d' | LC_ALL=C sort -u
}
