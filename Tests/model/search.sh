# One exhaustive search of one model; sourced by run and mutants.

models=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What every search is compiled with.
always="-DCOLLAPSE -DVECTORSZ=2048 -DMEMLIM=4096"
. "$models/hashes.sh"

need() {
    local tool
    for tool in spin gcc patch; do
        command -v "$tool" > /dev/null || { echo "not ok: $tool is not installed"; exit 2; }
    done
}

names() { searches | cut -d ' ' -f 1; }

# build NAME DIR: makes DIR/pan out of the sources in DIR. What went wrong stands in DIR/log.
build() {
    local model spin_flags cc_flags
    read -r _ model spin_flags cc_flags _ < <(awk -v n="$1" '$1 == n' "$models/searches")
    [ -n "$model" ] || { echo "no search is named $1" > "$2/log"; return 1; }
    (
        cd "$2" || exit 1
        # Words are split at the commas on purpose.
        spin -a ${spin_flags//,/ } "$model" > log 2>&1 && ! grep -qi 'error' log || exit 1
        # To optimise takes longer than most searches do: the others say so in `searches`.
        gcc -O0 -w $always ${cc_flags//,/ } -o pan pan.c >> log 2>&1
    )
}

# search NAME DIR: runs DIR/pan; its output goes to DIR/out. The limit is one of processor time, so that other
# work on the machine cuts nothing short.
search() {
    local pan_flags
    pan_flags=$(awk -v n="$1" '$1 == n { print $5 }' "$models/searches")
    (cd "$2" && ulimit -t 3600 && ./pan ${pan_flags//,/ } > out 2>&1)
}

# Whether the search in DIR went to its end. One that was cut short proves nothing.
complete() {
    grep -q 'errors:' "$1/out" &&
        ! grep -qiE 'search depth too small|out of memory|not completed|hash table full' "$1/out"
}

# figures DIR: states=N transitions=M depth=D
figures() {
    awk '/depth reached/ { for (i = 1; i < NF; i++) if ($i == "reached") { d = $(i + 1) } }
         /states, stored/ { s = $1 } / transitions \(=/ { t = $1 }
         END { sub(",", "", d); printf "states=%d transitions=%d depth=%d", s, t, d }' "$1/out"
}
