// Tests the layout of a promise's memory, and which handler a link calls for which outcome.

import CVow
import XCTest

@testable import VowCore

final class RecordTests: CoreTest {
    func testAPromiseTakes40BytesALink72ALinkWithExtras96AndATravellingOne152() {
        XCTAssertEqual(MemoryLayout<Record>.size, 40)
        XCTAssertEqual(MemoryLayout<Record>.alignment, 8)
        XCTAssertEqual(MemoryLayout<LinkPart>.size, 32)
        XCTAssertEqual(MemoryLayout<LinkExtras>.size, 24)
        XCTAssertEqual(MemoryLayout<TravelPart>.size, 56)
        XCTAssertEqual(Shape().recordSize, 40)
        XCTAssertEqual(Shape.immortal.recordSize, 40)
        for more in [Shape(), .onFulfilled, .onRejected, .finally, .subscription] {
            XCTAssertEqual(Shape.link.union(more).recordSize, 72)
            XCTAssertEqual(Shape.link.union(.extras).union(more).recordSize, 96)
            let travelling = Shape.link.union([.extras, .travels]).union(more)
            XCTAssertEqual(travelling.recordSize, 152)
        }
    }

    func testTheBitsOfAShapeAndOfProgressAreApart() {
        let shapes: [Shape] = [
            .link, .extras, .onFulfilled, .onRejected, .finally, .waiter, .immortal, .subscription,
        ]
        XCTAssertEqual(shapes.reduce(into: Shape()) { $0.formUnion($1) }.rawValue, 255)
        XCTAssertEqual(shapes.reduce(0) { $0 + Int($1.rawValue) }, 255)
        let steps: [VowCore.Passage] = [
            .lastOfBatch, .passes, .countedInline, .outcomeIsHeld, .isRefused,
        ]
        for (index, step) in steps.enumerated() {
            for other in steps[..<index] { XCTAssertTrue(step.isDisjoint(with: other)) }
        }
    }

    func testTheValueAndTheLinksShareOneSlot() {
        withRecords(2) { records in
            let record = records[0]
            record.value = vow_double(2.5)
            XCTAssertEqual(record.value.kind, VOW_DOUBLE)
            XCTAssertEqual(record.value.as.real, 2.5)
            record.next = records[1]
            record.upstream = record
            XCTAssertEqual(record.next, records[1])
            XCTAssertEqual(record.upstream, record)
            record.next = nil
            XCTAssertNil(record.next)
            XCTAssertEqual(record.upstream, record)
            record.value = vow_none()
            XCTAssertEqual(record.value.kind, VOW_NONE)
        }
    }

    func testTheSlotTouchesNothingElseOfTheRecord() {
        withRecords(1) { records in
            let record = records[0]
            record.passage = .lastOfBatch
            record.inlineLeft = 7
            record.pointee.isObserved.set()
            var value = vow_int(-1)
            value.kind = UInt32.max
            value.reserved = UInt32.max
            record.value = value
            XCTAssertEqual(phase(of: record), .open)
            XCTAssertEqual(record.pointee.counts.loadAcquire(), 1)
            XCTAssertEqual(record.passage, .lastOfBatch)
            XCTAssertEqual(record.inlineLeft, 7)
            XCTAssertTrue(record.pointee.isObserved.isSet)
            XCTAssertEqual(record.pointee.flags.snapshot, 0)
            XCTAssertEqual(record.pointee.shape, Shape())
        }
    }

    func testPartsLieBehindTheRecordWithoutGaps() {
        withRecords(1) { records in
            let start = UnsafeRawPointer(records[0])
            XCTAssertEqual(UnsafeRawPointer(records[0].link) - start, 40)
            XCTAssertEqual(UnsafeRawPointer(records[0].extras) - start, 72)
            XCTAssertEqual(UnsafeRawPointer(records[0].travel) - start, 96)
            XCTAssertEqual(UnsafeRawPointer(records[0].producer) - start, 40)
        }
    }

    func testAHeldOutcomeOrAWithdrawnPromiseTakesTheHandlersPlaceAndNotTheContexts() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 80, alignment: 16)
        defer { memory.deallocate() }
        withRecords(1) { records in
            let reaction = memory.bindMemory(to: Record.self, capacity: 1)
            reaction.initialize(to: Record(.open, shape: [.link], promises: 0, producers: 0))
            reaction.link.initialize(to: LinkPart(handler: nil, context: memory, executor: nil))
            XCTAssertNil(reaction.outcome)
            reaction.outcome = records[0]
            XCTAssertEqual(reaction.outcome, records[0])
            XCTAssertEqual(reaction.withdrawnUpstream, records[0])
            XCTAssertNotNil(reaction.link.pointee.handler)
            XCTAssertEqual(reaction.link.pointee.context, memory)
        }
    }

    func testAnErrorToComeStandsWhereUpstreamDoesAndIsMarked() {
        withRecords(2) { records in
            let promise = records[0]
            promise.upstream = records[1]
            XCTAssertNil(promise.errorToCome)
            let error = vow_error("test", 3, nil)
            promise.errorToCome = error
            XCTAssertEqual(promise.errorToCome?.as.pointer, error.as.pointer)
            promise.errorToCome = nil
            XCTAssertNil(promise.errorToCome)
            XCTAssertNil(promise.upstream)
            vow_value_release(error)
        }
    }

    /// What the handlers of the table return.
    private static let onFulfilled: Handler = { _, _ in vow_int(1) }
    private static let onRejected: Handler = { _, _ in vow_int(2) }

    func testTheShapeSelectsTheHandler() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 96, alignment: 16)
        defer { memory.deallocate() }
        func selected(_ shape: Shape, rejected: Bool) -> Int64? {
            let link = memory.bindMemory(to: Record.self, capacity: 1)
            link.initialize(to: Record(.open, shape: shape, promises: 0, producers: 0))
            link.link.initialize(
                to: LinkPart(handler: RecordTests.onFulfilled, context: nil, executor: nil))
            if shape.contains(.extras) {
                link.extras.initialize(
                    to: LinkExtras(onRejected: RecordTests.onRejected, destroy: nil, label: nil))
            }
            return link.handler(rejected: rejected)?(vow_none(), nil).as.integer
        }
        // Without extras a link has one handler, for whichever outcomes its shape names.
        let table: [(Shape, Int64?, Int64?)] = [
            ([.link], nil, nil),
            ([.link, .onFulfilled], 1, nil),
            ([.link, .onRejected], nil, 1),
            ([.link, .onFulfilled, .onRejected], 1, 1),
            ([.link, .onFulfilled, .onRejected, .finally], 1, 1),
            ([.link, .extras], nil, nil),
            ([.link, .extras, .onFulfilled], 1, nil),
            ([.link, .extras, .onRejected], nil, 2),
            ([.link, .extras, .onFulfilled, .onRejected], 1, 2),
            ([.link, .extras, .onFulfilled, .onRejected, .finally], 1, 2),
        ]
        for (shape, fulfilled, rejected) in table {
            XCTAssertEqual(selected(shape, rejected: false), fulfilled, "\(shape.rawValue)")
            XCTAssertEqual(selected(shape, rejected: true), rejected, "\(shape.rawValue)")
        }
    }
}
