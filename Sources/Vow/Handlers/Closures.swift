// The closures that handlers are made of, by shape, and the executor of an isolated closure.
//
// There is one type for each shape: a closure that is passed through a more general type than its own is called through
// one more function, which takes a memory of its own, and Swift 6.3's compiler crashes where it has to make that function
// for an isolated closure.
//
// `Here` is the closure as the method took it, isolated to the actor whose code wrote it. The compiler lets such a closure
// be called with `await` only. A link's executor runs it on that actor, so `plain` is the same closure for the executor to
// call.

public import CVow

/// A closure of one argument. An error thrown by it becomes the answer, too.
@usableFromInline
protocol HandlerClosure: SendableMetatype {
    associatedtype Input
    associatedtype Output

    /// - Returns: the value that `encode` makes of the output, or the error that was thrown; owned.
    func answer(to input: Input, _ encode: (Output) -> vow_value) -> vow_value
}

@usableFromInline
protocol IsolatedClosure {
    /// The same closure in a type of the same layout.
    associatedtype Plain

    var isolation: (any Actor)? { get }
}

extension IsolatedClosure {
    /// Nil where the closure is isolated to no actor.
    @inlinable @inline(__always) var executor: PromiseExecutor? { .isolated(to: isolation) }
    @inlinable @inline(__always) var plain: Plain { unsafeBitCast(self, to: Plain.self) }
}

/// Throws any error.
@usableFromInline
struct Trying<Input, Output>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) throws -> Output

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) throws -> Output) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (Output) -> vow_value) -> vow_value {
        do { return encode(try body(input)) } catch { return encodeAnyError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = Trying
        @usableFromInline let body: @Sendable @isolated(any) (Input) throws -> Output

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) throws -> Output) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws any error, and returns nothing.
@usableFromInline
struct TryingVoid<Input>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) throws -> Void

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) throws -> Void) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (()) -> vow_value) -> vow_value {
        do { return encode(try body(input)) } catch { return encodeAnyError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TryingVoid
        @usableFromInline let body: @Sendable @isolated(any) (Input) throws -> Void

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) throws -> Void) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws any error, and returns a promise.
@usableFromInline
struct TryingPromise<Input, Success: Sendable, Failure: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) throws -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) throws -> Promise<Success, Failure>) {
        self.body = body
    }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (Promise<Success, Failure>) -> vow_value) -> vow_value {
        do { return encode(try body(input)) } catch { return encodeAnyError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TryingPromise
        @usableFromInline let body:
            @Sendable @isolated(any) (Input) throws -> Promise<Success, Failure>

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) throws -> Promise<Success, Failure>)
        { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets any error, and throws any.
@usableFromInline
struct TryingOfError<Output>: HandlerClosure {
    @usableFromInline let body: @Sendable (any Error) throws -> Output

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (any Error) throws -> Output) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: any Error, _ encode: (Output) -> vow_value) -> vow_value {
        do { return encode(try body(input)) } catch { return encodeAnyError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TryingOfError
        @usableFromInline let body: @Sendable @isolated(any) (any Error) throws -> Output

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (any Error) throws -> Output) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets any error, throws any, and returns a promise.
@usableFromInline
struct TryingOfErrorPromise<Success: Sendable, Failure: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable (any Error) throws -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (any Error) throws -> Promise<Success, Failure>) {
        self.body = body
    }

    @inlinable @inline(__always)
    func answer(to input: any Error, _ encode: (Promise<Success, Failure>) -> vow_value)
        -> vow_value
    {
        do { return encode(try body(input)) } catch { return encodeAnyError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TryingOfErrorPromise
        @usableFromInline let body:
            @Sendable @isolated(any) (any Error) throws -> Promise<Success, Failure>

        @inlinable @inline(__always)
        init(
            _ body:
                @escaping @Sendable @isolated(any) (any Error) throws -> Promise<Success, Failure>
        ) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets nothing, as a closure of `finally`; throws any error, and returns nothing.
@usableFromInline
struct TryingEnd: HandlerClosure {
    @usableFromInline let body: @Sendable () throws -> Void

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }

    @inlinable @inline(__always)
    func answer(to _: Void, _ encode: (()) -> vow_value) -> vow_value {
        do { return encode(try body()) } catch { return encodeAnyError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TryingEnd
        @usableFromInline let body: @Sendable @isolated(any) () throws -> Void

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) () throws -> Void) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets nothing; throws any error, and returns a promise.
@usableFromInline
struct TryingEndPromise<Success: Sendable, Failure: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable () throws -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable () throws -> Promise<Success, Failure>) { self.body = body }

    @inlinable @inline(__always)
    func answer(to _: Void, _ encode: (Promise<Success, Failure>) -> vow_value) -> vow_value {
        do { return encode(try body()) } catch { return encodeAnyError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TryingEndPromise
        @usableFromInline let body: @Sendable @isolated(any) () throws -> Promise<Success, Failure>

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) () throws -> Promise<Success, Failure>) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws errors of one type.
@usableFromInline
struct Typed<Input, Thrown: Error, Output>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) throws(Thrown) -> Output

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) throws(Thrown) -> Output) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (Output) -> vow_value) -> vow_value {
        do { return encode(try body(input)) } catch { return encodeError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = Typed
        @usableFromInline let body: @Sendable @isolated(any) (Input) throws(Thrown) -> Output

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) throws(Thrown) -> Output) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws errors of one type, and returns nothing.
@usableFromInline
struct TypedVoid<Input, Thrown: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) throws(Thrown) -> Void

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) throws(Thrown) -> Void) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (()) -> vow_value) -> vow_value {
        do { return encode(try body(input)) } catch { return encodeError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TypedVoid
        @usableFromInline let body: @Sendable @isolated(any) (Input) throws(Thrown) -> Void

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) throws(Thrown) -> Void) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws errors of one type, and returns a promise.
@usableFromInline
struct TypedPromise<Input, Thrown: Error, Success: Sendable, Failure: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) throws(Thrown) -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) throws(Thrown) -> Promise<Success, Failure>) {
        self.body = body
    }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (Promise<Success, Failure>) -> vow_value) -> vow_value {
        do { return encode(try body(input)) } catch { return encodeError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TypedPromise
        @usableFromInline let body:
            @Sendable @isolated(any) (Input) throws(Thrown) -> Promise<Success, Failure>

        @inlinable @inline(__always)
        init(
            _ body:
                @escaping @Sendable @isolated(any) (Input) throws(Thrown) -> Promise<
                    Success, Failure
                >
        ) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets nothing, as a closure of `finally`; throws errors of one type, and returns nothing.
@usableFromInline
struct TypedEnd<Thrown: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable () throws(Thrown) -> Void

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable () throws(Thrown) -> Void) { self.body = body }

    @inlinable @inline(__always)
    func answer(to _: Void, _ encode: (()) -> vow_value) -> vow_value {
        do { return encode(try body()) } catch { return encodeError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TypedEnd
        @usableFromInline let body: @Sendable @isolated(any) () throws(Thrown) -> Void

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) () throws(Thrown) -> Void) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets nothing; throws errors of one type, and returns a promise.
@usableFromInline
struct TypedEndPromise<Thrown: Error, Success: Sendable, Failure: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable () throws(Thrown) -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable () throws(Thrown) -> Promise<Success, Failure>) {
        self.body = body
    }

    @inlinable @inline(__always)
    func answer(to _: Void, _ encode: (Promise<Success, Failure>) -> vow_value) -> vow_value {
        do { return encode(try body()) } catch { return encodeError(error) }
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = TypedEndPromise
        @usableFromInline let body:
            @Sendable @isolated(any) () throws(Thrown) -> Promise<Success, Failure>

        @inlinable @inline(__always)
        init(
            _ body:
                @escaping @Sendable @isolated(any) () throws(Thrown) -> Promise<Success, Failure>
        ) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws nothing.
@usableFromInline
struct Sure<Input, Output>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) -> Output

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) -> Output) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (Output) -> vow_value) -> vow_value {
        encode(body(input))
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = Sure
        @usableFromInline let body: @Sendable @isolated(any) (Input) -> Output

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) -> Output) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws nothing, and returns nothing.
@usableFromInline
struct SureVoid<Input>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) -> Void

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) -> Void) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (()) -> vow_value) -> vow_value {
        encode(body(input))
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = SureVoid
        @usableFromInline let body: @Sendable @isolated(any) (Input) -> Void

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) -> Void) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws nothing, and returns a promise.
@usableFromInline
struct SurePromise<Input, Success: Sendable, Failure: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable (Input) -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable (Input) -> Promise<Success, Failure>) { self.body = body }

    @inlinable @inline(__always)
    func answer(to input: Input, _ encode: (Promise<Success, Failure>) -> vow_value) -> vow_value {
        encode(body(input))
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = SurePromise
        @usableFromInline let body: @Sendable @isolated(any) (Input) -> Promise<Success, Failure>

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) (Input) -> Promise<Success, Failure>) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets nothing, as a closure of `finally`; throws nothing, and returns nothing.
@usableFromInline
struct SureEnd: HandlerClosure {
    @usableFromInline let body: @Sendable () -> Void

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    @inlinable @inline(__always)
    func answer(to _: Void, _ encode: (()) -> vow_value) -> vow_value {
        encode(body())
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = SureEnd
        @usableFromInline let body: @Sendable @isolated(any) () -> Void

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) () -> Void) { self.body = body }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets nothing; throws nothing, and returns a promise.
@usableFromInline
struct SureEndPromise<Success: Sendable, Failure: Error>: HandlerClosure {
    @usableFromInline let body: @Sendable () -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(_ body: @escaping @Sendable () -> Promise<Success, Failure>) { self.body = body }

    @inlinable @inline(__always)
    func answer(to _: Void, _ encode: (Promise<Success, Failure>) -> vow_value) -> vow_value {
        encode(body())
    }

    @usableFromInline
    struct Here: IsolatedClosure {
        @usableFromInline typealias Plain = SureEndPromise
        @usableFromInline let body: @Sendable @isolated(any) () -> Promise<Success, Failure>

        @inlinable @inline(__always)
        init(_ body: @escaping @Sendable @isolated(any) () -> Promise<Success, Failure>) {
            self.body = body
        }

        @inlinable @inline(__always) var isolation: (any Actor)? { body.isolation }
    }
}

/// Throws any error, and decides.
struct TryingTest<Input> {
    let body: @Sendable (Input) throws -> Bool

    struct Here: IsolatedClosure {
        typealias Plain = TryingTest
        let body: @Sendable @isolated(any) (Input) throws -> Bool

        init(_ body: @escaping @Sendable @isolated(any) (Input) throws -> Bool) {
            self.body = body
        }

        var isolation: (any Actor)? { body.isolation }
    }
}

/// Gets any error, and throws and returns nothing.
struct SureOfError {
    let body: @Sendable (any Error) -> Void

    struct Here: IsolatedClosure {
        typealias Plain = SureOfError
        let body: @Sendable @isolated(any) (any Error) -> Void

        init(_ body: @escaping @Sendable @isolated(any) (any Error) -> Void) { self.body = body }

        var isolation: (any Actor)? { body.isolation }
    }
}
