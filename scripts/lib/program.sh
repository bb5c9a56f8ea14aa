# Builds a C program against one form of the library. Sourced; brings toolchain.sh and results.sh along.
#
#   program FORM OUTPUT SOURCE...
#
# FORM  tree                      the shared library where it was built: $OUT
#       shared, checked, minimal  a shared library installed in $PREFIXES/FORM
#       alone                     the shared library, in a process without libdispatch
#       static                    the archive of $PREFIXES/shared; all of the program is static
#       blocks                    shared, by the toolchain's clang, under AddressSanitizer: for what is written with blocks
#       asan, tsan                sanitized, with the archive in $BUILD/FORM
#       host                      a program of Swift, not linked with it
#
# A program may call libdispatch itself in every form but alone, in which the process has none.

. scripts/lib/toolchain.sh
. scripts/lib/results.sh
: "${CC:=cc}" "${BUILD:=build}"
PREFIXES=$BUILD/test/prefix
STRICT="-std=c11 -g -pthread -Wall -Wextra -Wpedantic -Werror"

# vow_flags FORM OPTION...: what the installed vow.pc says.
vow_flags() { PKG_CONFIG_PATH=$PREFIXES/$1/lib/pkgconfig pkg-config "${@:2}" vow; }

# library_flags NAME: those of another project's library, whose headers are not ours to warn about.
library_flags() { pkg-config --cflags --libs "$1" | sed 's/\(^\| \)-I/\1-isystem /g'; }

program() {
    local form=$1 output=$2 compiler=$CC flags="-O1 $DISPATCH_CFLAGS" libs=$DISPATCH_LIBS installed=shared how=
    shift 2
    mkdir -p "$(dirname "$output")"
    case $form in
    tree)
        flags="-O2 -I include -I examples-c $DISPATCH_CFLAGS" installed=
        libs="-L $OUT/lib -Wl,-rpath,$(realpath "$OUT/lib") -lvow $DISPATCH_LIBS"
        ;;
    shared) ;;
    # The checked library keeps freed memory for a while, which tests that count it must know.
    checked) flags+=" -DVOW_CHECKED" installed=checked ;;
    alone) flags=-O1 libs= ;;
    minimal) installed=minimal ;;
    static) compiler+=" -static" libs="${DISPATCH_STATIC_DIR:+-L$DISPATCH_STATIC_DIR }-ldispatch -lBlocksRuntime" how=--static ;;
    blocks) compiler="$CLANG -fblocks -fuse-ld=lld -fsanitize=address" ;;
    asan | tsan)
        compiler="$CLANG -fuse-ld=lld -fsanitize=$(c_sanitizer "$form") -fno-sanitize-recover=undefined"
        flags+=" -fno-omit-frame-pointer -I include -I examples-c" installed=
        libs="$BUILD/$form/lib/libvow.a $DISPATCH_LIBS -lm"
        ;;
    host)
        "$SWIFTC" -swift-version 6 -parse-as-library -module-cache-path "$BUILD/test/modules" \
            -I "$PREFIXES/shared/include/vow" -L "$PREFIXES/shared/lib" "$@" -o "$output"
        return
        ;;
    *) echo "program: no form '$form'" >&2 && return 2 ;;
    esac
    [ -z "$installed" ] || flags+=" $(vow_flags $installed $how --cflags)" libs="$(vow_flags $installed $how --libs) $libs"
    $compiler $STRICT $flags "$@" -o "$output" $libs
}
