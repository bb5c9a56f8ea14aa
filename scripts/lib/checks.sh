# What can be said about the tree without running it, suite by suite. Sourced; brings suites.sh and make.sh along.

. scripts/lib/make.sh
. scripts/lib/suites.sh

variants() {
    for variant in "" BUNDLED=1 CHECKED=1; do silent "make lib $variant" vow_make lib $variant; done
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
    suite "check: documents" scripts/check-docs
    suite "check: models" Tests/model/run --check
    suite "check: header" --needs "cc g++" scripts/check-header
    through "check: libraries"
    suite "check: exports" --needs readelf scripts/check-exports
    suite "check: limits" scripts/check-limits
}
