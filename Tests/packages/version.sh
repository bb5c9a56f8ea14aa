# One version everywhere, and a semantic one: sourced by run.

number() { sed -n "s/^.define $1 \([0-9]*\)$/\1/p" include/vow.h; }
version=$(sed -n 's/^.define VOW_VERSION_STRING "\(.*\)"/\1/p' include/vow.h)

[[ $version =~ ^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$ ]]
result $? "the version $version is semantic"
major=${version%%.*} minor=${version%.*}
minor=${minor#*.} patch=${version##*.}
[ "$(number VOW_VERSION_MAJOR).$(number VOW_VERSION_MINOR).$(number VOW_VERSION_PATCH)" = "$version" ]
result $? "the header's numbers are the header's version"
grep -q "($version" CHANGELOG.md
result $? "CHANGELOG.md has this version"
[ "$(sed -n '1s/^vow (\(.*\)-[^-]*).*/\1/p' packaging/debian/changelog)" = "$version" ]
result $? "the Debian changelog begins with this version"

# Of each node of the symbol map, no later one than this version.
nodes=$(sed -nE 's/^VOW_([0-9.]+) \{$/\1/p' packaging/libvow.map)
[ -n "$nodes" ] && [ "$(printf '%s\n' "$nodes" "$major.$minor" | sort -V | tail -n 1)" = "$major.$minor" ]
result $? "no symbol version is of a later minor version"
for node in $nodes; do
    grep -qF "(symver)VOW_$node " packaging/debian/libvow0.symbols || nodes=
done
[ -n "$nodes" ]
result $? "the Debian symbols file has every symbol version"
