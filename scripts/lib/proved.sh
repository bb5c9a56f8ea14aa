# The record of what was proved, docs/proved.md, beside what the tree has now. Sourced, after contents.sh and parts.sh.

record=docs/proved.md

# row FIELD PART: of the record; fields as in its head.
row() { awk -F ' *[|] *' -v field="$1" -v part="$2" '$2 == part { print $field }' "$record"; }
# What sees to itself, such as the models, or reads nothing but chance, has no inputs.
inputs_of() { [ -z "${inputs[$1]}" ] && echo none || contents ${inputs[$1]}; }

# The parts whose row has other inputs than the tree, a line each. Several read the same.
stale_parts() {
    local name known same
    local -A hash=()
    for name in "${parts[@]}"; do
        known=$(row 7 "$name") same=${inputs[$name]:-none}
        [ -n "${hash[$same]:-}" ] || hash[$same]=$(inputs_of "$name")
        [ -z "$known" ] || [ "$known" = "${hash[$same]}" ] || echo "$name"
    done
}
