# A program with promises in every state: what print shows of each. Sourced by run.

# Prints the variables of states.c, one on a line as "name = text".
print_all() {
    local name asked=()
    for name in "$@"; do asked+=(-ex "printf \"$name: \"" -ex "output $name" -ex 'printf "\n"'); done
    with_commands -ex run "${asked[@]}" -ex "info threads" -ex kill "$work/$form-states"
}

showing() {
    local at='0x[0-9a-f]+'
    print_all pending waiting follower ready labelled running combined later resolver last_resolver \
        none truth number real address text long_text thing list deep rejected member_failed broken \
        ending closing mapped cleaning cancelled released nothing serial custom looping inlined pool main_one plain wrong \
        source token linked stopped orphaned listening left loop virtual_loop own_loop scope ended
    says "print shows what is pending, and who waits" \
        "^pending: \\(vow_promise \\*\\) $at promise, pending: nobody has resolved it \\(2 resolvers\\); 1 combinator, 1 follower, 3 handlers wait$" \
        "^resolver: \\(vow_resolver \\*\\) $at promise, pending: nobody has resolved it \\(2 resolvers\\)" \
        "^last_resolver: .* nobody has resolved it \\(1 resolver\\)$" \
        "^waiting: .* then \\(pass\\), pending: reads $at$" \
        "^follower: .* promise, pending: follows $at$" \
        "^combined: .* all, pending: waits for its members$" \
        "^later: .* delay, pending: waits for its time$" \
        "^nothing: \\(vow_promise \\*\\) NULL$"
    says "print shows reactions: labels, and what their executor does with them" \
        '^labelled: .* "labelled \\"reaction\\"" reaction \(pass\), pending: reads ' \
        '^running: .* \(stop_here\), pending: its handler is running on executor serial letters; 1 thread waits$' \
        '^ready: .* \(pass\), pending: its handler is ready to run on executor serial letters$'
    says "print shows what was cancelled, and what it waits for before it is rejected" \
        '^ending: .* \(linger\), pending: cancelled; its handler is still running on executor pool; 1 handler waits$' \
        "^closing: .* then \(pass\), pending: cancelled; reads $at(; 1 (combinator|follower) waits)?$" \
        '^mapped: .* map, pending: cancelled; waits for the calls of its function to end$' \
        '^cleaning: .* finally \(pass\), pending: cancelled; its handler is ready to run on executor serial letters$'
    says "print shows each kind of value" \
        '^none: .* promise, fulfilled with none$' \
        '^truth: .* fulfilled with true$' \
        '^number: .* fulfilled with -42$' \
        '^real: .* fulfilled with 2\.5$' \
        "^address: .* fulfilled with pointer $at$" \
        '^text: .* fulfilled with "tea \\"for\\" two\\né"$' \
        '^long_text: .* fulfilled with "x{200}"\.\.\.$' \
        "^thing: .* fulfilled with object teapot $at$" \
        '^list: .* fulfilled with \[1, "two", object teapot 0x0\]$' \
        '^deep: .* fulfilled with \[{8}list of 1\]{8}$' \
        '^plain: "a value"$' \
        '^wrong: <not a vow_value: kind 77>$'
    says "print shows errors" \
        '^rejected: .* rejected with error kettle 17: no water \[3\]$' \
        '^member_failed: .* all, rejected with error kettle 18 \(member 1\)$' \
        '^broken: .* rejected with error vow -4 \(VOW_EBROKEN\): ' \
        '^cancelled: .* rejected with error vow -6 \(VOW_ECANCELLED\)'
    says "print tells of what was freed" "^released: \\(vow_promise \\*\\) $at <freed"
    says "print shows executors" \
        "^serial: \\(vow_executor \\*\\) $at serial, 2 handlers ready to run$" \
        '^custom: .* custom \(submit_elsewhere\), one handler at a time$' \
        '^looping: .* loop$' \
        '^inlined: .* inline$' \
        '^pool: .* pool$' \
        '^main_one: .* main$'
    says "print shows cancel sources and tokens" \
        "^source: \\(vow_cancel_source \\*\\) $at not cancelled; registered: 2 reactions, 1 function, 1 linked source$" \
        "^token: \\(vow_token \\*\\) $at not cancelled; registered: 2 reactions, 1 function, 1 linked source$" \
        '^linked: .* not cancelled; linked to 1 other$' \
        '^stopped: .* cancelled with "enough"$' \
        '^orphaned: .* not cancelled, and nobody can any more$'
    says "print shows registrations" \
        "^listening: \\(vow_registration \\*\\) $at may be called$" '^left: .* is never called$'
    says "print shows loops" \
        "^loop: \\(vow_loop \\*\\) $at loop, descriptor [0-9]+, nobody runs it$" \
        "^virtual_loop: .* virtual loop, descriptor [0-9]+, nobody runs it, 2 handlers ready to run, has timers$" \
        '^own_loop: .* loop, descriptor [0-9]+, a thread runs it, has timers$'
    says "print shows scopes" \
        "^scope: \\(vow_scope \\*\\) $at 2 members$" \
        '^ended: .* 0 members, cancelled, failed with error kettle 19$'
    lacks "no thread was made to run by it" 'The program being debugged was signaled while in a function'
}
