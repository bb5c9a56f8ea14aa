// Executors of the program's own.

import CVow

extension PromiseExecutor {
    /// An executor made of `submit`, which is called with each piece of work and has it run later, on any thread.
    ///
    /// ```swift
    /// let executor = PromiseExecutor.custom { work in operationQueue.addOperation { work() } }
    /// ```
    ///
    /// `submit` is called on the thread that settles or attaches, and should not wait. Work that it runs itself,
    /// inside, is put off until the running call to the library ends.
    ///
    /// - Parameters:
    ///   - isSerial: `submit` runs work one at a time, in the order of arrival, and not inside of `submit`. A handler
    ///     that would block the executor by waiting for its own work then gets ``PromiseError/deadlock``.
    ///   - isCurrent: whether the calling thread belongs to the executor: handlers attached there without an executor
    ///     run on it. Nil: only handlers attached inside its handlers do.
    public static func custom(
        isSerial: Bool = false, isCurrent: (@Sendable () -> Bool)? = nil,
        submit: @escaping @Sendable (PromiseWork) -> Void
    ) -> PromiseExecutor {
        make(isSerial: isSerial, isCurrent: isCurrent) { submit(PromiseWork($0)) }
    }

    /// The same with work that is certain to run.
    static func make(
        isSerial: Bool, isCurrent: (@Sendable () -> Bool)? = nil,
        submit: @escaping @Sendable (SubmittedWork) -> Void
    ) -> PromiseExecutor {
        let context = CustomExecutor(submit: submit, isCurrent: isCurrent)
        let executor = vow_executor_custom(
            ExecutorClasses.of(isSerial: isSerial, knowsItsThreads: isCurrent != nil),
            Unmanaged.passRetained(context).toOpaque())
        guard let made = PromiseExecutor(owned: executor) else {
            fatalError("no memory for an executor")
        }
        return made
    }
}

/// The context of the core's executor.
private final class CustomExecutor: Sendable {
    let submit: @Sendable (SubmittedWork) -> Void
    let isCurrent: (@Sendable () -> Bool)?

    init(
        submit: @escaping @Sendable (SubmittedWork) -> Void, isCurrent: (@Sendable () -> Bool)?
    ) {
        self.submit = submit
        self.isCurrent = isCurrent
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> CustomExecutor {
        guard let context else { fatalError("an executor has lost its context") }
        return Unmanaged.fromOpaque(context).takeUnretainedValue()
    }
}

/// The functions that the core calls; they live for ever.
private enum ExecutorClasses {
    static func of(isSerial: Bool, knowsItsThreads: Bool) -> UnsafePointer<vow_executor_class> {
        switch (isSerial, knowsItsThreads) {
        case (false, false): parallel
        case (false, true): knownParallel
        case (true, false): serial
        case (true, true): knownSerial
        }
    }

    // Unchecked because they are pointers: no code writes there after `make`.
    nonisolated(unsafe) private static let parallel = make(flags: 0, knowsItsThreads: false)
    nonisolated(unsafe) private static let knownParallel = make(flags: 0, knowsItsThreads: true)
    nonisolated(unsafe) private static let serial = make(flags: VOW_SERIAL, knowsItsThreads: false)
    nonisolated(unsafe) private static let knownSerial = make(
        flags: VOW_SERIAL, knowsItsThreads: true)

    private static func make(
        flags: UInt32, knowsItsThreads: Bool
    ) -> UnsafePointer<vow_executor_class> {
        let cls = UnsafeMutablePointer<vow_executor_class>.allocate(capacity: 1)
        cls.initialize(
            to: vow_executor_class(
                size: MemoryLayout<vow_executor_class>.size,
                submit: { context, run, work in
                    CustomExecutor.of(context).submit(SubmittedWork(work, run: run))
                },
                current: knowsItsThreads
                    ? { context in CustomExecutor.of(context).isCurrent?() ?? false } : nil,
                destroy: { context in
                    guard let context else { return }
                    Unmanaged<CustomExecutor>.fromOpaque(context).release()
                }, flags: flags))
        return UnsafePointer(cls)
    }
}
