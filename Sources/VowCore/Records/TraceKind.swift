// The kinds of records in traces. packaging/gdb/vow_gdb/record.py knows the numbers.

enum TraceKind: UInt8 {
    case promise, value, then, `catch`, finally, reaction, async, subscription
    case delay, descriptor, timeout, retrying
    case all, allSettled, any, some, race, map, reduction, `repeat`, scope, using, shielding
    /// The parts of a `using`.
    case inUse, releasing
    /// An observer, and a waiting thread: no promises.
    case eye, thread

    var name: StaticString {
        switch self {
        case .promise: "promise"
        case .value: "value"
        case .then: "then"
        case .catch: "catch"
        case .finally: "finally"
        case .reaction: "reaction"
        case .async: "async"
        case .subscription: "subscription"
        case .delay: "delay"
        case .descriptor: "descriptor"
        case .timeout: "timeout"
        case .retrying: "retry"
        case .all: "all"
        case .allSettled: "all_settled"
        case .any: "any"
        case .some: "some"
        case .race: "race"
        case .map: "map"
        case .reduction: "reduce"
        case .repeat: "repeat"
        case .scope: "scope"
        case .using: "using"
        case .shielding: "shield"
        case .inUse: "in-use"
        case .releasing: "releasing"
        case .eye: "member"
        case .thread: "thread"
        }
    }

    var isPromise: Bool { rawValue < TraceKind.eye.rawValue }

    /// For a link.
    init(ofLink shape: Shape, reads: Bool) {
        if shape.contains(.subscription) {
            self = .subscription
        } else if !reads {
            self = .async
        } else if shape.isShield {
            self = .shielding
        } else if shape.contains(.finally) {
            self = .finally
        } else if shape.isSuperset(of: [.onFulfilled, .onRejected]) {
            self = .reaction
        } else {
            self = shape.contains(.onRejected) ? .catch : .then
        }
    }
}

enum TraceState {
    static let pending: UInt8 = 0
    static let fulfilled: UInt8 = 1
    static let rejected: UInt8 = 2

    static func name(_ state: UInt8) -> StaticString {
        switch state {
        case pending: "pending"
        case fulfilled: "fulfilled"
        default: "rejected"
        }
    }
}
