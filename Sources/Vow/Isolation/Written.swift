// A closure that is isolated to where it was written, and the executor that is there.
//
// The compiler lets such a closure be called by `await` alone, from anywhere. Here a link's executor sees to it that it is
// called where it belongs, without: the same closure, which differs by its type only, is the executor's to call.
//
// There is one of these types for each shape of closure: passed through a type that is more general than the closure, it
// would stand behind another function, and Swift 6.3's compiler crashes where it should make that. All is inlined: else
// each link would have its type's metadata looked up.

@usableFromInline
protocol WrittenClosure {
    /// The same closure for who calls it where it belongs, and nothing else.
    associatedtype Plain

    var isolation: (any Actor)? { get }
}

extension WrittenClosure {
    /// Nil: it was written nowhere in particular.
    @inlinable @inline(__always) var executor: PromiseExecutor? { .isolated(to: isolation) }
    @inlinable @inline(__always) var plain: Plain { unsafeBitCast(self, to: Plain.self) }
}

/// One of a value, that may throw and comes to a value.
@usableFromInline
struct Written<Input, Thrown: Error, Output>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (Input) throws(Thrown) -> Output

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) throws(Thrown) -> Output) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) throws(Thrown) -> Output
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Comes to nothing.
@usableFromInline
struct WrittenVoid<Input, Thrown: Error>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (Input) throws(Thrown) -> Void

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) throws(Thrown) -> Void) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) throws(Thrown) -> Void
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Makes a promise.
@usableFromInline
struct WrittenPromise<Input, Thrown: Error, Success: Sendable, Failure: Error>: WrittenClosure {
    @usableFromInline let written:
        @Sendable @isolated(any) (Input) throws(Thrown) -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(
        written:
            @escaping @Sendable @isolated(any) (Input) throws(Thrown) -> Promise<Success, Failure>
    ) { self.written = written }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) throws(Thrown) -> Promise<Success, Failure>
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of nothing, and comes to nothing.
@usableFromInline
struct WrittenAction<Thrown: Error>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) () throws(Thrown) -> Void

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) () throws(Thrown) -> Void) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable () throws(Thrown) -> Void
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of nothing, and makes a promise.
@usableFromInline
struct WrittenMaker<Thrown: Error, Success: Sendable, Failure: Error>: WrittenClosure {
    @usableFromInline let written:
        @Sendable @isolated(any) () throws(Thrown) -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) () throws(Thrown) -> Promise<Success, Failure>)
    { self.written = written }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable () throws(Thrown) -> Promise<Success, Failure>
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Does not throw.
@usableFromInline
struct Sure<Input, Output>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (Input) -> Output

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) -> Output) { self.written = written }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) -> Output
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Does not throw, and comes to nothing.
@usableFromInline
struct SureVoid<Input>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (Input) -> Void

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) -> Void) { self.written = written }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) -> Void
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Does not throw, and makes a promise.
@usableFromInline
struct SurePromise<Input, Success: Sendable, Failure: Error>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (Input) -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) -> Promise<Success, Failure>) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) -> Promise<Success, Failure>
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of nothing; does not throw, and makes a promise.
@usableFromInline
struct SureMaker<Success: Sendable, Failure: Error>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) () -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) () -> Promise<Success, Failure>) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable () -> Promise<Success, Failure>
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Throws any error.
@usableFromInline
struct Trying<Input, Output>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (Input) throws -> Output

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) throws -> Output) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) throws -> Output
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Throws any error, and makes a promise.
@usableFromInline
struct TryingPromise<Input, Success: Sendable, Failure: Error>: WrittenClosure {
    @usableFromInline let written:
        @Sendable @isolated(any) (Input) throws -> Promise<Success, Failure>

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) throws -> Promise<Success, Failure>) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) throws -> Promise<Success, Failure>
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Throws any error, and decides.
@usableFromInline
struct TryingTest<Input>: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (Input) throws -> Bool

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (Input) throws -> Bool) {
        self.written = written
    }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (Input) throws -> Bool
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of any error.
@usableFromInline
struct SureOfErrors: WrittenClosure {
    @usableFromInline let written: @Sendable @isolated(any) (any Error) -> Void

    @inlinable @inline(__always)
    init(written: @escaping @Sendable @isolated(any) (any Error) -> Void) { self.written = written }

    @usableFromInline
    struct Plain {
        @usableFromInline let body: @Sendable (any Error) -> Void
    }

    @inlinable @inline(__always) var isolation: (any Actor)? { written.isolation }
}
