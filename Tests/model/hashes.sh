# What a search depends on, as hashes: its model and how it is searched; and the functions of the core that the model
# stands for. Sourced by search.sh and scripts/check-models.
#
# A model names those functions after its first comment, a file and some of its names a line:
#
#     /* Stands for:
#      *   Settling/Following/Path.swift: lockedUpstream leads endOfPath
#      */

root=$(cd "$models/../.." && pwd)
results=$models/results
functions=$models/functions
fault_results=$models/faults/results

# The lines of `searches`: name, model, what spin and the compiler define, how it is run.
searches() { sed '/^#/d; /^ *$/d' "$models/searches" | awk '{ $1 = $1; print }'; }

# hashed DIRECTORY: lines `file hash` of the files in it. The first digits are enough to tell a change.
hashed() { (cd "$1" && [ -n "$(ls)" ] && sha256sum -- *) | awk '{ print $2, substr($1, 1, 12) }'; }

# listed MODEL...: lines `model file function`, as the models name them.
listed() {
    awk '
        FNR == 1 { if (model != "" && !any) complain("stands for nothing"); model = FILENAME; any = 0; inside = 0
            sub(/.*\//, "", model) }
        /^\/\* Stands for:$/ { inside = any = 1; next }
        inside && /^ \*\/$/ { inside = 0; next }
        inside {
            if ($0 !~ /^ \*   [A-Za-z]+(\/[A-Za-z]+)+\.swift:( [A-Za-z_]+)+$/) complain("no list of functions: " $0)
            sub(/:$/, "", $2)
            for (i = 3; i <= NF; i++) {
                if ((model, $2, $i) in seen) complain($2 ": " $i " is named twice")
                seen[model, $2, $i] = 1
                print model, $2, $i
            }
        }
        function complain(text) { print "not ok " model ": " text > "/dev/stderr"; bad = 1 }
        END { if (!any) complain("stands for nothing"); exit bad }' "$@"
}

# function_hashes DIRECTORY: lines `model file function hash`, as the core is now. What is wrong stands in
# DIRECTORY/complaints.
function_hashes() {
    local list=$1/list texts=$1/functions status=0
    mkdir -p "$texts"
    listed "$models"/*.pml > "$list" 2> "$1/complaints" || status=1
    cut -d ' ' -f 2,3 "$list" > "$1/pairs"
    awk -v root="$root/Sources/VowCore" -v out="$texts" -f "$root/scripts/lib/swift-functions.awk" \
        "$1/pairs" | sed 's/^/not ok /' >> "$1/complaints"
    [ ! -s "$1/complaints" ] || status=1
    hashed "$texts" > "$1/function-hashes"
    awk 'NR == FNR { hash[$1] = $2; next }
        { key = $2; gsub("/", ",", key); print $0, hash[key ":" $3] }' "$1/function-hashes" "$list" |
        LC_ALL=C sort
    return $status
}

# model_hashes DIRECTORY MODELS: lines `search hash`, of the models in MODELS as `searches` says that they are searched.
model_hashes() {
    local name model rest
    mkdir -p "$1/texts" "$1/models"
    for model in "$2"/*.pml; do
        awk -f "$models/text.awk" "$model" > "$1/texts/${model##*/}" || return 1
    done
    while read -r name model rest; do
        { cat "$1/texts/$model" && echo "$name $model $rest" && echo "$always"; } > "$1/models/$name" || return 1
    done < <(searches)
    hashed "$1/models"
}

# search_hashes DIRECTORY MODELS: lines `search model hash functions-hash`. DIRECTORY/now: see function_hashes.
search_hashes() {
    local model
    mkdir -p "$1/sets"
    function_hashes "$1" > "$1/now" || return 1
    for model in "$2"/*.pml; do
        awk -v model="${model##*/}" '$1 == model' "$1/now" > "$1/sets/${model##*/}"
    done
    model_hashes "$1" "$2" > "$1/model-hashes" || return 1
    hashed "$1/sets" > "$1/set-hashes"
    searches | awk -v models="$1/model-hashes" -v sets="$1/set-hashes" '
        BEGIN {
            while ((getline line < models) > 0) { split(line, f, " "); m[f[1]] = f[2] }
            while ((getline line < sets) > 0) { split(line, f, " "); s[f[1]] = f[2] }
        }
        { print $1, $2, m[$1], s[$2] }'
}

# fault_hashes DIRECTORY MODELS FAULTS: lines `fault hash`: of its patch without the sentence, and of its search.
fault_hashes() {
    mkdir -p "$1/patches"
    model_hashes "$1" "$2" > "$1/model-hashes" || return 1
    awk -v out="$1/patches" -v hashes="$1/model-hashes" '
        function finish() { if (file != "") { print search, hash[search] > file; close(file) } }
        BEGIN { while ((getline line < hashes) > 0) { split(line, f, " "); hash[f[1]] = f[2] } }
        FNR == 1 {
            finish()
            file = FILENAME
            gsub(/.*\/|\.patch$/, "", file)
            file = out "/" file
            search = ""
        }
        /^Search: / && search == "" { search = $2 }
        !/^Fault: / { print > file }
        END { finish() }' "$3"/*.patch
    hashed "$1/patches"
}

# replaced FILE HEAD: writes FILE anew, in one step: HEAD, and the lines of standard input, sorted.
replaced() {
    local new
    new=$(mktemp "$1.XXXXXX") || return 1
    if { printf '%s\n' "$2" && LC_ALL=C sort; } > "$new" && chmod 644 "$new"; then
        mv "$new" "$1"
    else
        rm -f "$new"
        return 1
    fi
}

results_head="# Written by Tests/model/run: search, hash of the model, hash of its functions, what was found, when."
functions_head="# Written by Tests/model/run: model, file and function of the core, its hash when the model was searched."

# record SEARCH MODEL HASH FUNCTIONS-HASH FIGURES NOW: a search has ended well. NOW: lines of function_hashes. The
# model's functions are noted when no search of it stands that saw others.
record() {
    (
        flock 9
        { grep -v -e '^#' -e "^$1 " "$results" 2> /dev/null; echo "$1 $3 $4 $5 $(date -u +%F)"; } |
            replaced "$results" "$results_head" || exit 1
        if ! searches | awk -v model="$2" -v set="$4" -v results="$results" '
            BEGIN { while ((getline line < results) > 0) { split(line, f, " "); sets[f[1]] = f[3] } }
            $2 == model && $1 in sets && sets[$1] != set { other = 1 }
            END { exit !other }'; then
            { grep -v -e '^#' -e "^$2 " "$functions" 2> /dev/null; awk -v model="$2" '$1 == model' "$6"; } |
                replaced "$functions" "$functions_head"
        fi
    ) 9< "$models"
}

fault_results_head="# Written by Tests/model/mutants: fault, hash of it with its model, when it was tried, what found it."

# record_fault NAME HASH FOUND: a planted fault was found.
record_fault() {
    (
        flock 9
        { grep -v -e '^#' -e "^$1 " "$fault_results" 2> /dev/null; echo "$1 $2 $(date -u +%F) $3"; } |
            replaced "$fault_results" "$fault_results_head"
    ) 9< "$models"
}
