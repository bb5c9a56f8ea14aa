# What the C library is made of. Sourced.

# library_swift [CORE]: its Swift files: all of the core but what only the Swift face calls.
library_swift() {
    find "${1:-Sources/VowCore}" -name '*.swift' ! -path '*/VowCore/Swift/*' | LC_ALL=C sort
}

# The functions that it exports.
map_functions() { sed -n 's/^ *\([A-Za-z_][A-Za-z0-9_]*\);.*/\1/p' packaging/libvow.map | LC_ALL=C sort -u; }
