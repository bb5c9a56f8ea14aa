# Faults of the last release: readers, producers, what is counted. Sourced by `mutants`.

fault last-resolver-by-an-old-reading BrokenResolver.swift \
    '            if pointee.counts.replaceAcquireRelease(counts.bits, rest).exchanged {
                if rest' \
    '            _ = pointee.counts.subtractAcquireRelease(Counts.oneProducer)
            if true {
                if rest'

fault value-counted-in-two-steps Counting.swift \
    '            if pointee.count.subtractAcquireRelease(1) != 1 { return }' \
    '            _ = pointee.count.subtractAcquireRelease(1)
            if pointee.count.loadAcquire() != 0 { return }'

fault interest-without-a-reference Interest.swift \
    'let rest = counts.bits &- Counts.oneReader &+ (isLast ? Counts.oneProducer : 0)' \
    'let rest = counts.bits &- Counts.oneReader' \
    Interest.swift \
    '.exchanged {
            return isLast' \
    '.exchanged {
            if isLast { promise.retainProducer() }
            return isLast'

fault interest-by-plain-subtraction Interest.swift \
    '        let rest = counts.bits &- Counts.oneReader &+ (isLast ? Counts.oneProducer : 0)
        if promise.pointee.counts.replaceAcquireRelease(counts.bits, rest).exchanged {
            return isLast
        }' \
    '        if isLast { promise.retainProducer() }
        _ = promise.pointee.counts.subtractAcquireRelease(Counts.oneReader)
        return isLast'

fault interest-ends-with-the-last-release Counting.swift \
    '        if pointee.state.read().hasValue {
            giveBack(Counts.oneReader, thread)
        } else {
            releasePending(self, thread)
        }' \
    '        giveBack(Counts.oneReader, thread)'

fault unread-follower-follows Follow.swift \
    'if promise.nowCounts.isUnread && !promise' \
    'if false && !promise'

fault breaking-is-noted-on-the-first-look BrokenResolver.swift \
    '        while true {
            let counts = nowCounts
            if counts.producers == 1 && (counts.readers != 0 || pointee.state.read().head != nil) {
                // Somebody is to hear of it, though it be who was cancelled. No other producer is left, and none can come:
                // whoever finds it settled knows that nobody resolved it.
                pointee.flags.insert(RecordFlag.dropped)' \
    '        if nowCounts.producers == 1 { pointee.flags.insert(RecordFlag.dropped) }
        while true {
            let counts = nowCounts
            if counts.producers == 1 && (counts.readers != 0 || pointee.state.read().head != nil) {'

fault unseen-without-looking SettleOne.swift \
    'nowCounts.isOneProducers() && !pointee' \
    '!pointee'

# Not whether somebody else has a producer's reference, as who has just lost the last reader's.
fault unseen-by-readers-alone SettleOne.swift \
    'nowCounts.isOneProducers() && !pointee' \
    'nowCounts.isUnread && !pointee'

likely+=(
    [last-resolver-by-an-old-reading]="last-resolver-promise"
    [value-counted-in-two-steps]="value-release"
    [interest-without-a-reference]="release-or-broken release-follower hook-last-resolver"
    [interest-by-plain-subtraction]="release-two-readers release-cancel"
    [interest-ends-with-the-last-release]="hook-release"
    [unread-follower-follows]="release-adopting"
    [breaking-is-noted-on-the-first-look]="hook-last-resolver"
    [unseen-without-looking]="link-two-readers"
    [unseen-by-readers-alone]="release-follower-of-link"
)
