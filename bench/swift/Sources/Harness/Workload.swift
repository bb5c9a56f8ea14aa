// What a peer gives: its workloads, in the steps of bench/peers/common/peer.h.

/// One workload. Every step gets N; a pass handles N items, and stops the program when it was not done.
public struct Workload {
    public typealias Step = (_ n: Int) -> Void

    enum Pass {
        /// Runs on the main thread.
        case plain(Step)
        /// Runs in a task.
        case inTask(@Sendable (_ n: Int) async -> Void)
    }

    let pass: Pass
    var begin: Step?
    var prepare: Step?
    var clean: Step?
    var isHeld = false
    private(set) var note: String?

    /// - Parameters:
    ///   - begin: once, before all.
    ///   - prepare: before each pass, not timed.
    ///   - clean: after each pass, not timed.
    public static func plain(
        begin: Step? = nil, prepare: Step? = nil, clean: Step? = nil, _ pass: @escaping Step
    ) -> Workload {
        Workload(pass: .plain(pass), begin: begin, prepare: prepare, clean: clean)
    }

    /// The same with a pass that awaits.
    public static func inTask(
        begin: Step? = nil, prepare: Step? = nil, clean: Step? = nil,
        _ pass: @escaping @Sendable (_ n: Int) async -> Void
    ) -> Workload {
        Workload(pass: .inTask(pass), begin: begin, prepare: prepare, clean: clean)
    }

    /// The same with a remark that belongs to its numbers.
    public func noted(_ note: String) -> Workload {
        var noted = self
        noted.note = note
        return noted
    }

    /// W9: one pass, whose memory is measured before `clean`.
    public static func held(
        begin: Step? = nil, clean: @escaping Step, _ pass: @escaping Step
    ) -> Workload {
        Workload(pass: .plain(pass), begin: begin, clean: clean, isHeld: true)
    }
}
