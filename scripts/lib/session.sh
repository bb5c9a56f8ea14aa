# limited SECONDS COMMAND...: runs it, and ends it and all that it started when the time is up; then the status is 124.
# Sourced.

# Every process of a session, whatever group or parent it has by now.
session_members() {
    awk -v session="$1" '{ sub(/^.*\) /, ""); if ($4 == session) { sub(/\/stat$/, "", FILENAME); sub(/.*\//, "", FILENAME)
        print FILENAME } }' /proc/[0-9]*/stat 2>/dev/null
}

end_session() {
    local members
    members=$(session_members "$1")
    [ -z "$members" ] || kill -TERM $members 2>/dev/null
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        members=$(session_members "$1")
        [ -n "$members" ] || return 0
        sleep 0.5
    done
    kill -KILL $members 2>/dev/null
}

limited() {
    local limit=$1 session status=0 deadline
    shift
    setsid "$@" </dev/null &
    session=$!
    trap 'end_session "$session"; exit 130' INT TERM
    deadline=$((EPOCHSECONDS + limit))
    while kill -0 "$session" 2>/dev/null && [ $EPOCHSECONDS -lt $deadline ]; do
        sleep 1
    done
    if kill -0 "$session" 2>/dev/null; then
        end_session "$session"
        status=124
    fi
    wait "$session" || [ $status -ne 0 ] || status=$?
    trap - INT TERM
    return $status
}
