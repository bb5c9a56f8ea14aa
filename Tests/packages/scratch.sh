# An empty Debian in $work/scratch: what every installation has, and a C programmer's tools. Sourced.

scratch=$work/scratch/root

# start_scratch PACKAGE...: it takes a while, so that goes on while other things are tested. The packages come from
# where this machine has its own.
start_scratch() {
    mkdir -p "$work/scratch"
    minimal_debian "$scratch" apt "$@" >"$work/scratch.log" 2>&1 &
    scratch_job=$!
}

await_scratch() {
    wait "$scratch_job"
    made=$?
    scratch_job=
    [ $made = 0 ] || tail -n 20 "$work/scratch.log"
    as_root true 2>/dev/null || echo "    this takes root, or sudo without a password"
    result $made "an empty Debian can be set up"
    [ $made = 0 ] || exit 1
    if as_root unshare --net --mount --pid --fork true 2>/dev/null; then
        apart=(unshare --net --mount --pid --fork --mount-proc="$scratch/proc")
    else
        apart=()
    fi
    # Who works there is root already, and nobody is there to say yes.
    printf '#!/bin/sh\nexec "$@"\n' >"$work/sudo"
    as_root install -m 755 "$work/sudo" "$scratch/usr/local/bin/sudo"
    echo 'APT::Get::Assume-Yes "true";' >"$work/yes"
    as_root install -m 644 "$work/yes" "$scratch/etc/apt/apt.conf.d/yes"
}

# Removes it; not while it is still being set up, when directories of this machine are mounted in it.
remove_scratch() {
    [ -z "${scratch_job:-}" ] || wait "$scratch_job"
    empty_directory "$work/scratch"
}

# in_scratch COMMAND: a line for its shell, in the directory /root/vow, with nothing of our environment and no network.
in_scratch() {
    as_root timeout 300 "${apart[@]}" chroot "$scratch" /usr/bin/env -i HOME=/root \
        PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        sh -c "cd /root/vow && set -e && $1"
}

# into_scratch FILE...: puts them into /root/vow, and nothing else is there.
into_scratch() {
    as_root rm -rf "$scratch/root/vow"
    as_root mkdir -p "$scratch/root/vow"
    as_root cp "$@" "$scratch/root/vow"
}

# Every file that is there and what it is, but for what apt and dpkg note for themselves.
scratch_files() {
    as_root find "$scratch" \( -path "$scratch/proc" -o -path "$scratch/root/vow" -o -path "$scratch/tmp" \
        -o -path "$scratch/var/lib/apt" -o -path "$scratch/var/cache/apt" -o -path "$scratch/var/log" \
        -o -path "$scratch/var/lib/dpkg" -o -path "$scratch/var/cache/ldconfig" \) -prune \
        -o -printf '%P %M %l\n' | LC_ALL=C sort
    as_root chroot "$scratch" dpkg-query -W
}
