# Calls make for one variant, whatever the make that called us was told. Sourced.

# What is exported by a make is not for another that runs inside it.
no_make=(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u OUT -u CHECKED -u MINIMAL -u WATCHED -u SANITIZE -u PREFIX -u DESTDIR
    -u LIBDIR -u RELOCATABLE)

# vow_make ARGUMENTS...: for 20 minutes at most.
vow_make() { "${no_make[@]}" timeout -k 10 1200 make --no-print-directory -s "$@"; }

# install_variants FORM...: the forms shared, checked and minimal of the library, where scripts/lib/program.sh looks for them;
# a line for each. With results.sh.
install_variants() {
    local form prefix how
    for form; do
        prefix=$BUILD/test/prefix/$form how=
        [ "$form" = shared ] || how=${form^^}=1
        rm -rf "$prefix"
        mkdir -p "$prefix"
        silent "make install for $form" vow_make install PREFIX="$(realpath "$prefix")" $how
    done
    return $failed
}
