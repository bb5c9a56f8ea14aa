# install_variants FORM...: the forms shared, bundled and checked of the library, where scripts/lib/program.sh looks for them.
# Sourced, after results.sh and make.sh.
install_variants() {
    local form prefix how
    for form; do
        prefix=$BUILD/test/prefix/$form how=
        [ "$form" = shared ] || how=${form^^}=1
        rm -rf "$prefix"
        mkdir -p "$prefix"
        silent "make install for $form" vow_make install PREFIX="$(cd "$prefix" && pwd)" $how
    done
    return $failed
}
