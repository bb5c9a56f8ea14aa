// Tests cancelling beside other threads that settle, follow, move on or lose interest.

import CVow
import XCTest
@testable import VowCore

final class CancelRacesTests: CoreTest {
    /// Runs the bodies at once, from a start that they share.
    private func race(
        _ rounds: Int, _ make: () -> (first: () -> Void, second: () -> Void, end: () -> Void)
    ) {
        for _ in 0..<rounds {
            let (first, second, end) = make()
            onThreads(2) { index in index == 0 ? first() : second() }
            end()
        }
    }

    func testG12_cancelOrResolveOneOfThemWins() {
        race(300) {
            let promise = openPromise()
            let wins = AtomicWord(0)
            return (
                { if cancelNow(promise) { _ = wins.addOrdered(1) } },
                { if resolveLast(promise, vow_int(1)) { _ = wins.addOrdered(1) } },
                {
                    XCTAssertEqual(wins.loadAcquire(), 1)
                    XCTAssertEqual(phase(of: promise), .settled)
                    drop(promise)
                }
            )
        }
    }

    func testG12_cancellingAReactionWhileItsPromiseSettles() {
        for executor in [ownExecutors.inline, ownExecutors.pool] {
            race(300) {
                let promise = openPromise()
                let links = (0..<4).map { _ in branch(promise, on: executor) { input, _ in input } }
                return (
                    { for link in links.reversed() { cancelNow(link) } },
                    { resolveLast(promise, vow_int(1)) },
                    {
                        for link in links {
                            expectSettled(link)
                            drop(link)
                        }
                        drop(promise)
                    }
                )
            }
        }
    }

    func testG12_cancellingFollowersWhileTheirPromiseSettles() {
        race(300) {
            let promise = openPromise()
            let outers = (0..<4).map { _ in openPromise() }
            for outer in outers {
                promise.retain()
                resolveLast(outer, asValue(promise))
            }
            return (
                { for outer in outers { cancelNow(outer) } },
                { resolveLast(promise, vow_int(1)) },
                {
                    for outer in outers {
                        expectSettled(outer)
                        drop(outer)
                    }
                    drop(promise)
                }
            )
        }
    }

    func testG12_cancellingFollowersWhileTheyMoveOn() {
        race(500) {
            let end = openPromise()
            end.retain()
            let middle = openPromise()
            let outers = (0..<3).map { _ in openPromise() }
            for outer in outers {
                middle.retain()
                resolveLast(outer, asValue(middle))
            }
            drop(middle)
            return (
                { for outer in outers { cancelNow(outer) } },
                { resolveLast(middle, asValue(end)) },
                {
                    for outer in outers {
                        XCTAssertEqual(rejection(of: outer), Int64(VOW_ECANCELLED))
                        drop(outer)
                    }
                    end.releaseResolver(currentThread())
                    drop(end)
                }
            )
        }
    }

    func testG12_losingInterestInFollowersWhileTheyMoveOn() {
        race(500) {
            let end = openPromise()
            end.retain()
            let middle = openPromise()
            let outers = (0..<3).map { _ in openPromise() }
            for outer in outers {
                middle.retain()
                resolveLast(outer, asValue(middle))
            }
            drop(middle)
            return (
                { for outer in outers { drop(outer) } },
                { resolveLast(middle, asValue(end)) },
                {
                    resolveLast(end, vow_none())
                    drop(end)
                }
            )
        }
    }
}

/// Where a handler waits until the test lets it go on.
final class Gate: @unchecked Sendable {
    let arrived = Signal()
    let open = Signal()

    func pass() {
        arrived.send()
        open.receive()
    }
}
