# The binary tarball in the empty Debian: sourced by run.

# documented SECTION: the shell commands under that heading.
documented() { blocks docs/installing.md "$1" sh; }

# answers SENTENCE COMMANDS: they end well, and the last line that they print is the README program's.
answers() {
    local status=0
    in_scratch "$2" >"$work/output" 2>&1 && [ "$(tail -n 1 "$work/output")" = 42 ] || status=1
    [ $status = 0 ] || tail -n 30 "$work/output"
    result $status "$1"
}

blocks docs/installing.md CMake cmake >"$work/CMakeLists.txt"
[ -s "$work/CMakeLists.txt" ]
result $? "the documentation has a CMakeLists.txt"
! in_scratch "command -v swiftc || ls /usr/include/vow.h /usr/lib/*/libdispatch*" >/dev/null 2>&1
result $? "the empty Debian has neither Swift nor libdispatch nor Vow"
scratch_files >"$work/before"

into_scratch "$binary" "$work/app.c" "$work/CMakeLists.txt"
unpacked=$(documented "The binary tarball")
answers "tarball: the README's program by pkg-config" "$unpacked"
answers "tarball: all static" "$unpacked; $(documented "Static programs")"
answers "tarball: by CMake" "$unpacked; $(documented CMake)"
sed 's/vow::vow)/vow::vow_static)/' "$work/CMakeLists.txt" >"$work/static.txt"
! cmp -s "$work/CMakeLists.txt" "$work/static.txt"
result $? "the CMakeLists.txt can name the archive"
into_scratch "$binary" "$work/app.c" && as_root cp "$work/static.txt" "$scratch/root/vow/CMakeLists.txt"
answers "tarball: by CMake, the archive" "$unpacked; $(documented CMake)"
in_scratch "! ldd out/app | grep -v -E 'libc[.]|libm[.]|ld-linux|linux-vdso'" >"$work/output" 2>&1
result $? "tarball: a program with the archive needs libc alone"
in_scratch 'mkdir /opt/moved && mv "$HOME"/vow-*-linux-* /opt/moved && rm -f app' &&
    answers "tarball: after it was moved" "export PKG_CONFIG_PATH=\$(echo /opt/moved/*)/lib/pkgconfig
        cc app.c \$(pkg-config --cflags --libs vow) -o app; ldd ./app | grep 'libvow.so.0 => /opt/moved/'; ./app"
in_scratch "rm -r /opt/moved"
scratch_files >"$work/after"
diff "$work/before" "$work/after"
result $? "tarball: removing its directory leaves nothing"
