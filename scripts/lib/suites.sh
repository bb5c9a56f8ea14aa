# Runs suites, several at a time, counts their lines, and says the sum at the end. Sourced, in the tree's top directory.
#
#   suite NAME [--needs "TOOL..."] [--inputs "PATH..."] COMMAND...    starts it as soon as a place is free
#   through [NAME...]                                                 waits for these, or for all
#   closing_line                                                      waits, says the sum; the status of the whole
#
# A suite is a command that prints `ok NAME` and `not ok NAME` lines and exits with 0 when all is well. It fails also
# when it runs no test, and when it skips one. Where a tool is missing (scripts/lib/tools.sh) the whole suite is
# skipped, by name; with CI=true that is a failure.
#
# With RETRY, suites in which something failed run once more at the end, each alone, and those that can narrow a run down
# to what failed (scripts/lib/results.sh) do. A test that passes then is flaky: its name is printed and counted in a line
# of its own, and it does not fail the run.
#
# JOBS        how many at a time (default: one for each processor)
# CI          true: a missing tool is a failure
# INPUTS      what suites read that do not say it themselves
# REMEMBER    a directory: a suite with inputs that passed is not run again until one of them, or what the build found
#             on the machine, has changed
# LIST_TOOLS  1: suites only print what they need, a line each
# RETRY       up to this many failed tests are run again (default: none); more have a cause that is not chance

. scripts/lib/tools.sh
. scripts/lib/contents.sh
: "${BUILD:=build}" "${JOBS:=$(nproc)}" "${REMEMBER:=}" "${LIST_TOOLS:=}" "${CI:=}" "${RETRY:=0}"
LOGS=$BUILD/test/log
total_passed=0 total_failed=0 total_skipped=0 total_remembered=0 tests_skipped=0 total_processor=0
declare -A running=() lacking=() command_of=()
lacked_by=() with_failures=()
if [ -z "$LIST_TOOLS" ]; then
    mkdir -p "$LOGS"
    # The names of suites that have ended. Nobody else opens it, so its file can go.
    mkfifo "$LOGS/ended.$$" && exec {ended}<>"$LOGS/ended.$$" && rm "$LOGS/ended.$$"
fi
TIMEFORMAT='%R %U %S'
# Background jobs do not hear Ctrl-C by themselves.
trap 'trap - TERM; kill -TERM 0' INT

count() { grep -cE "$1" "$2" || true; }
log_of() { printf '%s/%s.log' "$LOGS" "$(printf '%s' "$1" | tr -cs 'A-Za-z0-9\n' '-')"; }

suite() {
    local name=$1 needs= inputs=${INPUTS:-} log
    shift
    while :; do
        case $1 in
        --needs) needs=$2 && shift 2 ;;
        --inputs) inputs=$2 && shift 2 ;;
        *) break ;;
        esac
    done
    if [ -n "$LIST_TOOLS" ]; then
        [ -z "$needs" ] || printf '%s\n' $needs
        return
    fi
    log=$(log_of "$name")
    rm -f "$log.status"
    is_lacking "$name" "$needs" && return
    is_remembered "$name" "$inputs" "$log" && return
    while [ ${#running[@]} -ge "$JOBS" ]; do reap; done
    command_of[$name]=$(printf '%q ' "$@")
    started "$name" "$log" "$@" &
    running[$name]=$!
    [ -z "$REMEMBER" ] || [ -z "$inputs" ] || inputs_of[$name]=$hash
}

# In a process of its own: the name goes to the process that waits.
started() {
    run_suite "${@:2}"
    echo "$1" >&"$ended"
}

# run_suite LOG COMMAND...: status and times stand beside the log.
run_suite() {
    local log=$1
    shift
    { time "$@" >"$log" 2>&1 </dev/null; echo "$?" >"$log.status"; } 2>"$log.time"
}

# Whether a tool is missing; then that is said.
is_lacking() {
    local tools
    [ -n "$2" ] || return 1
    mapfile -t tools < <(missing $2)
    [ ${#tools[@]} -gt 0 ] || return 1
    if [ "$CI" = true ]; then
        printf 'not ok %s: needs %s\n' "$1" "${tools[*]}"
        total_failed=$((total_failed + 1))
    else
        printf 'skip %s: needs %s\n' "$1" "${tools[*]}"
        total_skipped=$((total_skipped + 1))
        lacked_by+=("$1")
        for tool in "${tools[@]}"; do lacking[$tool]=1; done
    fi
}

# Whether it passed with the same inputs; then that is said, and counted. Sets hash.
declare -A inputs_of=()
is_remembered() {
    local known passed seconds
    [ -n "$REMEMBER" ] && [ -n "$2" ] || return 1
    hash=$(contents $2 "$BUILD/found")
    [ -z "${AGAIN:-}" ] || return 1
    [ -e "$REMEMBER/$(basename "$3" .log)" ] || return 1
    read -r known passed seconds <"$REMEMBER/$(basename "$3" .log)"
    [ "$known" = "$hash" ] || return 1
    printf '%-36s %5d passed, with these inputs before (%d s)\n' "$1" "$passed" "$seconds"
    total_passed=$((total_passed + passed)) total_remembered=$((total_remembered + passed))
}

# Waits for one that ends, and counts it.
reap() {
    local name= part one
    until read -r -t 5 part <&"$ended"; do
        # On a busy machine the time can be up in the middle of a name.
        name+=$part
        # One that was killed says nothing.
        for one in "${!running[@]}"; do
            kill -0 "${running[$one]}" 2>/dev/null || [ -e "$(log_of "$one").status" ] || { name=$one part= && break 2; }
        done
    done
    name+=$part
    unset "running[$name]"
    counted "$name" "$(log_of "$name")"
}

# conclude NAME LOG: says how a suite has ended. Sets passed, bad, skipped, and real, the seconds that it took.
conclude() {
    local name=$1 log=$2 status user system
    status=$(cat "$log.status" 2>/dev/null || echo 255)
    read -r real user system < <(tail -n 1 "$log.time" 2>/dev/null) || real=0 user=0 system=0
    rm -f "$log.status" "$log.time"
    passed=$(count '^ok ' "$log")
    bad=$(count '^not ok ' "$log")
    skipped=$(count '^skip ' "$log")
    # 1 says that a test failed; more, that the suite itself was ended, perhaps before most of its tests.
    if { [ "$bad" -eq 0 ] && [ "$status" -ne 0 ]; } || [ "$status" -gt 1 ]; then
        echo "not ok $name: ends with status $status" >>"$log"
        bad=$((bad + 1))
    elif [ $((passed + bad)) -eq 0 ]; then
        echo "not ok $name: runs no test" >>"$log"
        bad=1
    fi
    # What went wrong, and what was said around it.
    [ "$bad" -eq 0 ] && [ "$skipped" -eq 0 ] || grep -vE '^ok ' "$log" | tail -n 100
    printf '%-36s %5d passed, %d failed, %d skipped (%d s, %d s of processor)\n' \
        "$name" "$passed" "$bad" "$skipped" "${real%.*}" $((${user%.*} + ${system%.*}))
    total_processor=$((total_processor + ${user%.*} + ${system%.*}))
}

counted() {
    local name=$1 log=$2 passed bad skipped real
    conclude "$name" "$log"
    [ "$bad" -eq 0 ] || with_failures+=("$name")
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + bad))
    total_skipped=$((total_skipped + skipped)) tests_skipped=$((tests_skipped + skipped))
    if [ -n "${inputs_of[$name]:-}" ] && [ "$bad" -eq 0 ] && [ "$skipped" -eq 0 ]; then
        mkdir -p "$REMEMBER"
        echo "${inputs_of[$name]} $passed ${real%.*}" >"$REMEMBER/$(basename "$log" .log)"
    fi
}

# Runs the suites with failures once more. A test that failed is flaky when it passes now, and no test of the same name fails;
# numbers in a name, such as measurements, may differ. What is no test's failure, such as a crash between two of them, is
# flaky when all that runs passes now. A suite that was ended before its own end runs whole.
flaky=()
run_again() {
    local name log only passed bad skipped real test again=()
    echo "these suites failed, and run once more, one at a time:"
    for name in "${with_failures[@]}"; do
        log=$(log_of "$name")
        sed -n 's/^not ok //p' "$log" >"$log.failed"
        only=$log.failed
        ! grep -qxE -- "$name: (ends with status [0-9]+|runs no test)" "$only" || only=
        (eval "ONLY=\$only run_suite \"\$log.again\" ${command_of[$name]}")
        conclude "$name" "$log.again"
        total_skipped=$((total_skipped + skipped)) tests_skipped=$((tests_skipped + skipped))
        without_numbers <"$log.again" >"$log.again.names"
        while IFS= read -r test; do
            if ! grep -qxF -- "$(without_numbers <<<"not ok $test")" "$log.again.names" &&
                { grep -qxF -- "$(without_numbers <<<"ok $test")" "$log.again.names" ||
                    { [ "$bad" -eq 0 ] && [[ $test =~ (: ends with status [0-9]+|: runs no test|: builds)$ ]]; }; }; then
                flaky+=("$name: $test")
                total_failed=$((total_failed - 1))
            else
                again+=("$name: $test")
            fi
        done <"$log.failed"
        # What passes now and did not before.
        total_passed=$((total_passed + $(grep '^ok ' "$log.again" | grep -cvxFf <(grep '^ok ' "$log"))))
        # What fails now and did not before.
        while IFS= read -r test; do
            total_failed=$((total_failed + 1))
            again+=("$name: $test")
        done < <(sed -n 's/^not ok //p' "$log.again" | grep -vxFf "$log.failed")
    done
    [ ${#again[@]} -eq 0 ] || printf 'failed %s\n' "${again[@]}"
    [ ${#flaky[@]} -eq 0 ] || printf 'flaky %s\n' "${flaky[@]}"
}

without_numbers() { sed -E 's/[0-9]+([.][0-9]+)?/N/g'; }

through() {
    local name
    if [ $# -eq 0 ]; then
        while [ ${#running[@]} -gt 0 ]; do reap; done
    fi
    for name in "$@"; do
        while [ -n "${running[$name]:-}" ]; do reap; done
    done
}

# The last line, but where a tool was missing: then one more, which pastes into a shell.
closing_line() {
    [ -z "$LIST_TOOLS" ] || return 0
    through
    if [ ${#with_failures[@]} -gt 0 ] && [ "$RETRY" -gt 0 ]; then
        if [ $total_failed -le "$RETRY" ]; then run_again; else echo "more than $RETRY failed: none runs once more"; fi
    fi
    [ ${#flaky[@]} -eq 0 ] || echo "${#flaky[@]} flaky: $(printf '%s; ' "${flaky[@]}" | sed 's/; $//')"
    [ $total_remembered -eq 0 ] ||
        echo "$total_remembered of them passed before, and nothing that they read has changed; AGAIN=1 runs them all"
    echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
    if [ ${#lacked_by[@]} -gt 0 ]; then
        local packages
        mapfile -t packages < <(packages_of "${!lacking[@]}")
        printf '%s # would run: %s\n' "$(install_line "${packages[*]}")" "$(printf '%s; ' "${lacked_by[@]}")"
    fi
    [ $total_failed -eq 0 ] && [ $tests_skipped -eq 0 ]
}
