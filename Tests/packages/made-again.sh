# The same from the source tarball, as another user in another place might, without a network: sourced by run.

again=$work/again/in-another-place
mkdir -p "$again"
cp "$source" "$again"
blocks docs/installing.md "From source" sh >"$work/from-source"
[ -s "$work/from-source" ]
result $? "the documentation says how to build from source"

# elsewhere COMMAND: a line for bash, in that place and with another environment.
elsewhere() {
    without_network timeout 600 env -i HOME="$again" PATH="$PATH" TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 \
        MAKEFLAGS= SWIFTC="${SWIFTC:-swiftc}" SWIFT_BACKTRACE=enable=no bash -euc "umask 027; cd '$again'; $1"
}

quietly "it builds and installs from the source tarball, $no_network" elsewhere "$(cat "$work/from-source")"
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$work/app.c"
cp "$work/app.c" "$again"
[ "$(elsewhere "export PKG_CONFIG_PATH=\$HOME/.local/lib/pkgconfig
    cc app.c \$(pkg-config --cflags --libs vow) -o app && ./app" | tail -n 1)" = 42 ]
result $? "the README's program runs with that"
quietly "it makes tarballs itself, $no_network" elsewhere "cd vow-*/ && make dist"
quietly "it makes Debian packages itself, $no_network" elsewhere "cd vow-*/ && make deb BUILD='$again/products'"
