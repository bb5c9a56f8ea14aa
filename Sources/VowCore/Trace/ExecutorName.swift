// What an executor is called in traces: its kind, and the label of its queue.

import CVowPlatform

/// Nil: the inline executor.
func kindName(of executor: ExecutorPointer?) -> StaticString {
    guard let executor else { return "inline" }
    switch executor.pointee.kind {
    case .inline: return "inline"
    case .pool: return "pool"
    case .serial: return executor.pointee.isImmortal ? "main" : "serial"
    case .dispatch, .barrier: return "dispatch"
    case .custom: return "custom"
    case .loop: return "loop"
    }
}

extension TraceEntry {
    func withExecutorName(_ body: (UnsafePointer<CChar>) -> Void) {
        withUnsafePointer(to: executor) {
            $0.withMemoryRebound(
                to: CChar.self, capacity: Int(VOW_TRACE_EXECUTOR_SIZE)
            ) { body($0) }
        }
    }
}

func nameExecutor(of entry: TraceEntryPointer, _ executor: ExecutorPointer?) {
    withUnsafeMutablePointer(to: &entry.pointee.executor) {
        let size = Int(VOW_TRACE_EXECUTOR_SIZE)
        $0.withMemoryRebound(to: CChar.self, capacity: size) { name in
            var text = TextBuffer(name, capacity: size)
            text.append(kindName(of: executor))
            guard let executor, !executor.pointee.isImmortal,
                let label = executor.pointee.queue?.label
                    ?? executor.name.map({ UnsafePointer($0) }),
                label[0] != 0
            else { return }
            text.append(" ")
            text.append(label, strlen(label))
        }
    }
}
