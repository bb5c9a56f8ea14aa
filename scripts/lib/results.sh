# Runs programs and turns what they do into `ok NAME` and `not ok NAME` lines. Sourced.

# result STATUS SENTENCE: one line by an exit status, which it returns.
failed=0
result() {
    if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2" && failed=1; fi
    return "$1"
}

# sections FILE DIRECTORY: writes each part of a file that begins with `== NAME` into a file of that name.
sections() {
    rm -rf "$2"
    mkdir -p "$2"
    awk -v to="$2" '/^== / { file = to "/" substr($0, 4); next } file { print >file }' "$1"
}

# silent SENTENCE COMMAND...: one line by a command that prints nothing when all is well.
silent() {
    "${@:2}"
    result $? "$1"
}

# prints SENTENCE EXPECTED COMMAND...: one line by a program that prints what is in the file EXPECTED, and ends with 0. Its
# output goes beside that file.
prints() {
    local status=0
    timeout -k 10 "${LIMIT:-60}" "${@:3}" >"$2.out" 2>"$2.err" || status=$?
    diff -u --label "it should print" --label "it prints" "$2" "$2.out" && [ $status -eq 0 ] ||
        { tail -n 40 "$2.err" && echo "ends with status $status" && false; }
    result $? "$1"
}

# run_tests NAME LIMIT COMMAND...: a program that prints such lines itself, which get its name. The
# rest of its output is shown when it fails. It fails too when it ends badly, or ran no test.
run_tests() {
    local name=$1 output status=0
    output=$(mktemp)
    timeout -k 10 "$2" "${@:3}" >"$output" 2>&1 || status=$?
    sed -nE -e "s/^(ok|not ok)$/\1 $name/p" -e "s/^(ok|not ok):? /\1 $name: /p" "$output"
    [ $status -eq 0 ] || grep -vE '^ok( |$)' "$output" | tail -n 60 | sed 's/^/    /'
    if grep -qE '^not ok( |:|$)' "$output" && [ $status -le 1 ]; then
        failed=1
    elif [ $status -ne 0 ]; then
        result 1 "$name: ends with status $status"
    elif ! grep -qE '^ok( |$)' "$output"; then
        result 1 "$name: runs no test"
    fi
    rm -f "$output"
}

# built NAME COMMAND...: whether a program can be built; a line only when not.
built() { "${@:2}" 2>&1 || result 1 "$1: builds"; }
