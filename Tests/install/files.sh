# What is installed where: sourced by run.

vow_make install PREFIX="$prefix"
result $? "make install"

# The headers, the manual pages where they were made, and the debugger's script.
expected="$(find include -name 'vow.h*' -printf 'include/%f\n')
$(printf '%s\n' include/vow/*.hpp)
$(find "$BUILD/docs/man" -name '*.3' -printf 'share/man/%P\n' 2>/dev/null)
$(cd packaging/gdb && printf 'share/vow/gdb/%s\n' *.py */*.py)
share/gdb/auto-load$prefix/lib/libvow.so.$version-gdb.py
include/vow/module.modulemap
lib/cmake/vow/manifest.txt
lib/cmake/vow/vowConfig.cmake
lib/cmake/vow/vowConfigVersion.cmake
lib/libvow.a
lib/libvow.so
lib/libvow.so.0
lib/libvow.so.$version
lib/.debug/libvow.so.$version.debug
lib/pkgconfig/vow.pc"
diff <(echo "$expected" | sed "/^\$/d" | LC_ALL=C sort) <(cd "$prefix" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort)
result $? "the files are those that are to be installed, and no others"

[ "$(readlink "$prefix/lib/libvow.so") $(readlink "$prefix/lib/libvow.so.0")" = \
    "libvow.so.0 libvow.so.$version" ]
result $? "libvow.so leads to the soname, and that to the file"

[ "$(flags --modversion)" = "$version" ]
result $? "vow.pc has the header's version"

# A package is put together in DESTDIR for a PREFIX that is somewhere else.
stage=$work/stage
vow_make install PREFIX=/usr DESTDIR="$stage" && [ -f "$stage/usr/lib/libvow.so.$version" ]
result $? "DESTDIR stands before PREFIX"
! grep -rqF "$stage" "$stage/usr/lib/pkgconfig" "$stage/usr/lib/cmake" &&
    grep -qx 'prefix=/usr' "$stage/usr/lib/pkgconfig/vow.pc"
result $? "no installed file names DESTDIR"
! grep -q '^Libs:.*rpath' "$stage/usr/lib/pkgconfig/vow.pc"
result $? "no run path is given for a directory that the loader knows"

# Whoever installs for all may work under a mask that lets nobody else in.
(umask 077 && vow_make install PREFIX="$work/private/masked") &&
    ! find "$work/private/masked" ! -perm -444 | grep . &&
    ! find "$work/private/masked" -type d ! -perm -555 | grep .
result $? "under umask 077 folders and files are everybody's to read"

! vow_make install PREFIX=relative 2>/dev/null && [ ! -e relative ]
result $? "a PREFIX that is not absolute is refused"
! vow_make install PREFIX="$work/elsewhere" LIBDIR=../lib 2>/dev/null && [ ! -e "$work/elsewhere" ]
result $? "a LIBDIR that is not below PREFIX is refused"
