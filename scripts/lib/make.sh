# Calls make for one variant, whatever the make that called us was told, for 20 minutes at most.
# Sourced.

vow_make() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u OUT -u BUNDLED -u CHECKED -u WATCHED \
        -u SANITIZE -u PREFIX -u DESTDIR -u LIBDIR -u RELOCATABLE \
        timeout -k 10 1200 make --no-print-directory -s "$@"
}
