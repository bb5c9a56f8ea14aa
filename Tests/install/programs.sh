# Programs against the installation, by pkg-config, CMake and module map: sourced by run.

for compiler in gcc clang "$CC"; do
    name=$(basename "$compiler")
    app=$work/app-$name
    $compiler "$here/app.c" -o "$app" $(flags --cflags --libs)
    says "$name with pkg-config" "$app"
done
grep -q "$prefix/lib/libvow.so.0" < <(ldd "$work/app-$name")
result $? "the program loads the installed library"
lacks "and no libdispatch" "$work/app-$name" 'dispatch|Blocks|stdc|swift'

# A program that is not position-independent and takes the address of a function.
gcc -fno-pic -no-pie "$here/app.c" -o "$work/app-no-pie" $(flags --cflags --libs)
says "gcc -no-pie, with a function's address" "$work/app-no-pie"

g++ "$here/app.cpp" -o "$work/app-cpp" $(flags --cflags --libs)
says "g++ with pkg-config" "$work/app-cpp"

# All static: libc.a too.
for compiler in gcc clang; do
    app=$work/app-static-$compiler
    $compiler -static "$here/app.c" -o "$app" $(flags --cflags --libs --static)
    says "$compiler -static with pkg-config --static" "$app"
    [ -x "$app" ] && ! readelf -d "$app" | grep NEEDED
    result $? "the static program needs no library ($compiler)"
done

# The archive alone, libc shared: as above, with the archive named.
$CC "$here/app.c" -o "$work/app-archive" \
    $(flags --cflags --libs --static | sed 's/-lvow/-l:libvow.a/')
says "the archive with a shared libc" "$work/app-archive"
lacks "a program with the archive needs libc only" "$work/app-archive" 'vow|dispatch|Blocks|stdc|swift'

"$SWIFTC" -swift-version 6 -parse-as-library -module-cache-path "$work/modules" \
    -I "$prefix/include/vow" -L "$prefix/lib" -Xlinker -rpath -Xlinker "$prefix/lib" \
    "$here/app.swift" -o "$work/app-swift"
says "Swift by the installed module map" "$work/app-swift"

# quiet COMMAND...: its output only when it fails.
quiet() {
    "$@" >"$work/output" 2>&1 || { tail -n 30 "$work/output" && return 1; }
}

configure() { quiet cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" "$@"; }

configure -DWANTED_VERSION="${version%.*}" && quiet cmake --build "$work/cmake"
result $? "CMake finds vow and builds with it"
says "CMake, vow::vow" "$work/cmake/with_shared"
says "CMake, vow::vow_static" "$work/cmake/with_static"
lacks "the program with vow::vow_static needs no libvow.so" "$work/cmake/with_static" libvow
readelf -d "$work/cmake/libplugin.so" | grep -q NODELETE && ! nm -D --defined-only "$work/cmake/libplugin.so" | grep vow_
result $? "CMake, a module with vow::vow_static stays in memory and exports nothing of it"
! readelf -d "$work/cmake/with_static" | grep NODELETE
result $? "and a program is linked as it was"
for other in 99.0 "${version%%.*}.99"; do
    ! configure -DWANTED_VERSION=$other --fresh >/dev/null &&
        grep -q 'version: *'"$version" "$work/output"
    result $? "CMake is refused version $other"
done

