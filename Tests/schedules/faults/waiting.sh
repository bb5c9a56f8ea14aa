# Faults of waiting threads: parking, nudging, being watched. Sourced by `mutants`.

fault waiter-leaves-too-early Await.swift \
    '    while waiter.pointee.counts.loadAcquire() != Parking.done { pause.wait() }' \
    '    pause.wait()'

fault nudge-wakes-nobody Parking.swift \
    '        if found.exchanged { vow_platform_wake(address) }
        if found.original' \
    '        if found.original'

fault sleeper-misses-the-nudge Parking.swift \
    '    var found = word.replaceAcquire(Parking.awake, Parking.asleep).original' \
    '    var found = word.loadAcquire()
    if found != Parking.done { found = Parking.awake; word.storeRelaxed(Parking.asleep) }'

fault following-nudges-nobody Follow.swift \
    '            nudgeWaitingThreads(past: bit)
' ''

fault watched-after-looking WaitingThreads.swift \
    '        if waiting.pointee.isWatched {
            _ = watchedCount.addOrdered(1)
            if waiting.pointee.blocks != 0 { _ = blockingCount.addOrdered(1) }
            // Announced before the body looks ahead: one of the two sees the other.
            orderStoresBeforeLoads()
        }
' '' \
    WaitingThreads.swift \
    '        return body(waiting)' \
    '        let result = body(waiting)
        if waiting.pointee.isWatched { _ = watchedCount.addOrdered(1) }
        return result'

# A second look comes another way than the first.
fault way-is-not-forgotten WaitingThreads.swift \
    '        _ = waiting.pointee.way.exchangeAcquireRelease(allPromises)
' ''

likely+=(
    [waiter-leaves-too-early]="two-await-time-out"
    [nudge-wakes-nobody]="deadlock-by-work"
    [following-nudges-nobody]="deadlock-by-work"
    [watched-after-looking]="deadlock-by-following"
    [way-is-not-forgotten]="deadlock-by-two-followings"
)
