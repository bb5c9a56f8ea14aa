# Builds a C program against one form of the library. Sourced; brings toolchain.sh and results.sh along.
#
#   program FORM OUTPUT SOURCE...
#
# FORM  tree                      the shared library where it was built: $OUT
#       shared, bundled, checked  a shared library installed in $PREFIXES/FORM
#       static                    the archive of $PREFIXES/shared; all of the program is static
#       blocks                    shared, by the toolchain's clang, under AddressSanitizer: for what is written with blocks
#       asan, tsan                sanitized, with the archive in $BUILD/FORM
#       host                      a program of Swift, not linked with it
#
# A program may call libdispatch itself in every form but bundled: there the library has one of
# its own inside, whose queues are no queues to another copy.

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
    local form=$1 output=$2 checked=
    shift 2
    # The checked library keeps freed memory for a while, which tests that count it must know.
    [ "$form" != checked ] || checked=-DVOW_CHECKED
    mkdir -p "$(dirname "$output")"
    case $form in
    tree)
        $CC $STRICT -O2 -I include -I examples-c $DISPATCH_CFLAGS "$@" -o "$output" \
            -L "$OUT/lib" "-Wl,-rpath,$(cd "$OUT/lib" && pwd)" -lvow $DISPATCH_LIBS
        ;;
    shared | checked)
        $CC $STRICT -O1 $checked $DISPATCH_CFLAGS $(vow_flags "$form" --cflags) "$@" -o "$output" \
            $(vow_flags "$form" --libs) $DISPATCH_LIBS
        ;;
    blocks)
        "$CLANG" -fblocks -fuse-ld=lld -fsanitize=address $STRICT -O1 $(vow_flags shared --cflags) "$@" -o "$output" \
            $(vow_flags shared --libs) $DISPATCH_LIBS
        ;;
    bundled)
        $CC $STRICT -O1 $(vow_flags bundled --cflags) "$@" -o "$output" \
            $(vow_flags bundled --libs)
        ;;
    static)
        $CC -static $STRICT -O1 $DISPATCH_CFLAGS $(vow_flags shared --static --cflags) "$@" \
            -o "$output" $(vow_flags shared --static --libs)
        ;;
    host)
        "$SWIFTC" -swift-version 6 -parse-as-library -module-cache-path "$BUILD/test/modules" \
            -I "$PREFIXES/shared/include/vow" -L "$PREFIXES/shared/lib" "$@" -o "$output"
        ;;
    asan | tsan)
        "$CLANG" -fuse-ld=lld "-fsanitize=$(c_sanitizer "$form")" \
            -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
            $STRICT -O1 -I include -I examples-c $DISPATCH_CFLAGS "$@" -o "$output" \
            "$BUILD/$form/lib/libvow.a" $DISPATCH_LIBS -lm
        ;;
    *)
        echo "program: no form '$form'" >&2
        return 2
        ;;
    esac
}
