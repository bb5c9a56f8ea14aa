# What the tests call beyond Swift, git and make: how each tool is found, and which Debian package has it. Sourced.
#
#   has TOOL, missing TOOL..., need TOOL..., packages_of TOOL..., install_line PACKAGE...

# Tool, package, and how it is found, which is by the command of its name unless the row says otherwise: another command, a
# library as pkg-config calls it, a header, a module of Python's; or what answers with 0 when it is there.
tool_table() {
    cat <<'END'
cc           gcc
g++          g++
pkg-config   pkg-config
cmake        cmake
clang-format clang-format
readelf      binutils
valgrind     valgrind
spin         spin
python3      python3
venv         python3-venv         module  ensurepip
python-h     python3-dev          answers python_headers
dpkg-dev     dpkg-dev             command dpkg-buildpackage
debhelper    debhelper            command dh
lintian      lintian
mmdebstrap   mmdebstrap
meson        meson
automake     automake
doxygen      doxygen
mkdocs       mkdocs
gdb          gdb
libuv        libuv1-dev           library libuv
glib         libglib2.0-dev       library gio-2.0
libcurl      libcurl4-openssl-dev library libcurl
libpq        libpq-dev            library libpq
postgres     postgresql           answers postgres_bin
asio         libasio-dev          header  asio/version.hpp
libc++       libc++-19-dev        answers libcxx
sdt          systemtap-sdt-dev    header  sys/sdt.h
index        -                    answers bindings/python/tools
packages     -                    answers swift_packages
root         -                    answers as_root true
END
}

# The package of a tool, and how it is found; a name that is not in the table is a mistake of ours.
tool_row() {
    tool_table | awk -v tool="$1" '
        $1 == tool { found = 1; print $2, (NF > 2 ? $3 " " $4 " " $5 : "command " tool) }
        END { exit !found }' || { echo "tools: no tool is called '$1'" >&2 && exit 2; }
}

# as_root COMMAND...: by sudo without a password, where we are not root.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# The headers of the interpreter that the wheel is built with.
python_headers() {
    [ -f "$("${PYTHON:-python3}" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" ]
}

# Where a PostgreSQL server has its commands: Debian does not put them on the path, and there may be several.
postgres_bin() {
    local initdb
    initdb=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
    [ -x "$initdb" ] || initdb=$(readlink -f "$(command -v initdb)")
    [ -n "$initdb" ] && dirname "$initdb"
}

# Where Debian has LLVM's C++ standard library, which no compiler here looks for by itself: the newest.
libcxx() {
    local format
    format=$(printf '%s\n' /usr/lib/llvm-*/include/c++/v1/format | sort -V | tail -n 1)
    [ -f "$format" ] && echo "${format%/include/c++/v1/format}"
}

# Whether the packages of bridges/Package.swift can be had.
swift_packages() {
    timeout 60 git ls-remote --exit-code "$(sed -n 's/.*url: "\([^"]*\)".*/\1/p' bridges/Package.swift | head -n 1)" HEAD
}

has() {
    local row how what
    row=$(tool_row "$1") || exit 2
    read -r _ how what <<<"$row"
    case $how in
    command) command -v "$what" ;;
    library) pkg-config --exists "$what" ;;
    header) echo "#include <$what>" | cc -E - ;;
    module) python3 -c "import $what" ;;
    answers) $what ;;
    esac >/dev/null 2>&1
}

# missing TOOL...: those that are not there, a line each.
missing() {
    local tool
    for tool in "$@"; do has "$tool" || echo "$tool"; done
}

# Their packages, a line each; not every tool has one.
packages_of() {
    local tool
    for tool in "$@"; do tool_row "$tool" | awk '$1 != "-" { print $1 }'; done | sort -u
}

install_line() { echo "sudo apt-get update && sudo apt-get install -y --no-install-recommends $*"; }

# need TOOL...: ends the script, and says what to do, when one is not there.
need() {
    local tools packages
    mapfile -t tools < <(missing "$@")
    [ ${#tools[@]} -gt 0 ] || return 0
    packages=$(packages_of "${tools[@]}")
    echo "$(basename "$0"): needs ${tools[*]}" >&2
    [ -z "$packages" ] || install_line $packages >&2
    exit 2
}
