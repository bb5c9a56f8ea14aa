# library_swift [CORE]: the Swift files of the C library: all of the core but what only the Swift face calls. Sourced.
library_swift() {
    find "${1:-Sources/VowCore}" -name '*.swift' ! -path '*/VowCore/Swift/*' | LC_ALL=C sort
}
