# minimal_debian DIRECTORY VARIANT PACKAGE...: a Debian of this machine's release, from where this machine has its own
# packages. Sourced, after tools.sh.
minimal_debian() {
    local directory=$1 variant=$2 packages sources
    shift 2
    packages=$(printf '%s,' "$@")
    (
        . /etc/os-release
        sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
            'Created-By: Packages' | grep -E "/$ID(-security)?/? " | sort -u)
        as_root mmdebstrap --variant="$variant" --include="${packages%,}" \
            --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' \
            --dpkgopt='path-exclude=/usr/share/locale/*' "$VERSION_CODENAME" "$directory" \
            ${sources:+-} <<<"$sources"
    )
}
