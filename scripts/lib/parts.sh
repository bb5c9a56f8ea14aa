# The deep parts: what each covers, what it reads, and what it runs. Sourced by scripts/prove, and by the process of each
# part.

parts=()
declare -A covers=() inputs=() commands=()

# part NAME COVERS INPUTS COMMAND: without inputs it is never remembered.
part() {
    parts+=("$1")
    covers[$1]=$2 inputs[$1]=$3 commands[$1]=$4
}

is_part() { [ -n "${commands[$1]:-}" ]; }

# In this process, with the suites' ways; its inputs are those of its suites.
run_part() (
    set -uo pipefail
    export INPUTS=${inputs[$1]}
    case ${commands[$1]} in scripts/*) exec ${commands[$1]} ;; esac
    . scripts/lib/make.sh
    . scripts/lib/results.sh
    . scripts/lib/variants.sh
    . scripts/lib/suites.sh
    ${commands[$1]}
    closing_line
)

core="Sources/VowCore Sources/CVowPlatform include"
library="$core packaging scripts/build-objects scripts/build-lib
    scripts/lib/toolchain.sh scripts/lib/sources.sh scripts/lib/program.sh scripts/lib/results.sh"
c_tests="Tests/c Tests/faults Tests/aplus examples-c scripts/c-tests scripts/examples scripts/postgres-tests scripts/lib/postgres.sh"
swift="Package.swift Sources include"

part forms "the C tests whole, with archive, bundled and checked library; the heavy ones" "$library $c_tests" forms
part schedules "all interleavings of small scenarios, up to their bounds" "$core Tests/schedules" schedules
part models "the protocols of the core, searched to their ends" "" models
part asan "C and C++ tests, faults, examples and demo under AddressSanitizer" \
    "$library $c_tests Tests/cpp Tests/demo scripts/sanitize scripts/cpp-tests scripts/demo-tests" "scripts/sanitize asan"
part tsan "the same under ThreadSanitizer" "${inputs[asan]}" "scripts/sanitize tsan"
part lsan "C tests, faults, examples and demo under LeakSanitizer alone" "${inputs[asan]} scripts/lsan" scripts/lsan
part valgrind "the same under valgrind: errors, definite leaks" "${inputs[asan]} scripts/valgrind scripts/lib/valgrind.supp" scripts/valgrind
part swift-tsan "the Swift package's tests under ThreadSanitizer" "$swift Tests scripts/swift-tests" swift_tsan
part faces "Swift tests at full size, and for release; the Swift face's budgets; C++ by the other compilers and standards; packages on ours" \
    "$swift $library Tests/VowCoreTests Tests/VowCTests Tests/VowTests Tests/cpp Tests/swift-consumer bench/check bench/count bridges examples-swift README.md scripts/bridges scripts/swift-tests scripts/swift-consumer scripts/cpp-tests scripts/examples-swift" faces
part pages "references, manual pages, Swift pages, book" "include docs Sources/Vow scripts/docs" pages
part self-tests "that the checks, budgets and models' results find planted faults" \
    "$library Tests/abi Tests/model Tests/c Tests/docs bench/check examples-c examples-swift scripts docs README.md Makefile .github" self_tests
part packages "tarballs, Debian packages, users' build systems, in an empty Debian; twice the same bytes" \
    "$library packaging Tests/packages Tests/consumers Tests/install docs/installing.md scripts" packages
part fuzz "random programs against the reference model" "" fuzz
part mutants "planted faults: each is found by models, schedules or fuzzer" \
    "$library Tests/model Tests/schedules Tests/fuzz" scripts/mutants
part bare "make demo and make deps test on a machine with nothing but Swift, cc, git and make" "" bare

c="cc pkg-config"

# The C tests that do not call libdispatch: the bundled library has one of its own inside, and to that one another's
# queues are no queues. And the scenes, for the same reason.
without_dispatch() { grep -LE '\bdispatch_[a-z]+|include "dispatch\.h"|scenes_queues' "$@"; }

forms() {
    variants() {
        install_variant shared
        install_variant bundled BUNDLED=1
        install_variant checked CHECKED=1
        return $failed
    }
    suite "libraries" --needs "$c" variants
    through
    suite "C, full size" --needs "$c" env TEST_DEPTH=full scripts/c-tests shared Tests/c/*.c
    suite "C, archive" --needs "$c" scripts/c-tests static Tests/c/*.c
    suite "C, bundled" --needs "$c" scripts/c-tests bundled $(without_dispatch Tests/c/*.c)
    suite "C, checked" --needs "$c" scripts/c-tests checked Tests/c/*.c Tests/c/checked/*.c
    suite "C, heavy" --needs "$c" env LIMIT=900 scripts/c-tests shared Tests/c/stress/*.c
    suite "faults, archive" --needs "$c" scripts/c-tests static Tests/faults/*.c
    suite "faults, bundled" --needs "$c" scripts/c-tests bundled $(without_dispatch Tests/faults/*.c)
    suite "faults, checked" --needs "$c" scripts/c-tests checked Tests/faults/*.c
    suite "A+, bundled" --needs "$c" scripts/c-tests bundled Tests/aplus/*.c
    suite "A+, checked" --needs "$c" scripts/c-tests checked Tests/aplus/*.c
    suite "PostgreSQL, full size" --needs "$c libpq postgres" env TEST_DEPTH=full scripts/postgres-tests shared
    suite "PostgreSQL, checked" --needs "$c libpq postgres" scripts/postgres-tests checked
    suite "examples, checked" --needs "$c g++ libuv glib libcurl" scripts/examples checked
}

schedules() { suite "schedules" Tests/schedules/run; }
models() { suite "models" --needs "spin cc patch" Tests/model/run; }
swift_tsan() { suite "Swift, tsan" scripts/swift-tests tsan; }

faces() {
    suite "libraries" --needs "$c" install_variant shared
    through
    suite "Swift, full size" env TEST_DEPTH=full scripts/swift-tests
    suite "C++, other compilers" --needs "g++ pkg-config asio libc++" scripts/cpp-tests others
    suite "Swift consumer" scripts/swift-consumer
    suite "budgets, Swift" --needs "$c valgrind" bench/check/run swift
    suite "Swift examples, package" scripts/examples-swift package
    suite "Swift bridges" --needs "packages" scripts/bridges
}

pages() {
    suite "documents" --needs "doxygen mkdocs" silent "all documents are made without a warning" scripts/docs
}

self_tests() {
    suite "documents, self-test" --needs python3 scripts/test-texts
    suite "gallery and help, self-test" --needs "$c python3" scripts/test-documents
    suite "steps of the state word, self-test" scripts/test-steps
    suite "models, self-test" Tests/model/self-test
    suite "ABI, self-test" --needs "abidw readelf" Tests/abi/self-test
    suite "budgets, self-test" --needs "$c valgrind" bench/check/self-test
}

packages() {
    suite "consumers" --needs "$c cmake meson automake" Tests/consumers/run
    through
    suite "packages" --needs "root mmdebstrap dpkg-dev debhelper lintian doxygen mkdocs" Tests/packages/run
    through
    suite "reproducible" --needs "root mmdebstrap dpkg-dev debhelper" Tests/packages/reproducible
}

fuzz() { suite "fuzzing" Tests/fuzz/run "${FUZZ_SECONDS:-60}"; }
bare() { suite "bare machine" --needs "root mmdebstrap" Tests/bare/run; }
