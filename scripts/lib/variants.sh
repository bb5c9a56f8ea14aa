# install_variant FORM VARIABLES...: one form of the library, where scripts/lib/program.sh looks for it. Sourced.
install_variant() {
    local form=$1 prefix=$BUILD/test/prefix/$1
    shift
    rm -rf "$prefix"
    mkdir -p "$prefix"
    silent "make install for $form" vow_make install PREFIX="$(cd "$prefix" && pwd)" "$@"
}
