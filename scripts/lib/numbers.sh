# number WORD: what it counts, up to twenty in English, else as it is. Sourced.
number() {
    local words="zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty" each count=0
    for each in $words; do
        [ "$each" != "${1,,}" ] || { echo $count && return; }
        count=$((count + 1))
    done
    echo "${1//,/}"
}
