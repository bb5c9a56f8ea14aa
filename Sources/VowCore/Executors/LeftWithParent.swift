// In a forked child: what was left with the parent.

/// In a child such executors run nothing, so who claimed the reaction is a thread of the parent.
func isLeftWithParent(_ reaction: RecordPointer) -> Bool {
    reaction.pointee.shape.isReaction && (reaction.executor?.isLeftWithParent ?? false)
}

extension ExecutorPointer {
    /// In a forked child: it runs nothing.
    var isLeftWithParent: Bool {
        switch pointee.kind {
        case .pool, .serial, .dispatch, .barrier: return true
        case .loop: return loop.isCopy
        case .inline, .custom: return false
        }
    }
}
