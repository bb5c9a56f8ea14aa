# What is made from the commit: sourced by run.

quietly "make dist" vow_make dist
quietly "make deb" vow_make deb
machine=$(uname -m)
source=$PWD/$BUILD/dist/vow-$version.tar.gz
case $BUILD in /*) source=$BUILD/dist/vow-$version.tar.gz ;; esac
made=${source%/dist/*}
binary=$made/dist/vow-$version-linux-$machine.tar.gz

listed() { tar -tf "$1" | grep -v '/$' | sed 's|^[^/]*/||' | LC_ALL=C sort; }

diff <(listed "$source") <({ git -c safe.directory="$PWD" ls-tree -r --name-only -z HEAD | tr '\0' '\n' &&
    printf 'packaging/%s\n' files origin; } | LC_ALL=C sort)
result $? "the source tarball has the commit's files, and two that name it"
! tar -tf "$source" | grep -v "^vow-$version/" && ! tar -tf "$binary" | grep -v "^vow-$version-linux-$machine/"
result $? "each tarball has one directory, named as itself"
(cd "$made/dist" && sha256sum --quiet -c SHA256SUMS)
result $? "SHA256SUMS has the sums of both"

listed "$binary" >"$work/binary-files"
for file in LICENSE NOTICE README.md include/vow.h include/vow/module.modulemap lib/libvow.a lib/libvow.so \
    "lib/libvow.so.$version" lib/pkgconfig/vow.pc lib/cmake/vow/vowConfig.cmake \
    lib/cmake/vow/vowConfigVersion.cmake; do
    grep -qxF "$file" "$work/binary-files" || echo "$file is not in the binary tarball"
done >"$work/output"
[ ! -s "$work/output" ] || { cat "$work/output" && false; }
result $? "the binary tarball has header, both libraries, what build systems read, and the licence"
rm -rf "$work/binary" && mkdir "$work/binary" && tar -xf "$binary" -C "$work/binary" --strip-components=1
! grep -rlF -e "$PWD" -e "$work" -e "$HOME/" "$work/binary"
result $? "no file in it names this machine's directories"

# The Debian packages, and the library in them.
debs=("$made"/deb/{libvow0_"$version"-*,libvow-dev_"$version"-*,libvow-doc_"$version"-*}.deb)
field() { dpkg-deb -f "$1" "$2"; }
[[ $(field "${debs[0]}" Depends) =~ ^libc6\ \(\>=\ [0-9.]+\)$ ]]
result $? "libvow0 depends on $(field "${debs[0]}" Depends) alone"
quietly "lintian has nothing to say" lintian --allow-root --fail-on error,warning \
    --suppress-tags initial-upload-closes-no-bugs "$made"/deb/*.changes
[ ! -s "$work/output" ] || grep -v '^N:' "$work/output"
for package in "${debs[@]}"; do
    name=$(field "$package" Package)
    rm -rf "$work/unpacked" && dpkg-deb -R "$package" "$work/unpacked" &&
        (cd "$work/unpacked" && md5sum --quiet -c DEBIAN/md5sums) &&
        gzip -dc "$work/unpacked/usr/share/doc/$name/changelog.Debian.gz" | grep -q "^vow ($version-" &&
        grep -q '^License: Apache-2.0' "$work/unpacked/usr/share/doc/$name/copyright"
    result $? "$name has sums that are right, its changelog and its licence"
done

# versioned LIBRARY WHICH: each function that it exports has a version, one of the map's.
versioned() {
    readelf -W --dyn-syms "$1" | awk '$4 == "FUNC" && $7 != "UND" { print $8 }' >"$work/exports"
    [ "$(wc -l <"$work/exports")" = "$(grep -c '^ *vow_[a-z0-9_]*;' packaging/libvow.map)" ] &&
        ! grep -vE "^vow_[a-z0-9_]+@@VOW_(${nodes//[[:space:]]/|})$" "$work/exports"
    result $? "every function of $2 has its symbol version"
}
versioned "$work/binary/lib/libvow.so" "the binary tarball"
rm -rf "$work/unpacked" && dpkg-deb -x "${debs[0]}" "$work/unpacked"
versioned "$work/unpacked"/usr/lib/*/libvow.so.0 "libvow0"
