# Builds one C or C++ peer. Sourced by the peers' build scripts, which run in their own directory.
#
#   absent REASON                        says that the peer is not to be had here, and ends
#   needs MODULE...                      absent, unless pkg-config knows them all
#   peer NAME OUT_DIR FLAGS LIBS SOURCE...  compiles with -O2, links the common main, leaves OUT_DIR/NAME
#
# CC and CXX choose the compilers; all peers of a run get the same ones. LIBRARY says how the library itself
# was compiled, where that is known; the system's are as they were installed.

: "${CC:=gcc}" "${CXX:=g++}"
COMMON=$(cd ../common && pwd)
ROOT=$(cd "$COMMON/../../.." && pwd)
OPTIMISED="-O2 -DNDEBUG"

absent() {
    echo "$*"
    exit 3
}

needs() {
    local module
    for module in "$@"; do
        pkg-config --exists "$module" 2>/dev/null || absent "no $module in pkg-config"
    done
}

# What pkg-config says, once for all modules.
flags_of() { pkg-config --cflags "$@"; }
libs_of() { pkg-config --libs "$@"; }

# The compiler's name and version: "gcc (Debian ...) 12.2.0" or the like.
named() { "$1" --version | head -n 1; }

# Whether the program is there, made in this way, and newer than all that it is made of.
fresh() {
    local program=$1 how=$2
    shift 2
    [ -e "$program" ] && [ "$(cat "$program.how" 2>/dev/null)" = "$how" ] &&
        [ -z "$(find . "$@" "$COMMON" "$ROOT/include" ../../count -newer "$program" -print -quit)" ]
}

peer() {
    local name=$1 out=$2 flags=$3 libs=$4 source object objects=() compiler=$CC how
    shift 4
    : "${LIBRARY:=${libs:+the library as installed}}"
    how="$CC $CXX $OPTIMISED $flags $libs $LIBRARY $*"
    command -v "$CC" >/dev/null && command -v "$CXX" >/dev/null || absent "no $CC or $CXX"
    needs benchmark
    ! fresh "$out/$name" "$how" "$@" || return 0
    mkdir -p "$out"
    [[ " $* " != *.cpp\ * ]] || compiler=$CXX
    for source in "$@" "$COMMON/duel.c" "$COMMON/peer.cpp"; do
        object=$out/${#objects[@]}-$(basename "$source").o
        objects+=("$object")
        case $source in
        *.c) "$CC" -std=gnu11 $OPTIMISED -Wall -Wextra -I "$COMMON" $flags -c "$source" -o "$object" ;;
        *peer.cpp)
            "$CXX" -std=gnu++17 $OPTIMISED -Wall -Wextra -I "$COMMON" -c "$source" -o "$object" \
                "-DPEER_COMPILER=\"$(named "$compiler")\"" "-DPEER_FLAGS=\"$OPTIMISED${LIBRARY:+; $LIBRARY}\""
            ;;
        *) "$CXX" -std=gnu++17 $OPTIMISED -Wall -Wextra -I "$COMMON" $flags -c "$source" -o "$object" ;;
        esac
    done
    "$CXX" "${objects[@]}" -o "$out/$name" $libs $(libs_of benchmark) -pthread
    echo "$how" >"$out/$name.how"
}
