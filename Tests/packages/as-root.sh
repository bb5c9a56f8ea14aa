# What only root may do: a Debian of its own, and no network. Sourced.

# Where the kernel lets us take the network away, and else where programs look for a way around that.
if as_root unshare --net true 2>/dev/null; then
    no_network="in a network namespace of its own"
    without_network() { as_root unshare --net -- "$@"; }
else
    no_network="with proxies that lead nowhere"
    without_network() {
        env {http,https,ftp,all}_proxy=http://127.0.0.1:9 GIT_ALLOW_PROTOCOL=file "$@"
    }
fi

# empty_directory DIRECTORY: removes what root made there too, and leaves it empty.
empty_directory() {
    as_root rm -rf "$1"
    mkdir -p "$1"
}
