# Runs suites, several at a time, counts their lines, and says the sum at the end. Sourced, in the tree's top directory.
#
#   suite NAME [--needs "TOOL..."] COMMAND...    starts it as soon as a place is free
#   through [NAME...]                            waits for these, or for all
#   closing_line                                 waits, says the sum; the status of the whole
#
# A suite is a command that prints `ok NAME` and `not ok NAME` lines and exits with 0 when all is well. It fails also
# when it runs no test, and when it skips one. Where a tool is missing (scripts/lib/tools.sh) the whole suite is
# skipped, by name; with CI=true that is a failure. A suite that failed runs once more at the end, alone: what passes
# then is flaky, which is said by name, and does not fail the run.
#
# CI          true: a missing tool is a failure
# LIST_TOOLS  1: suites only print what they need, a line each

. scripts/lib/tools.sh
. scripts/lib/results.sh
: "${BUILD:=build}" "${LIST_TOOLS:=}" "${CI:=}"
LOGS=$BUILD/test/log
all_passed=0 all_failed=0 all_skipped=0 processor=0 broken=0
declare -A running=() command_of=() lacking=()
again=() lacked_by=()
mkdir -p "$LOGS"
# Background jobs do not hear Ctrl-C by themselves.
trap 'trap - TERM; kill -TERM 0' INT

log_of() { printf '%s/%s.log' "$LOGS" "$(printf '%s' "$1" | tr -cs 'A-Za-z0-9\n' '-')"; }

suite() {
    local name=$1 needs= tools
    shift
    [ "$1" != --needs ] || { needs=$2 && shift 2; }
    if [ -n "$LIST_TOOLS" ]; then
        printf '%s\n' $needs | grep .
        return
    fi
    mapfile -t tools < <(missing $needs)
    if [ ${#tools[@]} -eq 0 ]; then
        while [ ${#running[@]} -ge "$(nproc)" ]; do reap; done
        command_of[$name]=$(printf '%q ' "$@")
        timed "$(log_of "$name")" "$@" &
        running[$!]=$name
    elif [ "$CI" = true ]; then
        echo "not ok $name: needs ${tools[*]}"
        all_failed=$((all_failed + 1)) broken=1
    else
        echo "skip $name: needs ${tools[*]}"
        all_skipped=$((all_skipped + 1)) lacked_by+=("$name")
        for tool in "${tools[@]}"; do lacking[$tool]=1; done
    fi
}

# timed LOG COMMAND...: its output and the times stand there; the status is the command's.
timed() {
    local log=$1 status=0 TIMEFORMAT='%R %U %S'
    shift
    { time "$@" >"$log" 2>&1 </dev/null || status=$?; } 2>"$log.time"
    return $status
}

# Waits for a suite that ends, and counts it.
reap() {
    local pid name status=0
    while :; do
        for pid in "${!running[@]}"; do kill -0 "$pid" 2>/dev/null || break 2; done
        sleep 0.1
    done
    wait "$pid" || status=$?
    name=${running[$pid]}
    unset "running[$pid]"
    conclude "$name" "$(log_of "$name")" $status
    all_passed=$((all_passed + passed)) all_failed=$((all_failed + bad)) all_skipped=$((all_skipped + skipped))
    [ $bad -eq 0 ] || again+=("$name")
    [ "$skipped" -eq 0 ] || broken=1
}

# conclude NAME LOG STATUS: says how a suite has ended. Sets passed, bad and skipped.
conclude() {
    local name=$1 log=$2 status=$3 real user system
    read -r real user system < <(tail -n 1 "$log.time") || real=0 user=0 system=0
    passed=$(grep -c '^ok ' "$log") bad=$(grep -c '^not ok ' "$log") skipped=$(grep -c '^skip ' "$log")
    # 1 says that a test failed; more, that the suite itself was ended, perhaps before most of its tests.
    if [ "$status" -gt $((bad > 0)) ]; then
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
    processor=$((processor + ${user%.*} + ${system%.*}))
}

# Runs a suite that failed once more. What failed before is flaky if all passes now.
run_again() {
    local name=$1 log before status=0
    log=$(log_of "$name")
    before=$(grep -c '^not ok ' "$log")
    echo "once more, alone: $name"
    (eval "timed \"\$log.again\" ${command_of[$name]}") || status=$?
    conclude "$name" "$log.again" $status
    [ "$bad" -eq 0 ] || { broken=1 && return; }
    all_failed=$((all_failed - before)) all_passed=$((all_passed + before))
    sed -n "s/^not ok /flaky $name: /p" "$log" | tee -a "$LOGS/flaky"
}

through() {
    local name
    [ $# -gt 0 ] || while [ ${#running[@]} -gt 0 ]; do reap; done
    for name; do
        while printf '%s\n' "${running[@]}" | grep -qxF -- "$name"; do reap; done
    done
}

# The last line, but where a tool was missing: then one more, which pastes into a shell.
closing_line() {
    local name
    [ -z "$LIST_TOOLS" ] || return 0
    through
    rm -f "$LOGS/flaky"
    for name in "${again[@]}"; do run_again "$name"; done
    [ ! -e "$LOGS/flaky" ] || echo "$(wc -l <"$LOGS/flaky") flaky: $(sed 's/^flaky //' "$LOGS/flaky" | paste -sd ';')"
    echo "$all_passed passed, $all_failed failed, $all_skipped skipped"
    [ ${#lacked_by[@]} -eq 0 ] ||
        printf '%s # would run: %s\n' "$(install_line $(packages_of "${!lacking[@]}"))" "$(printf '%s; ' "${lacked_by[@]}")"
    [ $broken -eq 0 ]
}
