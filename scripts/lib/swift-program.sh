# Builds a Swift program on this package's modules as they stand in the debug build, without a package of its own.
# Sourced, after toolchain.sh and results.sh.
#
#   swift_program OUTPUT MODULE...  < SOURCE        MODULE: Vow, VowOperators
#
# A warning fails, and so does an expression that takes half a second to be type-checked.

# Brings the modules up to date, once.
swift_modules() {
    [ -z "${SWIFT_BIN:-}" ] || return 0
    local swift module
    swift=$(tool swift)
    for module in Vow VowOperators; do
        built "$module" env -u CC "$swift" build --quiet --target "$module" || return
    done
    SWIFT_BIN=$(env -u CC "$swift" build --show-bin-path)
}

swift_program() {
    local output=$1 module objects=()
    shift
    swift_modules || return
    # By their sources: the object of a source that is gone stays in the folder.
    mapfile -t objects < <(for module in CVowPlatform VowCore "$@"; do
        find "Sources/$module" -name '*.swift' -o -name '*.c' -o -name '*.S' | sed "s|.*/|$SWIFT_BIN/$module.build/|; s|$|.o|"
    done)
    mkdir -p "$output.d"
    cat >"$output.d/Main.swift"
    # A file with @main is no script.
    if ! grep -q '^@main' "$output.d/Main.swift"; then
        mv "$output.d/Main.swift" "$output.d/main.swift"
        objects+=("$output.d/main.swift")
    else
        objects+=(-parse-as-library "$output.d/Main.swift")
    fi
    "$SWIFTC" -swift-version 6 -warnings-as-errors -Xfrontend -warn-long-expression-type-checking=500 -module-name Program -module-cache-path "$BUILD/test/modules" \
        -I "$SWIFT_BIN/Modules" -I include -I Sources/CVowPlatform/include "${objects[@]}" -o "$output"
}
