# Says of which commit the tree is, and lists and copies what that commit has. Sourced, in the top directory.
#
# In a clone git knows. In an unpacked source tarball packaging/origin does, and packaging/files
# lists what was packed; scripts/make-dist writes both.

commit_git() { git -c safe.directory="$PWD" "$@"; }

# Sets COMMIT, and SOURCE_DATE_EPOCH where the caller did not: the moment that every file of a
# package gets, so that the same commit gives the same bytes.
read_origin() {
    local date
    if [ -e .git ]; then
        COMMIT=$(commit_git rev-parse HEAD)
        date=$(commit_git log -1 --format=%ct HEAD)
    elif [ -f packaging/origin ]; then
        COMMIT=$(sed -n 's/^commit //p' packaging/origin)
        date=$(sed -n 's/^date //p' packaging/origin)
    else
        echo "vow: neither a clone nor a source tarball of 'make dist': what belongs to it?" >&2
        return 1
    fi
    export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$date}
}

# The names of the tree's files that git knows, or that were packed, with a NUL behind each.
commit_files() {
    if [ -e .git ]; then commit_git ls-files -z; else grep -vx packaging/origin packaging/files | tr '\n' '\0'; fi
}

# copy_commit DIRECTORY: the commit's files, and the two that name it.
copy_commit() {
    if [ -e .git ]; then
        commit_git diff --quiet HEAD -- || echo "vow: changes that are not committed are not packed" >&2
        commit_git archive --format=tar HEAD | tar -x -C "$1"
        printf 'commit %s\ndate %s\n' "$COMMIT" "$SOURCE_DATE_EPOCH" >"$1/packaging/origin"
        (cd "$1" && find . ! -type d ! -path ./packaging/files -printf '%P\n' | LC_ALL=C sort) \
            >"$1/packaging/files"
    else
        tar -c --no-recursion --verbatim-files-from -T packaging/files packaging/files | tar -x -C "$1"
    fi
}
