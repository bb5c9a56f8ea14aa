# Finds the Swift toolchain's tools and a libdispatch. Sourced, more than once perhaps; sets variables, runs nothing else.
#
# In:  SWIFTC (default swiftc)
# Out: CLANG CLANGXX LLD AR OBJCOPY NM   the toolchain's own, so that a compiler and make suffice
#      SWIFT_LIB                         the toolchain's lib/swift
#      SHADOW_STACK                      the compiler's flag for code that has one; empty: not on this machine
#      DISPATCH_CFLAGS DISPATCH_LIBS     for C programs that call libdispatch themselves
#      DISPATCH_DIR                      where libdispatch.so is; empty: the system's directories
#      DISPATCH_STATIC_DIR               where libdispatch.a is; the same

[ -z "${TOOL_DIR:-}" ] || return 0
: "${SWIFTC:=swiftc}"

if ! SWIFT_LIB=$("$SWIFTC" -print-target-info 2>/dev/null |
    sed -n 's/.*"runtimeResourcePath": *"\(.*\)".*/\1/p') || [ -z "$SWIFT_LIB" ]; then
    echo "vow: no Swift compiler: '$SWIFTC' does not answer -print-target-info" >&2
    exit 1
fi
TOOL_DIR=$(cd "$SWIFT_LIB/../../bin" && pwd)

# The toolchain's tool if it has one of that name, else the one in PATH.
tool() {
    if [ -x "$TOOL_DIR/$1" ]; then echo "$TOOL_DIR/$1"; else command -v "$1"; fi
}

# What Swift's compiler calls the sanitizer of a build, asan or tsan; and C's, which finds what is undefined too.
sanitizer() { if [ "$1" = asan ]; then echo address; else echo thread; fi; }
c_sanitizer() { if [ "$1" = asan ]; then echo address,undefined; else echo thread; fi; }

CLANG=$(tool clang)
CLANGXX=$(tool clang++)
LLD=$(tool ld.lld)
AR=$(tool llvm-ar)
OBJCOPY=$(tool llvm-objcopy)
NM=$(tool llvm-nm)

SHADOW_STACK=-fcf-protection=return
echo 'int nothing;' | "$CLANG" -x c - -c $SHADOW_STACK -o /dev/null 2>/dev/null || SHADOW_STACK=

# A libdispatch that is installed for every program goes before the toolchain's.
system_dispatch() {
    printf '%s\n' '#include <dispatch/dispatch.h>' \
        'int main(void) { return dispatch_get_global_queue(0, 0) == 0; }' |
        "$CLANG" -x c - $1 -ldispatch -o /dev/null 2>/dev/null
}

DISPATCH_CFLAGS= DISPATCH_LIBS=-ldispatch DISPATCH_DIR= DISPATCH_STATIC_DIR=
if flags=$(pkg-config --cflags --libs libdispatch 2>/dev/null) && system_dispatch "$flags"; then
    DISPATCH_CFLAGS=$(pkg-config --cflags libdispatch)
    DISPATCH_LIBS=$(pkg-config --libs libdispatch)
elif ! system_dispatch ""; then
    DISPATCH_DIR=$SWIFT_LIB/linux
    DISPATCH_STATIC_DIR=${SWIFT_LIB}_static/linux
    DISPATCH_CFLAGS="-isystem $SWIFT_LIB -isystem $SWIFT_LIB/Block"
    DISPATCH_LIBS="-L$DISPATCH_DIR -Wl,-rpath,$DISPATCH_DIR -ldispatch -lBlocksRuntime"
fi
