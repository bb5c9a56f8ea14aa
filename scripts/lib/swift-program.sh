# Builds and tests Swift with this package's modules. Sourced; brings toolchain.sh, results.sh and document.sh along.
#
#   swift ARGUMENTS...                 the package manager, for half an hour, or $LIMIT seconds
#   xctests ARGUMENTS...               runs the XCTests of a package that is built
#   swift_modules                      builds this package's modules, once, for the next two
#   swift_compile ARGUMENTS...         the compiler, which finds them
#   swift_program OUTPUT MODULE...     builds the program on standard input with these modules
#   swift_function NAME DOCUMENT LINE  makes a function of the code on standard input, which stands in a document
#   manifest SENTENCE BLOCK DIRECTORY  looks at the manifest of a package, which a document shows

. scripts/lib/toolchain.sh
. scripts/lib/results.sh
. scripts/lib/document.sh
: "${BUILD:=build}"

# The package's C is for clang, which swift finds by itself.
swift() { env -u CC timeout -k 10 "${LIMIT:-1800}" "$(tool swift)" "$@"; }

# A line for each test. It fails too where the run ends before its last test does, and where there is none.
xctests() {
    local output begun status=0 all="^Test Case '([^']*)'"
    output=$(mktemp)
    swift test --skip-build --disable-swift-testing "$@" >"$output" 2>&1 || status=$?
    sed -nE -e "s/$all passed.*/ok \1/p" -e "s/$all failed.*/not ok \1/p" -e "s/$all skipped.*/skip \1/p" "$output"
    [ $status -eq 0 ] || grep -vE "^Test (Case|Suite) .*(started|passed)" "$output" | tail -n 60
    begun=$(grep -cE "$all started" "$output")
    if [ "$begun" -ne "$(grep -cE "$all (passed|failed|skipped)" "$output")" ] ||
        { [ $status -ne 0 ] && ! grep -qE "$all failed" "$output"; }; then
        result 1 "swift test: ends with status $status"
    elif [ "$begun" -eq 0 ]; then
        result 1 "swift test: runs no test"
    fi
    if grep -A 30 '^WARNING: ThreadSanitizer' "$output" | head -n 200 | grep .; then
        result 1 "swift test: $(grep -c '^WARNING: ThreadSanitizer' "$output") reports of ThreadSanitizer"
    fi
    rm -f "$output"
    [ $status -eq 0 ] || failed=1
    return $failed
}

swift_modules() {
    [ -z "${SWIFT_BIN:-}" ] || return 0
    local module
    for module in Vow VowOperators VowFoundation; do
        built "$module" swift build --quiet --target "$module" || return
    done
    SWIFT_BIN=$(swift build --show-bin-path)
}

swift_compile() {
    timeout -k 10 300 "$SWIFTC" -swift-version 6 -module-cache-path "$BUILD/test/modules" -I "$SWIFT_BIN/Modules" -I include \
        -I Sources/CVowPlatform/include "$@"
}

# A warning fails, and so does an expression that takes half a second to be type-checked.
swift_program() {
    local output=$1 module objects=()
    shift
    swift_modules || return
    # By their sources: the object of a source that is gone stays in the folder.
    mapfile -t objects < <(for module in CVowPlatform VowCore "$@"; do
        find "Sources/$module" -name '*.swift' -o -name '*.c' -o -name '*.S' | sed "s|.*/|$SWIFT_BIN/$module.build/|; s|$|.o|"
    done)
    mkdir -p "$output.d"
    cat >"$output.d/main.swift"
    # A file with @main is no script.
    ! grep -q '^@main' "$output.d/main.swift" || objects+=(-parse-as-library)
    swift_compile -warnings-as-errors -Xfrontend -warn-long-expression-type-checking=500 -module-name Program \
        "${objects[@]}" "$output.d/main.swift" -o "$output"
}

# The function awaits where the code does, and throws; errors in it are shown at their place in the document.
swift_function() {
    local code effects=throws
    code=$(cat)
    [[ $code != *"await "* ]] || effects="async throws"
    printf 'func %s() %s {\n#sourceLocation(file: "%s", line: %d)\n%s\n#sourceLocation()\n}\n' \
        "$1" "$effects" "$2" "$3" "$code"
}

# The manifest is read and its graph made: the package and the products that it names are there. It says that this tree is in a
# folder `vow` beside its own.
manifest() {
    mkdir -p "$3/Sources/app"
    ln -sfn "$PWD" "$3/../vow"
    cp "$2" "$3/Package.swift"
    echo 'import Vow' >"$3/Sources/app/main.swift"
    swift package --package-path "$3" show-dependencies >"$3/log" 2>&1 || { grep 'error:' "$3/log" && false; }
    result $? "$1"
}
