# One exhaustive search of one model. Sourced by run, and run by Tests/planted/run.

models=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What every search is compiled with.
always="-DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=4096"

need() {
    local tool
    for tool in spin gcc; do
        command -v "$tool" >/dev/null || { echo "not ok: $tool is not installed" && exit 2; }
    done
}

# The searches: name, model, what spin and the compiler define, how it is run.
searches() { sed '/^#/d; /^ *$/d' "$models/searches" | awk '{ $1 = $1; print }'; }
names() { searches | cut -d ' ' -f 1; }
line_of() { searches | awk -v name="$1" '$1 == name'; }

# build NAME DIR: makes DIR/pan out of the sources in DIR. What went wrong stands in DIR/log.
build() {
    local model spin_flags cc_flags
    read -r _ model spin_flags cc_flags _ < <(line_of "$1")
    [ -n "$model" ] || { echo "no search is named $1" >"$2/log" && return 1; }
    (
        cd "$2" || exit 1
        # Words are split at the commas on purpose.
        spin -a ${spin_flags//,/ } "$model" >log 2>&1 && ! grep -qi 'error' log || exit 1
        # To optimise takes longer than most searches do: the others say so in `searches`.
        gcc -O0 -w $always ${cc_flags//,/ } -o pan pan.c >>log 2>&1
    )
}

# search NAME DIR: runs DIR/pan; its output goes to DIR/out. The limit is one of processor time, so that other
# work on the machine cuts nothing short.
search() {
    local pan_flags
    pan_flags=$(line_of "$1" | cut -d ' ' -f 5)
    (cd "$2" && ulimit -t 3600 && ./pan ${pan_flags//,/ } >out 2>&1)
}
