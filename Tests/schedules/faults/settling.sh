# Faults of settling: the state word, handing members over, delivery. Sourced by `mutants`.

fault claim-forgets-the-exchange Transitions.swift \
    '            if word.replaceAcquire(old.bits, new.bits).exchanged { return true }' \
    '            word.storeRelaxed(new.bits)
            return true'

fault claim-ignores-the-lock Transitions.swift \
    '            if old.phase != phase { return false }
            if old.isLocked {' \
    '            if old.phase != phase { return false }
            if false {'

fault enlist-ignores-the-lock Transitions.swift \
    '            if !phases.contains(old) { return old }
            if old.isLocked {' \
    '            if !phases.contains(old) { return old }
            if false {'

fault late-members-are-dropped HandOver.swift \
    '    if let late = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft) {
        enqueueBatch(of: promise, late, thread)
    } else {
        promise.releaseProducer(thread)
    }' \
    '    _ = promise.pointee.state.transitionAfterHandOver(inlineAreLeft: inlineAreLeft)
    promise.releaseProducer(thread)'

fault order-is-reversed HandOver.swift \
    '                inline.prepend(current)
            } else {
                batch.prepend(current)' \
    '                inline.append(current)
            } else {
                batch.append(current)'

# What is behind the delivered ones stays in the queue.
fault delivery-ends-too-early Transitions.swift \
    'StateWord(old.head == nil ? .settled : .delivering, nil)' \
    'StateWord(.settled, nil)'

# A cancelled one is settled once more.
fault unseen-though-cancelled SettleOne.swift \
    '        if reaction.pointee.state.read().phase != .open { return false }
        reaction.value = value' \
    '        reaction.value = value'

fault second-member-is-lost Settle.swift \
    'if let only = word.head, only.isClearlyLast,' \
    'if let only = word.head,'

fault second-member-of-a-link-is-lost SettleOne.swift \
    'if !only.isClearlyLast || !only.isInlineReader(ofRejection: false) {' \
    'if !only.isInlineReader(ofRejection: false) {'

# Late ones run without waiting for the one that is on its way.
fault only-member-leaves-it-settled SettleOne.swift \
    '    promise.pointee.state.unlock(.delivering, nil)' \
    '    promise.pointee.state.unlock(.settled, nil)'

fault only-member-is-not-marked-out SettleOne.swift \
    '    only.markOut()
    only.passage = ownsProducer' \
    '    only.passage = ownsProducer'

fault only-follower-keeps-the-producer SettleOne.swift \
    '        asOneStep(thread) { thread.pointee.agenda.outcomes.append(only) }
        if ownsProducer { promise.releaseProducer(thread) }' \
    '        asOneStep(thread) { thread.pointee.agenda.outcomes.append(only) }'

fault delivery-ends-though-others-read Delivery.swift \
    '            reclaim(promise, thread)
            return
        }
        deliveringLateOnes()' \
    '            reclaim(promise, thread)
            return
        }
        promise.pointee.state.close()'

# Another resolver is still to be given back.
fault delivery-ends-for-its-readers-alone Delivery.swift \
    'if promise.pointee.counts.loadAcquire() == mine {' \
    'if promise.nowCounts.readers == Counts(bits: mine).readers {'

fault owed-reads-are-forgotten Delivery.swift \
    'mine &+= thread.pointee.owedReads.take(of: promise)' \
    '_ = thread.pointee.owedReads.take(of: promise)'

fault owed-reads-are-given-back-twice OwedReads.swift \
    '        self.promise = nil
        return count' \
    '        return count'

fault wait-forgets-owed-reads Delivery.swift \
    '            if owed > 0 { promise.giveBack(owed, thread) }' \
    '            _ = owed'

likely+=(
    [order-is-reversed]="two-register-settle"
    [unseen-though-cancelled]="cancel-released"
    [second-member-is-lost]="two-register-settle"
    [second-member-of-a-link-is-lost]="link-two-readers"
    [only-member-leaves-it-settled]="only-member"
    [only-member-is-not-marked-out]="cancel-inline-reaction"
    [only-follower-keeps-the-producer]="release-follower-of-link"
    [delivery-ends-though-others-read]="only-member"
    [delivery-ends-for-its-readers-alone]="last-reader"
    [owed-reads-are-forgotten]="first-of-two-waits"
    [owed-reads-are-given-back-twice]="put-off put-off-twice"
    [wait-forgets-owed-reads]="second-of-two-waits"
)
