# How gdb comes to the commands, and what they say where there is nothing to show. Sourced by run.

without_tracing() {
    with_commands -ex run -ex vow-pending -ex vow-graph -ex "vow-graph follower" -ex kill "$work/shared-states"
    says "without tracing, the commands say how to get it" \
        '^Tracing is off in this program' 'set environment VOW_TRACK 1' 'vow_trace_start\(NULL\)'
    says "and what one promise follows is shown all the same" \
        '^0x[0-9a-f]+ promise, pending: follows 0x' \
        '^└─ 0x[0-9a-f]+ promise, pending: nobody has resolved it \(2 resolvers\)'

    with_commands -ex "set environment VOW_TRACK 1" -ex run -ex "print pending" -ex vow-pending \
        -ex "vow-graph number" -ex "vow-graph 64" -ex "vow-pending many" -ex kill "$work/shared-states"
    says "with it, print knows labels, progress and places too" \
        '= \(vow_promise \*\) .* "the first" promise, pending: .*; 25 % done; made in make_pending at states\.c:[0-9]+$' \
        '^    its handler is running on executor serial letters$' \
        '^    its handler is ready to run on executor serial letters$'
    says "the commands refuse what they cannot show" \
        'is not pending: it is fulfilled' '^0x40 is not a promise that libvow knows of' \
        '^vow-pending: many is not a count'
}

wrong_handles() {
    with_commands -ex run -ex "output (vow_promise *) 16" -ex 'printf "\n"' \
        -ex "output (vow_promise *) ((char *)pending + 8)" -ex 'printf "\n"' \
        -ex "output (vow_promise *) (((unsigned long)\$sp & ~15) - 4096)" -ex 'printf "\n"' \
        -ex "output (vow_executor *) pending" -ex 'printf "\n"' -ex "output (vow_loop *) pending" -ex 'printf "\n"' \
        -ex "output (vow_scope *) pending" -ex 'printf "\n"' -ex "output (vow_token *) 64" -ex 'printf "\n"' \
        -ex "output (vow_loop *) 0" -ex 'printf "\n"' -ex "vow-promise" \
        -ex "vow-promise nobody" -ex "vow-promise 32" -ex "set var *((char *)pending + 18) = 7" \
        -ex "print pending" -ex kill "$work/shared-states"
    says "a handle that is none is called so" \
        '^\(vow_promise \*\) 0x10 <no memory at 0x10>$' \
        '<not a promise: its address is not a multiple of 16>$' \
        '^\(vow_executor \*\) 0x[0-9a-f]+ <not an executor|^\(vow_executor \*\) 0x[0-9a-f]+ <freed>' \
        '^\(vow_loop \*\) 0x[0-9a-f]+ <' '^\(vow_scope \*\) 0x[0-9a-f]+ <' '^\(vow_token \*\) 0x40 <no memory' \
        '^\(vow_loop \*\) NULL$' \
        '^vow-promise: which one' '^No symbol "nobody" in current context' \
        '^\(vow_promise \*\) 0x20 <no memory at 0x20>$' \
        '= \(vow_promise \*\) 0x[0-9a-f]+ <not a promise \(freed, or something else\)>$'
}

elsewhere() {
    with_commands -ex vow-pending "$work/shared-states"
    says "before the program runs" '^The program is not running\.$'
    with_commands -ex "break main" -ex run -ex vow-pending -ex kill /bin/true
    says "a program without libvow" 'no libvow found|The program is not running'

    local stripped=$work/stripped
    mkdir -p "$stripped"
    cp -a "$PREFIXES"/shared/lib/libvow.so* "$stripped"
    strip --strip-unneeded "$stripped"/libvow.so.*.*
    with_commands -ex "set environment LD_LIBRARY_PATH $stripped" -ex run -ex "print number" \
        -ex kill "$work/preferred-states"
    says "a library without its symbols" 'fulfilled with -42$'
}

by_itself() {
    local at=$PREFIXES/shared installed
    at=$(cd "$at" && pwd)
    installed=$at/share/gdb/auto-load
    debug -iex "add-auto-load-scripts-directory $installed" -iex "add-auto-load-safe-path $installed" \
        -ex "set environment VOW_TRACK 1" -ex run -ex "print number" -ex "vow-graph pending" -ex kill \
        "$work/shared-states"
    says "what is installed loads with the library" 'fulfilled with -42; made in with at states\.c:[0-9]+$' '"the first" promise, for '
    debug -ex run -ex "print number" -ex kill -ex "source $at/share/vow/gdb/vow.py" -ex run \
        -ex "print number" -ex kill "$work/static-states"
    says "and can be sourced, for programs with the archive" 'fulfilled with -42$'
    [ -z "$(find "$at/share" packaging -name '__pycache__')" ]
    result $? "shared: nothing is written beside it"
}

finding() {
    # Takes its library from where LD_LIBRARY_PATH says.
    program shared "$work/preferred-states" -O0 Tests/gdb/states.c -Wl,--enable-new-dtags
    without_tracing
    wrong_handles
    elsewhere
    by_itself
}
