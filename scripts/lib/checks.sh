# What can be said about the tree without running it, suite by suite. Sourced, after suites.sh and make.sh.

variants() {
    for variant in "" BUNDLED=1 CHECKED=1; do silent "make lib $variant" vow_make lib $variant; done
    return $failed
}

exports() {
    local built=("$BUILD"/lib "$BUILD"/bundled/lib "$BUILD"/checked/lib)
    silent "exports are the header's functions" scripts/check-exports "${built[@]/%//libvow.so}" "${built[@]/%//libvow.a}"
    scripts/check-library "$BUILD/lib/libvow.so" "$BUILD/bundled/lib/libvow.so" || failed=1
    return $failed
}

checks() {
    suite "check: libraries" variants
    # Another version formats otherwise.
    if [ -n "$LIST_TOOLS" ] || ! command -v clang-format >/dev/null || clang-format --version | grep -q 'version 14\.'; then
        suite "check: format of C" --needs clang-format silent "every C file is formatted" scripts/check-format c
    else
        echo "check: format of C: not looked at, for clang-format is not version 14"
    fi
    suite "check: format of Swift" silent "every Swift file is formatted" scripts/check-format swift
    suite "check: floors" --needs python3 scripts/core-graph
    suite "check: links" scripts/check-docs
    suite "check: guarantees" scripts/check-guarantees
    suite "check: models" Tests/model/run --check
    suite "check: header" --needs "cc g++" scripts/check-header
    through "check: libraries"
    suite "check: exports" --needs readelf exports
    suite "check: limits" scripts/check-limits
}
