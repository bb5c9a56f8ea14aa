// The reactions that a link runs: each says which input the link's closure gets, and how the link uses its output.

public import CVow

/// Gets the value; its output is the new value.
@usableFromInline
struct Mapping<Body: HandlerClosure>: Reactor {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in body.answer(to: value) { encode($0, like: input) } }
    }
}

/// Gets the value; its output is a promise, which the new one follows.
@usableFromInline
struct Joining<Body: HandlerClosure, Failure: Error>: Reactor
where Body.Output: PromiseConvertible {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body, failingWith _: Failure.Type) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in
            body.answer(to: value) { $0.promise.followed(by: Failure.self) }
        }
    }
}

/// Gets the value, which is passed on as it came.
@usableFromInline
struct Getting<Body: HandlerClosure>: Reactor {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        reading(input) { value in body.answer(to: value) { _ in vow_value_retain(input) } }
    }
}

/// Gets the failure; its output is the new value.
@usableFromInline
struct Recovering<Body: HandlerClosure>: Reactor where Body.Input: Error {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { failure in body.answer(to: failure) { encode($0) } }
    }
}

/// Gets the failure; its output is a promise, which the new one follows.
@usableFromInline
struct RecoveringByJoining<Body: HandlerClosure, Failure: Error>: Reactor
where Body.Input: Error, Body.Output: PromiseConvertible {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body, failingWith _: Failure.Type) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { failure in
            body.answer(to: failure) { $0.promise.followed(by: Failure.self) }
        }
    }
}

/// Gets the failure; its output is the new failure.
@usableFromInline
struct MappingFailure<Failure: Error, NewFailure: Error>: Reactor {
    @usableFromInline let body: Sure<Failure, NewFailure>

    @inlinable @inline(__always)
    init(_ body: consuming Sure<Failure, NewFailure>) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingFailure(input) { failure in body.answer(to: failure) { encodeError($0) } }
    }
}

/// Gets the result; its output is the new value.
@usableFromInline
struct Transforming<Success, Failure: Error, Body: HandlerClosure>: Reactor
where Body.Input == Result<Success, Failure> {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in body.answer(to: result) { encode($0) } }
    }
}

/// Gets the result; its output is a promise, which the new one follows.
@usableFromInline
struct TransformingByJoining<Success, Failure: Error, Body: HandlerClosure, NewFailure: Error>:
    Reactor
where Body.Input == Result<Success, Failure>, Body.Output: PromiseConvertible {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body, failingWith _: NewFailure.Type) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in
            body.answer(to: result) { $0.promise.followed(by: NewFailure.self) }
        }
    }
}

/// Gets the result, which is passed on as it came.
@usableFromInline
struct Tapping<Success, Failure: Error>: Reactor {
    @usableFromInline let body: SureVoid<Result<Success, Failure>>

    @inlinable @inline(__always)
    init(_ body: consuming SureVoid<Result<Success, Failure>>) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in body.answer(to: result) { vow_value_retain(input) } }
    }
}

/// Gets the result; the link's own result has no reader.
@usableFromInline
struct Observing<Success, Failure: Error>: Reactor {
    @usableFromInline let body: SureVoid<Result<Success, Failure>>

    @inlinable @inline(__always)
    init(_ body: consuming SureVoid<Result<Success, Failure>>) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        readingResult(input) { result in body.answer(to: result) { vow_none() } }
    }
}

/// Gets the value only; the link's own result has no reader.
@usableFromInline
struct ObservingValue<Success>: Reactor {
    @usableFromInline let body: SureVoid<Success>

    @inlinable @inline(__always)
    init(_ body: consuming SureVoid<Success>) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        if input.kind == VOW_ERROR { return vow_none() }
        return reading(input) { value in body.answer(to: value) { vow_none() } }
    }
}

/// Gets the failure only; the link's own result has no reader.
@usableFromInline
struct ObservingFailure<Failure: Error>: Reactor {
    @usableFromInline let body: SureVoid<Failure>

    @inlinable @inline(__always)
    init(_ body: consuming SureVoid<Failure>) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        if input.kind != VOW_ERROR { return vow_none() }
        return readingFailure(input) { failure in body.answer(to: failure) { vow_none() } }
    }
}

/// Is called when there is a result, without it; the link's own result has no reader.
struct ObservingEnd: Reactor {
    let body: SureEnd

    func react(to _: vow_value) -> vow_value { body.answer(to: ()) { vow_none() } }
}

/// Gets the failure at the end of a chain. An error that the failure type has no case for is reported as an unhandled
/// rejection.
@usableFromInline
struct Ending<Failure: Error>: Reactor {
    @usableFromInline let body: SureVoid<Failure>

    @inlinable @inline(__always)
    init(_ body: consuming SureVoid<Failure>) { self.body = body }

    @inlinable
    func react(to input: vow_value) -> vow_value {
        if input.kind != VOW_ERROR { return vow_none() }
        guard let failure = decodeFailure(input, as: Failure.self) else {
            reportUnspeakable(input)
            return vow_none()
        }
        return body.answer(to: failure) { vow_none() }
    }
}

/// - Parameter error: borrowed; no failure of the type that was to hear of it.
@usableFromInline
func reportUnspeakable(_ error: vow_value) {
    vow_promise_release(vow_promise_with(vow_value_retain(error)))
}

/// Runs after either outcome, which the core passes on.
@usableFromInline
struct Finishing<Body: HandlerClosure>: Reactor where Body.Input == Void {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body) { self.body = body }

    @inlinable
    func react(to _: vow_value) -> vow_value { body.answer(to: ()) { encode($0) } }
}

/// Runs after either outcome, which the core passes on when the promise that is its output is settled.
@usableFromInline
struct FinishingByJoining<Body: HandlerClosure, Failure: Error>: Reactor
where Body.Input == Void, Body.Output: PromiseConvertible {
    @usableFromInline let body: Body

    @inlinable @inline(__always)
    init(_ body: consuming Body, failingWith _: Failure.Type) { self.body = body }

    @inlinable
    func react(to _: vow_value) -> vow_value {
        body.answer(to: ()) { $0.promise.followed(by: Failure.self) }
    }
}

/// Passes its input on.
@usableFromInline
struct Passing: Reactor {
    @inlinable
    init() {}

    @inlinable
    func react(to input: vow_value) -> vow_value { vow_value_retain(input) }
}
