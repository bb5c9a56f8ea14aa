# A program that hangs, attached and as a core: who is named. Sourced by run.

# Attaches until both threads are seen to wait.
attach() {
    local try
    for try in {1..120}; do
        with_commands -p "$hanging" "$@"
        ! grep -q '2 threads wait' "$said" || return 0
        sleep 0.5
    done
}

named_by_list() {
    says "$1: vow-pending names what nobody resolved, and where it was made" \
        '^Nobody has resolved this one:$' \
        '^    0x[0-9a-f]+ "socket" promise, made in connect_socket at hang\.c:19$'
    says "$1: vow-pending tells what each waits for and who waits for it" \
        '^6 promises are pending, 6 alive; 2 threads wait\.$' \
        "^thread [0-9]+ \\(.*, LWP $hanging\\) waits for 0x[0-9a-f]+ finally, for " \
        '^0x[0-9a-f]+ "socket" promise, pending for (at least )?[0-9.]+ m?s$' \
        '^    made in connect_socket at hang\.c:19$' \
        '^    nobody has resolved it \(1 resolver\)$' \
        '^    0x[0-9a-f]+ "login" then reads it$' \
        '^0x[0-9a-f]+ "login" then \(parse\), pending for .*, on pool$' \
        '^    reads 0x[0-9a-f]+ "socket" promise$' \
        '^    follows 0x[0-9a-f]+ "login" then$' \
        '^    waits for its time$' \
        '^0x[0-9a-f]+ "everything" all, pending for .*, 33 % done$' \
        '^    needs 0x[0-9a-f]+ "outer" promise$'
}

named_by_graph() {
    says "$1: vow-graph leads from the waiting thread to it" \
        "^thread [0-9]+ \\(.*, LWP $hanging\\), for " \
        '^└─ waits for 0x[0-9a-f]+ finally \(report\)' \
        '^   └─ reads 0x[0-9a-f]+ "everything" all, for ' \
        '^      ├─ needs 0x[0-9a-f]+ "outer" promise, for ' \
        '^      │  └─ follows 0x[0-9a-f]+ "login" then \(parse\), for .*, on pool$' \
        '^      │     └─ reads 0x[0-9a-f]+ "socket" promise, for .*: nobody has resolved it \(1 resolver\), made in connect_socket at hang\.c:19$' \
        '^      └─ needs 0x[0-9a-f]+ delay, for .*: waits for its time, made in main at hang\.c:' \
        '^└─ waits for 0x[0-9a-f]+ finally \(report\) \(see above\)$'
}

hanging() {
    local program=$work/$form-hang core=$work/$form.core
    VOW_TRACK=1 "$program" >"$work/printed" &
    hanging=$!
    attach "$program" -ex vow-pending -ex "generate-core-file $core"
    named_by_list attached
    with_commands -p "$hanging" "$program" -ex vow-graph
    named_by_graph attached
    with_commands -p "$hanging" "$program" -ex "vow-graph forgotten" -ex "vow-pending 2" \
        -ex "vow-promise forgotten"
    says "of one promise alone, and of the oldest two" \
        '^0x[0-9a-f]+ "socket" promise, for .*: nobody has resolved it \(1 resolver\), made in' \
        '^\.\.\. and 4 more: vow-pending 6$' \
        '^\(vow_promise \*\) 0x[0-9a-f]+ "socket" promise, pending: nobody has resolved it \(1 resolver\); 1 handler waits; made in connect_socket at hang\.c:19$'
    kill -0 "$hanging"
    result $? "$form: the program goes on as it was"
    kill "$hanging"
    wait "$hanging" 2>/dev/null

    with_commands "$program" "$core" -ex vow-pending -ex vow-graph -ex "print forgotten"
    named_by_list core
    named_by_graph core
    says "core: print" '= \(vow_resolver \*\) 0x[0-9a-f]+ "socket" promise, pending: nobody has resolved it'
    rm -f "$core"
}
