# Runs suites, counts their lines, and says the sum at the end. Sourced, in the tree's top directory.
#
# A suite is a command that prints `ok NAME`, `not ok NAME` and `skip NAME` lines and exits with 0
# when all is well. It fails also when it runs no test; and a skip is a failure of the whole.

: "${BUILD:=build}"
LOGS=$BUILD/test/log
total_passed=0 total_failed=0 total_skipped=0
mkdir -p "$LOGS"

count() { grep -cE "$1" "$2" || true; }

# suite NAME COMMAND...
suite() {
    local name=$1 status=0 start=$SECONDS passed bad skipped log
    log=$LOGS/$(printf '%s' "$name" | tr -cs 'A-Za-z0-9\n' '-').log
    shift
    "$@" >"$log" 2>&1 || status=$?
    passed=$(count '^ok ' "$log")
    bad=$(count '^not ok ' "$log")
    skipped=$(count '^skip ' "$log")
    if [ "$bad" -eq 0 ] && [ $status -ne 0 ]; then
        echo "not ok $name: ends with status $status" >>"$log"
        bad=1
    elif [ $((passed + bad)) -eq 0 ]; then
        echo "not ok $name: runs no test" >>"$log"
        bad=1
    fi
    # What went wrong, and what was said around it.
    [ "$bad" -eq 0 ] && [ "$skipped" -eq 0 ] || grep -vE '^ok ' "$log" | tail -n 100
    printf '%-28s %5d passed, %d failed, %d skipped (%d s)\n' \
        "$name" "$passed" "$bad" "$skipped" $((SECONDS - start))
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + bad))
    total_skipped=$((total_skipped + skipped))
}

# The last line; the status is 1 when something failed or was skipped.
closing_line() {
    echo "$total_passed passed, $total_failed failed, $total_skipped skipped"
    [ $total_failed -eq 0 ] && [ $total_skipped -eq 0 ]
}
