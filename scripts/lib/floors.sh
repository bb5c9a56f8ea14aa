# The floors of the core, lowest first, no two equal; and who may name what stands higher. Sourced.

floors="Platform=0 Records=1 Thread=2 Trace=3 Lifetime=4 Executors=5 Settling=6 Reactions=7 Waiting=8 Combinators=9"
floors+=" Process=10 C=11 Swift=12"

# FILE:NAME, or FILE:* for all, and why. At most ten.
exceptions=(
    # The agenda: its entries are done by those who know what they are.
    'Thread/Drain.swift:*'
    # The first call of the program, on whatever floor it enters, starts the library.
    'Thread/ThreadState.swift:startCore'
    # The last reader of a pending promise goes: its producer hears of it, at once.
    'Lifetime/Counting.swift:releasePending'
    # A listener's context is destroyed by work for its executor.
    'Settling/Listeners.swift:endElsewhere'
)
[ ${#exceptions[@]} -le 10 ] || { echo "floors: more than ten exceptions" && exit 1; }
