# The Debian packages in the empty Debian: sourced by run, after tarball-used.sh.

into_scratch "${debs[@]}" "$work/app.c" "$work/CMakeLists.txt"
install_and_compile=$(documented "Debian packages" | sed '/apt purge/d')
remove=$(documented "Debian packages" | grep 'apt purge')
answers "debs: installed, and the README's program by pkg-config" "$install_and_compile"
answers "debs: all static" "$(documented "Static programs")"
answers "debs: by CMake" "$(documented CMake)"
in_scratch "ldd app out/app | grep -c 'libvow.so.0 => /lib/.*/libvow.so.0\|libvow.so.0 => /usr/lib/.*/libvow.so.0'" \
    >"$work/output" 2>&1
[ "$(cat "$work/output")" = 2 ]
result $? "debs: programs load the library from the system's directory"
in_scratch "! readelf -d app | grep -E 'R(UN)?PATH'"
result $? "debs: programs have no run path"
! in_scratch "dpkg -V libvow0 libvow-dev libvow-doc" | grep -v ' /usr/share/doc/\| /usr/share/man/'
result $? "debs: what is installed is what was packed"
in_scratch "ldd /usr/lib/*/libvow.so.0" | grep -vE 'libc[.]|libm[.]|ld-linux|linux-vdso' >"$work/output"
[ ! -s "$work/output" ]
result $? "debs: the library brings in libc alone"
into_scratch "$work"/app.c examples-c/01-hello.c
answers "debs: the installed examples are the tree's" \
    "diff 01-hello.c /usr/share/doc/libvow-dev/examples/01-hello.c; gzip -t /usr/share/doc/libvow0/*.gz; echo 42"
in_scratch "$remove" >"$work/output" 2>&1
result $? "debs: removed by what the documentation says"
scratch_files >"$work/after"
diff "$work/before" "$work/after"
result $? "debs: that leaves nothing"
