# What can be said about the tree without running it, suite by suite. Sourced, after suites.sh, make.sh and results.sh.

library="Sources/VowCore Sources/CVowPlatform include packaging scripts/lib scripts/build-objects scripts/build-lib"

variants() {
    for variant in "" BUNDLED=1 CHECKED=1; do
        silent "make lib $variant" vow_make lib $variant
    done
    return $failed
}

documents() {
    silent "what the documents name is there" scripts/check-docs
    silent "make help explains every target" scripts/check-help
    silent "every row of the inventory has its proof" scripts/check-rows
    silent "every sentence of the guest's chapter has its tests" scripts/check-claims
    scripts/check-counts || failed=1
    scripts/check-field || failed=1
    scripts/check-guarantees || failed=1
    return $failed
}

floors() {
    silent "each file stands on its floor" scripts/check-floors
    scripts/test-floors || failed=1
    return $failed
}

exports() {
    local built=("$BUILD"/lib "$BUILD"/bundled/lib "$BUILD"/checked/lib)
    silent "exports are the header's functions" scripts/check-exports "${built[@]/%//libvow.so}" "${built[@]/%//libvow.a}"
    scripts/check-library "$BUILD/lib/libvow.so" "$BUILD/bundled/lib/libvow.so" || failed=1
    return $failed
}

# Debian has no actionlint, so that is no tool that deps could install.
workflows() {
    if command -v actionlint >/dev/null; then
        suite "check: workflows" silent "actionlint finds nothing in the workflows" actionlint .github/workflows/*.yml
    elif [ -z "$LIST_TOOLS" ]; then
        echo "check: workflows: not looked at, for there is no actionlint"
    fi
}

# Another version formats otherwise.
format_of_c() {
    if ! command -v clang-format >/dev/null || clang-format --version | grep -q 'version 14\.'; then
        suite "check: format of C" --needs clang-format \
            --inputs ".clang-format include Sources Tests examples-c scripts bench" \
            silent "every C file is formatted" scripts/check-format c
    elif [ -z "$LIST_TOOLS" ]; then
        echo "check: format of C: not looked at, for clang-format is not version 14"
    fi
}

checks() {
    suite "check: libraries" variants
    format_of_c
    suite "check: format of Swift" --inputs ".swift-format Package.swift Sources Tests examples-swift bench bridges scripts" \
        silent "every Swift file is formatted" scripts/check-format swift
    suite "check: floors" --inputs "Sources/VowCore scripts" floors
    suite "check: graph of calls" --needs python3 --inputs "Sources/VowCore scripts/core-graph scripts/lib" scripts/core-graph --check
    suite "check: documents" documents
    suite "check: state machine" --needs python3 --inputs "docs/state-machine.md docs/threads.md Sources/VowCore/Records scripts" \
        silent "the state machine is drawn as it is coded" scripts/check-machine
    suite "check: models" scripts/check-models
    workflows
    suite "check: counting of tests" --inputs scripts scripts/test-suites
    suite "check: header" --needs "cc g++" --inputs "include scripts" scripts/check-header
    through "check: libraries"
    suite "check: exports" --needs readelf exports
    suite "check: limits" scripts/check-limits
    suite "check: ABI" --needs "abidw readelf" --inputs "$library Tests/abi scripts/check-abi" \
        scripts/check-abi "$BUILD"/{,bundled/,checked/}lib/libvow.so
}
