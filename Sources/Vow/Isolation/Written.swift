// A closure that is isolated to where it was written, and the executor that is there.
//
// The compiler lets such a closure be called by `await` alone, from anywhere. Here a link's executor sees to it that it is
// called where it belongs, without: the same closure, which differs by its type only, is the executor's to call.
//
// There is one of these types for each shape of closure: passed through a type that is more general than the closure, it
// would stand behind another function, and Swift 6.3's compiler crashes where it should make that. All is inlined: else
// each link would have its type's metadata looked up.

protocol WrittenClosure {
    /// The same closure for who calls it where it belongs, and nothing else.
    associatedtype Plain

    var isolation: (any Actor)? { get }
}

extension WrittenClosure {
    /// Nil: it was written nowhere in particular.
    @inline(__always) var executor: PromiseExecutor? { .isolated(to: isolation) }
    @inline(__always) var plain: Plain { unsafeBitCast(self, to: Plain.self) }
}

/// One of a value, that may throw and comes to a value.
struct Written<Input, Thrown: Error, Output>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) throws(Thrown) -> Output

    struct Plain {
        let body: @Sendable (Input) throws(Thrown) -> Output
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Comes to nothing.
struct WrittenVoid<Input, Thrown: Error>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) throws(Thrown) -> Void

    struct Plain {
        let body: @Sendable (Input) throws(Thrown) -> Void
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Makes a promise.
struct WrittenPromise<Input, Thrown: Error, Success: Sendable, Failure: Error>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) throws(Thrown) -> Promise<Success, Failure>

    struct Plain {
        let body: @Sendable (Input) throws(Thrown) -> Promise<Success, Failure>
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of nothing, and comes to nothing.
struct WrittenAction<Thrown: Error>: WrittenClosure {
    let written: @Sendable @isolated(any) () throws(Thrown) -> Void

    struct Plain {
        let body: @Sendable () throws(Thrown) -> Void
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of nothing, and makes a promise.
struct WrittenMaker<Thrown: Error, Success: Sendable, Failure: Error>: WrittenClosure {
    let written: @Sendable @isolated(any) () throws(Thrown) -> Promise<Success, Failure>

    struct Plain {
        let body: @Sendable () throws(Thrown) -> Promise<Success, Failure>
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Does not throw.
struct Sure<Input, Output>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) -> Output

    struct Plain {
        let body: @Sendable (Input) -> Output
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Does not throw, and comes to nothing.
struct SureVoid<Input>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) -> Void

    struct Plain {
        let body: @Sendable (Input) -> Void
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Does not throw, and makes a promise.
struct SurePromise<Input, Success: Sendable, Failure: Error>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) -> Promise<Success, Failure>

    struct Plain {
        let body: @Sendable (Input) -> Promise<Success, Failure>
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of nothing; does not throw, and makes a promise.
struct SureMaker<Success: Sendable, Failure: Error>: WrittenClosure {
    let written: @Sendable @isolated(any) () -> Promise<Success, Failure>

    struct Plain {
        let body: @Sendable () -> Promise<Success, Failure>
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Throws any error.
struct Trying<Input, Output>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) throws -> Output

    struct Plain {
        let body: @Sendable (Input) throws -> Output
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Throws any error, and makes a promise.
struct TryingPromise<Input, Success: Sendable, Failure: Error>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) throws -> Promise<Success, Failure>

    struct Plain {
        let body: @Sendable (Input) throws -> Promise<Success, Failure>
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Throws any error, and decides.
struct TryingTest<Input>: WrittenClosure {
    let written: @Sendable @isolated(any) (Input) throws -> Bool

    struct Plain {
        let body: @Sendable (Input) throws -> Bool
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}

/// Of any error.
struct SureOfErrors: WrittenClosure {
    let written: @Sendable @isolated(any) (any Error) -> Void

    struct Plain {
        let body: @Sendable (any Error) -> Void
    }

    @inline(__always) var isolation: (any Actor)? { written.isolation }
}
