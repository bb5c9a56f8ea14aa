# pack DIRECTORY NAME ARCHIVE: a tarball of DIRECTORY/NAME that depends on nothing but the contents
# and SOURCE_DATE_EPOCH: no order, owner, mask or time of this machine. Sourced.
pack() {
    tar -c --format=gnu --sort=name --mtime="@${SOURCE_DATE_EPOCH:?}" --owner=0 --group=0 \
        --numeric-owner --mode='u=rwX,go=rX' -C "$1" "$2" | gzip -n9 >"$3"
}
