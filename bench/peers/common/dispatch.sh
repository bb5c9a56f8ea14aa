# Sets DISPATCH_CFLAGS and DISPATCH_LIBS as the library's own build finds them, and CC: libdispatch's
# headers in the Swift toolchain are for its clang only. Sourced, after build.sh.

: "${SWIFTC:=swiftc}"
command -v "$SWIFTC" >/dev/null || absent "no Swift toolchain, whose libdispatch this uses"
. "$ROOT/scripts/lib/toolchain.sh"
[ -n "$CLANG" ] || absent "no clang, which libdispatch's headers need"
CC=$CLANG
