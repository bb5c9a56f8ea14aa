# Runs programs and turns what they do into `ok NAME` and `not ok NAME` lines. Sourced.

# result STATUS SENTENCE: one line by an exit status.
failed=0
result() {
    if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2" && failed=1; fi
}

# sections FILE DIRECTORY: writes each part of a file that begins with `== NAME` into a file of that name.
sections() {
    rm -rf "$2"
    mkdir -p "$2"
    awk -v to="$2" '/^== / { file = to "/" substr($0, 4); next } { print >file }' "$1"
}

# silent SENTENCE COMMAND...: one line by a command that prints nothing when all is well.
silent() {
    local sentence=$1
    shift
    "$@"
    result $? "$sentence"
    return $failed
}

# run_tests NAME LIMIT COMMAND...: a program that prints such lines itself, which get its name. The
# rest of its output is shown when it fails. It fails too when it ends badly, or ran no test.
run_tests() {
    local name=$1 limit=$2 output status=0
    shift 2
    output=$(mktemp)
    timeout -k 10 "$limit" "$@" >"$output" 2>&1 || status=$?
    sed -nE -e "s/^(ok|not ok)$/\1 $name/p" -e "s/^(ok|not ok):? /\1 $name: /p" "$output"
    if [ $status -ne 0 ]; then
        failed=1
        grep -vE '^ok( |$)' "$output" | tail -n 60 | sed 's/^/    /'
        if [ $status -ne 1 ] || ! grep -qE '^not ok( |:|$)' "$output"; then
            echo "not ok $name: ends with status $status"
        fi
    elif grep -qE '^not ok( |:|$)' "$output"; then
        failed=1
    elif ! grep -qE '^ok( |$)' "$output"; then
        failed=1
        echo "not ok $name: runs no test"
    fi
    rm -f "$output"
}

# built NAME COMMAND...: whether a program can be built; a line only when not.
built() {
    local name=$1
    shift
    "$@" 2>&1 && return
    result 1 "$name: builds"
    return 1
}
