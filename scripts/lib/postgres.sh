# A PostgreSQL server of a script's own, in a directory that goes with the script, however that ends. Sourced, after
# tools.sh.
#
#   server_begin         makes the directory and its data, and starts the server; $server_where: for libpq
#   server_kill          kills it with all its processes, without a word
#   server_start         starts it, when it was killed
#   server_lines         what the server had to say, for a failure

# Variables of the environment that libpq or the server would heed.
unset "${!PG@}"

server_directory= server_pid= server_where=
# It stops when the script is killed. And it refuses to run as root: Debian's package has made a user for it.
as_server=(setpriv --pdeathsig INT)
[ "$(id -u)" != 0 ] || as_server+=(--reuid=postgres --regid=postgres --init-groups)

server_begin() {
    server_directory=$(mktemp -d) || return
    trap server_end EXIT
    trap 'exit 1' INT TERM HUP
    [ "$(id -u)" != 0 ] || chown postgres: "$server_directory"
    server_where="host=$server_directory user=vow dbname=postgres sslmode=disable gssencmode=disable"
    (cd "$server_directory" && "${as_server[@]}" "$(postgres_bin)/initdb" -D data -U vow -A trust --no-locale -E UTF8 \
        --no-sync --no-instructions) >"$server_directory/initdb.log" 2>&1 || { cat "$server_directory/initdb.log" && return 1; }
    server_start
}

# Of one that was killed the last processes may be there for a moment, and keep the next one out.
server_start() {
    local tries
    for ((tries = 0; tries < 300; tries++)); do
        if [ -z "$server_pid" ] || ! kill -0 "$server_pid" 2>/dev/null; then
            "${as_server[@]}" "$(postgres_bin)/postgres" -D "$server_directory/data" -k "$server_directory" \
                -c listen_addresses= -c fsync=off -c max_connections=20 >>"$server_directory/log" 2>&1 </dev/null &
            server_pid=$!
        fi
        "$(postgres_bin)/pg_isready" -q -h "$server_directory" && return
        sleep 0.1
    done
    server_lines
    return 1
}

server_lines() { tail -n 20 "$server_directory/log" | sed 's/^/    server: /'; }

# One for each connection, and some that serve it.
server_processes() { cat "/proc/$server_pid/task/$server_pid/children"; }

server_kill() {
    kill -KILL $server_pid $(server_processes) 2>/dev/null # one may have ended meanwhile
    wait $server_pid 2>/dev/null
    server_pid=
}

# Called at the end. Only a server that ends by itself takes its shared memory along, so one that was killed is started.
server_end() {
    [ -n "$server_pid" ] || [ ! -e "$server_directory/data/postmaster.pid" ] || server_start
    if [ -n "$server_pid" ]; then
        kill -INT $server_pid
        timeout 10 tail -f /dev/null --pid=$server_pid || kill -KILL $server_pid
        wait $server_pid 2>/dev/null
    fi
    rm -rf "$server_directory"
}
