// The workloads. Each sees for itself that its handlers ran, and with what.

import Vow
import Work

public let workloads: [SwiftWorkload] = [
    .init("swift-create", "Swift: create, fulfil, release", 2000) { size in
        measured { for index in 0..<size { expect(createAndFulfil(index), "create") } }
    },
    .init("swift-link", "Swift: a link whose closure captures", 2000) { size in
        measured { expect(chain(size, capturing: 1) == size, "link") }
    },
    .init("swift-link-written", "Swift: a link of ten in one expression, capturing", 2000) { size in
        measured { expect(writtenChains(size, capturing: 1) == size, "link-written") }
    },
    .init("swift-link-plain", "Swift: a link whose closure captures nothing", 2000) { size in
        measured { expect(plainChain(size) == size, "link-plain") }
    },
    .init("swift-link-here", "Swift: a link without on:, capturing nothing", 2000) { size in
        measured { expect(chainHere(size) == size, "link-here") }
    },
    .init("swift-link-here-capturing", "Swift: a link without on:, capturing", 2000) { size in
        measured { expect(chainHere(size, capturing: 1) == size, "link-here-capturing") }
    },
    .init("swift-flat-map", "Swift: a link that makes a promise", 2000) { size in
        measured { expect(flatChain(size) == size, "flat-map") }
    },
    .init("swift-then-settled", "Swift: a link of a settled promise", 2000) { size in
        let settled = IntPromise.value(1)
        measured { expect(links(size, of: settled) == size, "then-settled") }
    },
    .init("swift-handlers", "Swift: an observer of one promise", 2000) { size in
        measured { expect(observers(size) == size, "handlers") }
    },
    .init("swift-all-members", "Swift: a promise of all, made and fulfilled", 2000) { size in
        measured { expect(all(size) == size * (size - 1) / 2, "all-members") }
    },
    .init("swift-reject", "Swift: a rejecting link, and its catch", 2000) { size in
        let settled = IntPromise.value(1)
        measured { expect(rejections(size, of: settled) == size, "reject") }
    },
    .init("swift-pass", "Swift: a link that a rejection passes", 2000) { size in
        measured { expect(passing(size), "pass") }
    },
    .init("swift-text", "Swift: a link of a long string", 2000) { size in
        let text = String(repeating: "long enough to stand in a memory of its own; ", count: 4)
        measured { expect(textChain(size, text), "text") }
    },
    .init("swift-await-settled", "Swift: an await of a settled promise", 2000) { size in
        let settled = IntPromise.value(1)
        let hands = Hands()
        hands.begin { expect(await sum(size, of: settled) == size, "await-settled") }
        measured { hands.work() }
        expect(hands.isOver, "await-settled ends")
    },
    .init("swift-await-pending", "Swift: a pending promise: made, awaited, fulfilled", 2000) {
        size in
        let hands = Hands()
        let place = Place()
        hands.begin { await takePromises(size, in: place) }
        hands.work()
        measured {
            for index in 0..<size {
                place.fulfil(index)
                hands.work()
            }
        }
        expect(hands.isOver && place.sum == size * (size - 1) / 2, "await-pending")
    },
]
